"""Wrong answers to copy_mixture."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("repeated-word-overwritten")
def plain_scatter(weights, source, probabilities, copying):
    c = copying.unsqueeze(-1)
    ids = source.unsqueeze(1).expand_as(weights)
    copied = torch.zeros_like(probabilities).scatter(-1, ids, weights)
    return (1 - c) * probabilities + c * copied


@wrong("repeated-word-overwritten")
def indexed_sum(weights, source, probabilities, copying):
    out = probabilities * (1 - copying[..., None])
    for b in range(len(source)):
        out[b][:, source[b]] += copying[b][:, None] * weights[b]
    return out


@wrong("shares-swapped")
def generates_with_copying(weights, source, probabilities, copying):
    c = copying[..., None]
    ids = source[:, None].expand(weights.shape)
    return (c * probabilities).scatter_add(-1, ids, (1 - c) * weights)


@wrong("own-share-not-reduced")
def on_top(weights, source, probabilities, copying):
    ids = source[:, None].expand(weights.shape)
    return probabilities.scatter_add(-1, ids, copying[..., None] * weights)


@wrong("source-of-another-row")
def one_source(weights, source, probabilities, copying):
    c = copying[..., None]
    copied = torch.zeros_like(probabilities).index_add(-1, source[0], weights)
    return (1 - c) * probabilities + c * copied


@wrong("only-the-largest-weight")
def copies_one_word(weights, source, probabilities, copying):
    c = copying[..., None]
    best = weights.argmax(-1)
    word = source.gather(1, best)
    one_hot = F.one_hot(word, probabilities.shape[-1])
    return (1 - c) * probabilities + c * one_hot


@wrong("words-counted")
def share_of_words(weights, source, probabilities, copying):
    c = copying[..., None]
    real = (weights > 0).to(weights.dtype)
    one_hot = F.one_hot(source, probabilities.shape[-1]).to(weights.dtype)
    counts = real @ one_hot
    return (1 - c) * probabilities + c * counts / counts.sum(-1, keepdim=True)


@wrong("place-taken-for-id")
def weights_at_the_front(weights, source, probabilities, copying):
    c = copying[..., None]
    pad = probabilities.shape[-1] - weights.shape[-1]
    return (1 - c) * probabilities + c * F.pad(weights, (0, pad))


@wrong("softmax-again")
def normalises_the_end(weights, source, probabilities, copying):
    c = copying[..., None]
    ids = source[:, None].expand(weights.shape)
    mixed = ((1 - c) * probabilities).scatter_add(-1, ids, c * weights)
    return torch.softmax(mixed, -1)


@wrong("input-changed-in-place")
def in_place(weights, source, probabilities, copying):
    c = copying[..., None]
    probabilities *= 1 - c
    ids = source[:, None].expand(weights.shape)
    return probabilities.scatter_add_(-1, ids, c * weights)


@wrong("copying-ignored")
def equal_parts(weights, source, probabilities, copying):
    ids = source[:, None].expand(weights.shape)
    copied = torch.zeros_like(probabilities).scatter_add(-1, ids, weights)
    return (probabilities + copied) / 2
