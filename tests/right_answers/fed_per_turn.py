"""Right answers to fed_per_turn."""

import torch

from tests.answers import right


@right("an index of the oldest turn that is left")
def by_index(turns, n_system, limit, keep):
    sizes = [q + a for q, a in turns]
    oldest, fed = 0, []
    for i, (question, _) in enumerate(turns):
        new = question if i else n_system + question
        if n_system + sum(sizes[oldest : i + 1]) > limit:
            while oldest < i and n_system + sum(sizes[oldest : i + 1]) > keep:
                oldest += 1
            new = sum(sizes[oldest:i]) + question
        fed.append(new)
    return fed


@right("a cache that is counted, and what it lacks")
def by_cache(turns, n_system, limit, keep):
    talk, cache, fed = [], 0, []
    for question, answer in turns:
        if n_system + sum(map(sum, talk)) + question + answer > limit:
            while talk and n_system + sum(map(sum, talk)) + question + answer > keep:
                talk = talk[1:]
            cache = n_system
        prompt = n_system + sum(map(sum, talk)) + question
        fed.append(prompt - cache)
        cache = prompt + answer
        talk.append((question, answer))
    return fed


@right("ids themselves, cut from a list")
def by_ids(turns, n_system, limit, keep):
    kept, fed = [], []
    for number, (question, answer) in enumerate(turns):
        before = [t for turn in kept for t in turn]
        new = [number] * (question + answer)
        count = question + (n_system if number == 0 else 0)
        if n_system + len(before) + len(new) > limit:
            left = list(kept)
            while left and n_system + sum(map(len, left)) + len(new) > keep:
                left = left[1:]
            kept = left
            count = sum(map(len, kept)) + question
        kept = [*kept, new]
        fed.append(count)
    return torch.tensor(fed)
