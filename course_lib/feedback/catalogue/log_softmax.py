"""What goes wrong in log_softmax."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.softmax import log_softmax

task = Task(
    "log_softmax",
    asks="the logarithm of softmax along `dim`, finite for scores of any size.",
    lesson="01_softmax",
    reference=log_softmax,
    read="4. Logarithm",
)

TWO_STEPS = "What is the logarithm of a probability too small to write down?"
SHIFT = "What does exp(1000) give, and which constant can you subtract, and give back?"
AXIS = "Over which axis should the probabilities add up to one?"
KEEPDIM = "Which shape has the sum, and along which axis is it stretched?"


@task.inputs
def probes(draw: Draw):
    far_apart = torch.tensor([[500.0], [-500.0]])
    yield Probe("three scores", draw.normal(3))
    yield Probe("two scores, 1000 apart", torch.tensor([0.0, 1000.0]))
    yield Probe("a row for each of two queries", draw.normal(2, 3))
    yield Probe("along the first axis", draw.normal(3, 2), dim=0)
    yield Probe("a square", draw.normal(3, 3))
    yield Probe("scores around 1000", 1000 + draw.normal(3))
    yield Probe("scores around -1000", -1000 + draw.normal(2, 3))
    yield Probe("one row of 500, one of -500", far_apart + draw.normal(2, 3))
    yield Probe("along a middle axis", draw.normal(2, 5, 3), dim=1)
    yield Probe("float64", 30 * draw.normal(2, 4, dtype=torch.float64))


@task.property("finite", "Which of your steps can give inf, or the logarithm of 0?")
def finite_when_far_apart(values) -> bool:
    return bool(values["two scores, 1000 apart"].isfinite().all())


@task.property(
    "sums-to-one", "What do the probabilities behind your numbers add up to?"
)
def probabilities_sum_to_one(values) -> bool:
    rows = values["a row for each of two queries"]
    return torch.allclose(rows.exp().sum(-1), torch.ones(2), atol=1e-4)


@task.mistake(
    "log-of-softmax", TWO_STEPS, read="“`softmax(x).log()` is `log_softmax(x)`.”"
)
def logarithm_of_the_softmax(scores, dim=-1):
    return torch.softmax(scores, dim).log()


@task.mistake(
    "log-of-softmax", TWO_STEPS, read="“`softmax(x).log()` is `log_softmax(x)`.”"
)
def logarithm_of_an_unshifted_softmax(scores, dim=-1):
    return (scores.exp() / scores.exp().sum(dim, keepdim=True)).log()


def floored(little):
    """Enter two answers whose logarithms end at that of a little number."""
    hint = f"{math.log(little):.4g} is the logarithm of which small number?"

    def adds_a_little(scores, dim=-1):
        return (torch.softmax(scores, dim) + little).log()

    def at_least_a_little(scores, dim=-1):
        return torch.softmax(scores, dim).clamp(min=little).log()

    for answer in (adds_a_little, at_least_a_little):
        answer.__name__ += f"_{little:g}"
        task.mistake("log-floored", hint, "“`softmax(x).log()` is `log_softmax(x)`.”")(
            answer
        )


for little in (1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-20, 1e-30):
    floored(little)


@task.mistake("softmax-no-max-shift", SHIFT, read="2. Shift")
def sums_raw_exponentials(scores, dim=-1):
    return scores - scores.exp().sum(dim, keepdim=True).log()


@task.mistake(
    "softmax-global-max",
    "Row 0 holds scores near 500, row 1 near -500: what is left of row 1 after your "
    "subtraction?",
    read="“Subtract the largest score of the table.”",
)
def subtracts_the_tables_largest(scores, dim=-1):
    shifted = scores - scores.max()
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@task.mistake(
    "shift-not-undone",
    "You took the largest score out of the sum: did you take it out of the score, too?",
)
def shifts_the_sum_only(scores, dim=-1):
    largest = scores.amax(dim, keepdim=True)
    return scores - (scores - largest).exp().sum(dim, keepdim=True).log()


@task.mistake(
    "normaliser-missing",
    "What do the probabilities behind your numbers add up to?",
)
def shifts_and_stops(scores, dim=-1):
    return scores - scores.amax(dim, keepdim=True)


@task.mistake(
    "normaliser-missing",
    "What do the probabilities behind your numbers add up to?",
)
def subtracts_the_sum_itself(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def ignores_dim(scores, dim=-1):
    return torch.log_softmax(scores, -1)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def along_the_first_axis(scores, dim=-1):
    return torch.log_softmax(scores, 0)


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def sums_the_whole_table(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum().log()


@task.mistake("softmax-wrong-dim", AXIS, read="Definition")
def over_the_whole_table(scores, dim=-1):
    return torch.log_softmax(scores.flatten(), 0).view_as(scores)


@task.mistake("keepdim-missing", KEEPDIM)
def sum_loses_its_axis(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim).log()


@task.mistake("keepdim-missing", KEEPDIM)
def logsumexp_loses_its_axis(scores, dim=-1):
    return scores - scores.logsumexp(dim)


@task.mistake("softmax-returned", "Is the logarithm of a probability positive?")
def returns_probabilities(scores, dim=-1):
    return torch.softmax(scores, dim)


@task.mistake(
    "log-softmax-sign", "Is the logarithm of a number below 1 positive or negative?"
)
def returns_surprise(scores, dim=-1):
    return -torch.log_softmax(scores, dim)


@task.mistake("log-wrong-base", "exp is undone by the logarithm of which base?")
def base_two(scores, dim=-1):
    return torch.log_softmax(scores, dim) / math.log(2)


@task.mistake("log-wrong-base", "exp is undone by the logarithm of which base?")
def base_two_of_the_sum(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log2()


@task.mistake(
    "normaliser-sign",
    "Dividing by the sum: is its logarithm added, or taken away?",
)
def adds_the_logarithm(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted + shifted.exp().sum(dim, keepdim=True).log()


@task.mistake("log-wrong-base", "exp is undone by the logarithm of which base?")
def base_ten_of_the_sum(scores, dim=-1):
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log10()


@task.mistake(
    "normaliser-mean-not-sum", "Divide by what, so that all shares add up to one?"
)
def mean_of_exponentials(scores, dim=-1):
    return torch.log_softmax(scores, dim) + math.log(scores.shape[dim])


@task.mistake(
    "scores-ignored", "Does the largest score get more than the others?", "1. By hand"
)
def equal_shares(scores, dim=-1):
    return torch.zeros_like(scores).log_softmax(dim)
