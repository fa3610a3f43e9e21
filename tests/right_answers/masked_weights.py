"""Right answers to masked_weights."""

import torch

from course_lib.softmax import softmax
from tests.answers import right


@right("filled with -inf before, with 0 after")
def fill_twice(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    return softmax(hidden).masked_fill(~allowed, 0.0)


@right("NaN replaced after the softmax")
def nan_to_zero(scores, allowed):
    hidden = torch.where(allowed, scores, float("-inf"))
    return torch.softmax(hidden, dim=-1).nan_to_num(0.0)


@right("the smallest number, then times the mask")
def smallest_number(scores, allowed):
    low = torch.finfo(scores.dtype).min
    return scores.masked_fill(~allowed, low).softmax(-1) * allowed


@right("exponentials shifted by the largest allowed score")
def own_softmax(scores, allowed):
    hidden = scores.masked_fill(~allowed, -torch.inf)
    largest = hidden.amax(-1, keepdim=True)
    largest = torch.where(largest.isinf(), 0.0, largest)
    e = torch.exp(hidden - largest)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, 1.0, total)


@right("softmax of the allowed keys, query by query")
def row_by_row(scores, allowed):
    weights = torch.zeros_like(scores)
    for i, keys in enumerate(allowed):
        if keys.any():
            weights[:, i, keys] = scores[:, i, keys].softmax(-1)
    return weights


@right("empty rows opened before, closed after")
def opened_rows(scores, allowed):
    empty = ~allowed.any(-1, keepdim=True)
    s = scores.masked_fill(~allowed, float("-inf")).masked_fill(empty, 0.0)
    return s.softmax(-1).masked_fill(empty, 0.0)


@right("an indexed copy, float64")
def indexed_copy(scores, allowed):
    s = scores.double().clone()
    s[:, ~allowed] = -torch.inf
    w = torch.exp(s - torch.logsumexp(s, -1, keepdim=True))
    w[:, ~allowed] = 0
    return w.to(scores.dtype)
