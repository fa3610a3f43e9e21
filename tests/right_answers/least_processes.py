"""Right answers to least_processes."""

import math
from fractions import Fraction

from tests.answers import right


@right("math.ceil of a float")
def ceil(n_parameters, memory_bytes, spread):
    whole = {"nothing": 16, "moments": 8, "gradients": 4, "weights": 0}[spread]
    left = memory_bytes - whole * n_parameters
    if whole == 16:
        return 1 if left >= 0 else math.inf
    if left <= 0:
        return math.inf
    return math.ceil((16 - whole) * n_parameters / left)


@right("bytes a parameter as a fraction")
def each(n_parameters, memory_bytes, spread):
    room = Fraction(memory_bytes, n_parameters)
    kinds = ["nothing", "moments", "gradients", "weights"]
    shared = sum([0, 8, 4, 4][: kinds.index(spread) + 1])
    if room >= 16:
        return 1
    if room <= 16 - shared:
        return math.inf
    return math.ceil(shared / (room - 16 + shared))


@right("a float that is a whole number")
def as_float(n_parameters, memory_bytes, spread):
    shared = dict(nothing=0, moments=8, gradients=12, weights=16)[spread]
    if 16 * n_parameters <= memory_bytes:
        return 1.0
    left = memory_bytes - (16 - shared) * n_parameters
    return float((shared * n_parameters + left - 1) // left) if left > 0 else math.inf
