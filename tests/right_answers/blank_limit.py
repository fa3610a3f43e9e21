"""Right answers to blank_limit."""

import math

import numpy as np
import torch

from tests.answers import right


@right("by logarithms")
def by_logarithms(missing, n_ids, length_penalty):
    norm = n_ids**length_penalty
    return math.exp(math.log(1 - missing) - norm * math.log(missing))


@right("a tensor of one number")
def tensor(missing, n_ids, length_penalty):
    m = torch.tensor(missing, dtype=torch.float64)
    return (1 - m) * m.pow(-(float(n_ids) ** length_penalty))


@right("the blank as an n-th root")
def root(missing, n_ids, length_penalty):
    score_of_blank = np.log(missing)
    least_log_probability = score_of_blank * np.power(float(n_ids), length_penalty)
    return (1 - missing) / np.exp(least_log_probability)


@right("halving an interval of log W")
def halving(missing, n_ids, length_penalty):
    low, high = -50.0, 500.0
    for _ in range(200):
        middle = (low + high) / 2
        way = (math.log(1 - missing) - middle) / n_ids**length_penalty
        low, high = (low, middle) if way < math.log(missing) else (middle, high)
    return math.exp(low)
