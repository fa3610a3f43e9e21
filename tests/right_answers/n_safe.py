"""Right answers to n_safe."""

import torch

from tests.answers import right


@right("word by word")
def word_by_word(weights, begins, n_newest):
    limit = weights.shape[1] - n_newest
    starts = begins.nonzero().flatten().tolist() + [len(begins)]
    shown = 0
    for a, b in zip(starts, starts[1:], strict=False):
        if any(int(row.argmax()) >= limit for row in weights[a:b]):
            break
        shown = b
    return shown


@right("a loop that remembers where the word began")
def remembers(weights, begins, n_newest):
    word = 0
    n_positions = weights.size(1)
    for i in range(len(weights)):
        if begins[i]:
            word = i
        position = max(range(n_positions), key=lambda p: weights[i, p].item())
        if n_positions - position <= n_newest:
            return word
    return len(weights)


@right("a tensor of one number")
def in_torch(weights, begins, n_newest):
    n_tokens, n_positions = weights.shape
    places = torch.arange(n_tokens + 1)
    unsafe = weights.argmax(1) + n_newest >= n_positions
    n = torch.cat([places[:-1][unsafe], places[-1:]]).min()
    ends = torch.cat([places[:-1][begins], places[-1:]])
    return ends[ends <= n].max()


@right("recursion: without the last word until all is safe")
def recursive(weights, begins, n_newest):
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    if safe.all():
        return len(weights)
    last = int(begins.nonzero().max())
    return recursive(weights[:last], begins[:last], n_newest)
