"""Right answers to counted_positions."""

import torch

from tests.answers import right


@right("the count less one, padding set to 1 as some libraries do")
def filled(is_real):
    positions = is_real.long().cumsum(-1) - 1
    return positions.masked_fill(~is_real, 1)


@right("places less the first real place")
def from_the_first(is_real):
    first = is_real.int().argmax(-1, keepdim=True)
    return (torch.arange(is_real.shape[1]) - first).clamp(min=0)


@right("row by row")
def loop(is_real):
    rows = []
    for row in is_real.tolist():
        position, numbers = 0, []
        for real in row:
            numbers.append(position if real else 0)
            position += real
        rows.append(numbers)
    return torch.tensor(rows)


@right("the number of real tokens before")
def before(is_real):
    counts = is_real.long().cumsum(-1) - is_real.long()
    return counts * is_real
