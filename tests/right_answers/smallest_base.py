"""Right answers to smallest_base."""

import math

import numpy as np
import torch

from tests.answers import right


@right("the root of the exponent")
def root(max_length, d_head, n_slow=1):
    exponent = 2 * (d_head / 2 - n_slow) / d_head
    return (max_length / (2 * math.pi)) ** (1 / exponent)


@right("by logarithms")
def logarithms(max_length, d_head, n_slow=1):
    turns = max_length / math.tau
    return np.exp(np.log(turns) * d_head / (d_head - 2 * n_slow))


@right("the exponents of a head, by torch")
def with_torch(max_length, d_head, n_slow=1):
    exponents = torch.arange(0, d_head, 2, dtype=torch.float64) / d_head
    return torch.tensor(max_length / math.tau).double() ** (1 / exponents[-n_slow])
