"""Wrong answers to mean_surprise."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("zero-times-infinity")
def formula_as_written(logits):
    p = torch.softmax(logits, dim=-1)
    return -torch.sum(p * torch.log(p), dim=-1)


@wrong("zero-times-infinity")
def stable_but_for_the_product(logits):
    logp = F.log_softmax(logits, dim=-1)
    return (logp.exp() * -logp).sum(dim=-1)


@wrong("softmax-no-max-shift")
def own_softmax(logits):
    e = torch.exp(logits)
    p = e / e.sum(-1, keepdim=True)
    logp = torch.where(p > 0, p, torch.ones_like(p)).log()
    return -(p * logp).sum(-1)


@wrong("not-weighted")
def mean_without_weights(logits):
    logp = torch.log_softmax(logits, -1)
    logp = torch.where(torch.isinf(logp), torch.zeros_like(logp), logp)
    return -logp.mean(dim=-1)


@wrong("averaged-over-ids")
def mean_for_sum(logits):
    logp = torch.log_softmax(logits, -1)
    return -torch.nan_to_num(logp.exp() * logp).mean(-1)


@wrong("surprise-sign")
def no_minus(logits):
    p = logits.softmax(-1)
    return torch.xlogy(p, p).sum(-1)


@wrong("wrong-base")
def bits(logits):
    p = logits.softmax(-1)
    logp = torch.log2(p).masked_fill(p == 0, 0.0)
    return -(p * logp).sum(-1)


@wrong("rows-added-up")
def sum_without_axis(logits):
    p = logits.softmax(-1)
    return -torch.xlogy(p, p).sum()


@wrong("surprise-of-the-best")
def log_of_max(logits):
    return -logits.softmax(-1).max(-1).values.log()


@wrong("epsilon-far-too-large")
def epsilon_of_a_thousandth(logits):
    p = logits.softmax(-1)
    return -(p * (p + 1e-3).log()).sum(-1)


@wrong("loops-over-rows-only")
def rows_of_a_table(logits):
    found = []
    for row in logits:
        total = 0.0
        for p in row.softmax(0).tolist():
            if p > 0:
                total -= p * math.log(p)
        found.append(total)
    return torch.tensor(found)


@wrong("keeps-the-axis")
def keepdim_left(logits):
    p = logits.softmax(-1)
    return torch.special.entr(p).sum(-1, keepdim=True)


@wrong("wrong-base", "zero-times-infinity")
def two_slips(logits):
    p = torch.softmax(logits, -1)
    return -(p * torch.log2(p)).sum(-1)
