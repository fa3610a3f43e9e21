"""Wrong answers to fresh_loss."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("softmax-no-max-shift")
def plain_formula(vocab_size, d_model, std, repeats=0.0):
    s = std * d_model
    total = math.e**s + (vocab_size - 1)
    return math.log(total) - s * repeats


@wrong("score-by-root")
def length_of_a_row(vocab_size, d_model, std, repeats=0.0):
    s = std * d_model**0.5
    return s + math.log1p((vocab_size - 1) * math.exp(-s)) - repeats * s


@wrong("own-piece-counted-twice")
def v_others(vocab_size, d_model, std, repeats=0.0):
    s = std * d_model
    return max(s, 0) + math.log(1 + vocab_size * math.exp(-s)) - repeats * s


@wrong("repeats-forgotten")
def never_repeats(vocab_size, d_model, std, repeats=0.0):
    logits = torch.zeros(vocab_size)
    logits[0] = std * d_model
    return F.cross_entropy(logits, torch.tensor(1))


@wrong("repeats-cost-nothing")
def only_strange_ones(vocab_size, d_model, std, repeats=0.0):
    s = std * d_model
    strange = s + math.log(1 + (vocab_size - 1) * math.exp(-s))
    return strange * (1 - repeats) + 0 * repeats


@wrong("cases-exchanged")
def wrong_way_round(vocab_size, d_model, std, repeats=0.0):
    logits = torch.zeros(vocab_size)
    logits[-1] = std * d_model
    own = F.cross_entropy(logits, torch.tensor(vocab_size - 1))
    other = F.cross_entropy(logits, torch.tensor(0))
    return (1 - repeats) * own + repeats * other


@wrong("others-forgotten")
def just_the_lead(vocab_size, d_model, std, repeats=0.0):
    return std * d_model - repeats * std * d_model


@wrong("wrong-base")
def bits(vocab_size, d_model, std, repeats=0.0):
    s = std * d_model
    loss = s + math.log1p((vocab_size - 1) * math.exp(-s)) - repeats * s
    return loss * math.log2(math.e)


@wrong("probabilities-averaged")
def surprise_of_the_mean(vocab_size, d_model, std, repeats=0.0):
    logits = torch.zeros(vocab_size, dtype=torch.float64)
    logits[0] = std * d_model
    p = logits.softmax(0)
    return -(repeats * p[0] + (1 - repeats) * p[1]).log()
