"""What goes wrong in consensus: the text that most agree with."""

import math
from functools import lru_cache

import torch

from course_lib.apps.translate.scoring import edit_distance
from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def consensus(texts, log_probabilities):
    shares = torch.tensor(log_probabilities, dtype=torch.float64).softmax(0)
    edits = torch.tensor([[edit_distance(a, b) for b in texts] for a in texts])
    return texts[int((edits.double() @ shares).argmin())]


def use(answer, texts, log_probabilities) -> list[str]:
    """Call it and read the units of the text that it gives."""
    return [str(unit) for unit in written(answer(texts, log_probabilities))]


task = Task(
    "consensus",
    asks="the text with the fewest edits to all of them in the mean, each weighed in "
    "proportion to its probability.",
    lesson="12_translation",
    reference=consensus,
    use=use,
    read="7. Why the blank sheet wins",
)

WEIGHTS = "Which number says how possible a text is: its probability or the logarithm?"
OTHER = "From i to j: with whose probability are the edits weighed?"
LIKELIEST = "Is the likeliest text asked for, or the one that is near to the others?"
EXP = "What does exp(-1000) give, and which constant can you add to all without harm?"
EDITS = "How many edits are there between `a b c` and `b c`?"
UNITS = "Is one edit a letter or a unit?"
SCORE = "3. Score"


def between(one, other):
    """Count the edits; inputs are drawn, and mistakes tried, with the same pairs."""
    return known_edits(*sorted((tuple(one), tuple(other))))


known_edits = lru_cache(maxsize=2**14)(edit_distance)


def best(texts, log_probabilities, distance=between, weigh=None, least=min):
    """Return the best text; a mistake exchanges distance, weights, or both."""
    shift = max(log_probabilities)
    weights = [math.exp(x - shift) for x in log_probabilities]
    weights = weigh(weights) if weigh else weights

    def edits(text):
        return sum(
            weight * distance(text, other)
            for weight, other in zip(weights, texts, strict=True)
        )

    return least(texts, key=edits)


@task.inputs
def probes(draw: Draw):
    yield Probe(
        "the blank is the likeliest",
        [[], ["a", "b", "c"], ["a", "b", "d"], ["a", "x", "c"]],
        [math.log(p) for p in (0.4, 0.3, 0.2, 0.1)],
    )
    yield Probe(
        "two likely texts",
        [["a", "c", "c"], ["a", "b"], ["a"], []],
        [math.log(p) for p in (0.42, 0.38, 0.1, 0.1)],
    )
    yield Probe("three texts, one of them likely", *found(draw, 3, -1.0, ["ein"]))
    yield Probe("five texts", *found(draw, 5, -2.0))
    yield Probe("five others", *found(draw, 5, -3.0))
    yield Probe(
        "all far below -1000",
        [["a", "b"], [], ["a"], ["a", "c"]],
        [-1002.0, -1001.0, -1002.0, -1002.0],
    )
    yield Probe("eight texts, far below -1000", *found(draw, 8, -1500.0))
    yield Probe("probabilities that sum to less than 1", *found(draw, 6, -9.0))
    yield Probe("long texts", *found(draw, 5, -20.0, ["hundert"] * 3))
    yield Probe("one text", [["zwei", "und"]], [-3.2])
    yield Probe("twelve texts", *found(draw, 12, -8.0, spread=1.5))


PARTS = "ein zwei drei vier und zwanzig hundert".split()
READINGS = (
    {"distance": lambda one, other: len(set(one) ^ set(other))},
    {"distance": lambda one, other: between(" ".join(one), " ".join(other))},
    {"distance": lambda one, other: places(one, other)},
    {"least": max},
)


def found(draw, n, log_probability, stem=(), spread=0.7):
    """Draw texts of which one is the best by far, and few other readings choose it."""
    while True:
        texts = different_texts(draw, n, stem)
        edits = torch.tensor([[between(a, b) for b in texts] for a in texts]).float()
        for _ in range(20):  # edits are slow to count, chances are drawn fast
            chances = log_probability + spread * draw.normal(n)
            sums = edits @ chances.softmax(0)
            chosen = int(sums.argmin())
            clear = float(sums.sort().values.diff()[0]) > 0.02
            case = texts, chances.tolist(), chosen
            if clear and chosen != int(chances.argmax()) and telling(*case):
                return placed_inside(draw, *case)


