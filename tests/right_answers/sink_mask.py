"""Right answers to sink_mask."""

import numpy as np
import torch

from course_lib.masks import may_read, window_mask
from tests.answers import right


@right("comparisons of absolute positions")
def compared(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j <= i) & ((i - j < window) | (j < n_sinks))


@right("may_read twice")
def twice_the_lesson(n_queries, window, n_sinks, offset=0):
    queries = torch.arange(n_queries) + offset
    keys = torch.arange(offset + n_queries)
    causal = may_read(queries, keys)
    return may_read(queries, keys, window=window) | causal & (keys < n_sinks)


@right("slices, row by row")
def slices(n_queries, window, n_sinks, offset=0):
    mask = torch.zeros(n_queries, offset + n_queries, dtype=torch.bool)
    for q in range(n_queries):
        here = offset + q
        mask[q, :n_sinks] = True
        mask[q, max(0, here - window + 1) : here + 1] = True
        mask[q, here + 1 :] = False
    return mask


@right("triangles of the full square, cut below")
def cut_from_a_square(n_queries, window, n_sinks, offset=0):
    n = offset + n_queries
    band = torch.ones(n, n).tril() - torch.ones(n, n).tril(-window)
    band[:, :n_sinks] = 1
    return band.tril()[offset:].bool()


@right("the library's window mask and the first columns of a triangle")
def window_and_columns(n_queries, window, n_sinks, offset=0):
    mask = window_mask(n_queries, window, offset + n_queries)
    mask = mask.clone()
    mask[:, :n_sinks] = True
    return mask & (torch.ones_like(mask).tril(diagonal=offset))


@right("numpy and nested loops")
def cell_by_cell(n_queries, window, n_sinks, offset=0):
    table = np.zeros((n_queries, n_queries + offset), dtype=bool)
    for i in range(n_queries):
        for j in range(i + offset + 1):
            table[i, j] = j < n_sinks or i + offset - j < window
    return torch.from_numpy(table)
