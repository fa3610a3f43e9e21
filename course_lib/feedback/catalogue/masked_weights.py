"""What goes wrong in masked_weights: scores that must not count."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def masked_weights(scores, allowed):
    weights = torch.where(allowed, scores, float("-inf")).softmax(-1)
    return torch.where(allowed, weights, 0.0)


task = Task(
    "masked_weights",
    asks="(batch, query, key) weights: softmax over the readable keys, 0 elsewhere.",
    lesson="02_masks",
    reference=masked_weights,
)


@task.inputs
def probes(draw: Draw):
    some = torch.tensor([[True, True, False]])
    table = torch.ones(5, 7).tril(1).bool()
    table[3] = torch.tensor([False, True, False, True, False, False, True])
    empty = table.clone()
    empty[2] = False
    hidden = draw.normal(2, 5, 7)
    hidden[:, ~table] = torch.tensor(float("nan"))
    large = draw.normal(2, 5, 7)
    large[:, ~table] += 200
    yield Probe("one query, the last key hidden", draw.normal(1, 1, 3), some)
    yield Probe("scores of -50", draw.normal(1, 1, 3) - 50, some)
    yield Probe("a table", draw.normal(2, 5, 7), table)
    yield Probe("a query that reads nothing", draw.normal(2, 5, 7), empty)
    yield Probe("large scores where hidden", large, table)
    yield Probe("NaN where hidden", hidden, table)
    yield Probe("infinite where hidden", hidden.nan_to_num(float("inf")), table)
    low = torch.tensor([[[-100_000.0, -100_001.0, -100_000.0]]])
    yield Probe("scores of -100,000", low, some)
    yield Probe("scores of 1000", 1000 * draw.normal(3, 5, 7), table)
    half = draw.normal(2, 5, 7, dtype=torch.float16) - 20
    yield Probe("float16", half, table, tolerance=5e-3)


@task.property("hidden-weigh-nothing", "How much weight do the hidden keys have?")
def hidden_weigh_nothing(values) -> bool:
    return bool((values["one query, the last key hidden"][..., 2] == 0).all())


@task.property("sums-to-one", "Do the readable keys share the whole weight?")
def sums_to_one(values) -> bool:
    return torch.allclose(values["a table"].sum(-1), torch.ones(2, 5), atol=1e-4)


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    "Misconceptions",
)
def multiplied(scores, allowed):
    return (scores * allowed).softmax(-1)


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    "Misconceptions",
)
def filled_with_a_small_number(scores, allowed):
    return scores.masked_fill(~allowed, 1e-9).softmax(-1)


@task.mistake("zero-one-mask-added", "Does adding 1 to a score forbid the others?")
def added(scores, allowed):
    return (scores + allowed).softmax(-1)


@task.mistake(
    "mask-after-softmax",
    "Did the hidden keys already take part in the division?",
    "Misconceptions",
)
def zeroed_after(scores, allowed):
    return scores.softmax(-1).masked_fill(~allowed, 0.0)


@task.mistake(
    "mask-after-softmax",
    "Did the hidden keys already take part in the division?",
    "Misconceptions",
)
def multiplied_after(scores, allowed):
    return scores.softmax(-1) * allowed


@task.mistake(
    "renormalised-after-softmax",
    "What is left of the readable weights when a hidden score is 200 above them?",
    "Misconceptions",
)
def renormalised(scores, allowed):
    weights = scores.softmax(-1) * allowed
    return weights / weights.sum(-1, keepdim=True)


@task.mistake(
    "fully-masked-row-nan",
    "What should a query return when it may look at nothing?",
    "Misconceptions",
)
def only_filled(scores, allowed):
    return scores.masked_fill(~allowed, float("-inf")).softmax(-1)


@task.mistake(
    "fully-masked-row-uniform",
    "A query may read nothing: what do its weights add up to?",
    "Misconceptions",
)
def uniform_where_nothing(scores, allowed):
    low = torch.finfo(scores.dtype).min
    return scores.masked_fill(~allowed, low).softmax(-1)


@task.mistake(
    "mask-polarity",
    "In this exercise, does True mean look or look away?",
    "Misconceptions",
)
def hides_the_readable(scores, allowed):
    return masked_weights(scores, ~allowed)


@task.mistake(
    "inf-times-zero-mask",
    "What is 0 times infinity, and NaN plus a number? Could you select instead?",
    "Misconceptions",
)
def additive(scores, allowed):
    hidden = torch.zeros(allowed.shape).masked_fill(~allowed, float("-inf"))
    return (scores + hidden).softmax(-1).nan_to_num(0.0)


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do the weights add up?"
)
def over_queries(scores, allowed):
    hidden = torch.where(allowed, scores, float("-inf"))
    return torch.where(allowed, hidden.softmax(-2), 0.0)


@task.mistake(
    "inf-times-zero-mask",
    "What is 0 times infinity? Could you select instead?",
    "Misconceptions",
)
def infinity_times_the_mask(scores, allowed):
    return (scores + (~allowed) * float("-inf")).softmax(-1)


@task.mistake(
    "inf-times-zero-mask",
    "What is 0 times infinity? Could you select instead?",
    "Misconceptions",
)
def infinity_times_the_mask_and_no_nan(scores, allowed):
    return (scores + (~allowed) * float("-inf")).softmax(-1).nan_to_num(0.0)


@task.mistake(
    "renormalised-after-softmax",
    "What is left of the readable weights when a hidden score is 200 above them?",
    "Misconceptions",
)
def renormalised_without_dividing_by_0(scores, allowed):
    weights = scores.softmax(-1).masked_fill(~allowed, 0.0)
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)


@task.mistake("garbage-survives-the-mask", "What is NaN plus a large negative number?")
def large_number_added(scores, allowed):
    return (scores + (~allowed) * -1e9).softmax(-1) * allowed


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and what can be subtracted?"
)
def plain_exponentials(scores, allowed):
    exponentials = torch.where(allowed, scores.exp(), 0.0)
    return exponentials / exponentials.sum(-1, keepdim=True).clamp(min=1e-30)


@task.mistake(
    "mask-finite-too-near",
    "Is every readable score above the number that you filled in?",
)
def filled_with_a_thousand(scores, allowed):
    return scores.masked_fill(~allowed, -1e3).softmax(-1) * allowed


@task.mistake(
    "renormalised-after-softmax",
    "What is left of the readable weights when a hidden score is 200 above them?",
    "Misconceptions",
)
def renormalised_where_possible(scores, allowed):
    weights = scores.softmax(-1) * allowed
    total = weights.sum(-1, keepdim=True)
    return torch.where(total > 0, weights / total, 0.0)


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and what can be subtracted?"
)
def plain_exponentials_of_readable_rows(scores, allowed):
    exponentials = torch.where(allowed, scores.exp(), 0.0)
    total = exponentials.sum(-1, keepdim=True)
    reads = allowed.any(-1, keepdim=True)
    return (exponentials / total).masked_fill(~(allowed & reads), 0.0)


@task.mistake(
    "mask-constant-overflows-half",
    "What is the most negative number that float16 can hold?",
    "Misconceptions",
)
def filled_with_a_billion(scores, allowed):
    weights = scores.masked_fill(~allowed, -1e9).softmax(-1)
    return weights.masked_fill(~allowed, 0.0)


@task.mistake(
    "mask-constant-overflows-half",
    "What is the most negative number that float16 can hold?",
    "Misconceptions",
)
def filled_with_the_least_of_float32(scores, allowed):
    low = torch.finfo(torch.float32).min
    weights = scores.masked_fill(~allowed, low).softmax(-1)
    return weights.masked_fill(~allowed, 0.0)
