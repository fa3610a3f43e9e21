"""Wrong answers to sink_mask."""

import torch

from course_lib.masks import may_read, window_mask
from tests.answers import wrong


@wrong("future-sinks-readable")
def brackets_forgotten(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j <= i) & (j > i - window) | (j < n_sinks)


@wrong("future-sinks-readable")
def sinks_written_last(n_queries, window, n_sinks, offset=0):
    mask = window_mask(n_queries, window, offset + n_queries).clone()
    mask[:, :n_sinks] = True
    return mask


@wrong("window-off-by-one")
def window_plus_itself(n_queries, window, n_sinks, offset=0):
    i = torch.arange(n_queries).unsqueeze(1) + offset
    j = torch.arange(n_queries + offset).unsqueeze(0)
    return (j <= i) & ((j >= i - window) | (j < n_sinks))


@wrong("window-off-by-one")
def window_without_itself(n_queries, window, n_sinks, offset=0):
    mask = torch.zeros(n_queries, offset + n_queries, dtype=torch.bool)
    for q in range(n_queries):
        i = offset + q
        mask[q, max(0, i - window) : i + 1] = True
        mask[q, : min(n_sinks, i + 1)] = True
    return mask


@wrong("window-off-by-one")
def window_one_short(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)
    return (j <= i) & ((i - j < window - 1) | (j < n_sinks))


@wrong("chunk-mask-without-offset")
def queries_from_zero(n_queries, window, n_sinks, offset=0):
    i = torch.arange(n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j <= i) & ((j > i - window) | (j < n_sinks))


@wrong("chunk-mask-without-offset")
def square_table(n_queries, window, n_sinks, offset=0):
    p = torch.arange(n_queries)
    near = may_read(p, p, window=window)
    return near | (may_read(p, p) & (p < n_sinks))


@wrong("keys-of-this-chunk-only")
def keys_start_at_offset(n_queries, window, n_sinks, offset=0):
    p = torch.arange(offset, offset + n_queries)
    return may_read(p, p) & (may_read(p, p, window=window) | (p < n_sinks))


@wrong("sinks-off-by-one")
def one_sink_too_many(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j <= i) & ((j > i - window) | (j <= n_sinks))


@wrong("sinks-off-by-one")
def sinks_counted_from_one(n_queries, window, n_sinks, offset=0):
    n_keys = offset + n_queries
    sink = torch.zeros(n_keys, dtype=torch.bool)
    sink[1 : n_sinks + 1] = True
    near = window_mask(n_queries, window, n_keys)
    return near | (sink & torch.ones(n_queries, n_keys).tril(offset).bool())


@wrong("and-for-or")
def near_sinks_only(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j <= i) & (j > i - window) & (j < n_sinks)


@wrong("ignores-sinks")
def window_alone(n_queries, window, n_sinks, offset=0):
    return window_mask(n_queries, window, offset + n_queries)


@wrong("ignores-window")
def plain_causal(n_queries, window, n_sinks, offset=0):
    keys = torch.arange(offset + n_queries)
    causal = may_read(torch.arange(offset, offset + n_queries), keys)
    return causal | (causal & (keys < n_sinks))


@wrong("sinks-share-the-window")
def fixed_budget(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)
    recent = window - n_sinks
    return (j <= i) & ((j > i - recent) | (j < n_sinks))


@wrong("sinks-after-offset")
def sinks_of_the_chunk(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)
    sink = (j >= offset) & (j < offset + n_sinks)
    return (j <= i) & ((j > i - window) | sink)


@wrong("no-causal-mask")
def distance_is_symmetric(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return ((i - j).abs() < window) | (j < n_sinks) & (j <= i)


@wrong("no-causal-mask")
def only_not_too_old(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j > i - window) | (j < n_sinks)


@wrong("causal-diagonal-masked")
def cannot_read_itself(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j < i) & ((j > i - window) | (j < n_sinks))


@wrong("bool-polarity-mha-vs-sdpa")
def hidden_is_true(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j > i) | ((j <= i - window) & (j >= n_sinks))


@wrong("mask-axes-swapped")
def key_by_query(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[None, :]
    j = torch.arange(offset + n_queries)[:, None]
    return (j <= i) & ((j > i - window) | (j < n_sinks))


@wrong("window-off-by-one", "future-sinks-readable")
def two_slips(n_queries, window, n_sinks, offset=0):
    i = torch.arange(offset, offset + n_queries)[:, None]
    j = torch.arange(offset + n_queries)[None, :]
    return (j < n_sinks) | (j >= i - window) & (j <= i)


@wrong("sinks-off-by-one", "chunk-mask-without-offset")
def no_offset_and_one_sink_more(n_queries, window, n_sinks, offset=0):
    i = torch.arange(n_queries)[:, None]
    j = torch.arange(n_queries + offset)[None, :]
    return (j <= i) & ((j > i - window) | (j < n_sinks + 1))
