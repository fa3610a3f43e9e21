"""Wrong answers to least_processes."""

import math

from tests.answers import wrong


@wrong("rounded-down")
def integer_division(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    room = memory_bytes - (16 - s) * n_parameters
    if s == 0:
        return 1 if room >= 0 else math.inf
    if room <= 0:
        return math.inf
    return max(1, s * n_parameters // room)


@wrong("one-too-many")
def int_plus_one(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    room = memory_bytes - (16 - s) * n_parameters
    if s == 0:
        return 1 if room >= 0 else math.inf
    if room <= 0:
        return math.inf
    return int(s * n_parameters / room) + 1


@wrong("whole-part-forgotten")
def all_over_n(n_parameters, memory_bytes, spread):
    return math.ceil(16 * n_parameters / memory_bytes)


@wrong("whole-part-forgotten")
def only_what_is_spread(n_parameters, memory_bytes, spread):
    if spread == "moments":
        size = 8 * n_parameters
    elif spread == "gradients":
        size = 12 * n_parameters
    elif spread == "weights":
        size = 16 * n_parameters
    else:
        size = 0
    return max(math.ceil(size / memory_bytes), 1)


@wrong("no-room-not-noticed")
def never_infinite(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    room = memory_bytes - (16 - s) * n_parameters
    return max(1, math.ceil(s * n_parameters / room))


@wrong("no-room-not-noticed")
def equal_room_divides(n_parameters, memory_bytes, spread):
    whole = {"nothing": 16, "moments": 8, "gradients": 4, "weights": 0}[spread]
    room = memory_bytes - whole * n_parameters
    if room < 0:
        return math.inf
    return max(1, math.ceil((16 - whole) * n_parameters / room))


@wrong("step-spreads-one-kind")
def one_kind_each(n_parameters, memory_bytes, spread):
    spread_bytes = {"nothing": 0, "moments": 8, "gradients": 4, "weights": 4}[spread]
    room = memory_bytes - n_parameters * (16 - spread_bytes)
    if spread_bytes == 0 and room >= 0:
        return 1
    if room <= 0:
        return math.inf
    return math.ceil(spread_bytes * n_parameters / room)


@wrong("one-moment")
def adam_with_one_moment(n_parameters, memory_bytes, spread):
    sizes = {"moments": 4, "gradients": 4, "weights": 4}
    shared = 0
    for kind in sizes:
        if spread == "nothing":
            break
        shared += sizes[kind]
        if kind == spread:
            break
    room = memory_bytes - n_parameters * (12 - shared)
    if not shared:
        return 1 if room >= 0 else math.inf
    return math.ceil(shared * n_parameters / room) if room > 0 else math.inf


@wrong("zero-processes")
def zero_for_nothing(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    room = memory_bytes - (16 - s) * n_parameters
    if room < 0 or (room == 0 and s > 0):
        return math.inf
    return math.ceil(s * n_parameters / room) if s else 0


@wrong("powers-of-two")
def doubles(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    n = 1
    while n < 2**40:
        if n_parameters * (16 - s) + n_parameters * s / n <= memory_bytes:
            return n
        n *= 2
    return math.inf


@wrong("rounded-down", "no-room-not-noticed")
def two_slips(n_parameters, memory_bytes, spread):
    s = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    return s * n_parameters // (memory_bytes - (16 - s) * n_parameters)
