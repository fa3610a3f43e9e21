"""Right answers to padding_mask."""

import torch
from torch.nn.utils.rnn import pad_sequence

from tests.answers import right


@right("comparison with an arange")
def compared(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths).view(-1, 1, 1, 1)
    place = torch.arange(n_keys)
    if side == "left":
        return place >= n_keys - lengths
    return place < lengths


@right("the right mask, flipped for the left")
def flipped(lengths, n_keys, side="right"):
    real = torch.arange(n_keys)[None, :] < torch.as_tensor(lengths)[:, None]
    if side == "left":
        real = real.flip(dims=[1])
    return real[:, None, None, :]


@right("lists of bools")
def lists(lengths, n_keys, side="right"):
    rows = []
    for n in lengths:
        n = int(n)
        real, pad = [True] * n, [False] * (n_keys - n)
        rows.append([[real + pad if side == "right" else pad + real]])
    return torch.tensor(rows)


@right("additive, -inf on padding")
def additive(lengths, n_keys, side="right"):
    mask = torch.zeros(len(lengths), 1, 1, n_keys)
    for row, n in zip(mask, lengths, strict=True):
        if side == "right":
            row[..., int(n) :] = float("-inf")
        else:
            row[..., : n_keys - int(n)] = float("-inf")
    return mask


@right("additive, the smallest finite number on padding")
def additive_finite(lengths, n_keys, side="right"):
    place = torch.arange(n_keys) if side == "right" else torch.arange(n_keys).flip(0)
    pad = place[None] >= torch.as_tensor(lengths)[:, None]
    return pad[:, None, None].float() * torch.finfo(torch.float32).min


@right("torch's padding of rows of ones")
def padded(lengths, n_keys, side="right"):
    ones = [torch.ones(int(n)) for n in lengths] + [torch.ones(n_keys)]
    real = pad_sequence(ones, batch_first=True)[:-1] == 1
    real = real.flip(1) if side == "left" else real
    return real.unsqueeze(1).unsqueeze(2)
