"""Wrong answers to fuse_passages."""

import torch

from course_lib.masks import padding_mask
from tests.answers import wrong


@wrong("padding-only-at-the-end")
def sum_of_lengths(memory, lengths):
    b, p, k, d = memory.shape
    return memory.reshape(b, p * k, d), padding_mask(lengths.sum(-1), p * k)


@wrong("padding-read")
def forgets_the_mask(memory, lengths):
    joined = memory.flatten(1, 2)
    return joined, torch.ones(joined.shape[1], dtype=torch.bool)


@wrong("padding-zeroed")
def wipes_padding(memory, lengths):
    b, p, k, d = memory.shape
    real = torch.arange(k) < lengths[:, :, None]
    clean = torch.where(real[..., None], memory, torch.zeros(()))
    return clean.reshape(b, p * k, d), torch.ones(b, 1, 1, p * k).bool()


@wrong("mask-out-of-step")
def permuted(memory, lengths):
    b, p, k, d = memory.shape
    joined = memory.permute(0, 2, 1, 3).reshape(b, k * p, d)
    mask = (torch.arange(k) < lengths.unsqueeze(-1)).reshape(b, 1, 1, p * k)
    return joined, mask


@wrong("one-length-for-all")
def first_length(memory, lengths):
    b, p, k, d = memory.shape
    mask = padding_mask(lengths[:, 0], k).repeat(1, 1, 1, p)
    return memory.flatten(1, 2), mask


@wrong("one-length-for-all")
def longest(memory, lengths):
    n = int(lengths.max())
    joined = memory[:, :, :n].flatten(1, 2)
    return joined, padding_mask(lengths.amax(1), n).repeat(1, 1, 1, memory.shape[1])


@wrong("rows-mixed")
def passages_first(memory, lengths):
    b, p, k, d = memory.shape
    joined = memory.transpose(0, 1).reshape(b, p * k, d)
    real = torch.arange(k) < lengths.T[..., None]
    return joined, real.reshape(b, 1, 1, p * k)


@wrong("length-off-by-one")
def up_to_and_with(memory, lengths):
    k = memory.shape[2]
    mask = torch.arange(k) <= lengths[..., None]
    return memory.flatten(1, 2), mask.flatten(1)[:, None, None]


@wrong("mask-polarity")
def pads_are_true(memory, lengths):
    k = memory.shape[2]
    mask = torch.arange(k) >= lengths[..., None]
    return memory.flatten(1, 2), mask.flatten(1)[:, None, None]


@wrong("mask-axes-missing")
def two_axes(memory, lengths):
    mask = torch.arange(memory.shape[2]) < lengths[..., None]
    return memory.flatten(1, 2), mask.flatten(1)


@wrong("passages-added")
def mean_of_passages(memory, lengths):
    return memory.mean(1), padding_mask(lengths.amax(1), memory.shape[2])


@wrong("vectors-cut")
def features_before_places(memory, lengths):
    b, p, k, d = memory.shape
    real = (torch.arange(k) < lengths[..., None]).view(b, 1, 1, p * k)
    return memory.transpose(2, 3).reshape(b, p * k, d), real


@wrong("one-tensor-returned")
def only_the_memory(memory, lengths):
    return memory.flatten(1, 2)
