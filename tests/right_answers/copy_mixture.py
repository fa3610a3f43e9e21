"""Right answers to copy_mixture."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("scatter_add into zeros")
def scattered(weights, source, probabilities, copying):
    ids = source[:, None].expand(-1, weights.shape[1], -1)
    copied = torch.zeros_like(probabilities).scatter_add_(-1, ids, weights)
    c = copying.unsqueeze(-1)
    return torch.lerp(probabilities, copied, c)


@right("one-hot rows, einsum")
def one_hot(weights, source, probabilities, copying):
    table = F.one_hot(source, probabilities.shape[-1]).to(weights.dtype)
    copied = torch.einsum("bqk,bkv->bqv", weights, table)
    c = copying[:, :, None]
    return c * copied + (1 - c) * probabilities


@right("three loops")
def loops(weights, source, probabilities, copying):
    out = (1 - copying[..., None]) * probabilities
    for b, ids in enumerate(source.tolist()):
        for key, word in enumerate(ids):
            for q in range(weights.shape[1]):
                out[b, q, word] += copying[b, q] * weights[b, q, key]
    return out


@right("index_add, row by row")
def by_rows(weights, source, probabilities, copying):
    rows = []
    for w, ids, p, c in zip(weights, source, probabilities, copying, strict=True):
        rows.append(torch.index_add((1 - c)[:, None] * p, 1, ids, c[:, None] * w))
    return torch.stack(rows)
