"""What goes wrong in round_by_chance: up or down, so that the mean is right."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task

N_CHANCES = 64


def round_by_chance(x, chance, fraction_bits):
    below, step, part = parts(x, fraction_bits)
    return torch.where(chance < part, (below + 1) * step, below * step)


def parts(x, fraction_bits):
    """Give the number of whole steps below x, the step, and the part that is left."""
    step = 2.0 ** (torch.frexp(x).exponent - 1 - fraction_bits)
    below = torch.floor(x / step)
    return below, step, x / step - below


def use_chances(answer, x, fraction_bits):
    """Round with 64 chances, spread evenly; read what came out least, most, on average.

    Each number meets them in an order of its own.
    """
    places = torch.arange(N_CHANCES)[:, None] * 37 + torch.arange(x.numel()) * 11
    chance = ((places % N_CHANCES + 0.5) / N_CHANCES).view(N_CHANCES, *x.shape)
    many = x.expand_as(chance).clone()
    found = torch.as_tensor(written(answer(many, chance, fraction_bits)))
    if found.shape != many.shape:
        return found
    below, step, part = parts(x, fraction_bits)
    a = below * step
    again = torch.as_tensor(answer(a.clone(), torch.zeros_like(a), fraction_bits))
    seen = {
        "lowest": found.amin(0),
        "highest": found.amax(0),
        "mean": found.double().mean(0),
        "a itself stays, chance 0": again == a,
    }
    if (exact := part == 0).any():
        most = torch.full_like(x, 1 - 2**-24)  # the largest float32 below 1
        again = torch.as_tensor(answer(x.clone(), most, fraction_bits))
        seen["what needs no rounding, chance 1 - 2**-24"] = again[exact]
    return seen


task = Task(
    "round_by_chance",
    asks="each number goes to the next one with so many bits of fraction below or above, "
    "up with the probability that makes the mean right. Tried with 64 chances, from "
    "1/128 to 127/128; then the numbers below (a) with a chance of 0.",
    lesson="15_scale",
    reference=round_by_chance,
    use=use_chances,
    read="2. Numbers in 16 bits",
)

MEAN = "How often does your number go up: does that make the mean right?"
STEP = "How far apart do numbers with so many bits stand near this x?"
BELOW = "For a negative number, which neighbour is below it?"
OWN = "Which chance decides for which number?"
DRAWS = "Who draws the chance: your function, or whoever calls it?"


@task.inputs
def probes(draw: Draw):
    yield Probe("bfloat16's 5.03, and -5.03", torch.tensor([5.03, -5.03]), 7)
    one_step = torch.tensor([1.0, 2.0, 0.0, -4.0]) + torch.tensor([0, 0, 0, 0.7])
    yield Probe("numbers that need no rounding, and one that does", one_step, 3)
    small = torch.tensor([0.5]) + 0.0001 * draw.size(5, 15)
    yield Probe("a weight of 0.5 and a small update", small, 7)
    yield Probe("halfway between two", torch.tensor([1.125, 1.375]), 2)
    yield Probe("two bits", 1 + draw.normal(3).sigmoid(), 2)
    yield Probe("a table", draw.normal(3, 5), 7)
    yield Probe("negative numbers", -draw.normal(7).abs() - 0.1, 5)
    yield Probe("large and small", draw.normal(4) * 10.0 ** torch.arange(-4, 4, 2), 4)
    yield Probe("ten bits", 100 * draw.normal(2, 3), 10)


@task.property("mean-kept", MEAN)
def mean_kept(values) -> bool:
    found = values["bfloat16's 5.03, and -5.03"]["mean"]
    return bool((found.abs() - 5.03).abs().max() < 2e-3)


@task.property("no-rounding-needed", "Is 2 not itself one of the numbers?")
def stays(values) -> bool:
    found = values["numbers that need no rounding, and one that does"]
    whole = torch.tensor([1.0, 2.0, 0.0])
    with_chances = (found[key][:3] for key in ("lowest", "highest", "mean"))
    again = found["a itself stays, chance 0"]
    return again.all() and all((part == whole).all() for part in with_chances)


def with_probability(x, chance, fraction_bits, probability):
    """Go up where chance is below a probability."""
    below, step, _ = parts(x, fraction_bits)
    return (below + (chance < probability)) * step


@task.mistake("rounds-to-nearest", "What does the chance decide?")
def nearest(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step).round() * step


@task.mistake("always-down", "What does the chance decide?")
def downwards(x, chance, fraction_bits):
    return with_probability(x, chance, fraction_bits, 0.0)


@task.mistake("probability-reversed", MEAN)
def the_nearer_the_rarer(x, chance, fraction_bits):
    return with_probability(x, chance, fraction_bits, 1 - parts(x, fraction_bits)[2])


@task.mistake("fair-coin", MEAN)
def half_of_the_cases(x, chance, fraction_bits):
    return with_probability(x, chance, fraction_bits, 0.5)


@task.mistake("fair-coin", MEAN)
def half_of_the_cases_where_needed(x, chance, fraction_bits):
    needed = parts(x, fraction_bits)[2] > 0
    return with_probability(x, chance, fraction_bits, 0.5 * needed)


@task.mistake(
    "rounded-after-adding",
    "On average, by how much does your number grow when rounded?",
)
def noise_then_nearest(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + chance).round() * step


@task.mistake(
    "rounded-after-adding",
    "On average, by how much does your number grow when rounded?",
)
def noise_then_up(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + chance).ceil() * step


@task.mistake("towards-zero", BELOW)
def truncated(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    steps = x / step
    return (steps.trunc() + (chance < steps.frac().abs())) * step


@task.mistake("towards-zero", BELOW)
def part_with_a_sign(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    steps = x / step
    return (steps.trunc() + (chance < steps.frac())) * step


@task.mistake("towards-zero", BELOW)
def noise_then_truncated(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + chance).trunc() * step


@task.mistake("step-off-by-one", STEP)
def steps_too_wide(x, chance, fraction_bits):
    return round_by_chance(x, chance, fraction_bits - 1)


@task.mistake("step-off-by-one", STEP)
def steps_too_narrow(x, chance, fraction_bits):
    return round_by_chance(x, chance, fraction_bits + 1)


@task.mistake("one-step-for-all", STEP)
def steps_as_above_one(x, chance, fraction_bits):
    step = 2.0**-fraction_bits
    return (x / step + chance).floor() * step


@task.mistake("one-step-for-all", STEP)
def step_of_the_largest(x, chance, fraction_bits):
    step = parts(x.abs().max(), fraction_bits)[1]
    return (x / step + chance).floor() * step


@task.mistake("chance-not-in-steps", "In which unit is the chance, and in which is x?")
def whole_numbers_added(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return ((x + chance) / step).floor() * step


@task.mistake("left-in-steps", "Is a number or a number of steps asked for?")
def number_of_steps(x, chance, fraction_bits):
    return round_by_chance(x, chance, fraction_bits) / parts(x, fraction_bits)[1]


@task.mistake("one-chance-for-all", OWN)
def the_first_chance(x, chance, fraction_bits):
    return round_by_chance(x, chance.flatten()[:1], fraction_bits)


@task.mistake("up-without-need", "A chance of 0 can be drawn: may 2 go up then?")
def not_above_the_part(x, chance, fraction_bits):
    below, step, part = parts(x, fraction_bits)
    return (below + (chance <= part)) * step


@task.mistake("noise-rounded-at-a-tie", "With a chance of 0: do 3 steps stay, and 4?")
def noise_around_zero_then_nearest(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + (chance - 0.5)).round() * step


def drawn(*shape):
    """Draw chances that are the same for every call."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(0))


@task.mistake("own-random-numbers", DRAWS)
def draws_one_chance(x, chance, fraction_bits):
    return with_probability(x, drawn(), fraction_bits, parts(x, fraction_bits)[2])


@task.mistake("own-random-numbers", DRAWS)
def adds_one_chance(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + drawn()).floor() * step


@task.mistake("own-random-numbers", DRAWS)
def draws_as_many_as_numbers(x, chance, fraction_bits):
    own = drawn(*x.shape)
    return with_probability(x, own, fraction_bits, parts(x, fraction_bits)[2])


@task.mistake("part-with-a-sign", "Below a negative number: how far is it from there?")
def fraction_of_a_negative_number(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return with_probability(x, chance, fraction_bits, (x / step).frac())


@task.mistake("sum-rounds-up", "What is 128 + 0.99999994 in float32?")
def floor_of_the_sum(x, chance, fraction_bits):
    _, step, _ = parts(x, fraction_bits)
    return (x / step + chance).floor() * step
