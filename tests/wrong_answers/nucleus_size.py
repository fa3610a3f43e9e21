"""Wrong answers to nucleus_size."""

import math

import numpy as np

from tests.answers import wrong


@wrong("topp-drops-crossing-token")
def integer_part(ratio, temperature, p):
    q = ratio ** (1 / temperature)
    return int(math.log(1 - p, q))


@wrong("truncation-before-temperature")
def no_temperature(ratio, temperature, p):
    n = np.log(1 - p) / np.log(ratio)
    return int(np.ceil(n))


@wrong("temperature-multiplies")
def ratio_to_the_t(ratio, temperature, p):
    q = ratio**temperature
    return math.ceil(math.log(1 - p, q))


@wrong("kept-for-left-out")
def until_q_is_p(ratio, temperature, p):
    return math.ceil(math.log(p, ratio ** (1 / temperature)))


@wrong("one-too-many")
def plus_one(ratio, temperature, p):
    q = ratio ** (1 / temperature)
    n = math.ceil(math.log(1 - p) / math.log(q))
    return n + 1


@wrong("not-a-whole-number")
def a_float(ratio, temperature, p):
    return math.log(1 - p) / math.log(ratio) * temperature


@wrong("rounded-to-the-nearest")
def half_up(ratio, temperature, p):
    return int(math.log(1 - p) / math.log(ratio) * temperature + 0.5)


@wrong("ratio-divided-by-temperature")
def divided(ratio, temperature, p):
    q = min(ratio / temperature, 0.999)
    return math.ceil(math.log(1 - p) / math.log(q))


@wrong("more-than-p")
def floor_and_one(ratio, temperature, p):
    return int(math.log(1 - p, ratio ** (1 / temperature))) + 1
