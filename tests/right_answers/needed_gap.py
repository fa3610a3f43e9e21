"""Right answers to needed_gap."""

import math

import numpy as np
import torch

from tests.answers import right


@right("the odds times the number of the others")
def one_logarithm(share, vocab, temperature=1.0):
    return temperature * math.log(share * (vocab - 1) / (1 - share))


@right("a sum of logarithms")
def sum_of_logarithms(share, vocab, temperature=1.0):
    return (math.log(share) - math.log(1 - share) + math.log(vocab - 1)) * temperature


@right("torch.logit")
def with_torch(share, vocab, temperature=1.0):
    gap = torch.tensor(share, dtype=torch.float64).logit() + math.log(vocab - 1)
    return gap * temperature


@right("numpy, with a minus")
def with_numpy(share, vocab, temperature=1.0):
    return -temperature * np.log((1 / share - 1) / (vocab - 1))
