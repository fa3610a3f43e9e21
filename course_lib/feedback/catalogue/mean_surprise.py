"""What goes wrong in mean_surprise: how undecided a model is."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task


def mean_surprise(logits):
    return torch.special.entr(logits.softmax(-1)).sum(-1)


task = Task(
    "mean_surprise",
    asks="a number for each row of logits (..., vocab): the sum of -p ln p, in nats; an "
    "id of probability 0 adds 0.",
    lesson="01_softmax",
    reference=mean_surprise,
    read="4. Logarithm",
)


@task.inputs
def probes(draw: Draw):
    excluded = draw.normal(2, 5)
    excluded[0, draw.size(0, 5)] = excluded[1, :3] = -math.inf
    certain = torch.full((4,), -math.inf)
    certain[draw.size(0, 4)] = draw.normal(1).item()
    yield Probe("two ids", draw.normal(2))
    yield Probe("equal logits", draw.normal(1).expand(draw.size(5, 9)).clone())
    yield Probe("one id is excluded", torch.tensor([0.0, -math.inf, draw.normal(1)]))
    yield Probe("all but one are excluded", certain)
    yield Probe("a table", draw.normal(3, 5))
    yield Probe("a table with exclusions", excluded)
    yield Probe("logits near 1000", 1000 + draw.normal(2, 7))
    yield Probe("logits near -1000", draw.normal(2, 7) - 1000)
    yield Probe("far apart", 1000 * draw.normal(3, 7))
    yield Probe("more axes", 3 * draw.normal(2, 3, 11))


@task.property("even-guess", "How surprised is who guesses evenly?")
def logarithm_of_the_number(values) -> bool:
    guess = values["equal logits"].item()
    return any(abs(guess - math.log(n)) < 1e-4 for n in range(5, 9))


@task.property("not-negative", "Can a surprise be below 0?")
def not_negative(values) -> bool:
    return not any(bool((value < -1e-4).any()) for value in values.values())


@task.mistake(
    "zero-times-infinity", "What is 0 times infinity, and what should it be here?"
)
def product_as_it_is(logits):
    log_probabilities = torch.log_softmax(logits, -1)
    return -(log_probabilities.exp() * log_probabilities).sum(-1)


@task.mistake(
    "zero-times-infinity", "What is 0 times infinity, and what should it be here?"
)
def logarithm_of_probabilities(logits):
    p = logits.softmax(-1)
    return -(p * p.log()).sum(-1)


@task.mistake(
    "softmax-no-max-shift",
    "What does exp(1000) give, and which constant can you subtract?",
    "2. Shift",
)
def by_plain_exponentials(logits):
    p = logits.exp() / logits.exp().sum(-1, keepdim=True)
    return torch.special.entr(p).sum(-1)


@task.mistake("not-weighted", "How often does the model expect each id to come?")
def plain_mean_of_surprises(logits):
    found = torch.log_softmax(logits, -1)
    return -found.masked_fill(found.isinf(), 0.0).mean(-1)


@task.mistake("not-weighted", "How often does the model expect each id to come?")
def plain_sum_of_surprises(logits):
    found = torch.log_softmax(logits, -1)
    return -found.masked_fill(found.isinf(), 0.0).sum(-1)


@task.mistake(
    "averaged-over-ids",
    "The weights add up to 1 already: is there anything left to divide by?",
)
def mean_of_products(logits):
    return torch.special.entr(logits.softmax(-1)).mean(-1)


@task.mistake("surprise-sign", "Is the logarithm of a probability above or below 0?")
def without_the_minus(logits):
    return -mean_surprise(logits)


@task.mistake("wrong-base", "Is a nat the logarithm of base e or of base 2?")
def in_bits(logits):
    return mean_surprise(logits) / math.log(2)


@task.mistake("rows-added-up", "Each row has its own number: over which axis is added?")
def one_number_for_all(logits):
    return mean_surprise(logits).sum()


@task.mistake("rows-added-up", "Each row has its own number: over which axis is added?")
def mean_of_all_rows(logits):
    return mean_surprise(logits).mean()


@task.mistake("softmax-wrong-dim", "Which numbers of the table share one choice?")
def over_rows(logits):
    return torch.special.entr(logits.softmax(0)).sum(-1)


@task.mistake(
    "logits-as-logarithms",
    "Is a logit already the logarithm of a probability, or what is still missing?",
)
def weighted_logits(logits):
    weighted = logits.softmax(-1) * logits
    return -weighted.masked_fill(logits.isinf(), 0.0).sum(-1)


@task.mistake(
    "surprise-of-the-best", "Must the likeliest id come, or can others come as well?"
)
def only_the_best(logits):
    return -torch.log_softmax(logits, -1).amax(-1)


@task.mistake("mask-fill-near-zero", "exp(0) is 1: which score makes exp vanish?")
def excluded_logits_become_zero(logits):
    return mean_surprise(logits.masked_fill(logits.isinf(), 0.0))
