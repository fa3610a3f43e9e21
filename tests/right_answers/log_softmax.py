"""Right answers to log_softmax."""

import math

import torch

from tests.answers import right


@right("shifted by the maximum")
def shifted(scores, dim=-1):
    z = scores - scores.max(dim, keepdim=True).values
    return z - torch.log(torch.exp(z).sum(dim, keepdim=True))


@right("logsumexp")
def by_logsumexp(scores, dim=-1):
    wide = scores.double()
    return (wide - wide.logsumexp(dim).unsqueeze(dim)).to(scores.dtype)


@right("torch's own")
def torch_own(scores, dim=-1):
    return torch.nn.LogSoftmax(dim=dim)(scores)


@right("rows in a loop")
def loop(scores, dim=-1):
    x = scores.double().movedim(dim, -1)
    out = torch.empty_like(x).reshape(-1, x.shape[-1])
    for i, row in enumerate(x.reshape(-1, x.shape[-1]).tolist()):
        top = max(row)
        total = top + math.log(sum(math.exp(s - top) for s in row))
        out[i] = torch.tensor([s - total for s in row])
    return out.reshape(x.shape).movedim(-1, dim).to(scores.dtype)


@right("logaddexp, one score after the other")
def folded(scores, dim=-1):
    x = scores.float() if scores.dtype == torch.float16 else scores
    pieces = x.unbind(dim)
    total = pieces[0]
    for piece in pieces[1:]:
        total = torch.logaddexp(total, piece)
    return torch.stack([piece - total for piece in pieces], dim).to(scores.dtype)


@right("minus logsumexp of the differences")
def pairwise(scores, dim=-1):
    x = scores.movedim(dim, -1).double()
    out = -torch.logsumexp(x[..., None, :] - x[..., :, None], -1)
    return out.movedim(-1, dim).to(scores.dtype)
