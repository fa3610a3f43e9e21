"""Wrong answers to smoothing_floor."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("other-tokens-forgotten")
def log_of_the_best(V, eps):
    p = (1 - eps) + eps / V
    return -math.log(p)


@wrong("other-tokens-forgotten")
def weighs_only_the_right_one(V, eps):
    p = 1 - eps + eps / V
    return -p * math.log(p)


@wrong("spread-over-the-others")
def torch_entropy_of_other_targets(V, eps):
    p = torch.full((V,), eps / (V - 1))
    p[0] = 1 - eps
    return torch.special.entr(p).sum().item()


@wrong("zero-times-infinity")
def just_the_formula(V, eps):
    a, b = 1 - eps + eps / V, eps / V
    return -(a * math.log(a) + (V - 1) * b * math.log(b))


@wrong("zero-times-infinity")
def with_torch_logs(V, eps):
    q = torch.full((V,), eps / V)
    q[0] += 1 - eps
    return -(q * q.log()).sum().item()


@wrong("target-counted-twice")
def all_v_others(V, eps):
    a, b = 1 - eps + eps / V, eps / V
    total = -a * math.log(a)
    for _ in range(V):
        total -= b * math.log(b) if b else 0
    return total


@wrong("loss-of-certainty")
def share_of_log_v(V, eps):
    return eps * math.log(V)


@wrong("wrong-base")
def base_two(V, eps):
    a, b = 1 - eps + eps / V, eps / V
    rest = (V - 1) * b * math.log2(b) if b > 0 else 0.0
    return -a * math.log2(a) - rest


@wrong("perplexity-for-loss")
def as_perplexity(V, eps):
    q = torch.full((V,), eps / V, dtype=torch.double)
    q[0] += 1 - eps
    return torch.distributions.Categorical(q).perplexity().item()


@wrong("logits-of-fixed-size")
def logits_of_ten(V, eps):
    logits = torch.zeros(1, V)
    logits[0, 0] = 10.0
    return F.cross_entropy(logits, torch.tensor([0]), label_smoothing=eps).item()


@wrong("rounded")
def two_digits(V, eps):
    a, b = 1 - eps + eps / V, eps / V
    return round(-a * math.log(a) - (V - 1) * b * math.log(b or 1), 2)


@wrong("wrong-base", "other-tokens-forgotten")
def bits_of_the_best(V, eps):
    return -math.log2(1 - eps + eps / V)
