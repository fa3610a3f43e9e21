"""Wrong answers to smallest_base."""

import math

from tests.answers import wrong


@wrong("radians-for-turns")
def no_two_pi(max_length, d_head, n_slow=1):
    t = d_head // 2 - n_slow
    return max_length ** (d_head / (2 * t))


@wrong("half-turn")
def one_pi(max_length, d_head, n_slow=1):
    t = d_head // 2 - n_slow
    return (max_length / math.pi) ** (d_head / (2 * t))


@wrong("pair-off-by-one")
def pairs_from_one(max_length, d_head, n_slow=1):
    t = d_head / 2 - n_slow + 1
    return (max_length / (2 * math.pi)) ** (d_head / 2 / t)


@wrong("exponent-of-the-pair")
def forgets_the_two(max_length, d_head, n_slow=1):
    t = d_head // 2 - n_slow
    return math.exp(math.log(max_length / (2 * math.pi)) * d_head / t)


@wrong("base-without-exponent")
def wavelength_is_two_pi_base(max_length, d_head, n_slow=1):
    return max_length / math.tau


@wrong("power-not-undone")
def upside_down(max_length, d_head, n_slow=1):
    t = d_head // 2 - n_slow
    return (max_length / math.tau) ** (2 * t / d_head)


@wrong("slow-pairs-ignored")
def always_the_last(max_length, d_head, n_slow=1):
    return (max_length / math.tau) ** (d_head / (d_head - 2))


@wrong("counted-from-the-fast-end")
def t_is_n_slow(max_length, d_head, n_slow=1):
    return (max_length / math.tau) ** (d_head / (2 * n_slow))


@wrong("numbers-for-pairs")
def d_head_minus_n(max_length, d_head, n_slow=1):
    return (max_length / math.tau) ** (d_head / (d_head - n_slow))


@wrong("multiplied-by-a-turn")
def times_two_pi(max_length, d_head, n_slow=1):
    t = d_head // 2 - n_slow
    return (max_length * 2 * math.pi) ** (d_head / (2 * t))


@wrong("doubled-until-enough")
def doubles(max_length, d_head, n_slow=1):
    base, t = 2.0, d_head // 2 - n_slow
    while max_length * base ** (-2 * t / d_head) > 2 * math.pi:
        base *= 2
    return base


@wrong("radians-for-turns", "slow-pairs-ignored")
def two_slips(max_length, d_head, n_slow=1):
    return max_length ** (d_head / (d_head - 2))
