"""Wrong answers to window_mask."""

import torch

from tests.answers import wrong


@wrong("no-causal-mask")
def both_directions(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    return (i - torch.arange(n_keys)).abs() < window


@wrong("no-causal-mask")
def only_the_old_ones_hidden(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys).triu(offset - window + 1).bool()


@wrong("window-off-by-one")
def one_key_too_many(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)[None, :]
    return (j <= i) & (i - j <= window)


@wrong("window-off-by-one")
def window_before_itself(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.zeros(n_queries, n_keys, dtype=torch.bool)
    for i in range(n_queries):
        here = i + offset
        mask[i, max(here - window, 0) : max(here + 1, 0)] = True
    return mask


@wrong("window-off-by-one")
def one_key_too_few(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    band = torch.ones(n_queries, n_keys).tril(offset)
    return band.triu(offset - window + 2).bool()


@wrong("window-ignored")
def plain_causal(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys, dtype=torch.bool).tril(offset)


@wrong("window-ignored")
def window_joined_by_or(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)
    return (j <= i) | ((j <= i) & (j > i - window))


@wrong("causal-mask-flipped")
def reads_ahead(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)[None]
    return (j >= i) & (j < i + window)


@wrong("causal-mask-flipped")
def upper_band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys).triu(offset).tril(offset + window - 1).bool()


@wrong("bool-polarity-mha-vs-sdpa")
def true_means_hide(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)[None]
    return (j > i) | (j <= i - window)


@wrong("bool-polarity-mha-vs-sdpa")
def hides_the_band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    band = torch.ones(n_queries, n_keys).tril(offset).triu(offset - window + 1)
    return torch.zeros(n_queries, n_keys).masked_fill(band == 1, float("-inf"))


@wrong("causal-diagonal-masked")
def hides_itself(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)
    return (j < i) & (j > i - window)


@wrong("causal-diagonal-masked")
def sees_the_next(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    band = torch.ones(n_queries, n_keys).tril(offset + 1)
    return band.triu(offset - window + 1).bool()


@wrong("chunk-mask-without-offset")
def square_band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    return torch.ones(n_queries, n_keys).tril().triu(1 - window).bool()


@wrong("chunk-mask-without-offset")
def counts_from_zero(n_queries, window, n_keys=None, offset=None):
    n_keys = n_keys or n_queries + (offset or 0)
    mask = torch.zeros(n_queries, n_keys, dtype=torch.bool)
    for i in range(n_queries):
        mask[i, max(0, i - window + 1) : i + 1] = True
    return mask


@wrong("window-without-offset")
def only_the_triangle_is_shifted(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    causal = torch.ones(n_queries, n_keys).tril(offset)
    return causal.triu(-window + 1).bool()


@wrong("ignores-offset")
def last_query_at_last_key(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    i = torch.arange(n_keys - n_queries, n_keys)[:, None]
    j = torch.arange(n_keys)
    return (j <= i) & (j > i - window)


@wrong("zero-offset-as-missing")
def falsy_offset(n_queries, window, n_keys=None, offset=None):
    n_keys = n_keys or n_queries + (offset or 0)
    offset = offset or n_keys - n_queries
    i = torch.arange(n_queries).unsqueeze(1) + offset
    j = torch.arange(n_keys)
    return (j <= i) & (j > i - window)


@wrong("window-in-blocks")
def blocks(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)
    return (j <= i) & (j // window == i // window)


@wrong("mask-axes-swapped")
def key_by_query(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries) + offset
    j = torch.arange(n_keys)[:, None]
    return (j <= i) & (j > i - window)


@wrong("inf-times-zero-mask")
def times_minus_infinity(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    band = torch.ones(n_queries, n_keys).tril(offset).triu(offset - window + 1)
    return (1 - band) * float("-inf")


@wrong("zero-one-mask-added")
def float_band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys).tril(offset).triu(offset - window + 1)


@wrong("mask-fill-near-zero")
def small_penalty(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    i = torch.arange(n_queries)[:, None] + offset
    j = torch.arange(n_keys)
    return torch.where((j <= i) & (j > i - window), 0.0, -1e-9)


@wrong("window-off-by-one", "chunk-mask-without-offset")
def two_slips(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    return torch.ones(n_queries, n_keys).tril().triu(-window).bool()


@wrong("no-causal-mask", "window-off-by-one")
def wide_band(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    distance = torch.arange(n_queries)[:, None] + offset - torch.arange(n_keys)
    return distance.abs() <= window


@wrong("inf-times-zero-mask")
def hidden_times_infinity(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    age = torch.arange(n_queries)[:, None] + offset - torch.arange(n_keys)
    hidden = (age < 0) | (age >= window)
    return hidden.float() * -torch.inf


@wrong("zero-one-mask-added")
def float_cells(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    mask = torch.zeros(n_queries, n_keys)
    for i in range(n_queries):
        for j in range(n_keys):
            mask[i, j] = float(i + offset - window < j <= i + offset)
    return mask


@wrong("mask-fill-near-zero")
def minus_one(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.ones(n_queries, n_keys).tril(offset).triu(offset - window + 1) - 1
