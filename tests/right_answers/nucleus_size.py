"""Right answers to nucleus_size."""

import math

import numpy as np
import torch

from tests.answers import right


@right("counts until enough is left out")
def by_counting(ratio, temperature, p):
    q, n = ratio ** (1 / temperature), 1
    while q**n > 1 - p:
        n += 1
    return n


@right("base of the logarithm is free")
def base_two(ratio, temperature, p):
    return int(np.ceil(np.log2(1 - p) * temperature / np.log2(ratio)))


@right("a negative floor, as a tensor")
def as_a_tensor(ratio, temperature, p):
    left = torch.tensor(1 - p, dtype=torch.float64).log()
    return -torch.floor(-temperature * left / math.log(ratio)).long()
