"""Right answers to spans_of."""

import math
from functools import cache

import torch

from tests.answers import right


@right("recursion from the front, with a memory")
def recursive(gains):
    n, length = gains.shape
    rows = gains.tolist()

    @cache
    def best(token, t, inside):
        """The largest sum from position t on, and the borders; inside: it has begun."""
        if t == length:
            if inside:
                return (0.0, (length,)) if token == n - 1 else (-math.inf, ())
            return (0.0, ()) if token == n else (-math.inf, ())
        if inside:
            total, borders = best(token, t + 1, True)
            ended, behind = best(token + 1, t, False)
            return max((total + rows[token][t], borders), (ended, (t, *behind)))
        rests = best(token, t + 1, False)
        if token == n:
            return rests
        total, borders = best(token, t + 1, True)
        return max(rests, (total + rows[token][t], (t, *borders)))

    _, borders = best(0, 0, False)
    return list(zip(borders[::2], borders[1::2], strict=True))


@right("best beginning for each end, with running sums")
def by_running_sums(gains):
    n, length = gains.shape
    before = torch.zeros(length + 1, dtype=torch.float64)
    choices = []
    for i in range(n):
        sums = torch.cat([torch.zeros(1), gains[i]]).double().cumsum(0)
        room, start = (before - sums).cummax(0)
        ending = torch.full((length + 1,), -math.inf, dtype=torch.float64)
        ending[1:] = room[:-1] + sums[1:]
        before, end = ending.cummax(0)
        choices.append((start, end))
    spans, limit = [], length
    for start, end in reversed(choices):
        stop = int(end[limit])
        limit = int(start[stop - 1])
        spans.insert(0, (limit, stop))
    return torch.tensor(spans)


@right("states in a tensor, with a table of steps back")
def viterbi(gains):
    n, length = gains.shape
    n_states = 2 * n + 1
    states = torch.zeros(n_states, length, dtype=torch.float64)
    states[1::2] = gains
    allowed = torch.full((n_states, n_states), -math.inf, dtype=torch.float64)
    for s in range(n_states):
        allowed[s, s] = 0
        if s:
            allowed[s, s - 1] = 0
        if s % 2 and s > 1:
            allowed[s, s - 2] = 0
    scores = torch.full((n_states,), -math.inf, dtype=torch.float64)
    scores[:2] = states[:2, 0]
    back = []
    for t in range(1, length):
        best, origin = (allowed + scores).max(1)
        scores = best + states[:, t]
        back.append(origin)
    path = [2 * n - 1 + int(scores[-1] > scores[-2])]
    for origin in back[::-1]:
        path.append(int(origin[path[-1]]))
    path = path[::-1]
    return [[path.index(s), path.index(s) + path.count(s)] for s in range(1, 2 * n, 2)]
