"""Right answers to sparsemax."""

import torch

from tests.answers import right


@right("the largest consistent count")
def by_support(scores):
    z = scores.sort(-1, descending=True).values
    k = torch.arange(1, z.shape[-1] + 1)
    sums = z.cumsum(-1)
    n = (1 + k * z > sums).sum(-1, keepdim=True)
    tau = (sums.gather(-1, n - 1) - 1) / n
    return torch.clamp(scores - tau, min=0)


@right("a search by halves")
def by_halves(scores):
    top = scores.amax(-1, keepdim=True)
    low, high = top - 1, top
    for _ in range(40):
        tau = (low + high) / 2
        over = (scores - tau).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = torch.where(over, tau, low), torch.where(over, high, tau)
    return (scores - (low + high) / 2).clamp(min=0)


@right("row by row, the lowest taken out until all are above")
def loop(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]).tolist():
        kept = sorted(row)
        while kept[0] <= (sum(kept) - 1) / len(kept):
            kept.pop(0)
        tau = (sum(kept) - 1) / len(kept)
        rows.append([max(z - tau, 0.0) for z in row])
    return torch.tensor(rows).reshape(scores.shape)


@right("tau moved by Newton's steps")
def newton(scores):
    tau = (scores.sum(-1, keepdim=True) - 1) / scores.shape[-1]
    for _ in range(scores.shape[-1]):
        above = scores > tau
        total = torch.where(above, scores, 0.0).sum(-1, keepdim=True)
        tau = (total - 1) / above.sum(-1, keepdim=True)
    return torch.relu(scores - tau)
