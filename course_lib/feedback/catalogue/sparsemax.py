"""What goes wrong in sparsemax: weights of which many are 0."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def sparsemax(scores):
    wide = scores.double()
    low, high = wide.amax(-1, keepdim=True) - 1, wide.amax(-1, keepdim=True)
    for _ in range(60):
        middle = (low + high) / 2
        enough = (wide - middle).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = low.where(~enough, middle), high.where(enough, middle)
    return (wide - low).clamp(min=0).to(scores.dtype)


def thresholds(scores):
    """(..., count): the threshold if exactly the best 1, 2, ... were above it."""
    best = scores.sort(-1, descending=True).values
    return (best.cumsum(-1) - 1) / torch.arange(1, scores.shape[-1] + 1)


def cut(scores, threshold):
    return (scores - threshold).clamp(min=0)


task = Task(
    "sparsemax",
    asks="(..., key) weights max(z - tau, 0); in each row tau is such that they add up "
    "to 1.",
    lesson="01_softmax",
    reference=sparsemax,
    read="1. By hand",
)


@task.inputs
def probes(draw: Draw):
    three = torch.tensor([0.0, 0.3 + 0.05 * draw.size(0, 5), 1.0])
    yield Probe("two scores, both count", torch.tensor([0.1, 0.5]) + three[1])
    yield Probe("three scores, two count", three[draw.order(3)])
    yield Probe("one score takes all", torch.tensor([3.0, 1.0, -1.0])[draw.order(3)])
    yield Probe("four equal scores", draw.normal(1).expand(4).clone())
    yield Probe("all below 0", 0.5 * draw.normal(2, 5) - 9)
    yield Probe("close together", 0.1 * draw.normal(2, 7))
    yield Probe("a table", 0.7 * draw.normal(5, 7))
    yield Probe("each row at its own height", draw.normal(3, 5) + 9 * draw.normal(3, 1))
    yield Probe("more axes", draw.normal(2, 3, 11))


@task.property("sums-to-one", "What do the weights of a row add up to?")
def sums_to_one(values) -> bool:
    return all(
        torch.allclose(value.sum(-1), torch.ones(value.shape[:-1]), atol=1e-3)
        for value in values.values()
    )


@task.property("not-negative", "Which weight does a score below tau get?")
def not_negative(values) -> bool:
    return all(bool((value >= 0).all()) for value in values.values())


@task.property(
    "alike-for-alike", "Do equal scores get equal weights, wherever they stand?"
)
def equal_scores(values) -> bool:
    equal = values["four equal scores"]
    return bool((equal - equal[0]).abs().max() < 1e-4)


@task.mistake(
    "all-scores-counted",
    "Are all scores really above the tau that you found from all of them?",
)
def threshold_of_all(scores):
    return cut(scores, thresholds(scores)[..., -1:])


@task.mistake("nothing-cut-off", "May a weight be below 0?")
def no_clamp(scores):
    return scores - thresholds(scores)[..., -1:]


@task.mistake(
    "divided-not-shifted",
    "The definition subtracts one number: where does your code subtract it?",
    "Definition",
)
def shares_of_what_is_above_zero(scores):
    above = scores.clamp(min=0)
    return above / above.sum(-1, keepdim=True)


@task.mistake(
    "divided-not-shifted",
    "The definition subtracts one number: where does your code subtract it?",
    "Definition",
)
def cut_then_divided(scores):
    above = threshold_of_all(scores)
    return above / above.sum(-1, keepdim=True)


@task.mistake(
    "plain-softmax", "Can e to a score ever be 0, as here a weight can?", "Definition"
)
def the_soft_one(scores):
    return scores.softmax(-1)


@task.mistake("only-the-largest", "With the scores 0.4 and 1, does 1 take everything?")
def hard_maximum(scores):
    best = scores.argmax(-1, keepdim=True)
    return torch.zeros_like(scores).scatter(-1, best, 1.0)


@task.mistake("one-is-missing", "What must the scores above tau, minus tau, add up to?")
def thresholds_without_the_one(scores):
    best = scores.sort(-1, descending=True).values
    counts = torch.arange(1, scores.shape[-1] + 1)
    return cut(scores, (best.cumsum(-1) / counts).amin(-1, keepdim=True))


@task.mistake(
    "smallest-threshold", "Of the thresholds that you tried, which is consistent?"
)
def lowest_of_all(scores):
    return cut(scores, thresholds(scores).amin(-1, keepdim=True))


@task.mistake(
    "count-off-by-one", "How many scores are above tau when it comes from the best one?"
)
def one_score_too_many(scores):
    found = thresholds(scores)
    best = scores.sort(-1, descending=True).values
    counts = (best > found).sum(-1, keepdim=True)
    return cut(scores, found.gather(-1, counts.clamp(max=scores.shape[-1] - 1)))


@task.mistake(
    "count-off-by-one", "How many scores are above tau when it comes from the best one?"
)
def one_score_too_few(scores):
    found = thresholds(scores)
    best = scores.sort(-1, descending=True).values
    counts = (best > found).sum(-1, keepdim=True)
    return cut(scores, found.gather(-1, (counts - 2).clamp(min=0)))


@task.mistake(
    "left-in-sorted-order", "Does the third weight belong to the third score?"
)
def sorted_weights(scores):
    return sparsemax(scores).sort(-1, descending=True).values


@task.mistake("one-threshold-for-all", "Has each row a tau of its own?")
def one_threshold(scores):
    return cut(scores, thresholds(scores).max())


@task.mistake("softmax-wrong-dim", "Which weights should add up to 1?", "2. Shift")
def over_rows(scores):
    return sparsemax(scores.movedim(0, -1)).movedim(-1, 0)
