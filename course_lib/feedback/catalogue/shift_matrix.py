"""What goes wrong in shift_matrix: a matrix that moves every position."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task


def shift_matrix(steps, d_model):
    return blocks([steps * w for w in speeds(d_model)])


def speeds(d_model):
    return [10000 ** (-2 * pair / d_model) for pair in range(d_model // 2)]


def blocks(angles, signs=(1, 1, -1, 1)):
    """(d_model, d_model): a turn for each pair of neighbours."""
    width = 2 * len(angles)
    found = torch.zeros(width, width)
    for pair, angle in enumerate(angles):
        numbers = math.cos(angle), math.sin(angle), math.sin(angle), math.cos(angle)
        turn = torch.tensor(
            [s * number for s, number in zip(signs, numbers, strict=True)]
        )
        found[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = turn.view(2, 2)
    return found


task = Task(
    "shift_matrix",
    asks="(d_model, d_model): the matrix M with M p_i = p_(i + steps) for every i, where "
    "p_i is row i of sinusoids, as a column.",
    lesson="04_positions",
    reference=shift_matrix,
    read="4. Turn",
)


@task.inputs
def probes(draw: Draw):
    near = {"tolerance": 1e-3}
    steps = draw.size(2, 6)
    yield Probe("one pair, one step", 1, 2, **near)
    yield Probe("one pair, several steps", steps, 2, **near)
    yield Probe("two pairs", steps, 4, **near)
    yield Probe("two pairs, back", -steps, 4, **near)
    yield Probe("three pairs, no step", 0, 6, **near)
    yield Probe("four pairs", 10 * steps + 3, 8, **near)
    yield Probe("eight pairs", steps + 100, 16, **near)


@task.property("no-step", "Where does a shift by 0 steps lead?")
def no_step(values) -> bool:
    return torch.allclose(values["three pairs, no step"], torch.eye(6), atol=1e-3)


@task.property("there-and-back", "Where does a shift lead, after the shift back?")
def there_and_back(values) -> bool:
    both = values["two pairs"] @ values["two pairs, back"]
    return torch.allclose(both, torch.eye(4), atol=1e-3)


@task.mistake(
    "turned-the-wrong-way",
    "Multiply your matrix by (sin 0, cos 0) = (0, 1): is the sine above 0 after a step?",
)
def as_in_rotary(steps, d_model):
    return blocks([steps * w for w in speeds(d_model)], (1, -1, 1, 1))


@task.mistake("no-turn", "Does your matrix keep the length of a pair?")
def both_plus(steps, d_model):
    return blocks([steps * w for w in speeds(d_model)], (1, 1, 1, 1))


@task.mistake("diagonal-only", "Can sin(a + b) be made of sin a alone?")
def cosines_only(steps, d_model):
    return blocks([steps * w for w in speeds(d_model)], (1, 0, 0, 1))


@task.mistake("one-speed-for-all", "Does each pair turn at its own speed?")
def first_speed(steps, d_model):
    return blocks([steps] * (d_model // 2))


@task.mistake(
    "sinusoid-inverted-frequency",
    "Should the last pair turn quickly or slowly?",
    "2. Number the lines",
)
def inverted(steps, d_model):
    return blocks([steps / w for w in speeds(d_model)])


@task.mistake(
    "exponent-of-the-pair",
    "The exponent is 2t / d_model: what is it for pair 1 of two?",
    "2. Number the lines",
)
def without_the_two(steps, d_model):
    return blocks([steps * w**0.5 for w in speeds(d_model)])


@task.mistake(
    "exponent-of-the-pair",
    "The exponent is 2t / d_model: what is it for pair 1 of two?",
    "2. Number the lines",
)
def twice_the_exponent(steps, d_model):
    return blocks([steps * w**2 for w in speeds(d_model)])


@task.mistake(
    "halves-for-neighbours", "Where in p does the cosine of pair 0 stand?", "Definition"
)
def all_sines_first(steps, d_model):
    order = torch.arange(d_model).view(2, -1).T.flatten()
    found = torch.zeros(d_model, d_model)
    found[order[:, None], order] = shift_matrix(steps, d_model)
    return found


@task.mistake("features-shifted", "Does a step move the numbers of p to other places?")
def rolled(steps, d_model):
    return torch.eye(d_model).roll(steps, 0)


@task.mistake("steps-ignored", "How many steps does your matrix move?")
def always_one(steps, d_model):
    return shift_matrix(1, d_model)


@task.mistake("direction-ignored", "What does a shift by -3 do?")
def never_back(steps, d_model):
    return shift_matrix(abs(steps), d_model)


@task.mistake(
    "cosine-first", "Which stands first in a pair of p: the sine or the cosine?"
)
def pairs_swapped(steps, d_model):
    return shift_matrix(steps, d_model).flip(-1)
