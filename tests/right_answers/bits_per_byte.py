"""Right answers to bits_per_byte."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("torch's loss, summed")
def torch_loss(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets, reduction="sum") / (n_bytes * math.log(2))


@right("the mean times the number of tokens")
def mean_times_count(logits, targets, n_bytes):
    nats = F.cross_entropy(logits, targets) * len(targets)
    return nats / math.log(2) / n_bytes


@right("logsumexp and an index")
def logsumexp(logits, targets, n_bytes):
    chosen = logits[torch.arange(len(targets)), targets]
    bits = (torch.logsumexp(logits, 1) - chosen) * math.log2(math.e)
    return bits.sum() / n_bytes


@right("one token after the other, shifted by hand")
def loop(logits, targets, n_bytes):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        shifted = row - row.detach().max()
        total = total + shifted.exp().sum().log() - shifted[target]
    return total / math.log(2) / n_bytes
