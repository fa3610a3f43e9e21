"""Wrong answers to n_safe."""

import torch

from tests.answers import wrong


@wrong("half-a-word-shown")
def stops_at_the_token(weights, begins, n_newest):
    n = 0
    for row in weights:
        if row.argmax() >= len(row) - n_newest:
            break
        n += 1
    return n


@wrong("safe-ones-counted")
def skips_the_unsafe(weights, begins, n_newest):
    n = 0
    for row in weights:
        if row.argmax() >= len(row) - n_newest:
            continue
        n += 1
    return n


@wrong("up-to-the-last-safe-one")
def trims_the_end(weights, begins, n_newest):
    n = len(weights)
    limit = weights.shape[1] - n_newest
    while n > 0 and weights[n - 1].argmax() >= limit:
        n -= 1
    while n < len(weights) and n > 0 and not begins[n]:
        n -= 1
    return n


@wrong("one-position-off")
def strictly_above(weights, begins, n_newest):
    limit = weights.shape[1] - n_newest
    n = len(weights)
    for i in range(len(weights)):
        if weights[i].argmax() > limit:
            n = i
            break
    while 0 < n < len(weights) and not begins[n]:
        n -= 1
    return n


@wrong("one-position-off")
def counts_from_one(weights, begins, n_newest):
    limit = weights.shape[1] - 1 - n_newest
    n = len(weights)
    for i, row in enumerate(weights):
        if row.argmax() >= limit:
            n = i
            break
    while 0 < n < len(weights) and not begins[n]:
        n -= 1
    return n


@wrong("over-the-wrong-axis")
def forgets_the_axis(weights, begins, n_newest):
    n = len(weights)
    if n == 0:
        return 0
    newest = weights.shape[1] - n_newest
    for token in weights.argmax(dim=0)[max(0, newest) :]:
        n = min(n, int(token))
    while 0 < n < len(begins) and not begins[n]:
        n = n - 1
    return n


@wrong("sum-instead-of-largest")
def mass_of_the_newest(weights, begins, n_newest):
    share = weights / weights.sum(dim=1, keepdim=True)
    first = max(0, weights.shape[1] - n_newest)
    n = 0
    while n < len(share) and share[n, first:].sum() < 0.5:
        n += 1
    while 0 < n < len(begins) and not begins[n]:
        n -= 1
    return n


@wrong("slice-of-none-is-all")
def negative_slice(weights, begins, n_newest):
    n_positions = weights.shape[1]
    newest = list(range(n_positions))[-n_newest:]
    n = 0
    while n < len(weights) and int(weights[n].argmax()) not in newest:
        n += 1
    while 0 < n < len(begins) and not begins[n]:
        n -= 1
    return n


@wrong("word-before-held-too")
def do_while(weights, begins, n_newest):
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    if bool(safe.all()):
        return len(weights)
    n = int((~safe).nonzero()[0])
    while n > 0:
        n -= 1
        if begins[n]:
            break
    return n


@wrong("last-word-always-held")
def drops_the_last_word(weights, begins, n_newest):
    starts = begins.nonzero().flatten().tolist()
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    n = int(safe.cumprod(0).sum())
    return max([s for s in starts if s <= n], default=0)


@wrong("words-counted")
def number_of_words(weights, begins, n_newest):
    limit = weights.shape[1] - n_newest
    words = 0
    starts = begins.nonzero().flatten().tolist() + [len(begins)]
    for a, b in zip(starts, starts[1:], strict=False):
        if (weights[a:b].argmax(1) >= limit).any():
            break
        words += 1
    return words


@wrong("safe-ones-counted", "one-position-off")
def sum_of_a_comparison(weights, begins, n_newest):
    return torch.sum(weights.argmax(-1) <= weights.shape[-1] - n_newest).item()
