"""Right answers to round_by_chance."""

import math

import torch

from tests.answers import right


@right("large chances mean up")
def large_is_up(x, chance, fraction_bits):
    step = 2.0 ** (torch.frexp(x).exponent - 1 - fraction_bits)
    a = torch.floor(x / step) * step
    f = (x - a) / step
    return torch.where(chance >= 1 - f, a + step, a)


@right("on the bits of float32")
def on_bits(x, chance, fraction_bits):
    cut = 23 - fraction_bits
    noise = (chance * 2**cut).to(torch.int32)
    bits = x.contiguous().view(torch.int32) + noise
    return (bits >> cut << cut).view(torch.float32)


@right("number by number")
def loop(x, chance, fraction_bits):
    found = []
    for number, c in zip(x.flatten().tolist(), chance.flatten().tolist(), strict=True):
        if number == 0:
            found.append(0.0)
            continue
        step = 2.0 ** (math.floor(math.log2(abs(number))) - fraction_bits)
        below = math.floor(number / step)
        found.append((below + (c < number / step - below)) * step)
    return torch.tensor(found).view(x.shape)
