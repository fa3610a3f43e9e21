"""Right answers to input_share."""

import math

import torch

from tests.answers import right


@right("two formulas")
def formulas(n_sublayers, size, pre_norm):
    square = size * size
    return (
        (1 + n_sublayers * square) ** -1 if pre_norm else (1 + square) ** -n_sublayers
    )


@right("a loop over sublayers that keeps the multiple of the input")
def loop(n_sublayers, size, pre_norm):
    multiple, rms = 1.0, 1.0
    for _ in range(n_sublayers):
        rms = math.hypot(rms, size)
        if not pre_norm:
            multiple, rms = multiple / rms, 1.0
    return (multiple / rms) ** 2


@right("vectors with an axis for each sublayer")
def by_vectors(n_sublayers, size, pre_norm):
    stream = torch.zeros(n_sublayers + 1, dtype=torch.float64)
    stream[0] = 1.0
    for place in range(1, n_sublayers + 1):
        stream[place] += size
        if not pre_norm:
            stream = stream / stream.norm()
    return (stream[0] ** 2 / stream.square().sum()).item()
