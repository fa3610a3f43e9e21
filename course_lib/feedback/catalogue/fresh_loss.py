"""What goes wrong in fresh_loss: how sure a model is that has learned nothing."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task


def fresh_loss(vocab_size, d_model, std, repeats=0.0):
    scores = torch.zeros(vocab_size, dtype=torch.float64)
    scores[0] = std * d_model
    of_repeated, of_strange = -scores.log_softmax(0)[:2]
    return float(repeats * of_repeated + (1 - repeats) * of_strange)


task = Task(
    "fresh_loss",
    asks="the mean loss where the piece just read scores std * d_model and all others 0.",
    lesson="08_decoder",
    reference=fresh_loss,
    read="3. One table, two sizes",
)

OWN = "How long is a row, how long the top vector, and what is their product?"
SUM = "Over which pieces do the exponentials add up, each how often?"
TARGET = "Which score does the target have when it repeats the piece just read?"


@task.inputs
def probes(draw: Draw):
    vocab, d_model = draw.size(30, 60), draw.size(5, 9)
    std = 0.3 + draw.size(1, 9) / 20
    yield Probe("4 pieces, a score of 2", 4, 2, 1.0)
    yield Probe("rows of size 0", vocab, d_model, 0.0)
    yield Probe("the lesson's size 1", 500, 32, 1.0)
    yield Probe("the lesson's scaled", 500, 32, 32**-0.5)
    yield Probe("a quarter repeats", 500, 32, 32**-0.5, 0.25)
    yield Probe("all repeat", vocab, d_model, std, repeats=1.0)
    yield Probe("some repeat", vocab, d_model, std, repeats=std / 2)
    yield Probe("a score of 10,000", vocab, 1000, 10.0, 0.5)


@task.property("guesser", "What is the loss when all scores are equal?")
def a_guesser(values) -> bool:
    return 3.3 < float(values["rows of size 0"]) < 4.2


@task.mistake("score-by-root", OWN)
def score_by_root(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, 1, std * math.sqrt(d_model), repeats)


@task.mistake("std-forgotten", OWN)
def std_forgotten(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, d_model, 1.0, repeats)


@task.mistake("own-piece-counted-twice", SUM)
def all_pieces_and_the_own(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size + 1, d_model, std, repeats)


@task.mistake("others-forgotten", SUM)
def loss_is_the_score(vocab_size, d_model, std, repeats=0.0):
    return (1 - repeats) * std * d_model


@task.mistake("others-forgotten", SUM)
def one_other_piece(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(2, d_model, std, repeats)


@task.mistake("softmax-no-max-shift", "What does exp(10000) give?")
def overflows(vocab_size, d_model, std, repeats=0.0):
    own = std * d_model
    return math.log(math.exp(own) + vocab_size - 1) - repeats * own


@task.mistake("softmax-no-max-shift", "What does exp(10000) give?")
def infinite(vocab_size, d_model, std, repeats=0.0):
    own = torch.tensor(std * d_model)
    return torch.log(torch.exp(own) + vocab_size - 1) - repeats * own


@task.mistake("repeats-forgotten", TARGET)
def repeats_forgotten(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, d_model, std)


@task.mistake("repeats-cost-nothing", TARGET)
def repeats_cost_nothing(vocab_size, d_model, std, repeats=0.0):
    return (1 - repeats) * fresh_loss(vocab_size, d_model, std)


@task.mistake("repeats-sign", TARGET)
def repeats_cost_more(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, d_model, std) + repeats * std * d_model


@task.mistake("cases-exchanged", TARGET)
def cases_exchanged(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, d_model, std, 1 - repeats)


@task.mistake("scores-ignored", "Is a fresh model a guesser?", "Question")
def a_guessers_loss(vocab_size, d_model, std, repeats=0.0):
    return math.log(vocab_size)


@task.mistake("wrong-base", "In which unit does the lesson's loss count?", "Question")
def in_bits(vocab_size, d_model, std, repeats=0.0):
    return fresh_loss(vocab_size, d_model, std, repeats) / math.log(2)


@task.mistake(
    "probabilities-averaged",
    "Is the loss of a mean probability the mean of the losses?",
)
def logarithm_of_a_mixture(vocab_size, d_model, std, repeats=0.0):
    repeated, strange = (
        math.exp(-fresh_loss(vocab_size, d_model, std, share)) for share in (1.0, 0.0)
    )
    mean = repeats * repeated + (1 - repeats) * strange
    return -math.log(mean) if mean else math.inf


@task.mistake("scores-averaged", "Is the loss of a mean score the mean of the losses?")
def exponential_of_a_mixture(vocab_size, d_model, std, repeats=0.0):
    own = std * d_model * (1 - repeats)
    return fresh_loss(vocab_size, 1, own)
