"""What goes wrong in sinusoids."""

import torch

from course_lib.feedback.adapters.answers import repeats
from course_lib.feedback.adapters.positions import use_sinusoids
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.positions import sinusoids

task = Task(
    "sinusoids",
    asks="(position, d_model): pair i holds sine and cosine of "
    "position / 10000^(2i / d_model).",
    lesson="04_positions",
    reference=sinusoids,
    use=use_sinusoids,
    read="2. Number the lines",
)

SLOW = "Should the last dimension turn quickly or slowly?"
PAIR = "Do sine and cosine of one pair share one frequency?"
ORDER = "What are the sine and the cosine of position 0, and where do they stand?"
STEP = "By how much does the exponent grow from one pair to the next, at which width?"


@task.inputs
def probes(draw: Draw):
    yield Probe("two positions, width 2", 2, 2)
    yield Probe("two positions, width 4", 2, 4)
    yield Probe("one position, width 6", 1, 6)
    yield Probe("five positions, width 6", 5, 6)
    yield Probe("width 8", draw.size(10, 20), 8)
    yield Probe("far positions", draw.size(60, 80), 16, tolerance=1e-3)


@task.property("repeatable", "Does the same input give the same output twice?")
def no_chance(values) -> bool:
    return repeats(values)


@task.property("pairs-on-a-circle", PAIR)
def sine_and_cosine_belong_together(values) -> bool:
    squares = values["five positions, width 6"].square().unflatten(-1, (-1, 2)).sum(-1)
    return torch.allclose(squares, torch.ones_like(squares), atol=1e-3)


@task.property("last-pair-slowest", SLOW)
def last_pair_hardly_moves(values) -> bool:
    return bool(values["two positions, width 4"][1, 2].abs() < 0.2)


def waves(n_positions, exponents, base=10000.0):
    """Interleave sines and cosines of positions / base ** exponents."""
    angles = torch.arange(n_positions)[:, None] / base**exponents
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


