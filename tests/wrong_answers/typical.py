"""Wrong answers to typical."""

import torch

from tests.answers import wrong


def finish(logits, distance, p):
    """Keep the nearest until the mass is p."""
    if p >= 1:
        return logits.clone()
    out = logits.clone()
    q = torch.softmax(logits.double(), -1)
    order = torch.argsort(distance, dim=-1, stable=True)
    q_sorted = torch.gather(q, -1, order)
    mass_before = torch.cumsum(q_sorted, -1) - q_sorted
    remove = torch.zeros_like(q, dtype=torch.bool)
    remove.scatter_(-1, order, mass_before >= p)
    out[remove] = float("-inf")
    return out


@wrong("top-p-instead")
def nucleus(logits, p):
    return finish(logits, -torch.softmax(logits.double(), -1), p)


@wrong("zero-times-infinity")
def plain_entropy(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = -(logp.exp() * logp).sum(-1, keepdim=True)
    return finish(logits, torch.abs(-logp - h), p)


@wrong("distance-with-a-sign")
def no_abs(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = torch.special.entr(logp.exp()).sum(-1, keepdim=True)
    return finish(logits, h + logp, p)


@wrong("plain-mean-for-entropy")
def mean_surprise_of_all(logits, p):
    s = -torch.log_softmax(logits.double(), -1)
    return finish(logits, (s - s.mean(-1, keepdim=True)).abs(), p)


@wrong("one-entropy-for-all-rows")
def dim_forgotten(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = torch.special.entr(logp.exp()).sum()
    return finish(logits, (-logp - h).abs(), p)


@wrong("topk-fill-not-inf")
def zero_where_removed(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = torch.special.entr(logp.exp()).sum(-1, keepdim=True)
    kept = finish(logits, (-logp - h).abs(), p)
    return torch.where(kept == float("-inf"), 0.0, logits)


@wrong("topp-drops-crossing-token")
def fits(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = torch.special.entr(logp.exp()).sum(-1, keepdim=True)
    _, order = (-logp - h).abs().sort(dim=-1, stable=True)
    mass = logp.exp().gather(-1, order).cumsum(-1)
    remove = (mass > p).scatter(-1, order, mass > p)
    return logits.clone() if p == 1 else logits.masked_fill(remove, float("-inf"))


@wrong("input-changed-in-place")
def writes_into_the_input(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = torch.special.entr(logp.exp()).sum(-1, keepdim=True)
    kept = finish(logits, (-logp - h).abs(), p)
    logits[kept == float("-inf")] = float("-inf")
    return logits


@wrong("top-p-instead", "zero-times-infinity")
def wrong_sign_and_nan(logits, p):
    logp = torch.log_softmax(logits.double(), -1)
    h = -(logp.exp() * logp).sum(-1, keepdim=True)
    return finish(logits, (logp - h).abs(), p)
