"""What goes wrong in n_readable: the cells of a causal window."""

from course_lib.feedback.task import Draw, Probe, Task


def n_readable(n, window):
    hidden = max(n - window, 0)  # cells that are too old: a triangle in the corner
    return (n * (n + 1) - hidden * (hidden + 1)) // 2


task = Task(
    "n_readable",
    asks="the number of True cells in window_mask(n, window), as an integer.",
    lesson="02_masks",
    reference=n_readable,
)


@task.inputs
def probes(draw: Draw):
    n = draw.size(9, 14)
    yield Probe("4 places, a window of 2", 4, 2)
    yield Probe("a window of 1", n, 1)
    yield Probe("a window as long as the row", n, n)
    yield Probe("a window longer than the row", n, n + 5)
    yield Probe("a window of 5", n + 7, 5)
    yield Probe("a window of 6", 2 * n + 1, 6)
    yield Probe("too long for a table", 10**10, 4096)


@task.mistake("short-rows-forgotten", "How many keys can query 0 read?")
def every_row_is_full(n, window):
    return n * min(window, n)


@task.mistake("long-window", "What if the window is longer than the row?")
def no_limit_at_n(n, window):
    return window * (window + 1) // 2 + (n - window) * window


@task.mistake("window-forgotten", "How many keys does a late query read?")
def whole_triangle(n, window):
    return n * (n + 1) // 2


@task.mistake("causal-diagonal-masked", "Does a query read itself?")
def without_the_diagonal(n, window):
    short = min(window, n)
    return short * (short - 1) // 2 + (n - short) * short


@task.mistake("window-off-by-one", "How many keys does a window of 1 hold?")
def window_without_itself(n, window):
    short = min(window + 1, n)
    return short * (short + 1) // 2 + (n - short) * short


@task.mistake("window-off-by-one", "How many keys does a window of 1 hold?")
def window_too_short(n, window):
    short = min(window - 1, n)
    return short * (short + 1) // 2 + (n - short) * short


@task.mistake(
    "wrong-n-of-full-rows", "From which row on does a query read a whole window?"
)
def one_full_row_too_many(n, window):
    short = min(window, n)
    return short * (short + 1) // 2 + (n - short + 1) * short


@task.mistake("no-causal-mask", "May a query read keys on both sides?")
def window_on_both_sides(n, window):
    return 2 * n_readable(n, window) - n


@task.mistake(
    "wrong-n-of-full-rows", "From which row on does a query read a whole window?"
)
def one_full_row_too_few(n, window):
    short = min(window, n)
    return short * (short + 1) // 2 + max(n - short - 1, 0) * short


@task.mistake("counts-hidden", "Which cells are asked for, the True or the False ones?")
def hidden_cells(n, window):
    return n * n - n_readable(n, window)


@task.mistake(
    "halves-too-early", "Is half of an odd number whole, and when do you divide?"
)
def halved_first(n, window):
    short = min(window, n)
    return short // 2 * (short + 1) + (n - short) * short
