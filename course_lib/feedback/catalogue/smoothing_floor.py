"""What goes wrong in smoothing_floor: the least loss with label smoothing."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task


def smoothing_floor(vocab_size, label_smoothing):
    wanted = torch.full((vocab_size,), label_smoothing / vocab_size).double()
    wanted[0] += 1 - label_smoothing
    return float(torch.special.entr(wanted).sum())


task = Task(
    "smoothing_floor",
    asks="the least possible loss of one target under label smoothing, in nats, as a "
    "number.",
    lesson="11_training",
    reference=smoothing_floor,
    read="6. Label smoothing",
)

TERMS = "Which tokens does the smoothed loss speak of, and how many are there?"
ALL_PARTS = "With which two parts does the smoothed loss weigh the target's surprise?"


@task.inputs
def probes(draw: Draw):
    part = round(0.05 + 0.25 * float(draw.normal(1).sigmoid()), 3)
    yield Probe("the lesson's five tokens", 5, 0.1)
    yield Probe("two tokens, everything is spread", 2, 1.0)
    yield Probe("two tokens", 2, part)
    yield Probe("no smoothing", draw.size(7, 12), 0.0)
    yield Probe("some tokens", draw.size(7, 30), part)
    yield Probe("everything is spread", draw.size(12, 40), 1.0)
    yield Probe("half of it is spread", draw.size(100, 900), 0.5)
    yield Probe("the vocabulary of GPT-2", 50257, 0.1)


@task.property("even-guess", "If everything is spread, what is the best guess worth?")
def logarithm_of_the_number(values) -> bool:
    guess = values["two tokens, everything is spread"]
    return abs(guess - math.log(2)) < 1e-4


@task.property("nothing-to-lose", "Without smoothing, how low can the loss go?")
def zero_without_smoothing(values) -> bool:
    return abs(values["no smoothing"]) < 1e-4


@task.property("not-negative", "Can a surprise be below 0?")
def not_negative(values) -> bool:
    return all(value > -1e-4 for value in values.values())


def parts(vocab_size, label_smoothing):
    """Give the best probabilities: of the target, and of each other token."""
    other = label_smoothing / vocab_size
    return 1 - label_smoothing + other, other


def term(p):
    """Weigh a surprise by its own probability."""
    return -p * math.log(p) if p > 0 else 0.0


@task.mistake("other-tokens-forgotten", TERMS)
def only_the_targets_term(vocab_size, label_smoothing):
    return term(parts(vocab_size, label_smoothing)[0])


@task.mistake("other-tokens-forgotten", TERMS)
def surprise_of_the_target(vocab_size, label_smoothing):
    return -math.log(parts(vocab_size, label_smoothing)[0])


@task.mistake("one-other-token", TERMS)
def as_if_there_were_two(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    return term(target) + term(other)


@task.mistake("target-counted-twice", "How many tokens are not the target?")
def every_token_and_the_target(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    return term(target) + vocab_size * term(other)


@task.mistake(
    "spread-over-the-others",
    "Does the lesson spread the share over all tokens, or over all but the target?",
)
def spread_over_the_others(vocab_size, label_smoothing):
    other = label_smoothing / (vocab_size - 1)
    return term(1 - label_smoothing) + (vocab_size - 1) * term(other)


@task.mistake("targets-part-left-out", ALL_PARTS)
def the_target_gets_no_share(vocab_size, label_smoothing):
    other = label_smoothing / vocab_size
    return term(1 - label_smoothing) + (vocab_size - 1) * term(other)


@task.mistake("targets-part-left-out", ALL_PARTS)
def weights_without_the_share(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    found = -(1 - label_smoothing) * math.log(target)
    return found - (vocab_size - 1) * other * math.log(other) if other else found


@task.mistake(
    "zero-times-infinity", "What is the logarithm of 0, and how often does it come up?"
)
def formula_without_the_limit(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    rest = (vocab_size - 1) * other * math.log(other)
    return -target * math.log(target) - rest


@task.mistake(
    "zero-times-infinity", "What is the logarithm of 0, and how often does it come up?"
)
def tensors_without_the_limit(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    p, n = torch.tensor([target, other]).double(), torch.tensor([1, vocab_size - 1])
    return float(-(n * p * p.log()).sum())


@task.mistake("wrong-base", "Is a nat the logarithm of base e or of base 2?")
def in_bits(vocab_size, label_smoothing):
    return smoothing_floor(vocab_size, label_smoothing) / math.log(2)


@task.mistake("surprise-sign", "Is the logarithm of a probability above or below 0?")
def without_the_minus(vocab_size, label_smoothing):
    return -smoothing_floor(vocab_size, label_smoothing)


@task.mistake("perplexity-for-loss", "Is a loss or a perplexity asked for?")
def its_exponential(vocab_size, label_smoothing):
    return math.exp(smoothing_floor(vocab_size, label_smoothing))


@task.mistake(
    "loss-of-certainty",
    "With probability 1 on the target, how surprising are the rest?",
)
def only_the_even_part(vocab_size, label_smoothing):
    return label_smoothing * math.log(vocab_size)


@task.mistake(
    "averaged-over-ids", "The weights add up to 1: is anything left to divide?"
)
def mean_of_the_terms(vocab_size, label_smoothing):
    return smoothing_floor(vocab_size, label_smoothing) / vocab_size


@task.mistake("not-weighted", "With which weight does each token's surprise count?")
def plain_sum_of_surprises(vocab_size, label_smoothing):
    target, other = parts(vocab_size, label_smoothing)
    rest = (vocab_size - 1) * math.log(other) if other else 0.0
    return -math.log(target) - rest
