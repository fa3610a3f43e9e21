"""Right answers to smoothing_floor."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("the loss itself at the best logits")
def cross_entropy_at_the_best(vocab_size, label_smoothing):
    q = torch.full((1, vocab_size), label_smoothing / vocab_size).double()
    q[0, 0] += 1 - label_smoothing
    logits = q.clamp(min=1e-30).log()
    target = torch.tensor([0])
    return F.cross_entropy(logits, target, label_smoothing=label_smoothing).item()


@right("entropy of a distribution")
def categorical(vocab_size, label_smoothing):
    q = torch.full((vocab_size,), label_smoothing / vocab_size).double()
    q[-1] += 1 - label_smoothing
    return torch.distributions.Categorical(q).entropy()


@right("a special case for 0")
def two_cases(V, eps):
    if eps == 0:
        return 0
    a = 1 - eps * (V - 1) / V
    b = eps / V
    return -a * math.log(a) - (V - 1) * b * math.log(b)


@right("the surprise of the target and the rest's, weighed as in the definition")
def as_defined(V, eps):
    a, b = 1 - eps + eps / V, max(eps / V, 1e-300)
    mean_of_all = (-math.log(a) - (V - 1) * math.log(b)) / V
    return (1 - eps) * -math.log(a) + eps * mean_of_all
