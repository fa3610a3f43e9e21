"""What goes wrong in least_processes: weights, gradients and moments spread out."""

import math
from fractions import Fraction

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task

SPREAD = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}


def least_processes(n_parameters, memory_bytes, spread):
    return solve(n_parameters, memory_bytes, SPREAD[spread])


def solve(n_parameters, memory_bytes, spread_bytes, whole_bytes=None):
    """Solve whole + spread / n <= memory for the least n."""
    whole_bytes = 16 - spread_bytes if whole_bytes is None else whole_bytes
    left = memory_bytes - n_parameters * whole_bytes
    if left < 0:
        return math.inf
    if spread_bytes == 0:
        return 1
    return math.ceil(Fraction(n_parameters * spread_bytes, left)) if left else math.inf


def use_each_step(answer, n_parameters, memory_bytes) -> dict:
    """Ask for every step of spreading."""
    return {
        spread: float(written(answer(n_parameters, memory_bytes, spread)))
        for spread in SPREAD
    }


task = Task(
    "least_processes",
    asks="the least number of processes on which the bytes of training fit, or math.inf "
    "if no number is enough. Below are the answers for all four values of spread.",
    lesson="15_scale",
    reference=least_processes,
    use=use_each_step,
    read="3. Weights, gradients, moments",
)

STAY = "Which of the 16 bytes stay on every process, and do they fit?"
UP = "With 2.3 processes: is 2 enough?"
NEVER = "What does each process hold however many there are, and is there room for it?"
CUMULATIVE = "What does this step spread: one kind of bytes, or also those before it?"


