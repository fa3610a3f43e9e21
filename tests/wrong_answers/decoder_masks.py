"""Wrong answers to decoder_masks."""

import torch

from course_lib.masks import causal_mask, may_read, padding_mask
from tests.answers import wrong


@wrong("causal-mask-in-cross-attn")
def only_the_axis(target, source):
    causal = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    rectangle = torch.ones(target.shape[1], source.shape[1]).tril().bool()
    self_allowed = causal & (target != 0)[:, None, None, :]
    cross_allowed = rectangle & (source != 0)[:, None, None, :]
    return self_allowed, cross_allowed


@wrong("causal-mask-in-cross-attn")
def one_word_changed(target, source):
    n = target.shape[1]
    causal = torch.ones(n, n).tril().bool()
    self_allowed = causal & (target != 0)[:, None, None, :]
    cross_allowed = causal & (source != 0)[:, None, None, :]
    return self_allowed, cross_allowed


@wrong("padding-mask-on-query-axis")
def only_the_triangle(target, source):
    n, m = target.shape[1], source.shape[1]
    causal = torch.ones(n, n).tril().bool()
    self_allowed = causal & (target != 0)[:, None, None, :]
    rows = torch.zeros(len(source), n, dtype=torch.bool)
    rows[:, : min(n, m)] = source[:, :n] != 0
    return self_allowed, rows[:, None, :, None].expand(-1, 1, n, m)


@wrong("source-padding-read")
def no_mask_for_the_source(target, source):
    own = causal_mask(target.shape[1])
    return own, torch.ones(target.shape[1], source.shape[1], dtype=torch.bool)


@wrong("target-padding-in-cross")
def wrong_lengths(target, source):
    lengths = target.ne(0).sum(-1)
    return causal_mask(target.shape[1]), padding_mask(lengths, source.shape[1])


@wrong("mask-polarity")
def torchs_way_round(target, source):
    n = target.shape[1]
    return torch.ones(n, n).triu(1).bool(), (source == 0)[:, None, None]


@wrong("no-causal-mask")
def padding_only(target, source):
    return (target != 0)[:, None, None, :], (source != 0)[:, None, None, :]


@wrong("causal-diagonal-masked")
def strictly_before(target, source):
    n = target.shape[1]
    i = torch.arange(n)
    return i[:, None] > i, (source != 0)[:, None, None]


@wrong("causal-mask-in-cross-attn")
def by_positions(target, source):
    n, m = target.shape[1], source.shape[1]
    cross = may_read(torch.arange(n), torch.arange(m))
    return causal_mask(n), cross & padding_mask((source != 0).sum(1), m)


@wrong("masks-of-the-first-row")
def first_row_speaks(target, source):
    return causal_mask(target.shape[1]), source[0] != 0


@wrong("nothing-repaired")
def unchanged(target, source):
    n = target.shape[1]
    causal = torch.ones(n, n).tril().bool()
    self_allowed = causal & (target != 0)[:, None, None, :]
    cross_allowed = causal & (source != 0)[:, None, :, None]
    return self_allowed, cross_allowed


@wrong("mask-axes-missing")
def three_axes(target, source):
    return causal_mask(target.shape[1]), (source != 0)[:, None, :]