def pairs(d_model):
    """Number the pairs."""
    return torch.arange(d_model // 2, dtype=torch.float64)


@task.mistake("sinusoid-inverted-frequency", SLOW)
def faster_and_faster(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, -2 * pairs(d_model) / d_model)


@task.mistake("cosine-own-exponent", PAIR)
def one_exponent_a_column(n_positions, d_model, layout="interleaved"):
    angles = torch.arange(n_positions)[:, None] / 10000 ** (
        torch.arange(d_model) / d_model
    )
    table = angles.sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


@task.mistake("cosine-own-exponent", PAIR)
def two_for_each_column(n_positions, d_model, layout="interleaved"):
    columns = 2 * torch.arange(d_model)
    angles = torch.arange(n_positions)[:, None] / 10000 ** (columns / d_model)
    table = angles.sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


@task.mistake("sinusoid-exponent-not-doubled", STEP)
def half_the_exponent(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, pairs(d_model) / d_model)


@task.mistake(
    "sinusoid-exponent-doubled-twice",
    "Pair 1 stands in columns 2 and 3: which number stands for it in your exponent?",
)
def twice_the_exponent(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 4 * pairs(d_model) / d_model)


@task.mistake("sinusoid-exponent-not-divided", STEP)
def not_divided_by_the_width(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * pairs(d_model))


@task.mistake("sinusoid-pairs-from-one", "Which frequency has pair 0?")
def counts_pairs_from_one(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * (pairs(d_model) + 1) / d_model)


@task.mistake("sinusoid-last-is-base", STEP)
def reaches_the_base(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, pairs(d_model) / max(d_model // 2 - 1, 1))


@task.mistake("sinusoid-wrong-base", "Which number is raised to a power?")
def base_one_thousand(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * pairs(d_model) / d_model, 1000.0)


@task.mistake("sinusoid-wrong-base", "Which number is raised to a power?")
def base_one_hundred_thousand(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * pairs(d_model) / d_model, 100000.0)


@task.mistake("sinusoid-wrong-base", "Which number is raised to a power?")
def base_e(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * pairs(d_model) / d_model, torch.e)


@task.mistake("sine-cosine-swapped", ORDER)
def cosine_first(n_positions, d_model, layout="interleaved"):
    return sinusoids(n_positions, d_model).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)


@task.mistake("sine-cosine-swapped", ORDER)
def cosines_first(n_positions, d_model, layout="interleaved"):
    return (
        sinusoids(n_positions, d_model).unflatten(-1, (-1, 2)).flip(-1).mT.flatten(-2)
    )


@task.mistake("positions-from-one", "Which position has the first row?")
def counts_positions_from_one(n_positions, d_model, layout="interleaved"):
    return sinusoids(n_positions + 1, d_model)[1:]


@task.mistake("sine-only", "Two positions can share a sine: what tells them apart?")
def sines_everywhere(n_positions, d_model, layout="interleaved"):
    return sinusoids(n_positions, d_model)[:, 0::2].repeat_interleave(2, -1)


@task.mistake("sine-only", "Two positions can share a sine: what tells them apart?")
def cosines_missing(n_positions, d_model, layout="interleaved"):
    table = sinusoids(n_positions, d_model)
    table[:, 1::2] = 0.0
    return table


@task.mistake(
    "sinusoid-axes-swapped", "Is a row of your table a position or a frequency?"
)
def frequencies_by_positions(n_positions, d_model, layout="interleaved"):
    return sinusoids(n_positions, d_model).T


@task.mistake(
    "sinusoid-two-pi", "Is the position an angle, or a number of whole turns?"
)
def whole_turns(n_positions, d_model, layout="interleaved"):
    angles = torch.arange(n_positions)[:, None] / 10000 ** (
        2 * pairs(d_model) / d_model
    )
    angles = 2 * torch.pi * angles
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


@task.mistake("sinusoid-degrees", "Does sin take radians or degrees?")
def degrees(n_positions, d_model, layout="interleaved"):
    angles = torch.arange(n_positions)[:, None] / 10000 ** (
        2 * pairs(d_model) / d_model
    )
    angles = angles.deg2rad()
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


@task.mistake("sinusoid-leading-axis", "How many axes was the table asked to have?")
def with_a_batch_axis(n_positions, d_model, layout="interleaved"):
    return sinusoids(n_positions, d_model)[None]


@task.mistake("sinusoid-wrong-base", "Which number is raised to a power?")
def exponential_of_a_decimal_logarithm(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 2 * pairs(d_model) / d_model, torch.e**4)


@task.mistake("cosine-own-exponent", PAIR)
def cosine_of_the_next_pair(n_positions, d_model, layout="interleaved"):
    table = waves(n_positions, 2 * pairs(d_model) / d_model)
    table[:, 1::2] = waves(n_positions, 2 * (pairs(d_model) + 1) / d_model)[:, 1::2]
    return table


@task.mistake("sines-overwritten", "Which columns of your table are still 0?")
def cosines_over_the_sines(n_positions, d_model, layout="interleaved"):
    table = torch.zeros(n_positions, d_model)
    table[:, 0::2] = sinusoids(n_positions, d_model)[:, 1::2]
    return table


@task.mistake("sinusoid-one-frequency", "Do all pairs turn at the same speed?")
def all_pairs_alike(n_positions, d_model, layout="interleaved"):
    return waves(n_positions, 0 * pairs(d_model))


@task.mistake(
    "sinusoid-share-of-text", "Does a longer text change the row of position 1?"
)
def position_over_length(n_positions, d_model, layout="interleaved"):
    places = torch.arange(n_positions)[:, None] / n_positions
    angles = places / 10000 ** (2 * pairs(d_model) / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


@task.mistake("position-ignored", "By what do two rows of your table differ?")
def one_row_for_all(n_positions, d_model, layout="interleaved"):
    return sinusoids(2, d_model)[1:].repeat(n_positions, 1)
