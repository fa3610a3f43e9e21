"""Wrong answers to causal_mask."""

import torch

from tests.answers import wrong


@wrong("causal-mask-flipped")
def keeps_the_future(n_queries, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries + (offset or 0)
    if offset is None:
        offset = n_keys - n_queries
    return torch.ones(n_queries, n_keys).triu(diagonal=offset).bool()


@wrong("causal-mask-flipped")
def compares_the_wrong_way(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)[None, :]
    return i <= j


@wrong("bool-polarity-mha-vs-sdpa")
def true_means_hide(n_queries, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries + (offset or 0)
    if offset is None:
        offset = n_keys - n_queries
    return torch.triu(torch.ones(n_queries, n_keys), diagonal=offset + 1) == 1


@wrong("bool-polarity-mha-vs-sdpa")
def additive_on_the_wrong_side(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.zeros(n_queries, n_keys)
    for i in range(n_queries):
        mask[i, : i + offset + 1] = float("-inf")
    return mask


@wrong("causal-diagonal-masked")
def hides_itself(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    rows = torch.arange(offset, offset + n_queries).unsqueeze(1)
    return torch.arange(n_keys).unsqueeze(0) < rows


@wrong("causal-diagonal-masked")
def slice_ends_too_early(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.zeros(n_queries, n_keys, dtype=torch.bool)
    for i in range(n_queries):
        mask[i, : max(i + offset, 0)] = True
    return mask


@wrong("causal-diagonal-masked")
def sees_the_next(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys).tril(diagonal=offset + 1).bool()


@wrong("chunk-mask-without-offset")
def anchored_at_the_first_key(n_queries, n_keys=None, offset=None):
    if n_keys is None:
        n_keys = n_queries + (offset or 0)
    return torch.tril(torch.ones(n_queries, n_keys, dtype=torch.bool))


@wrong("chunk-mask-without-offset")
def square(n_queries, n_keys=None, offset=None):
    i = torch.arange(n_queries)
    return i[None, :] <= i[:, None]


@wrong("chunk-mask-without-offset")
def offset_only_if_given(n_queries, n_keys=None, offset=0):
    offset = offset or 0
    n_keys = n_keys or n_queries + offset
    return torch.arange(n_keys) <= torch.arange(n_queries)[:, None] + offset


@wrong("ignores-offset")
def last_query_at_last_key(n_queries, n_keys=None, offset=None):
    n_keys = n_keys or n_queries + (offset or 0)
    full = torch.ones(n_keys, n_keys).tril().bool()
    return full[n_keys - n_queries :] if n_keys >= n_queries else full


@wrong("ignores-offset")
def offset_not_read(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    ones = torch.ones(n_queries, n_keys, dtype=torch.bool)
    return ones.tril(n_keys - n_queries)


@wrong("zero-offset-as-missing")
def falsy_offset(n_queries, n_keys=None, offset=None):
    n_keys = n_keys or n_queries + (offset or 0)
    offset = offset or n_keys - n_queries
    return torch.ones(n_queries, n_keys).tril(offset).bool()


@wrong("zero-offset-as-missing")
def if_not_offset(n_queries, n_keys=None, offset=None):
    if not n_keys:
        n_keys = n_queries + (offset or 0)
    if not offset:
        offset = n_keys - n_queries
    return torch.arange(n_keys)[None] <= torch.arange(n_queries)[:, None] + offset


@wrong("offset-sign")
def minus_offset(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.tril(torch.ones(n_queries, n_keys), diagonal=-offset).bool()


@wrong("offset-sign")
def offset_on_the_keys(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    keys = torch.arange(n_keys) + offset
    return keys[None, :] <= torch.arange(n_queries)[:, None]


@wrong("mask-axes-swapped")
def key_by_query(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.arange(n_keys)[:, None] <= torch.arange(n_queries)[None, :] + offset


@wrong("mask-axes-swapped")
def loops_the_other_way(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    rows = []
    for key in range(n_keys):
        rows.append([key <= query + offset for query in range(n_queries)])
    return torch.tensor(rows)


@wrong("inf-times-zero-mask")
def times_minus_infinity(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    hidden = torch.triu(torch.ones(n_queries, n_keys), diagonal=offset + 1)
    return hidden * float("-inf")


@wrong("inf-times-zero-mask")
def one_minus_times_infinity(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    allowed = torch.arange(n_keys) <= torch.arange(n_queries)[:, None] + offset
    return (1.0 - allowed.float()) * -torch.inf


@wrong("zero-one-mask-added")
def float_ones(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.tril(torch.ones(n_queries, n_keys), diagonal=offset)


@wrong("zero-one-mask-added")
def float_cells(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.zeros(n_queries, n_keys)
    for i in range(n_queries):
        for j in range(n_keys):
            if j <= i + offset:
                mask[i, j] = 1.0
    return mask


@wrong("mask-fill-near-zero")
def tiny_number(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    hidden = torch.ones(n_queries, n_keys).triu(offset + 1).bool()
    return torch.zeros(n_queries, n_keys).masked_fill(hidden, -1e-9)


@wrong("mask-fill-near-zero")
def minus_one(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return -torch.ones(n_queries, n_keys).triu(offset + 1)


@wrong("no-causal-mask")
def everything(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    return torch.ones(n_queries, n_keys, dtype=torch.bool)


@wrong("no-causal-mask")
def tril_result_thrown_away(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    mask = torch.ones(n_queries, n_keys, dtype=torch.bool)
    torch.tril(mask, diagonal=n_keys - n_queries)
    return mask


@wrong("causal-mask-flipped", "chunk-mask-without-offset")
def upper_triangle(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    return torch.triu(torch.ones(n_queries, n_keys)).bool()


@wrong("causal-diagonal-masked", "chunk-mask-without-offset")
def strictly_lower(n_queries, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    return torch.ones(n_queries, n_keys).tril(diagonal=-1).bool()
