"""Wrong answers to needed_gap."""

import math

import numpy as np
import torch

from tests.answers import wrong


@wrong("rest-has-one-id")
def logit_function(share, vocab, temperature=1.0):
    return float(torch.logit(torch.tensor(share))) * temperature


@wrong("best-counted-with-the-rest")
def vocab_not_less_one(share, vocab, temperature=1.0):
    rest = (1 - share) / vocab
    return (math.log(share) - math.log(rest)) * temperature


@wrong("compared-with-an-even-guess")
def against_uniform(share, vocab, temperature=1.0):
    return (math.log(share) - math.log(1 / vocab)) * temperature


@wrong("rest-multiplied")
def minus_for_plus(share, vocab, temperature=1.0):
    return temperature * (math.log(share) - math.log(1 - share) - math.log(vocab - 1))


@wrong("temperature-forgotten")
def argument_ignored(share, vocab, temperature=1.0):
    return np.log(share * (vocab - 1) / (1 - share))


@wrong("temperature-inverted")
def logit_already_divided(share, vocab, temperature=1.0):
    gap = math.log((vocab - 1) * share / (1 - share))
    return gap / temperature


@wrong("wrong-base")
def log_two(share, vocab, temperature=1.0):
    return temperature * math.log2((vocab - 1) * share / (1 - share))


@wrong("gap-sign")
def others_over_best(share, vocab, temperature=1.0):
    return temperature * math.log((1 - share) / ((vocab - 1) * share))


@wrong("search-ends-too-early")
def climbs_from_zero(share, vocab, temperature=1.0):
    gap = 0.0
    while 1 / (1 + (vocab - 1) * math.exp(-gap / temperature)) < share:
        gap += 0.01
    return gap


@wrong("temperature-on-the-share")
def tempered_share(share, vocab, temperature=1.0):
    powered = share ** (1 / temperature)
    return math.log(powered * (vocab - 1) / (1 - powered))


@wrong("temperature-inverted", "best-counted-with-the-rest")
def two_slips(share, vocab, temperature=1.0):
    return math.log(vocab * share / (1 - share)) / temperature
