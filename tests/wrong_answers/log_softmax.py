"""Wrong answers to log_softmax."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("log-of-softmax")
def log_after(scores, dim=-1):
    return torch.log(torch.softmax(scores, dim))


@wrong("log-of-softmax")
def log_with_guard(scores, dim=-1):
    e = torch.exp(scores - scores.max(dim, keepdim=True).values)
    p = e / e.sum(dim, keepdim=True)
    return torch.log(p + 1e-9)


@wrong("log-of-softmax")
def clamped_probability(scores, dim=-1):
    return F.softmax(scores, dim=dim).clamp(min=1e-12).log()


@wrong("softmax-no-max-shift")
def no_shift(scores, dim=-1):
    return scores - torch.log(torch.exp(scores).sum(dim, keepdim=True))


@wrong("softmax-no-max-shift")
def no_shift_either(scores, dim=-1):
    total = torch.sum(torch.exp(scores), dim=dim, keepdim=True)
    return torch.log(torch.exp(scores) / total)


@wrong("softmax-wrong-dim")
def first_axis(scores, dim=-1):
    return F.log_softmax(scores, 0)


@wrong("softmax-wrong-dim")
def default_axis(scores, dim=-1):
    return F.log_softmax(scores)


@wrong("softmax-ignores-dim")
def always_last(scores, dim=-1):
    return scores - scores.logsumexp(-1, keepdim=True)


@wrong("softmax-ignores-dim")
def last_by_habit(scores, dim=-1):
    m = scores.max(-1, keepdim=True)[0]
    return scores - m - torch.log(torch.exp(scores - m).sum(-1, keepdim=True))


@wrong("softmax-global-max")
def one_max_for_all(scores, dim=-1):
    shifted = scores - scores.max()
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@wrong("forgets-to-add-max-back")
def max_only_in_the_sum(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    return scores - (scores - m).exp().sum(dim, keepdim=True).log()


@wrong("forgets-to-add-max-back")
def max_forgotten_in_lse(scores, dim=-1):
    m = torch.max(scores, dim=dim, keepdim=True).values
    lse = torch.log(torch.sum(torch.exp(scores - m), dim=dim, keepdim=True))
    return scores - lse


@wrong("wrong-base")
def bits(scores, dim=-1):
    return torch.log_softmax(scores, dim) / math.log(2)


@wrong("wrong-base")
def decimal_log(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    return scores - m - torch.log10((scores - m).exp().sum(dim, keepdim=True))


@wrong("loss-sign")
def surprise(scores, dim=-1):
    return torch.logsumexp(scores, dim, keepdim=True) - scores


@wrong("returns-probabilities")
def no_log(scores, dim=-1):
    e = torch.exp(scores - scores.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong("sum-without-keepdim")
def forgets_keepdim(scores, dim=-1):
    return scores - torch.logsumexp(scores, dim)


@wrong("softmax-over-everything")
def one_distribution(scores, dim=-1):
    return scores - torch.logsumexp(scores.flatten(), 0)


@wrong("mean-instead-of-sum")
def mean_of_exponentials(scores, dim=-1):
    m = scores.amax(dim, keepdim=True)
    return scores - m - (scores - m).exp().mean(dim, keepdim=True).log()


@wrong("input-changed-in-place")
def shifts_the_input(scores, dim=-1):
    scores -= scores.amax(dim, keepdim=True)
    return scores - scores.exp().sum(dim, keepdim=True).log()


@wrong("log-of-softmax", "softmax-ignores-dim")
def two_slips(scores, dim=-1):
    return torch.softmax(scores, -1).log()


@wrong("softmax-no-max-shift", "wrong-base")
def unshifted_bits(scores, dim=-1):
    return scores - scores.exp().sum(dim, keepdim=True).log2()


@wrong("uniform-weights")
def equal_shares(scores, dim=-1):
    return torch.full_like(scores, -math.log(scores.shape[dim]))


@wrong("log-floored")
def a_little_before_the_log(scores, dim=-1):
    return torch.log(torch.softmax(scores, dim) + 1e-10)


@wrong("log-floored")
def never_below_the_smallest(scores, dim=-1):
    e = (scores - scores.amax(dim, keepdim=True)).exp()
    probabilities = e / e.sum(dim, keepdim=True)
    return probabilities.clamp_min(1e-8).log()
