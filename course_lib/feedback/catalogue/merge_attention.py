"""What goes wrong in merge_attention: parts of a softmax, put together."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def merge_attention(outputs, log_sums):
    whole = torch.logsumexp(log_sums, 0)
    merged = torch.zeros_like(outputs[0])
    for output, log_sum in zip(outputs, log_sums, strict=True):
        reads = torch.isfinite(log_sum)[:, None]
        share = torch.exp(log_sum - whole)[:, None]
        merged = merged + torch.where(reads, share * output, 0.0)
    return merged


task = Task(
    "merge_attention",
    asks="(query, d_head): the attention over the keys of all parts, from each part's own "
    "outputs and the log of its softmax's denominator.",
    lesson="15_scale",
    reference=merge_attention,
    read="4. Activations and cache",
)

MEANS = "Does a part with few, unimportant keys weigh as much as one with many?"
MEANS_HEADING = "“Each process takes its own mean, then the gradients are averaged.”"
SHARES = "What do the shares of the parts add up to, for one query?"
LARGE = "What does exp(1000) give, and which constant can you subtract?"
NAN = "What is 0 times NaN?"


@task.inputs
def probes(draw: Draw):
    scores, values = draw.normal(2, 6), draw.normal(6, 3)
    yield Probe("two parts, one query", *cut(scores[:1], values, [4, 2]))
    yield Probe("one part", *cut(scores, values, [6]))
    yield Probe("three parts of the same", *cut(scores, values, [1, 2, 3]))
    wide = 3 * draw.normal(5, 13)
    yield Probe("four parts", *cut(wide, draw.normal(13, 7), [5, 1, 4, 3]))
    values = draw.normal(13, 2)
    wide = 2 * draw.normal(3, 13)
    yield Probe("scores near 1000", *cut(wide + 1000, values, [6, 7]))
    yield Probe("scores near -1000", *cut(wide - 1000, values, [6, 7]))
    apart = wide + torch.tensor([[1000.0], [0.0], [-1000.0]])
    yield Probe("queries far apart", *cut(apart, values, [6, 3, 4]))
    hidden = wide.clone()
    hidden[0, :6] = hidden[2, 6:] = -torch.inf
    outputs, log_sums = cut(hidden, values, [6, 7])
    yield Probe("a query reads nothing of a part", outputs.nan_to_num(5.0), log_sums)
    yield Probe("NaN where nothing is read", outputs, log_sums)
    outputs = outputs.nan_to_num(torch.inf)
    yield Probe("infinity where nothing is read", outputs, log_sums)


def cut(scores, values, sizes):
    """Attend to each part of the keys alone: (part, query, d_head), (part, query)."""
    pairs = list(zip(scores.split(sizes, 1), values.split(sizes), strict=True))
    outputs = torch.stack([part.softmax(-1) @ own for part, own in pairs])
    return outputs, torch.stack([part.logsumexp(-1) for part, _ in pairs])


@task.property("cut-does-not-matter", MEANS)
def the_same_in_one_part_and_in_three(values) -> bool:
    one, three = values["one part"], values["three parts of the same"]
    return one.shape != three.shape or torch.allclose(one, three, atol=1e-4)


@task.property("finite", "Where does NaN or infinity come up first?")
def finite(values) -> bool:
    return all(bool(value.isfinite().all()) for value in values.values())


def put_together(outputs, shares):
    """Weigh the parts; what has no share is left out."""
    shares = shares[..., None]
    return torch.where(shares > 0, shares * outputs, 0.0).sum(0)


@task.mistake("mean-of-means", MEANS, MEANS_HEADING)
def plain_mean(outputs, log_sums):
    return outputs.mean(0)


@task.mistake("mean-of-means", MEANS, MEANS_HEADING)
def mean_of_the_parts_that_read(outputs, log_sums):
    reads = log_sums.isfinite().float()
    return put_together(outputs, reads / reads.sum(0))


@task.mistake("shares-do-not-add-up", SHARES)
def plain_sum(outputs, log_sums):
    return put_together(outputs, log_sums.isfinite().float())


@task.mistake("shares-do-not-add-up", SHARES)
def not_divided(outputs, log_sums):
    return put_together(outputs, (log_sums - log_sums.amax(0)).exp())


@task.mistake("shares-do-not-add-up", SHARES)
def not_divided_not_shifted(outputs, log_sums):
    return put_together(outputs, log_sums.exp())


@task.mistake(
    "logarithms-as-weights",
    "Of what is a log sum the logarithm, and what is to be added?",
)
def by_the_log_sums(outputs, log_sums):
    return (outputs * log_sums[..., None]).sum(0) / log_sums.sum(0)[:, None]


@task.mistake("softmax-no-max-shift", LARGE)
def plain_exponentials(outputs, log_sums):
    return quotient(outputs, log_sums.exp())


@task.mistake("softmax-no-max-shift", LARGE)
def one_shift_for_all_queries(outputs, log_sums):
    return quotient(outputs, (log_sums - log_sums.max()).exp())


@task.mistake("softmax-no-max-shift", LARGE)
def shifted_by_the_mean(outputs, log_sums):
    mean = log_sums[log_sums.isfinite()].mean()
    return quotient(outputs, (log_sums - mean).exp())


@task.mistake("softmax-no-max-shift", LARGE)
def plain_exponentials_nan_kept(outputs, log_sums):
    sums = log_sums.exp()[..., None]
    return (outputs * sums).sum(0) / sums.sum(0)


@task.mistake("softmax-no-max-shift", LARGE)
def shares_of_plain_exponentials(outputs, log_sums):
    sums = log_sums.exp()
    return put_together(outputs, sums / sums.sum(0))


def quotient(outputs, sums):
    """Divide the weighted sum by the sum of weights; weight 0 leaves a part out."""
    sums = sums[..., None]
    return (sums * torch.where(sums > 0, outputs, 0.0)).sum(0) / sums.sum(0)


@task.mistake("nan-not-left-out", NAN)
def multiplied_away(outputs, log_sums):
    return (log_sums.softmax(0)[..., None] * outputs).sum(0)


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do the shares add up to 1?"
)
def over_the_queries(outputs, log_sums):
    return put_together(outputs, log_sums.softmax(-1))


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do the shares add up to 1?"
)
def over_everything(outputs, log_sums):
    shares = log_sums.flatten().softmax(0).view_as(log_sums)
    return put_together(outputs, shares)


@task.mistake("only-the-largest", "What do the other parts add?")
def the_part_with_the_largest_sum(outputs, log_sums):
    best = log_sums.argmax(0)
    return outputs[best, torch.arange(outputs.shape[1])]


@task.mistake(
    "share-reversed", "Which part weighs more: that of the larger or the smaller sum?"
)
def by_the_inverse(outputs, log_sums):
    return put_together(outputs, (-log_sums).softmax(0))


@task.mistake(
    "root-of-d-head", "Have these log sums not been made of scaled scores already?"
)
def scaled_again(outputs, log_sums):
    return put_together(outputs, (log_sums / outputs.shape[-1] ** 0.5).softmax(0))


@task.mistake("two-parts-only", "What happens with a third part?")
def the_first_two(outputs, log_sums):
    return put_together(outputs[:2], log_sums[:2].softmax(0))


@task.mistake("nan-not-left-out", NAN)
def only_nan_left_out(outputs, log_sums):
    shares = log_sums.softmax(0)[..., None]
    return (shares * outputs.masked_fill(outputs.isnan(), 0.0)).sum(0)


@task.mistake("log-sum-of-nothing-is-0", "Which sum has 0 as its logarithm?")
def log_sums_of_nothing_set_to_zero(outputs, log_sums):
    reads = log_sums.isfinite()
    shares = torch.where(reads, log_sums, 0.0).softmax(0)[..., None]
    return torch.where(reads[..., None], shares * outputs, 0.0).sum(0)
