"""Wrong answers to bits_per_byte."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("epsilon-in-the-logarithm")
def untouched(logits, targets, n_bytes):
    probabilities = torch.softmax(logits, -1)
    chosen = probabilities.gather(-1, targets[:, None])
    return -torch.log2(chosen + 1e-9).sum() / n_bytes


@wrong("epsilon-in-the-logarithm")
def tiny_of_the_dtype(logits, targets, n_bytes):
    p = torch.softmax(logits, -1)[torch.arange(len(targets)), targets]
    return -(p + torch.finfo(p.dtype).tiny).log2().sum() / n_bytes


@wrong("softmax-then-log")
def epsilon_taken_out(logits, targets, n_bytes):
    probabilities = torch.softmax(logits, -1)
    chosen = probabilities.gather(-1, targets[:, None])
    return -torch.log2(chosen).sum() / n_bytes


@wrong("softmax-no-max-shift")
def own_logsumexp(logits, targets, n_bytes):
    total = torch.log(torch.exp(logits).sum(1))
    chosen = logits.gather(1, targets.unsqueeze(1)).squeeze(1)
    return (total - chosen).sum() / (n_bytes * math.log(2))


@wrong("nats-for-bits")
def no_bits(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets, reduction="sum") / n_bytes


@wrong("nats-for-bits")
def times_ln_two(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets, reduction="sum") * math.log(2) / n_bytes


@wrong("per-token")
def mean_reduction(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets) / math.log(2)


@wrong("per-token")
def mean_and_bytes(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets) / math.log(2) / n_bytes


@wrong("no-gradient")
def a_float(logits, targets, n_bytes):
    loss = F.cross_entropy(logits, targets, reduction="sum")
    return float(loss) / math.log(2) / n_bytes


@wrong("double-softmax-in-loss")
def cross_entropy_of_probabilities(logits, targets, n_bytes):
    probabilities = torch.softmax(logits, -1)
    loss = F.cross_entropy(probabilities, targets, reduction="sum")
    return loss / math.log(2) / n_bytes


@wrong("surprise-sign")
def no_minus(logits, targets, n_bytes):
    chosen = torch.log_softmax(logits, -1).gather(-1, targets[:, None])
    return chosen.sum() / math.log(2) / n_bytes


@wrong("infinite-becomes-zero")
def infinite_charges_removed(logits, targets, n_bytes):
    chosen = torch.softmax(logits, -1).gather(-1, targets[:, None])
    bits = -torch.log2(chosen)
    return bits[bits.isfinite()].sum() / n_bytes


@wrong("nats-for-bits", "per-token")
def two_slips(logits, targets, n_bytes):
    return F.cross_entropy(logits, targets)