def different_texts(draw, n, stem):
    """Draw n texts, each with a few units behind the stem."""
    drawn = {}
    while len(drawn) < n:
        drawn[tuple(draw.ints(0, 7, draw.size(1, 5)).tolist())] = True
    return [[*stem, *(PARTS[i] for i in ids)] for ids in drawn]


def placed_inside(draw, texts, chances, chosen):
    """Put the chosen text neither first nor last."""
    place = draw.size(1, len(texts) - 1)
    for part in (texts, chances):
        part[place], part[chosen] = part[chosen], part[place]
    return texts, chances


def telling(texts, chances, chosen):
    """Say whether most other readings of the question choose another text."""
    if len(texts) < 5:
        return True
    even = best(texts, chances, weigh=lambda weights: [1.0] * len(weights))
    surprise = best(texts, chances, weigh=lambda _: [-x for x in chances])
    if len(texts) > 11 and len({*map(tuple, (even, surprise, texts[chosen]))}) < 3:
        return False
    others = [best(texts, chances, **reading) for reading in READINGS]
    return others.count(texts[chosen]) < 3


def places(one, other):
    """Count the places that differ, and what one has more."""
    pairs = zip(one, other, strict=False)
    return sum(a != b for a, b in pairs) + abs(len(one) - len(other))


@task.mistake("likeliest-text", LIKELIEST)
def mode(texts, log_probabilities):
    return texts[log_probabilities.index(max(log_probabilities))]


@task.mistake("nearest-to-the-likeliest", LIKELIEST)
def near_the_mode(texts, log_probabilities):
    likeliest = mode(texts, log_probabilities)
    others = [text for text in texts if text != likeliest] or texts
    return min(others, key=lambda text: between(text, likeliest))


@task.mistake("probabilities-ignored", "Does a text that is unlikely weigh as much?")
def each_weighs_as_much(texts, log_probabilities):
    return best(texts, log_probabilities, weigh=lambda weights: [1.0] * len(weights))


@task.mistake("logarithms-as-weights", WEIGHTS)
def weighed_by_logarithms(texts, log_probabilities):
    return best(texts, log_probabilities, weigh=lambda _: log_probabilities)


@task.mistake("logarithms-as-weights", WEIGHTS)
def weighed_by_surprise(texts, log_probabilities):
    return best(
        texts, log_probabilities, weigh=lambda _: [-x for x in log_probabilities]
    )


@task.mistake("softmax-no-max-shift", EXP)
def plain_exponential(texts, log_probabilities):
    return best(
        texts, log_probabilities, weigh=lambda _: list(map(math.exp, log_probabilities))
    )


@task.mistake("softmax-no-max-shift", EXP)
def divided_by_their_sum(texts, log_probabilities):
    chances = list(map(math.exp, log_probabilities))
    return best(
        texts, log_probabilities, weigh=lambda _: [p / sum(chances) for p in chances]
    )


@task.mistake("weighed-by-its-own-probability", OTHER)
def own_probability(texts, log_probabilities):
    own = dict(zip(map(tuple, texts), log_probabilities, strict=True))
    shift = max(log_probabilities)

    def edits(text):
        return math.exp(own[tuple(text)] - shift) * sum(
            between(text, other) for other in texts
        )

    return min(texts, key=edits)


@task.mistake("farthest-text", "Are many edits a good sign, or few?")
def the_most_edits(texts, log_probabilities):
    return best(texts, log_probabilities, least=max)


@task.mistake("letters-for-units", UNITS, SCORE)
def letters(texts, log_probabilities):
    def distance(one, other):
        return between(" ".join(one), " ".join(other))

    return best(texts, log_probabilities, distance)


@task.mistake("letters-for-units", UNITS, SCORE)
def letters_joined(texts, log_probabilities):
    def distance(one, other):
        return between("".join(one), "".join(other))

    return best(texts, log_probabilities, distance)


@task.mistake("places-for-edits", EDITS, SCORE)
def places_that_differ(texts, log_probabilities):
    return best(texts, log_probabilities, places)


@task.mistake("places-for-edits", EDITS, SCORE)
def units_that_differ(texts, log_probabilities):
    return best(texts, log_probabilities, lambda one, other: len(set(one) ^ set(other)))
