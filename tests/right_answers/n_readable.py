"""Right answers to n_readable."""

import math

from tests.answers import right


@right("a triangle and full rows")
def triangle_and_rows(n, window):
    w = min(n, window)
    return w * (w + 1) // 2 + (n - w) * w


@right("two cases")
def cases(n, window):
    if window >= n:
        return n * (n + 1) // 2
    return n * window - (window - 1) * window // 2


@right("large triangle minus the cells that are too old")
def difference_of_triangles(n, window):
    old = max(n - window, 0)
    return (n * (n + 1) - old * (old + 1)) // 2


@right("binomial coefficients")
def binomials(n, window):
    return math.comb(n + 1, 2) - math.comb(max(n - window, 0) + 1, 2)


@right("diagonal by diagonal: n, n - 1, ...")
def mean_diagonal(n, window):
    diagonals = min(n, window)
    return (n + n - diagonals + 1) * diagonals // 2
