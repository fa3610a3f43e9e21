"""Wrong answers to coverage_scores."""

import torch

from tests.answers import wrong


def masks(weights, lengths, source_lengths):
    """Real queries and real keys, as bools."""
    q = torch.arange(weights.shape[1])[None] < lengths[:, None]
    k = torch.arange(weights.shape[2])[None] < source_lengths[:, None]
    return q, k


@wrong("weights-summed-over-keys")
def rows_summed(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, _ = masks(weights, lengths, source_lengths)
    lp = ((5 + lengths) / 6) ** alpha
    seen = weights.sum(dim=2).clamp(max=1.0)
    cp = (seen.log() * q).sum(1)
    return (log_probabilities * q).sum(1) / lp + beta * cp


@wrong("no-limit-of-one")
def without_min(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    lp = ((5 + lengths) / 6) ** alpha
    seen = (weights * q[:, :, None]).sum(1)
    cp = torch.where(k, seen.log(), torch.zeros_like(seen)).sum(1)
    return (log_probabilities * q).sum(1) / lp + beta * cp


@wrong("source-padding-punished")
def log_of_zero(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, _ = masks(weights, lengths, source_lengths)
    seen = (weights * q.unsqueeze(-1)).sum(1)
    cp = torch.log(torch.minimum(seen, torch.ones(()))).sum(-1)
    return (log_probabilities * q).sum(-1) / ((5 + lengths) / 6) ** alpha + beta * cp


@wrong("source-padding-punished")
def epsilon(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, _ = masks(weights, lengths, source_lengths)
    seen = (weights * q.unsqueeze(-1)).sum(1)
    cp = torch.log(seen.clamp(max=1) + 1e-6).sum(-1)
    return (log_probabilities * q).sum(-1) / ((5 + lengths) / 6) ** alpha + beta * cp


@wrong("padded-queries-counted")
def all_rows(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = weights.sum(1).clamp(max=1)
    seen[~k] = 1
    total = (log_probabilities * q).sum(-1)
    return total / ((5 + lengths) / 6) ** alpha + beta * seen.log().sum(-1)


@wrong("padded-ids-counted")
def all_ids(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = log_probabilities.sum(-1)
    return total / ((5 + lengths) / 6) ** alpha + beta * seen.log().sum(-1)


@wrong("both-terms-divided")
def brackets(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = (log_probabilities * q).sum(-1) + beta * seen.log().sum(-1)
    return total / ((5 + lengths) / 6) ** alpha


@wrong("plain-length")
def mean_per_id(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = (log_probabilities * q).sum(-1) / lengths**alpha
    return total + beta * seen.log().sum(-1)


@wrong("cost-sign")
def minus(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = (log_probabilities * q).sum(-1) / ((5 + lengths) / 6) ** alpha
    return total - beta * seen.log().sum(-1)


@wrong("padded-length")
def width_of_the_table(
    log_probabilities, weights, lengths, source_lengths, alpha, beta
):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = (log_probabilities * q).sum(-1)
    lp = ((5 + log_probabilities.shape[1]) / 6) ** alpha
    return total / lp + beta * seen.log().sum(-1)


@wrong("mean-over-words")
def average_cost(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    q, k = masks(weights, lengths, source_lengths)
    seen = (weights * q[..., None]).sum(1).clamp(max=1).masked_fill(~k, 1)
    total = (log_probabilities * q).sum(-1) / ((5 + lengths) / 6) ** alpha
    return total + beta * seen.log().sum(-1) / source_lengths


@wrong("padded-queries-counted", "padded-ids-counted", "source-padding-punished")
def as_the_formula_stands(
    log_probabilities, weights, lengths, source_lengths, alpha, beta
):
    lp = ((5 + lengths) / 6) ** alpha
    cp = weights.sum(1).clamp(max=1).log().sum(-1)
    return log_probabilities.sum(-1) / lp + beta * cp
