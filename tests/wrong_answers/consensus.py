"""Wrong answers to consensus."""

import math

import torch

from course_lib.apps.translate.scoring import edit_distance
from tests.answers import wrong


@wrong("likeliest-text")
def argmax(texts, log_probabilities):
    return texts[int(torch.tensor(log_probabilities).argmax())]


@wrong("probabilities-ignored")
def medoid(texts, log_probabilities):
    totals = [sum(edit_distance(a, b) for b in texts) for a in texts]
    return texts[totals.index(min(totals))]


@wrong("logarithms-as-weights")
def weighs_with_logs(texts, log_probabilities):
    best, least = None, math.inf
    for a in texts:
        total = 0
        for b, log_p in zip(texts, log_probabilities, strict=True):
            total += log_p * edit_distance(a, b)
        if total < least:
            best, least = a, total
    return best


@wrong("softmax-no-max-shift")
def exp_only(texts, log_probabilities):
    p = [math.exp(x) for x in log_probabilities]
    costs = []
    for a in texts:
        costs.append(sum(p[j] * edit_distance(a, b) for j, b in enumerate(texts)))
    return texts[costs.index(min(costs))]


@wrong("softmax-no-max-shift")
def normalised_by_hand(texts, log_probabilities):
    p = torch.tensor(log_probabilities).exp()
    p = p / p.sum()
    d = torch.tensor([[float(edit_distance(a, b)) for b in texts] for a in texts])
    return texts[int((d @ p).argmin())]


@wrong("weighed-by-its-own-probability")
def rows_and_columns_exchanged(texts, log_probabilities):
    p = torch.tensor(log_probabilities, dtype=torch.double).softmax(0)
    costs = []
    for i, a in enumerate(texts):
        costs.append(float(p[i]) * sum(edit_distance(a, b) for b in texts))
    return texts[costs.index(min(costs))]


@wrong("farthest-text")
def max_for_min(texts, log_probabilities):
    p = torch.softmax(torch.tensor(log_probabilities).double(), 0).tolist()

    def cost(a):
        return sum(w * edit_distance(a, b) for w, b in zip(p, texts, strict=True))

    return max(texts, key=cost)


@wrong("letters-for-units")
def joined(texts, log_probabilities):
    p = torch.softmax(torch.tensor(log_probabilities).double(), 0).tolist()
    whole = ["".join(text) for text in texts]
    costs = [
        sum(w * edit_distance(a, b) for w, b in zip(p, whole, strict=True))
        for a in whole
    ]
    return texts[costs.index(min(costs))]


@wrong("places-for-edits")
def hamming(texts, log_probabilities):
    p = torch.softmax(torch.tensor(log_probabilities).double(), 0).tolist()

    def differ(a, b):
        n = max(len(a), len(b))
        a, b = a + [None] * (n - len(a)), b + [None] * (n - len(b))
        return sum(x != y for x, y in zip(a, b, strict=True))

    def cost(a):
        return sum(w * differ(a, b) for w, b in zip(p, texts, strict=True))

    return min(texts, key=cost)


@wrong("nearest-to-the-likeliest")
def second_of_the_best(texts, log_probabilities):
    best = texts[log_probabilities.index(max(log_probabilities))]
    rest = [t for t in texts if t is not best]
    if not rest:
        return best
    return sorted(rest, key=lambda t: edit_distance(best, t))[0]


@wrong("probabilities-ignored", "likeliest-text")
def majority(texts, log_probabilities):
    return max(texts, key=texts.count)
