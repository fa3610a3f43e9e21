"""Wrong answers to masked_weights."""

import torch
from torch.nn import functional as F

from course_lib.softmax import softmax
from tests.answers import wrong


@wrong("mask-fill-near-zero")
def filled_with_zero(scores, allowed):
    return scores.masked_fill(~allowed, 0).softmax(-1) * allowed.any(-1, keepdim=True)


@wrong("mask-fill-near-zero")
def filled_with_a_tiny_number(scores, allowed):
    hidden = torch.where(allowed, scores, torch.tensor(-1e-9))
    weights = torch.softmax(hidden, dim=-1)
    weights[:, ~allowed.any(-1)] = 0
    return weights


@wrong("mask-fill-near-zero")
def filled_with_minus_ten(scores, allowed):
    s = scores.clone()
    s[:, ~allowed] = -10.0
    return F.softmax(s, -1) * allowed.any(-1)[:, None]


@wrong("fully-masked-row-nan")
def lesson_and_no_more(scores, allowed):
    return softmax(scores.masked_fill(~allowed, -torch.inf))


@wrong("fully-masked-row-nan")
def added_infinity(scores, allowed):
    bias = torch.zeros(allowed.shape).masked_fill(~allowed, float("-inf"))
    scores = torch.where(allowed, scores, 0.0)
    return torch.softmax(scores + bias, dim=-1)


@wrong("fully-masked-row-nan")
def times_the_mask_afterwards(scores, allowed):
    hidden = scores.masked_fill(allowed.logical_not(), float("-inf"))
    return hidden.softmax(-1) * allowed


@wrong("fully-masked-row-uniform")
def smallest_number(scores, allowed):
    return scores.masked_fill(~allowed, torch.finfo(scores.dtype).min).softmax(-1)


@wrong("fully-masked-row-uniform")
def minus_a_billion(scores, allowed):
    return softmax(torch.where(allowed, scores, -1e9))


@wrong("fully-masked-row-uniform")
def nan_becomes_a_share(scores, allowed):
    w = scores.masked_fill(~allowed, -torch.inf).softmax(-1)
    return torch.where(w.isnan(), 1 / scores.shape[-1], w)


@wrong("mask-after-softmax")
def weights_times_mask(scores, allowed):
    return softmax(scores.nan_to_num(0, 0, 0)) * allowed


@wrong("mask-after-softmax")
def weights_filled_with_zero(scores, allowed):
    return scores.softmax(-1).masked_fill(~allowed, 0.0)


@wrong("renormalised-after-softmax")
def divides_again(scores, allowed):
    w = torch.softmax(scores, -1).masked_fill(~allowed, 0.0)
    return w / w.sum(-1, keepdim=True).clamp(min=1e-9)


@wrong("renormalised-after-softmax")
def divides_again_where_possible(scores, allowed):
    w = softmax(scores) * allowed
    total = w.sum(-1, keepdim=True)
    return torch.where(total > 0, w / total, 0.0)


@wrong("hidden-maximum")
def shifted_by_the_largest_of_all(scores, allowed):
    scores = scores.nan_to_num(0)
    e = (scores - scores.amax(-1, keepdim=True)).exp() * allowed
    total = e.sum(-1, keepdim=True)
    return e / total.masked_fill(total == 0, 1)


@wrong("softmax-no-max-shift")
def plain_exponentials(scores, allowed):
    e = torch.where(allowed, scores.exp(), 0.0)
    return e / e.sum(-1, keepdim=True).clamp(min=1e-30)


@wrong("softmax-no-max-shift")
def loops_with_exp(scores, allowed):
    out = torch.zeros_like(scores)
    for b in range(scores.shape[0]):
        for i in range(scores.shape[1]):
            keys = allowed[i].nonzero()[:, 0]
            if len(keys):
                e = torch.exp(scores[b, i, keys])
                out[b, i, keys] = e / e.sum()
    return out


@wrong("zero-one-mask-added")
def plus_the_mask(scores, allowed):
    weights = (scores.nan_to_num(0, 0, 0) + allowed.float()).softmax(-1)
    return weights * allowed.any(-1, keepdim=True)


@wrong("inf-times-zero-mask")
def inverse_times_infinity(scores, allowed):
    return (scores + (~allowed).float() * float("-inf")).softmax(-1)


@wrong("inf-times-zero-mask")
def one_minus_mask_times_infinity(scores, allowed):
    mask = (1 - allowed.to(scores.dtype)) * -torch.inf
    return torch.softmax(scores + mask, dim=-1).nan_to_num(0.0)


@wrong("garbage-survives-the-mask")
def adds_a_large_negative(scores, allowed):
    """NaN - 1e9 is NaN."""
    weights = (scores + (~allowed) * -1e9).softmax(-1)
    return weights * allowed


@wrong("garbage-survives-the-mask")
def multiplies_then_fills(scores, allowed):
    """0 times inf is NaN."""
    masked = scores * allowed
    masked = masked + torch.zeros_like(masked).masked_fill(~allowed, -torch.inf)
    return masked.softmax(-1).masked_fill(~allowed.any(-1, keepdim=True), 0.0)


@wrong("bool-polarity-mha-vs-sdpa")
def hides_what_is_allowed(scores, allowed):
    return scores.masked_fill(allowed, -torch.inf).softmax(-1).nan_to_num(0.0)


@wrong("softmax-wrong-dim")
def over_the_queries(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    return torch.softmax(hidden, dim=1).nan_to_num(0.0)


@wrong("softmax-wrong-dim")
def over_the_batch(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    return F.softmax(hidden, dim=0).nan_to_num(0.0)


@wrong("query-hidden-not-key")
def hides_only_empty_rows(scores, allowed):
    reads = allowed.any(-1, keepdim=True)
    return scores.nan_to_num(0, 0, 0).softmax(-1) * reads


@wrong("input-changed-in-place")
def filled_in_place(scores, allowed):
    return scores.masked_fill_(~allowed, -torch.inf).softmax(-1).nan_to_num_(0.0)


@wrong("no-mask")
def nan_removed_and_nothing_hidden(scores, allowed):
    return softmax(scores.nan_to_num())


@wrong("mask-fill-near-zero", "fully-masked-row-uniform")
def the_broken_one_repaired_halfway(scores, allowed):
    return (scores.nan_to_num(0, 0, 0) * allowed).softmax(-1)


@wrong("softmax-wrong-dim", "fully-masked-row-nan")
def wrong_axis_and_nan(scores, allowed):
    return softmax(scores.masked_fill(~allowed, -torch.inf), dim=-2)


@wrong("mask-after-softmax", "softmax-no-max-shift")
def exponentials_then_mask(scores, allowed):
    e = scores.exp()
    return (e / e.sum(-1, keepdim=True)).masked_fill(~allowed, 0.0)
