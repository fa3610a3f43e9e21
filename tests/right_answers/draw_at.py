"""Right answers to draw_at."""

import numpy as np
import torch

from tests.answers import right


@right("a loop over the ids that are not hidden")
def loop(logits, numbers):
    out = []
    for row, u in zip(
        logits.double().softmax(-1).tolist(), numbers.tolist(), strict=True
    ):
        total, pick = 0.0, None
        for i, p in enumerate(row):
            if p == 0:
                continue
            pick, total = i, total + p
            if u < total:
                break
        out.append(pick)
    return torch.tensor(out)


@right("counted, and limited to the last id with a piece")
def limited(logits, numbers):
    p = logits.double().softmax(-1)
    ids = (p.cumsum(-1) <= numbers[:, None]).sum(-1)
    last = ((p > 0) * torch.arange(p.shape[1])).amax(-1)
    return torch.minimum(ids, last)


@right("searchsorted on the right side, the number scaled to the last end")
def searchsorted(logits, numbers):
    ends = torch.softmax(logits.double(), -1).cumsum(-1)
    ends[ends == ends[:, -1:]] = 2.0
    return torch.searchsorted(ends, numbers[:, None], right=True)[:, 0]


@right("numpy, row by row")
def with_numpy(logits, numbers):
    ids = []
    for row, u in zip(logits.numpy().astype(np.float64), numbers.numpy(), strict=True):
        e = np.exp(row - row.max())
        ends = np.cumsum(e)
        ids.append(int(np.argmax(ends > u * ends[-1])))
        if u * ends[-1] >= ends[-1]:
            ids[-1] = int(np.flatnonzero(e)[-1])
    return torch.tensor(ids)
