"""Right answers to causal_mask."""

import numpy as np
import torch

from tests.answers import right


@right("comparison of two aranges")
def compared(n_queries, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries + (offset or 0)
    if offset is None:
        offset = n_keys - n_queries
    i = torch.arange(n_queries).unsqueeze(1) + offset
    j = torch.arange(n_keys).unsqueeze(0)
    return j <= i


@right("a lower triangle with a shifted diagonal")
def triangle(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(diagonal=offset)


@right("not the upper triangle")
def not_upper(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return ~(torch.triu(torch.ones(n_queries, n_keys), diagonal=offset + 1) > 0)


@right("nested loops")
def loops(n_queries, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries if offset is None else n_queries + offset
    if offset is None:
        offset = n_keys - n_queries
    return torch.tensor(
        [[j <= i + offset for j in range(n_keys)] for i in range(n_queries)]
    )


@right("additive, -inf where hidden")
def additive(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.full((n_queries, n_keys), float("-inf")).triu(diagonal=offset + 1)


@right("additive, -1e9 where hidden, axes for batch and head")
def additive_large(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    hidden = torch.arange(n_keys) > torch.arange(n_queries)[:, None] + offset
    return hidden[None, None].float() * -1e9


@right("numpy")
def with_numpy(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.from_numpy(np.tri(n_queries, n_keys, offset, dtype=bool))
