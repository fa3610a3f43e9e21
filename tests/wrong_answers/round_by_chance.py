"""Wrong answers to round_by_chance."""

import torch

from tests.answers import wrong


def step_of(x, bits):
    """The distance of neighbours near x."""
    exponent = torch.frexp(x).exponent - 1
    return torch.ldexp(torch.ones_like(x), exponent - bits)


@wrong("rounds-to-nearest")
def as_in_the_lesson(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    return torch.round(x / step) * step


@wrong("always-down")
def floor(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    return torch.floor(x / step) * step


@wrong("probability-reversed")
def up_where_chance_is_large(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    a = torch.floor(x / step) * step
    f = (x - a) / step
    return torch.where(chance >= f, a + step, a)


@wrong("probability-reversed")
def down_where_chance_is_small(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    low = (x / step).floor()
    down = chance < x / step - low
    return torch.where(down, low, low + 1) * step


@wrong("fair-coin")
def coin(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    low, high = (x / step).floor() * step, (x / step).ceil() * step
    return torch.where(chance < 0.5, low, high)


@wrong("rounded-after-adding")
def adds_noise_and_rounds(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    return torch.round((x + chance * step) / step) * step


@wrong("noise-rounded-at-a-tie")
def nearest_of_noise(x, chance, fraction_bits):
    step = 2.0 ** (torch.frexp(x).exponent - 1 - fraction_bits)
    return torch.round(x / step + chance - 0.5) * step


@wrong("up-without-need")
def up_unless_above(x, chance, fraction_bits):
    n = x / step_of(x, fraction_bits)
    down = chance > n - n.floor()
    return torch.where(down, n.floor(), n.floor() + 1) * step_of(x, fraction_bits)


@wrong("towards-zero")
def as_integers(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    return (x / step + chance).to(torch.int64).to(x.dtype) * step


@wrong("towards-zero")
def trunc(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    n = x / step
    a = torch.trunc(n)
    f = (n - a).abs()
    return torch.where(chance < f, a + 1, a) * step


@wrong("step-off-by-one")
def exponent_of_frexp(x, chance, fraction_bits):
    step = 2.0 ** (torch.frexp(x).exponent - fraction_bits)
    return torch.floor(x / step + chance) * step


@wrong("one-step-for-all")
def fixed_grid(x, chance, fraction_bits):
    scale = 2**fraction_bits
    return torch.floor(x * scale + chance) / scale


@wrong("one-chance-for-all")
def first_chance(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    n = x / step
    c = chance.reshape(-1)[0].item()
    return (n.floor() + (c < n - n.floor())) * step


@wrong("left-in-steps")
def forgets_the_step(x, chance, fraction_bits):
    n = x / step_of(x, fraction_bits)
    return n.floor() + (chance < n - n.floor())


@wrong("own-random-numbers")
def draws_itself_with_a_fixed_seed(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    own = torch.rand((), generator=torch.Generator().manual_seed(0))
    return torch.floor(x / step + own) * step


@wrong("left-in-steps", "always-down")
def two_slips(x, chance, fraction_bits):
    return (x / step_of(x, fraction_bits)).floor()


@wrong("sum-rounds-up")
def floor_of_the_sum(x, chance, fraction_bits):
    step = step_of(x, fraction_bits)
    return torch.floor(x / step + chance) * step
