"""Right answers to word_lag."""

from itertools import count
from math import ceil

import torch

from tests.answers import right


@right("a case for each of the two")
def two_cases(end, chunk_seconds, agreement, computing):
    k = ceil(end / chunk_seconds) + agreement - 1
    if computing <= chunk_seconds:
        shown_at = k * chunk_seconds + computing
    else:
        shown_at = chunk_seconds + k * computing
    return shown_at - end


@right("the queue grows by what computing is slower")
def backlog(end, chunk_seconds, agreement, computing):
    k = -int(-end // chunk_seconds) + agreement - 1
    slower = max(0.0, computing - chunk_seconds)
    return k * chunk_seconds - end + computing + (k - 1) * slower


@right("a simulation, though no loop is needed")
def simulated(end, chunk_seconds, agreement, computing):
    free, n_have_it = 0.0, 0
    for k in count(1):
        free = max(free, k * chunk_seconds) + computing
        n_have_it += end <= k * chunk_seconds
        if n_have_it == agreement:
            return free - end


@right("a tensor of one number")
def in_torch(end, chunk_seconds, agreement, computing):
    c = torch.tensor(chunk_seconds, dtype=torch.float64)
    k = torch.ceil(torch.tensor(end, dtype=torch.float64) / c) + agreement - 1
    return torch.maximum(k * c + computing, c + k * computing) - end
