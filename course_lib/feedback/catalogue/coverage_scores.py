"""What goes wrong in coverage_scores: words of the source that nobody looked at."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def coverage_scores(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    scores = []
    for row, (n, m) in enumerate(
        zip(lengths.tolist(), source_lengths.tolist(), strict=True)
    ):
        looked_at = weights[row, :n, :m].sum(0)
        cost = looked_at.log().clamp(max=0).sum()
        total = log_probabilities[row, :n].sum()
        scores.append(total * (6 / (5 + n)) ** alpha + beta * cost)
    return torch.stack(scores)


task = Task(
    "coverage_scores",
    asks="(batch,): log-probability over ((5 + length) / 6) ** alpha, and beta times the "
    "sum of log min(1, what each word of the source was looked at in all).",
    lesson="12_translation",
    reference=coverage_scores,
    read="4. Dates, block by block",
)

AXIS = "Which sums of the table are always 1: those of its rows or of its columns?"
LIMIT = "A word was looked at with 2.5 in all: what should that cost?"
SUM = "Are all looks at a word added up, or is one of them taken, or their mean?"
QUERIES = "Rows of padding have weights, too: did the translation look there?"
IDS = "How many of these log-probabilities belong to the translation?"
KEYS = "Padding of the source was never looked at: is that to be punished?"
LENGTH = "Which length is the translation's own, and what is done with it?"
ORDER = "Where is the logarithm taken: of each weight, or of a sum?"
TERMS = "Which of the two terms is divided by the power of the length?"
WHO = "Which of alpha and beta is an exponent, and which a factor?"
PADDED = "1. From pairs to one update"
NORM = "6. The likeliest of all texts"


@task.inputs
def probes(draw: Draw):
    yield Probe(
        "three ids, two words",
        torch.tensor([[-0.5, -1.0, -0.5]]),
        torch.tensor([[[1.0, 0.0], [0.7, 0.3], [0.8, 0.2]]]),
        *(torch.tensor([n]) for n in (3, 2)),
        alpha=1.0,
        beta=1.0,
    )
    yield Probe(
        "no penalty for words", *made(draw, [4, 4], [3, 3]), alpha=0.7, beta=0.0
    )
    yield Probe("no penalty for length", *made(draw, [5], [4]), alpha=0.0, beta=0.6)
    yield Probe("padded ids", *made(draw, [2, 5, 3], [3, 3, 3]), alpha=0.6, beta=0.2)
    yield Probe("padded sources", *made(draw, [4, 4], [5, 2]), alpha=0.6, beta=0.3)
    both = made(draw, [3, 7, 1, 5], [4, 2, 6, 1])
    yield Probe("both padded", *both, alpha=0.9, beta=0.4)
    alone = both[0][:1, :3], both[1][:1, :3, :4], both[2][:1], both[3][:1]
    yield Probe("its first row, no padding", *alone, alpha=0.9, beta=0.4)
    many = made(draw, draw.ints(1, 12, 9).tolist(), draw.ints(1, 8, 9).tolist())
    yield Probe("nine translations", *many, alpha=0.8, beta=1.7)


def made(draw, lengths, source_lengths):
    """Draw log-probabilities and weights; padded keys get 0, padded queries weights."""
    log_probabilities = -draw.normal(len(lengths), max(lengths)).abs() - 0.1
    scores = 1.5 * draw.normal(len(lengths), max(lengths), max(source_lengths))
    lengths, source_lengths = torch.tensor(lengths), torch.tensor(source_lengths)
    padding = torch.arange(scores.shape[-1]) >= source_lengths[:, None, None]
    weights = scores.masked_fill(padding, -torch.inf).softmax(-1)
    return log_probabilities, weights, lengths, source_lengths


@task.property("padding-changes-nothing", "What does padding add to a score?")
def padding_changes_nothing(values) -> bool:
    padded, alone = values["both padded"], values["its first row, no padding"]
    return bool(torch.isclose(padded[0], alone[0], atol=1e-4))


@task.property("finite", KEYS)
def finite(values) -> bool:
    return all(
        bool(torch.as_tensor(value).isfinite().all()) for value in values.values()
    )


def parts(log_probabilities, weights, lengths, source_lengths):
    """Give sum of log-probabilities, weights without padded queries, real words."""
    written = torch.arange(weights.shape[1]) < lengths[:, None]
    words = torch.arange(weights.shape[2]) < source_lengths[:, None]
    total = (log_probabilities * written).sum(-1)
    return total, weights * written[..., None], words


def known(
    id, hint, read=None, *, divide=None, cost=None, keep_ids=False, keep_queries=False
):
    """Add a mistake: another length, another cost of words, or padding that counts."""

    def answer(log_probabilities, weights, lengths, source_lengths, alpha, beta):
        total, looked, words = parts(
            log_probabilities, weights, lengths, source_lengths
        )
        total = log_probabilities.sum(-1) if keep_ids else total
        looked = weights if keep_queries else looked
        divide_by = divide or (lambda n, alpha: ((5 + n) / 6) ** alpha)
        price = (cost or right_cost)(looked, words)
        return total / divide_by(lengths, alpha) + beta * price

    answer.__name__ = id.replace("-", "_")
    task.mistake(id, hint, read)(answer)


def right_cost(looked, words):
    """Give the cost of each translation's words."""
    return looked.sum(1).where(words, 1.0).clamp(max=1).log().sum(-1)


