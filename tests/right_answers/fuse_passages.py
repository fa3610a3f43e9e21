"""Right answers to fuse_passages."""

import torch
from torch.nn.utils.rnn import pad_sequence

from course_lib.masks import padding_mask
from tests.answers import right


@right("a mask of comparisons, reshaped")
def reshaped(memory, lengths):
    b, p, k, d = memory.shape
    real = torch.arange(k) < lengths.unsqueeze(-1)
    return memory.reshape(b, p * k, d), real.reshape(b, 1, 1, p * k)


@right("padding cut out, rows padded anew")
def packed(memory, lengths):
    rows = []
    for row, counts in zip(memory, lengths.tolist(), strict=True):
        rows.append(torch.cat([row[i, :n] for i, n in enumerate(counts)]))
    joined = pad_sequence(rows, batch_first=True)
    return joined, padding_mask([len(row) for row in rows], joined.shape[1])


@right("places first, in memory and mask alike")
def interleaved(memory, lengths):
    real = torch.arange(memory.shape[2])[:, None] < lengths[:, None]
    joined = memory.transpose(1, 2).flatten(1, 2)
    return joined, real.flatten(1)[:, None, None]


@right("an additive mask")
def additive(memory, lengths):
    joined = torch.cat(list(memory.unbind(1)), 1)
    hidden = torch.zeros(memory.shape[:3])
    hidden[torch.arange(memory.shape[2]) >= lengths[..., None]] = float("-inf")
    return joined, torch.cat(list(hidden.unbind(1)), 1)[:, None, None]