@task.inputs
def probes(draw: Draw):
    n, billion = draw.size(3, 60), 10**9
    m = 10 ** draw.size(6, 9) + draw.size(1, 10**5)
    yield Probe("7 billion on 80 GB", 7 * billion, 80 * billion)
    yield Probe("7 billion on 24 GB", 7 * billion, 24 * billion)
    yield Probe("a byte too little for one", m, 16 * m - 1)
    yield Probe("more than enough for one", m, 17 * m)
    yield Probe("just enough for one", m, 16 * m)
    yield Probe("no room beside what stays whole", m, 8 * m)
    yield Probe("one byte beside what stays whole", m, 8 * m + 1)
    yield Probe("shares that just fit", n * m, 4 * n * m + 12 * m)
    yield Probe("shares that are a little too large", n * m, 4 * n * m + 12 * m - 1)
    yield Probe("70 billion on 80 GB", 70 * billion, 80 * billion)
    yield Probe("some number on 16 GB", m, 16 * billion // draw.size(7, 30))


@task.property("more-is-spread", "If everything is spread, can it fail to fit?")
def spreading_everything_always_fits(values) -> bool:
    return all(math.isfinite(value["weights"]) for value in values.values())


@task.property("fewer-with-more-spread", "Can spreading more need more processes?")
def never_more(values) -> bool:
    rows = [[value[spread] for spread in SPREAD] for value in values.values()]
    return all(row == sorted(row, reverse=True) for row in rows)


@task.property("whole-number", "Is there half a process?")
def whole_number(values) -> bool:
    found = [number for value in values.values() for number in value.values()]
    return all(number == int(number) for number in found if math.isfinite(number))


@task.mistake("rounded-down", UP)
def floor_of_the_quotient(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if math.isinf(found) or not SPREAD[spread]:
        return found
    return max(n_parameters * SPREAD[spread] // left, 1)


@task.mistake("rounded-down", UP)
def nearest_number(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if math.isinf(found) or not SPREAD[spread]:
        return found
    return max(round(n_parameters * SPREAD[spread] / left), 1)


@task.mistake("one-too-many", "What just fits: does it fit?")
def floor_plus_one(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if math.isinf(found) or not SPREAD[spread]:
        return found
    return n_parameters * SPREAD[spread] // left + 1


@task.mistake("one-too-many", "What just fits: does it fit?")
def must_be_less(n_parameters, memory_bytes, spread):
    return least_processes(n_parameters, memory_bytes - 1, spread)


@task.mistake("whole-part-forgotten", STAY)
def spread_part_alone(n_parameters, memory_bytes, spread):
    return max(1, -(-n_parameters * SPREAD[spread] // memory_bytes))


@task.mistake("whole-part-forgotten", STAY)
def everything_is_divided(n_parameters, memory_bytes, spread):
    return -(-n_parameters * 16 // memory_bytes)


@task.mistake("no-room-not-noticed", NEVER)
def negative_quotient(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return max(1, -(-n_parameters * SPREAD[spread] // left))


@task.mistake("no-room-not-noticed", NEVER)
def at_least_one(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return max(1, -(-n_parameters * SPREAD[spread] // left) if left else 1)


@task.mistake("no-room-not-noticed", NEVER)
def division_by_zero(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if left < 0:
        return math.inf
    return max(1, -(-n_parameters * SPREAD[spread] // left))


@task.mistake("step-spreads-one-kind", CUMULATIVE)
def gradients_without_moments(n_parameters, memory_bytes, spread):
    kinds = {"nothing": 0, "moments": 8, "gradients": 4, "weights": 4}
    return solve(n_parameters, memory_bytes, kinds[spread])


@task.mistake("one-moment", "How many moments does AdamW keep for a weight?")
def twelve_bytes(n_parameters, memory_bytes, spread):
    kinds = {"nothing": 0, "moments": 4, "gradients": 8, "weights": 12}
    return solve(n_parameters, memory_bytes, kinds[spread], 12 - kinds[spread])


@task.mistake(
    "one-when-nothing-is-spread",
    "In plain data parallel, can it fail to fit?",
    "7. Two processes, one gradient",
)
def plain_data_parallel_always_fits(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    return 1 if spread == "nothing" else found


@task.mistake(
    "zero-processes", "If nothing has to be spread, how many processes are needed?"
)
def quotient_of_zero(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    return 0 if spread == "nothing" and found == 1 else found


@task.mistake(
    "two-bytes-a-number", "In the 112 GB, how many bytes has a weight, and a moment?"
)
def half_of_the_bytes(n_parameters, memory_bytes, spread):
    half = SPREAD[spread] // 2
    return solve(n_parameters, memory_bytes, half, 8 - half)


@task.mistake("no-room-not-noticed", NEVER)
def negative_number(n_parameters, memory_bytes, spread):
    if spread == "nothing":
        return least_processes(n_parameters, memory_bytes, spread)
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return -(-n_parameters * SPREAD[spread] // left)


@task.mistake("no-room-not-noticed", NEVER)
def division_by_zero_alone(n_parameters, memory_bytes, spread):
    found = negative_number(n_parameters, memory_bytes, spread)
    return found if found > 0 else math.inf


@task.mistake("whole-part-forgotten", STAY)
def divided_but_for_nothing(n_parameters, memory_bytes, spread):
    way = least_processes if spread == "nothing" else everything_is_divided
    return way(n_parameters, memory_bytes, spread)


@task.mistake(
    "never-without-spreading", "If all of it fits on one, is spreading needed?"
)
def no_room_left_over(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if left <= 0:
        return math.inf
    return max(1, -(-n_parameters * SPREAD[spread] // left))


@task.mistake(
    "never-without-spreading", "If all of it fits on one, is spreading needed?"
)
def nothing_never_fits(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    return math.inf if spread == "nothing" else found


@task.mistake("no-room-not-noticed", NEVER)
def the_quotient_alone(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return -(-n_parameters * SPREAD[spread] // left)


@task.mistake("no-room-not-noticed", NEVER)
def the_quotient_unless_zero(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return -(-n_parameters * SPREAD[spread] // left) if left else math.inf


@task.mistake("no-room-not-noticed", NEVER)
def no_room_is_one(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    found = least_processes(n_parameters, memory_bytes, spread)
    return found if left else 1


@task.mistake(
    "zero-processes", "If nothing has to be spread, how many processes are needed?"
)
def quotient_where_there_is_room(n_parameters, memory_bytes, spread):
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    return -(-n_parameters * SPREAD[spread] // left) if left > 0 else math.inf


@task.mistake("rounded-down", UP)
def floor_to_zero(n_parameters, memory_bytes, spread):
    found = least_processes(n_parameters, memory_bytes, spread)
    left = memory_bytes - n_parameters * (16 - SPREAD[spread])
    if math.isinf(found) or not SPREAD[spread]:
        return found
    return n_parameters * SPREAD[spread] // left
