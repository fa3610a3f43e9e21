"""Right answers to min_p, each in its own style."""

import math

import torch

from tests.answers import right


@right("probabilities")
def by_probability(logits, p):
    probabilities = torch.softmax(logits, dim=-1)
    least = p * probabilities.max(dim=-1, keepdim=True).values
    return logits.masked_fill(probabilities < least, float("-inf"))


@right("a distance in logits, without a softmax")
def by_distance(logits, p):
    gap = logits.amax(-1, keepdim=True) - logits
    return torch.where(gap <= -math.log(p), logits, -torch.inf)


@right("loop over rows, -1e9 (A2)")
def loops(logits, p):
    out = logits.clone().reshape(-1, logits.shape[-1])
    for row in out:
        probabilities = row.double().softmax(0)
        best = probabilities.max()
        for i in range(len(row)):
            if probabilities[i] < p * best:
                row[i] = -1e9
    return out.reshape(logits.shape)


@right("an additive mask of logs")
def additive(logits, p):
    ratio = torch.exp(logits - logits.max(dim=-1, keepdim=True)[0])
    return logits + torch.log((ratio >= p).to(logits.dtype))


@right("logarithms of the probabilities that are left")
def logs_of_probabilities(logits, p):
    probabilities = logits.softmax(-1)
    keep = probabilities >= p * probabilities.amax(-1, keepdim=True)
    return torch.where(keep, probabilities, 0.0).log()
