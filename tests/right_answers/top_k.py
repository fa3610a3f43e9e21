"""Right answers to top_k, each in its own style."""

import numpy as np
import torch

from tests.answers import right


@right("threshold at the k-th value (A7: keeps all that tie with it)")
def threshold(logits, k):
    kth = torch.topk(logits, min(k, logits.size(-1)), dim=-1).values[..., -1, None]
    return torch.where(logits < kth, float("-inf"), logits)


@right("topk and scatter (A7: exactly k, torch's choice among equals)")
def scattered(logits, k):
    values, ids = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, -torch.inf).scatter(-1, ids, values)


@right("stable sort, ranks kept")
def ranked(logits, k):
    order = torch.argsort(logits, dim=-1, descending=True, stable=True)
    rank = torch.argsort(order, dim=-1)
    return logits.masked_fill(rank >= k, -torch.inf)


@right("loops over rows, lowest id among equals")
def loops(logits, k):
    kept = torch.full_like(logits, -torch.inf).reshape(-1, logits.shape[-1])
    for row, out in zip(logits.reshape(kept.shape), kept, strict=True):
        for i in sorted(range(len(row)), key=lambda i: -row[i].item())[:k]:
            out[i] = row[i]
    return kept.reshape(logits.shape)


@right("one maximum at a time, least number of the dtype (A2)")
def peeled(logits, k):
    least = torch.finfo(logits.dtype).min
    left, keep = logits.clone(), torch.zeros_like(logits, dtype=torch.bool)
    for _ in range(min(k, logits.shape[-1])):
        best = left.argmax(dim=-1, keepdim=True)
        keep = keep.scatter(-1, best, True)
        left = left.scatter(-1, best, -torch.inf)
    return torch.where(keep, logits, least)


@right("numpy partition")
def with_numpy(logits, k):
    x = logits.detach().numpy()
    if k >= x.shape[-1]:
        return torch.from_numpy(x.copy())
    kth = np.partition(x, -k, axis=-1)[..., [-k]]
    return torch.from_numpy(np.where(x >= kth, x, -np.inf).astype(x.dtype))


@right("an additive mask of -1e9 (A2)")
def additive(logits, k):
    kth = logits.sort(dim=-1).values[..., [-min(k, logits.shape[-1])]]
    return logits + (logits < kth) * -1e9