def no_limit(looked, words):
    return looked.sum(1).where(words, 1.0).log().sum(-1)


def largest_weight(looked, words):
    return looked.amax(1).where(words, 1.0).log().sum(-1)


def queries_for_words(looked, words):
    return looked.sum(-1).where(looked.sum(-1) > 0, 1.0).clamp(max=1).log().sum(-1)


def logarithm_of_each(looked, words):
    return looked.where(looked > 0, 1.0).log().sum((1, 2))


def mean_over_words(looked, words):
    return right_cost(looked, words) / words.sum(-1)


def mean_over_queries(looked, words):
    n = (looked.sum(-1) > 0).sum(-1, keepdim=True)
    return (looked.sum(1) / n).where(words, 1.0).log().sum(-1)


def padded_words(looked, words):
    return looked.sum(1).clamp(max=1).log().sum(-1)


def tiny_for_padding(looked, words):
    return looked.sum(1).clamp(1e-9, 1).log().sum(-1)


def no_logarithm(looked, words):
    return (looked.sum(1).clamp(max=1) * words).sum(-1)


known("weights-summed-over-keys", AXIS, cost=queries_for_words)
known("no-limit-of-one", LIMIT, cost=no_limit)
known("largest-weight-for-the-sum", SUM, cost=largest_weight)
known("logarithm-of-each-weight", ORDER, cost=logarithm_of_each)
known("logarithm-forgotten", ORDER, cost=no_logarithm)
known("mean-over-words", "Are the costs of the words added up?", cost=mean_over_words)
known("mean-over-queries", SUM, cost=mean_over_queries)
known("source-padding-punished", KEYS, PADDED, cost=padded_words)
known("source-padding-punished", KEYS, PADDED, cost=tiny_for_padding)
known("padded-queries-counted", QUERIES, PADDED, keep_queries=True)
known("padded-ids-counted", IDS, PADDED, keep_ids=True)
known("padded-ids-counted", IDS, PADDED, keep_ids=True, keep_queries=True)
known("plain-length", LENGTH, NORM, divide=lambda n, alpha: n**alpha)
known("six-forgotten", LENGTH, NORM, divide=lambda n, alpha: (5.0 + n) ** alpha)
known("alpha-forgotten", WHO, NORM, divide=lambda n, alpha: (5 + n) / 6)
known("length-forgotten", LENGTH, NORM, divide=lambda n, alpha: 1.0)
known("length-multiplies", LENGTH, NORM, divide=lambda n, a: (6 / (5 + n)) ** a)
known(
    "padded-length",
    LENGTH,
    PADDED,
    divide=lambda n, alpha: ((5 + n.max()) / 6) ** alpha,
)


@task.mistake("both-terms-divided", TERMS, NORM)
def everything_divided(
    log_probabilities, weights, lengths, source_lengths, alpha, beta
):
    total, looked, words = parts(log_probabilities, weights, lengths, source_lengths)
    return (total + beta * right_cost(looked, words)) / ((5 + lengths) / 6) ** alpha


@task.mistake("cost-sign", "Does a word that was never looked at cost, or pay?")
def paid_for_words(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    return coverage_scores(
        log_probabilities, weights, lengths, source_lengths, alpha, -beta
    )


@task.mistake("alpha-and-beta-exchanged", WHO)
def exchanged(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    return coverage_scores(
        log_probabilities, weights, lengths, source_lengths, beta, alpha
    )


@task.mistake("length-of-the-source", LENGTH, PADDED)
def divided_by_the_source(
    log_probabilities, weights, lengths, source_lengths, alpha, beta
):
    total, looked, words = parts(log_probabilities, weights, lengths, source_lengths)
    price = beta * right_cost(looked, words)
    return total / ((5 + source_lengths) / 6) ** alpha + price
