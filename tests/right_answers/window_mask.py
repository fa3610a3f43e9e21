"""Right answers to window_mask."""

import torch

from tests.answers import right


@right("two comparisons")
def compared(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    age = torch.arange(n_queries)[:, None] + offset - torch.arange(n_keys)[None, :]
    return (age >= 0) & (age < window)


@right("a band of two triangles")
def band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    ones = torch.ones(n_queries, n_keys)
    return torch.triu(torch.tril(ones, offset), offset - window + 1).bool()


@right("one triangle without an earlier one")
def difference(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    ones = torch.ones(n_queries, n_keys, dtype=torch.bool)
    return ones.tril(offset) ^ ones.tril(offset - window)


@right("slices in a loop")
def slices(n_queries, window, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries + (0 if offset is None else offset)
    if offset is None:
        offset = n_keys - n_queries
    mask = torch.zeros(n_queries, n_keys, dtype=torch.bool)
    for i in range(n_queries):
        last = i + offset
        mask[i, max(last - window + 1, 0) : max(last + 1, 0)] = True
    return mask


@right("additive, -inf where hidden")
def additive(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.full((n_queries, n_keys), -torch.inf)
    for i in range(n_queries):
        for j in range(n_keys):
            if i + offset - window < j <= i + offset:
                mask[i, j] = 0
    return mask[None, None]
