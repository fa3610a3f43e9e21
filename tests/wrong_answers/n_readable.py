"""Wrong answers to n_readable."""

from tests.answers import wrong


@wrong("first-rows-full")
def every_row_full(n, window):
    return n * window


@wrong("first-rows-full")
def every_row_full_at_most_n(n, window):
    return n * min(n, window)


@wrong("window-beyond-n")
def no_minimum(n, window):
    return window * (window + 1) // 2 + (n - window) * window


@wrong("window-beyond-n")
def minus_the_missing_corner(n, window):
    return n * window - window * (window - 1) // 2


@wrong("window-beyond-n")
def full_square_if_wide(n, window):
    if window >= n:
        return n * n
    return window * (window + 1) // 2 + (n - window) * window


@wrong("triangle-without-diagonal")
def triangle_too_small(n, window):
    w = min(n, window)
    return w * (w - 1) // 2 + (n - w) * w


@wrong("window-off-by-one")
def itself_not_counted(n, window):
    w = min(n, window + 1)
    return w * (w + 1) // 2 + (n - w) * w


@wrong("window-off-by-one")
def window_behind_me(n, window):
    w = min(n - 1, window)
    return n + w * (w + 1) // 2 + (n - 1 - w) * w


@wrong("row-counted-twice")
def one_row_too_many(n, window):
    w = min(window, n)
    return w * (w + 1) // 2 + (n - w + 1) * w


@wrong("one-row-lost")
def one_row_too_few(n, window):
    w = min(window, n)
    return w * (w + 1) // 2 + max(n - w - 1, 0) * w


@wrong("ignores-window")
def the_whole_triangle(n, window):
    return n * (n + 1) // 2


@wrong("ignores-window")
def mean_row_length(n, window):
    return sum((1, n)) * n // 2


@wrong("both-sides")
def band_around_the_diagonal(n, window):
    w = min(n, window)
    return n + 2 * ((w - 1) * n - w * (w - 1) // 2)


@wrong("halves-too-early")
def integer_division_first(n, window):
    w = min(n, window)
    return w // 2 * (w + 1) + (n - w) * w


@wrong("counts-hidden")
def cells_that_are_hidden(n, window):
    w = min(n, window)
    return n * n - (w * (w + 1) // 2 + (n - w) * w)


@wrong("triangle-as-square")
def square_in_front(n, window):
    w = min(n, window)
    return w * w + (n - w) * w


@wrong("constant")
def the_example(n, window):
    return 7


@wrong("triangle-without-diagonal", "window-beyond-n")
def small_triangle_and_no_minimum(n, window):
    return window * (window - 1) // 2 + (n - window) * window


@wrong("row-counted-twice", "window-beyond-n")
def rows_from_window_on(n, window):
    return window * (window + 1) // 2 + (n - window + 1) * window
