"""What goes wrong in softmax."""

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.softmax import softmax

task = Task(
    "softmax",
    asks="probabilities along `dim` from scores of any size, as softmax(scores, dim=-1).",
    lesson="01_softmax",
    reference=softmax,
)

SHIFT = (
    "What does exp(1000) give, and which constant can you subtract without changing the "
    "answer?"
)
RATIO = "What turns a difference of two scores into a ratio of their weights?"
AXIS = "For one query, over which axis should the weights add up to one?"


@task.inputs
def probes(draw: Draw):
    far_apart = torch.tensor([[500.0], [-500.0]])
    one_hidden = draw.normal(4)
    one_hidden[1] = -torch.inf
    yield Probe("three scores", draw.normal(3))
    yield Probe("a row for each of two queries", draw.normal(2, 3))
    yield Probe("along the first axis", draw.normal(3, 2), dim=0)
    yield Probe("a square", draw.normal(3, 3))
    yield Probe("scores around 1000", 1000 + draw.normal(3))
    yield Probe("scores around -1000", -1000 + draw.normal(2, 3))
    yield Probe("one score of -inf", one_hidden)
    yield Probe("one row of 500, one of -500", far_apart + draw.normal(2, 3))
    yield Probe("along a middle axis", draw.normal(2, 5, 3), dim=1)
    yield Probe("float16", draw.normal(5, 7, dtype=torch.float16), tolerance=2e-3)


@task.property("shift-invariance", "Does adding 1000 to every score change the answer?")
def finite_when_large(values) -> bool:
    return bool(values["scores around 1000"].isfinite().all())


@task.property("sums-to-one", "Over which axis should the weights add up to one?")
def sums_to_one(values) -> bool:
    rows = values["a row for each of two queries"]
    return torch.allclose(rows.sum(-1), torch.ones(2), atol=1e-4)


@task.mistake("softmax-no-max-shift", SHIFT, read="2. Shift")
def exponentiates_raw_scores(scores, dim=-1):
    exponentials = scores.exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake("softmax-no-max-shift", SHIFT, read="2. Shift")
def saves_the_division_only(scores, dim=-1):
    exponentials = scores.exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-9)


@task.mistake("softmax-no-max-shift", SHIFT, read="2. Shift")
def clamps_large_scores(scores, dim=-1):
    exponentials = scores.clamp(-80, 80).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake(
    "softmax-global-max",
    "Row 0 holds scores near 500, row 1 near -500: what is left of row 1 after your "
    "subtraction?",
    read="“Subtract the largest score of the table.”",
)
def subtracts_the_tables_largest(scores, dim=-1):
    exponentials = (scores - scores.max()).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def ignores_dim(scores, dim=-1):
    return torch.softmax(scores, -1)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def along_the_first_axis(scores, dim=-1):
    return torch.softmax(scores, 0)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def lets_the_default_decide(scores, dim=-1):
    return torch.softmax(scores, 1 if scores.ndim == 2 else 0)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def along_the_last_but_one(scores, dim=-1):
    return torch.softmax(scores, max(-2, -scores.ndim))


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def over_the_whole_table(scores, dim=-1):
    return torch.softmax(scores.flatten(), 0).view_as(scores)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def sums_the_whole_table(scores, dim=-1):
    exponentials = (scores - scores.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum()


@task.mistake(
    "keepdim-missing",
    "Which shape has the sum, and along which axis is it stretched when you divide?",
    read="2. Shift",
)
def sum_loses_its_axis(scores, dim=-1):
    exponentials = (scores - scores.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim)


@task.mistake(
    "keepdim-missing",
    "Which shape has the sum, and along which axis is it stretched when you divide?",
    read="2. Shift",
)
def maximum_and_sum_lose_their_axis(scores, dim=-1):
    exponentials = (scores - scores.amax(dim)).exp()
    return exponentials / exponentials.sum(dim)


@task.mistake(
    "softmax-without-exp",
    RATIO,
    read="Definition",
)
def divides_scores_by_their_sum(scores, dim=-1):
    return scores / scores.sum(dim, keepdim=True)


@task.mistake(
    "softmax-not-normalised",
    "What do the weights of one row add up to?",
    read="Definition",
)
def leaves_the_division_out(scores, dim=-1):
    return (scores - scores.amax(dim, keepdim=True)).exp()


@task.mistake(
    "softmax-shift-one-side",
    "Is the same constant subtracted above and below the fraction bar?",
    read="2. Shift",
)
def shifts_the_numerator_only(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted.exp() / scores.exp().sum(dim, keepdim=True)


@task.mistake(
    "softmax-sign",
    "Does the largest score get the largest weight?",
    read="1. By hand",
)
def prefers_small_scores(scores, dim=-1):
    return torch.softmax(-scores, dim)


@task.mistake(
    "softmax-wrong-base",
    "Two scores differ by 1: by which factor should their weights differ?",
    read="Definition",
)
def powers_of_two(scores, dim=-1):
    powers = 2 ** (scores - scores.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


@task.mistake(
    "log-softmax-returned",
    "May a probability be negative?",
    read="4. Logarithm",
)
def returns_logarithms(scores, dim=-1):
    return torch.log_softmax(scores, dim)


@task.mistake(
    "softmax-hard-max",
    "What is left for the second-largest score?",
    read="Definition",
)
def one_for_the_largest(scores, dim=-1):
    largest = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores).scatter(dim, largest, 1.0)


@task.mistake("softmax-without-exp", RATIO, read="Definition")
def measures_from_the_smallest(scores, dim=-1):
    above = scores - scores.amin(dim, keepdim=True)
    return above / above.sum(dim, keepdim=True)


LARGEST = "After your subtraction, how large can the largest exponent still be?"


@task.mistake("softmax-wrong-shift", LARGEST, read="2. Shift")
def subtracts_the_mean(scores, dim=-1):
    exponentials = (scores - scores.mean(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake("softmax-wrong-shift", LARGEST, read="2. Shift")
def subtracts_the_smallest(scores, dim=-1):
    exponentials = (scores - scores.amin(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake("softmax-wrong-shift", LARGEST, read="2. Shift")
def subtracts_the_largest_size(scores, dim=-1):
    exponentials = (scores - scores.abs().amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@task.mistake(
    "scores-ignored", "Does the largest score get more than the others?", "1. By hand"
)
def equal_shares(scores, dim=-1):
    return torch.zeros_like(scores).softmax(dim)
