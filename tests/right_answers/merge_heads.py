"""Right answers to merge_heads."""

import torch

from tests.answers import right


@right("transpose, contiguous, view")
def transposed(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).contiguous().view(b, t, h * d)


@right("heads concatenated along the width")
def concatenated(x):
    return torch.cat([x[:, h] for h in range(x.size(1))], dim=-1)


@right("permute and flatten")
def permuted(x):
    return x.permute(0, 2, 1, 3).flatten(start_dim=2)


@right("slices written in a loop")
def loop(x):
    b, h, t, d = x.shape
    out = torch.empty(b, t, h * d, dtype=x.dtype)
    for head in range(h):
        for place in range(t):
            out[:, place, head * d : (head + 1) * d] = x[:, head, place]
    return out


@right("einsum swaps, reshape joins")
def swapped(x):
    return torch.einsum("bhtd->bthd", x).reshape(x.shape[0], x.shape[2], -1)


@right("numpy moves the axis")
def with_numpy(x):
    a = x.detach().numpy().swapaxes(1, 2)
    return torch.from_numpy(a.reshape(*a.shape[:2], -1).copy())
