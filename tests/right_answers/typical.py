"""Right answers to typical."""

import math

import torch

from tests.answers import right


@right("the usual code: sort, count, gather the threshold's place")
def usual(logits, p):
    if p == 1:
        return logits
    normalised = torch.log_softmax(logits.double(), dim=-1)
    q = torch.exp(normalised)
    entropy = -(normalised * q).nansum(-1, keepdim=True)
    shifted = torch.abs((-normalised) - entropy)
    _, indices = torch.sort(shifted, dim=-1, stable=True)
    cumulative = q.gather(-1, indices).cumsum(dim=-1)
    last = (cumulative < p).sum(dim=-1, keepdim=True)
    places = torch.arange(logits.shape[-1]).expand_as(indices)
    remove = torch.zeros_like(indices).bool().scatter(-1, indices, places > last)
    return logits.masked_fill(remove, float("-inf"))


@right("plain Python on each row")
def plain_python(logits, p):
    rows = logits if logits.ndim == 2 else logits[None]
    out = torch.full_like(rows, float("-inf"))
    for r, row in enumerate(rows):
        top = max(row.tolist())
        e = [math.exp(z - top) for z in row.tolist()]
        q = [x / math.fsum(e) for x in e]
        h = -math.fsum(x * math.log(x) for x in q if x > 0)
        order = [i for i in range(len(q)) if q[i] > 0]
        order.sort(key=lambda i: (abs(-math.log(q[i]) - h), i))
        mass = 0.0
        for i in order:
            out[r, i] = row[i]
            mass += q[i]
            if mass >= p and p < 1:
                break
    return out if logits.ndim == 2 else out[0]


@right("Categorical knows the entropy; mass of all that are nearer")
def pairwise(logits, p):
    if p == 1:
        return logits.clone()
    wide = logits.double()
    log_q = wide - wide.logsumexp(-1, keepdim=True)
    q = log_q.exp()
    entropy = torch.where(q > 0, -q * log_q, 0.0).sum(-1, keepdim=True)
    d = (-log_q - entropy).abs()
    ids = torch.arange(d.shape[-1])
    equal_before = (d[..., None, :] == d[..., :, None]) & (ids[None, :] < ids[:, None])
    nearer = (d[..., None, :] < d[..., :, None]) | equal_before
    before = torch.where(nearer, q[..., None, :], 0.0).sum(-1)
    return torch.where(before < p, logits, float("-inf"))
