"""Wrong answers to sparsemax."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("all-scores-counted")
def first_guess(scores):
    tau = (scores.sum(-1, keepdim=True) - 1) / scores.shape[-1]
    return torch.relu(scores - tau)


@wrong("nothing-cut-off")
def shifted_only(scores):
    return scores - scores.mean(-1, keepdim=True) + 1 / scores.shape[-1]


@wrong("divided-not-shifted")
def relu_share(scores):
    kept = F.relu(scores)
    return kept / kept.sum(dim=-1, keepdim=True)


@wrong("divided-not-shifted")
def cut_once_then_normalised(scores):
    tau = (scores.sum(-1, keepdim=True) - 1) / scores.shape[-1]
    kept = torch.clamp(scores - tau, min=0)
    return kept / kept.sum(-1, keepdim=True)


@wrong("plain-softmax")
def soft(scores):
    return torch.softmax(scores, dim=-1)


@wrong("softmax-cut-off")
def small_weights_removed(scores):
    p = torch.softmax(scores, dim=-1)
    p = torch.where(p < 0.1, torch.zeros_like(p), p)
    return p / p.sum(-1, keepdim=True)


@wrong("only-the-largest")
def one_hot(scores):
    return F.one_hot(scores.argmax(-1), scores.shape[-1]).float()


@wrong("left-in-sorted-order")
def never_put_back(scores):
    z, _ = torch.sort(scores, dim=-1, descending=True)
    k = torch.arange(1, z.shape[-1] + 1)
    tau = (z.cumsum(-1) - 1) / k
    n = (z > tau).sum(-1, keepdim=True)
    return (z - tau.gather(-1, n - 1)).clamp(min=0)


@wrong("count-off-by-one")
def index_of_count(scores):
    z = torch.sort(scores, dim=-1, descending=True)[0]
    k = torch.arange(1, z.shape[-1] + 1)
    support = (1 + k * z > z.cumsum(-1)).sum(-1, keepdim=True)
    support = support.clamp(max=z.shape[-1] - 1)
    tau = (z.cumsum(-1).gather(-1, support) - 1) / (support + 1)
    return torch.clamp(scores - tau, min=0)


@wrong("one-is-missing")
def sums_to_nothing(scores):
    z = scores.sort(dim=-1, descending=True).values
    averages = z.cumsum(-1) / torch.arange(1, z.shape[-1] + 1)
    return (scores - averages.min(-1, keepdim=True).values).clamp(min=0)


@wrong("one-threshold-for-all")
def tau_of_the_table(scores):
    z = scores.sort(dim=-1, descending=True).values
    tau = ((z.cumsum(-1) - 1) / torch.arange(1, z.shape[-1] + 1)).max()
    return (scores - tau).clamp(min=0)


@wrong("too-few-halvings")
def coarse_search(scores):
    low = scores.max(-1, keepdim=True).values - 1
    high = low + 1
    for _ in range(5):
        tau = (low + high) / 2
        over = (scores - tau).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = torch.where(over, tau, low), torch.where(over, high, tau)
    return (scores - low).clamp(min=0)


@wrong("left-in-sorted-order", "all-scores-counted")
def two_slips(scores):
    z = scores.sort(-1, descending=True).values
    return (z - (z.sum(-1, keepdim=True) - 1) / z.shape[-1]).clamp(min=0)
