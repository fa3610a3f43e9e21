"""Right answers to decoder_masks."""

import torch

from course_lib.masks import may_read, padding_mask
from tests.answers import right


@right("the code, repaired in place")
def repaired(target, source):
    n = target.shape[1]
    causal = torch.ones(n, n).tril().bool()
    self_allowed = causal & (target != 0)[:, None, None, :]
    cross_allowed = (source != 0)[:, None, None, :]
    return self_allowed, cross_allowed


@right("lengths and the library's masks, cut to real queries")
def by_lengths(target, source):
    lengths = target.ne(0).sum(1)
    place = torch.arange(target.shape[1])
    queries = torch.where(place < lengths[:, None], place, -1)
    real = (queries >= 0)[:, None, :, None]
    return may_read(queries, queries), real & padding_mask(
        source.ne(0).sum(1), source.shape[1]
    )


@right("additive, minus infinity where hidden")
def additive(target, source):
    n = target.shape[1]
    own = torch.full((n, n), float("-inf")).triu(1)
    cross = torch.zeros(source.shape).masked_fill(source == 0, float("-inf"))
    return own, cross[:, None, None]


@right("whole tables in a loop")
def loop(target, source):
    rows, n = target.shape
    own = torch.zeros(rows, 1, n, n, dtype=torch.bool)
    cross = torch.zeros(rows, 1, n, source.shape[1], dtype=torch.bool)
    for row in range(rows):
        for i in range(n):
            for j in range(i + 1):
                own[row, 0, i, j] = target[row, j] != 0
            cross[row, 0, i] = source[row] != 0
    return own, cross
