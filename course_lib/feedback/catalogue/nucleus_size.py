"""What goes wrong in nucleus_size: how many tokens survive top-p."""

import math

from course_lib.feedback.task import Draw, Probe, Task


def nucleus_size(ratio, temperature, p):
    q = ratio ** (1 / temperature)
    mass, n = 0.0, 0
    while mass < p:
        mass += (1 - q) * q**n
        n += 1
    return n


task = Task(
    "nucleus_size",
    asks="how many tokens top-p keeps after the temperature, if each is `ratio` times as "
    "likely as the one before; a whole number.",
    lesson="09_sampling",
    reference=nucleus_size,
    read="4. In which order?",
)

CROSSING = "Does your nucleus hold at least p of the mass?"
CROSSING_HEADING = "“Top-p keeps what fits into $p$.”"
FEWER = "Would one token fewer hold p or more, too?"
HEAT = "What does a temperature of 2 do to each probability, and to the ratio of two?"
REST = "Which share of the mass stands after the first n tokens?"


def clear_of_rounding(draw: Draw, ratio: float, temperature: float) -> tuple:
    """Find a p for which no boundary is near, in either reading of the temperature."""
    while True:
        p = 0.55 + draw.size(0, 4000) / 10000
        turns = math.log(1 - p) / math.log(ratio)
        parts = [x % 1 for x in (turns, turns * temperature, turns / temperature)]
        if all(0.1 < part < 0.4 for part in parts):
            return ratio, temperature, p


@task.inputs
def probes(draw: Draw):
    yield Probe("ratio 1/2, p 0.8", 0.5, 1.0, 0.8)
    yield Probe("ratio 1/2, temperature 2", 0.5, 2.0, 0.6)
    yield Probe("two hold p exactly", 0.5, 1.0, 0.75)
    yield Probe("a tiny p", 0.5, 1.0, 1e-6)
    yield Probe("a long tail", *clear_of_rounding(draw, 0.93, 1.0))
    yield Probe("a long tail, sharpened", *clear_of_rounding(draw, 0.97, 0.6))
    yield Probe("a long tail, flattened", *clear_of_rounding(draw, 0.8, 1.7))
    yield Probe("almost all of the mass", 0.99, 3.0, 0.994)
    yield Probe("almost greedy", 0.7, 0.05, 0.9)


@task.property("never-empty", "What must always survive, however small p is?")
def never_empty(values) -> bool:
    return values["a tiny p"] >= 1


@task.property("grows-with-temperature", HEAT)
def grows_with_temperature(values) -> bool:
    return values["ratio 1/2, temperature 2"] >= values["ratio 1/2, p 0.8"]


def turns(ratio, p):
    """Give the n, not rounded, at which p is reached at temperature 1."""
    return math.log(1 - p) / math.log(ratio)


@task.mistake("topp-drops-crossing-token", CROSSING, CROSSING_HEADING)
def rounded_down(ratio, temperature, p):
    return math.floor(temperature * turns(ratio, p))


@task.mistake("topp-drops-crossing-token", CROSSING, CROSSING_HEADING)
def rounded_down_but_one(ratio, temperature, p):
    return max(1, math.floor(temperature * turns(ratio, p)))


@task.mistake("rounded-to-the-nearest", CROSSING, CROSSING_HEADING)
def rounded(ratio, temperature, p):
    return round(temperature * turns(ratio, p))


@task.mistake("one-too-many", FEWER, CROSSING_HEADING)
def one_too_many(ratio, temperature, p):
    return math.ceil(temperature * turns(ratio, p)) + 1


@task.mistake("more-than-p", FEWER, CROSSING_HEADING)
def floor_plus_one(ratio, temperature, p):
    return math.floor(temperature * turns(ratio, p)) + 1


@task.mistake("not-a-whole-number", "How many tokens are 2.3 tokens?")
def not_whole(ratio, temperature, p):
    return temperature * turns(ratio, p)


@task.mistake("truncation-before-temperature", HEAT)
def temperature_forgotten(ratio, temperature, p):
    return math.ceil(turns(ratio, p))


@task.mistake("temperature-multiplies", HEAT)
def the_other_way_round(ratio, temperature, p):
    return math.ceil(turns(ratio, p) / temperature)


@task.mistake("kept-for-left-out", REST)
def logarithm_of_p(ratio, temperature, p):
    return math.ceil(temperature * math.log(p) / math.log(ratio))


@task.mistake("temperature-at-the-probability", HEAT)
def heated_p(ratio, temperature, p):
    return math.ceil(math.log(1 - p ** (1 / temperature)) / math.log(ratio))


@task.mistake("equal-shares", "Is every token as likely as the first?")
def all_as_likely_as_the_first(ratio, temperature, p):
    return math.ceil(p / (1 - ratio ** (1 / temperature)))
