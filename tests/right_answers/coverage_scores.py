"""Right answers to coverage_scores."""

import math

import torch

from tests.answers import right


@right("row by row")
def row_by_row(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    found = []
    for b in range(len(lengths)):
        n, m = int(lengths[b]), int(source_lengths[b])
        words = [min(1.0, float(weights[b, :n, k].sum())) for k in range(m)]
        cost = sum(math.log(seen) for seen in words)
        total = float(log_probabilities[b, :n].sum())
        found.append(total / ((5 + n) / 6) ** alpha + beta * cost)
    return torch.tensor(found)


@right("masks, and the limit after the logarithm")
def limit_after(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    query = torch.arange(weights.shape[1])
    key = torch.arange(weights.shape[2])
    real = (query < lengths[:, None]).float()
    seen = torch.einsum("bq,bqk->bk", real, weights)
    cost = seen.log().clamp(max=0).masked_fill(key >= source_lengths[:, None], 0)
    total = torch.einsum("bq,bq->b", real, log_probabilities)
    return total * ((5 + lengths) / 6).pow(-alpha) + beta * cost.sum(-1)


@right("padded keys made one, in float64")
def in_float64(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    weights, log_probabilities = weights.double().clone(), log_probabilities.double()
    beyond = torch.arange(weights.shape[1]) >= lengths[:, None]
    weights[beyond] = 0
    log_probabilities = log_probabilities.masked_fill(beyond, 0)
    no_word = torch.arange(weights.shape[2]) >= source_lengths[:, None]
    seen = torch.minimum(weights.sum(-2), torch.tensor(1.0))
    seen = torch.where(no_word, torch.tensor(1.0).double(), seen)
    penalty = torch.exp(alpha * torch.log((5.0 + lengths) / 6.0))
    return log_probabilities.sum(-1) / penalty + beta * torch.log(seen).sum(-1)
