"""What goes wrong in smallest_base: how slowly the slowest pairs turn."""

import math

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def smallest_base(max_length, d_head, n_slow=1):
    turns = math.log(max_length) - math.log(2 * math.pi)
    return math.exp(turns / (1 - 2 * n_slow / d_head))


def base_of(turns, exponent):
    """Solve turns = base ** exponent."""
    return turns ** (1 / exponent)


def use(answer, max_length, d_head, **n_slow) -> float:
    """Call it and read a number; a tensor of one number is one, too."""
    return float(written(answer(max_length, d_head, *n_slow.values())))


task = Task(
    "smallest_base",
    asks="the smallest base with which the n_slow slowest pairs turn by at most 2 pi "
    "over max_length positions, as a number.",
    lesson="04_positions",
    reference=smallest_base,
    use=use,
    read="4. Turn",
)


@task.inputs
def probes(draw: Draw):
    length = draw.size(50, 200)
    yield Probe("two pairs, one slow", max_length=length, d_head=4)
    yield Probe("three pairs, one slow", max_length=length, d_head=6)
    yield Probe("three pairs, two slow", max_length=length, d_head=6, n_slow=2)
    yield Probe("eight pairs", max_length=7 * length, d_head=16, n_slow=3)
    yield Probe("a short text", max_length=7, d_head=8, n_slow=2)
    yield Probe("a real size", max_length=8192, d_head=64)
    yield Probe("seven slow pairs", max_length=8192, d_head=64, n_slow=7)
    yield Probe("a long text", max_length=131_072, d_head=128, n_slow=20)


@task.property(
    "grows", "Must the base grow or shrink when more pairs are to turn at most once?"
)
def grows(values) -> bool:
    return values["seven slow pairs"] > values["a real size"]


@task.mistake("radians-for-turns", "How many radians are one turn?")
def one_radian(max_length, d_head, n_slow=1):
    return base_of(max_length, (d_head - 2 * n_slow) / d_head)


@task.mistake("half-turn", "How many radians are one turn?")
def half_a_turn(max_length, d_head, n_slow=1):
    return base_of(max_length / math.pi, (d_head - 2 * n_slow) / d_head)


PAIR = "With d_head 4 there are pairs 0 and 1: which is the slowest, and what is its t?"


@task.mistake("pair-off-by-one", PAIR)
def one_pair_too_slow(max_length, d_head, n_slow=1):
    exponent = (d_head - 2 * n_slow + 2) / d_head
    return base_of(max_length / (2 * math.pi), exponent)


@task.mistake("pair-off-by-one", PAIR)
def last_number_of_the_head(max_length, d_head, n_slow=1):
    exponent = (d_head - 2 * n_slow + 1) / d_head
    return base_of(max_length / (2 * math.pi), exponent)


@task.mistake(
    "exponent-of-the-pair", "The exponent is 2t / d_head: what did your code divide?"
)
def without_the_two(max_length, d_head, n_slow=1):
    return base_of(max_length / (2 * math.pi), (d_head / 2 - n_slow) / d_head)


@task.mistake(
    "base-without-exponent",
    "Is there a pair that turns by exactly 1 / base a position?",
)
def slowest_is_the_base(max_length, d_head, n_slow=1):
    return max_length / (2 * math.pi)


@task.mistake("power-not-undone", "Which power undoes the power of 2t / d_head?")
def exponent_left_as_it_was(max_length, d_head, n_slow=1):
    return (max_length / (2 * math.pi)) ** ((d_head - 2 * n_slow) / d_head)


@task.mistake("slow-pairs-ignored", "Which of the slow pairs decides?")
def only_the_slowest(max_length, d_head, n_slow=1):
    return smallest_base(max_length, d_head)


@task.mistake("counted-from-the-fast-end", "Which pair turns fastest: 0 or the last?")
def fast_pairs(max_length, d_head, n_slow=1):
    return base_of(max_length / (2 * math.pi), 2 * n_slow / d_head)


@task.mistake("numbers-for-pairs", "How many numbers does each pair have?")
def one_number_a_pair(max_length, d_head, n_slow=1):
    return base_of(max_length / (2 * math.pi), (d_head - n_slow) / d_head)


@task.mistake(
    "multiplied-by-a-turn", "How many turns may the pair make over the whole length?"
)
def length_in_turns(max_length, d_head, n_slow=1):
    return base_of(max_length * 2 * math.pi, (d_head - 2 * n_slow) / d_head)


@task.mistake("pair-off-by-one", PAIR)
def one_pair_too_fast(max_length, d_head, n_slow=1):
    return base_of(max_length / (2 * math.pi), (d_head - 2 * n_slow - 2) / d_head)


@task.mistake(
    "one-step-less", "By how much does the position grow: by max_length or one less?"
)
def from_first_to_last(max_length, d_head, n_slow=1):
    return base_of((max_length - 1) / (2 * math.pi), (d_head - 2 * n_slow) / d_head)
