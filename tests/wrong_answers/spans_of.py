"""Wrong answers to spans_of."""

import math

import torch

from tests.answers import wrong


@wrong("no-rest")
def segments(gains):
    """Each position belongs to a token; a table of sums, then the way back."""
    n, length = gains.shape
    g = gains.tolist()
    table = [[-math.inf] * length for _ in range(n)]
    new = [[False] * length for _ in range(n)]
    table[0][0] = g[0][0]
    for t in range(1, length):
        for i in range(n):
            stay = table[i][t - 1]
            step = table[i - 1][t - 1] if i > 0 else -math.inf
            new[i][t] = step > stay
            table[i][t] = g[i][t] + max(stay, step)
    spans, i, end = [], n - 1, length
    for t in range(length - 1, 0, -1):
        if new[i][t]:
            spans.append((t, end))
            end, i = t, i - 1
    spans.append((0, end))
    return spans[::-1]


@wrong("each-token-alone")
def kadane(gains):
    spans = []
    for row in gains.tolist():
        best, here, first = -math.inf, 0.0, 0
        for t, gain in enumerate(row):
            if here <= 0:
                here, first = 0.0, t
            here += gain
            if here > best:
                best, span = here, (first, t + 1)
        spans.append(span)
    return spans


@wrong("greedy")
def takes_what_is_best_now(gains):
    n, length = gains.shape
    spans, begin = [], 0
    for i in range(n):
        last = length - (n - i - 1)
        best = None
        for a in range(begin, last):
            for b in range(a + 1, last + 1):
                total = gains[i, a:b].sum().item()
                if best is None or total > best[0]:
                    best = (total, a, b)
        spans.append((best[1], best[2]))
        begin = best[2]
    return spans


def viterbi(gains, rest=0.0, ends=(True, True), skip=True):
    """States rest, token, rest, token, ..., rest."""
    n, length = gains.shape
    states = torch.full((2 * n + 1, length), rest)
    states[1::2] = gains
    scores = torch.full((2 * n + 1,), -math.inf)
    scores[1] = states[1, 0]
    if ends[0]:
        scores[0] = states[0, 0]
    back = []
    for t in range(1, length):
        options = torch.full((3, 2 * n + 1), -math.inf)
        options[0] = scores
        options[1, 1:] = scores[:-1]
        if skip:
            options[2, 3::2] = scores[1:-2:2]
        best, choice = options.max(0)
        scores = best + states[:, t]
        back.append(choice)
    state = 2 * n - 1
    if ends[1] and scores[2 * n] > scores[state]:
        state = 2 * n
    path = [state]
    for choice in reversed(back):
        path.append(path[-1] - int(choice[path[-1]]))
    path.reverse()
    spans = []
    for i in range(n):
        places = [t for t, s in enumerate(path) if s == 2 * i + 1]
        spans.append((places[0], places[-1] + 1) if places else (0, 0))
    return spans


@wrong("rest-required")
def as_with_equal_letters(gains):
    return viterbi(gains, skip=False)


@wrong("no-rest-at-the-ends")
def starts_and_ends_with_a_token(gains):
    return viterbi(gains, ends=(False, False))


@wrong("no-rest-at-the-ends")
def must_start_with_a_token(gains):
    return viterbi(gains, ends=(False, True))


@wrong("end-inside")
def inclusive(gains):
    return [(a, b - 1) for a, b in viterbi(gains)]


@wrong("resting-costs")
def rest_is_minus_one(gains):
    return viterbi(gains, rest=-1.0)


@wrong("one-position-each")
def increasing_positions(gains):
    n, length = gains.shape
    best = {(0, -1): (0.0, [])}
    for i in range(n):
        new = {}
        for (_, last), (total, spans) in best.items():
            for t in range(last + 1, length - (n - i - 1)):
                value = total + gains[i, t].item()
                if (i + 1, t) not in new or new[i + 1, t][0] < value:
                    new[i + 1, t] = (value, [*spans, (t, t + 1)])
        best = new
    return max(best.values())[1]


@wrong("largest-of-each-row")
def argmax_only(gains):
    return [(t, t + 1) for t in gains.argmax(1).tolist()]


@wrong("each-token-alone", "end-inside")
def positive_places(gains):
    spans = []
    for row in gains:
        places = (row > 0).nonzero().flatten().tolist() or [int(row.argmax())]
        spans.append((places[0], places[-1]))
    return spans
