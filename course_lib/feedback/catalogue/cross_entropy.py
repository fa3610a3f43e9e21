"""What goes wrong in cross_entropy."""

import math

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.softmax import cross_entropy


def use(answer, logits, targets, **kwargs) -> torch.Tensor:
    """Call a loss; with no target that counts, NaN is as good as 0."""
    loss = torch.as_tensor(written(answer(logits, targets, **kwargs)))
    nothing = bool((targets == kwargs.get("ignore_index", -100)).all())
    return loss.nan_to_num(0.0) if nothing else loss


task = Task(
    "cross_entropy",
    asks="the mean surprise, in nats, of the targets that are not `ignore_index`, from "
    "logits (..., vocab) and targets (...).",
    lesson="01_softmax",
    reference=cross_entropy,
    use=use,
    read="5. Loss",
)

IGNORED = "By how many targets do you divide, and how many of them count?"
SKIPPED = "Do label and loss agree on the code for “skip”?"
PADDING = "Is predicting padding an achievement?"
TWICE = "Does your loss expect logits or probabilities?"
SMOOTH = "Of the share that smoothing gives away, how much does each id get?"
STABLE = "What is the logarithm of a probability too small to write down?"
AXES = "Did the numbers move, or only the labels on the axes?"


@task.inputs
def probes(draw: Draw):
    ids = draw.ints(0, 5, 2, 3)
    some = ids.clone()
    some[0, 2] = some[1, 1] = some[1, 2] = -100
    marked = ids % 4 + 1
    marked[0, 0] = marked[1, 1] = 0
    minus_one = ids.clone()
    minus_one[0, 1] = minus_one[1, 0] = minus_one[0, 2] = -1
    logits = draw.normal(2, 3, 5)
    none = torch.full((3,), -100)
    yield Probe("one target", draw.normal(1, 3), draw.ints(0, 3, 1))
    yield Probe("two targets, 1000 apart", 1000 * torch.eye(2), torch.tensor([0, 0]))
    yield Probe("logits around 1000", 1000 + draw.normal(1, 3), draw.ints(0, 3, 1))
    yield Probe("four targets", 2 * draw.normal(4, 3), draw.ints(0, 3, 4))
    yield Probe(
        "one of three is ignored", draw.normal(3, 4), torch.tensor([2, -100, 1])
    )
    yield Probe("a batch of rows", logits, ids)
    yield Probe("rows with padding", draw.normal(2, 3, 5), some)
    yield Probe("0 is ignored", draw.normal(2, 3, 5), marked, ignore_index=0)
    yield Probe("-1 is ignored", draw.normal(2, 3, 5), minus_one, ignore_index=-1)
    yield Probe("smoothed", draw.normal(2, 3), draw.ints(0, 3, 2), label_smoothing=0.3)
    yield Probe("smoothed, with padding", logits, some, label_smoothing=0.2)
    yield Probe("all are ignored", draw.normal(3, 4), none)
    yield Probe(
        "seven targets of eleven ids", 5 * draw.normal(7, 11), draw.ints(0, 11, 7)
    )


@task.property("finite", STABLE)
def finite_when_far_apart(values) -> bool:
    return bool(values["two targets, 1000 apart"].isfinite().all())


@task.property("not-negative", "Can you be less than not surprised?")
def never_negative(values) -> bool:
    return all(bool((value > -1e-5).all()) for value in values.values())


def picked(log_probabilities, targets):
    """Look each target up; what is ignored looks up id 0."""
    return log_probabilities.gather(-1, targets.clamp(min=0)[..., None])[..., 0]


@task.mistake(
    "double-softmax-in-loss", TWICE, read="“`cross_entropy` wants probabilities.”"
)
def takes_a_softmax_first(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits.softmax(-1), targets, ignore_index, label_smoothing)


@task.mistake("log-of-softmax", STABLE, read="4. Logarithm")
def logarithm_of_probabilities(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.softmax(-1).log()
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - label_smoothing * logs.mean(-1))[counts].mean()


def logarithm_of_a_little_more(little):
    """Make an answer that adds a little before it takes the logarithm."""

    def answer(logits, targets, ignore_index=-100, label_smoothing=0.0):
        counts = targets != ignore_index
        logs = (logits.softmax(-1) + little).log()
        surprise = -(1 - label_smoothing) * picked(logs, targets)
        return (surprise - label_smoothing * logs.mean(-1))[counts].mean()

    answer.__name__ = f"logarithm_of_{little:g}_more"
    return answer


for little in (1e-8, 1e-9, 1e-10, 1e-12):
    task.mistake("log-of-softmax", STABLE, read="4. Logarithm")(
        logarithm_of_a_little_more(little)
    )


@task.mistake("softmax-no-max-shift", "What does exp(1000) give?", read="2. Shift")
def sums_raw_exponentials(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits - logits.exp().sum(-1, keepdim=True).log()
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - label_smoothing * logs.mean(-1))[counts].mean()


@task.mistake("loss-on-padding", PADDING)
def padding_counts_as_id_0(logits, targets, ignore_index=-100, label_smoothing=0.0):
    ids = targets.masked_fill(targets == ignore_index, 0)
    return cross_entropy(logits, ids, -(10**6), label_smoothing)


@task.mistake("loss-divided-by-all", IGNORED)
def divides_by_all_places(logits, targets, ignore_index=-100, label_smoothing=0.0):
    share = (targets != ignore_index).float().mean()
    return cross_entropy(logits, targets, ignore_index, label_smoothing) * share


def skips(code):
    """Make an answer that skips this code, and looks up all other targets."""

    def answer(logits, targets, ignore_index=-100, label_smoothing=0.0):
        return F.cross_entropy(
            logits.flatten(0, -2),
            targets.flatten(),
            ignore_index=code,
            label_smoothing=label_smoothing,
        )

    answer.__name__ = f"skips_{code}_only"
    return answer


for code in (-100, 0, -(10**6)):
    task.mistake("ignore-index-mismatch", SKIPPED)(skips(code))


@task.mistake("ignore-index-mismatch", SKIPPED)
def ignores_what_is_negative(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits, targets.clamp(min=-1), -1, label_smoothing)


@task.mistake("ignore-index-mismatch", SKIPPED)
def counts_back_from_the_end(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits, targets % logits.shape[-1], -1, label_smoothing)


@task.mistake("mean-of-means", "Does a target in a row with much padding count more?")
def averages_rows_first(logits, targets, ignore_index=-100, label_smoothing=0.0):
    rows = zip(logits, targets, strict=True)
    means = [cross_entropy(*row, ignore_index, label_smoothing) for row in rows]
    return torch.stack(means).mean()


@task.mistake("loss-sum-not-mean", "Is twice the text twice as surprising per token?")
def adds_up(logits, targets, ignore_index=-100, label_smoothing=0.0):
    n_counted = (targets != ignore_index).sum()
    return cross_entropy(logits, targets, ignore_index, label_smoothing) * n_counted


@task.mistake("loss-per-target", "How many numbers should the loss be?")
def one_number_each(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    ).view_as(targets)


@task.mistake(
    "loss-sign", "Is a sure and right prediction a large loss or a small one?"
)
def forgets_the_minus(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return -cross_entropy(logits, targets, ignore_index, label_smoothing)


@task.mistake("log-wrong-base", "Nats or bits: which logarithm is meant?")
def in_bits(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = cross_entropy(logits, targets, ignore_index, label_smoothing)
    return loss / math.log(2)


@task.mistake("loss-of-probability", "Where is the logarithm in your loss?")
def one_minus_the_probability(logits, targets, ignore_index=-100, label_smoothing=0.0):
    probabilities = picked(logits.softmax(-1), targets)
    return (1 - probabilities)[targets != ignore_index].mean()


@task.mistake("loss-of-probability", "Where is the logarithm in your loss?")
def minus_the_probability(logits, targets, ignore_index=-100, label_smoothing=0.0):
    probabilities = picked(logits.softmax(-1), targets)
    return -probabilities[targets != ignore_index].mean()


@task.mistake("logits-not-normalised", "Which sum has your logarithm left out?")
def minus_the_logit(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return -picked(logits, targets)[targets != ignore_index].mean()


@task.mistake("logits-viewed-not-transposed", AXES)
def views_the_vocab_second(logits, targets, ignore_index=-100, label_smoothing=0.0):
    if logits.ndim > 2:
        logits = logits.reshape(len(logits), logits.shape[-1], *logits.shape[1:-1])
    return F.cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


@task.mistake("class-axis-second", "Which axis does this loss take for the vocabulary?")
def torchs_loss_as_it_is(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


@task.mistake(
    "softmax-wrong-dim", "Over which axis do the probabilities add up to one?"
)
def over_the_first_axis(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(0)
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - label_smoothing * logs.mean(-1))[counts].mean()


@task.mistake(
    "softmax-wrong-dim", "Over which axis do the probabilities add up to one?"
)
def over_axis_one(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(1)
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - label_smoothing * logs.mean(-1))[counts].mean()


@task.mistake("label-smoothing-ignored", "Where in your code does the smoothing act?")
def no_smoothing(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return cross_entropy(logits, targets, ignore_index)


@task.mistake("label-smoothing-over-others", SMOOTH)
def shares_among_the_others(logits, targets, ignore_index=-100, label_smoothing=0.0):
    vocab = logits.shape[-1]
    everywhere = label_smoothing * vocab / (vocab - 1)
    return cross_entropy(logits, targets, ignore_index, everywhere)


@task.mistake("label-smoothing-sums-vocab", SMOOTH)
def each_id_gets_it_all(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(-1)
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - label_smoothing * logs.sum(-1))[counts].mean()


WITHOUT = "With a label_smoothing of 0, how much do the other ids get from you?"


@task.mistake("label-smoothing-not-multiplied", WITHOUT)
def adds_one_over_vocab(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(-1)
    surprise = -(1 - label_smoothing) * picked(logs, targets)
    return (surprise - logs.mean(-1))[counts].mean()


@task.mistake("label-smoothing-not-multiplied", WITHOUT)
def others_get_one_over_vocab(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(-1)
    share = 1 - label_smoothing - 1 / logits.shape[-1]
    return -(share * picked(logs, targets) + logs.mean(-1))[counts].mean()


@task.mistake("label-smoothing-keeps-target", SMOOTH)
def target_keeps_all(logits, targets, ignore_index=-100, label_smoothing=0.0):
    counts = targets != ignore_index
    logs = logits.log_softmax(-1)
    return -(picked(logs, targets) + label_smoothing * logs.mean(-1))[counts].mean()


@task.mistake(
    "label-smoothing-counts-pads", "Do both halves of the smoothed loss skip padding?"
)
def smooths_padding_too(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = cross_entropy(logits, targets, ignore_index)
    spread = -logits.log_softmax(-1).mean()
    return (1 - label_smoothing) * loss + label_smoothing * spread


@task.mistake(
    "label-smoothing-counts-pads", "Do both halves of the smoothed loss skip padding?"
)
def sums_padding_divides_by_real(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    loss = cross_entropy(logits, targets, ignore_index)
    n_counted = (targets != ignore_index).sum().clamp(min=1)
    spread = -logits.log_softmax(-1).mean(-1).sum() / n_counted
    return (1 - label_smoothing) * loss + label_smoothing * spread


@task.mistake("logits-viewed-not-transposed", AXES)
def transposes_and_flattens(logits, targets, ignore_index=-100, label_smoothing=0.0):
    moved = logits.transpose(1, -1).reshape(logits.shape)
    return cross_entropy(moved, targets, ignore_index, label_smoothing)


WHO = "Who shifts: this loss, or whoever hands the targets in?"


@task.mistake("labels-shifted-twice", WHO)
def shifts_each_row(logits, targets, ignore_index=-100, label_smoothing=0.0):
    if targets.ndim > 1:
        logits, targets = logits[:, :-1], targets[:, 1:]
    return cross_entropy(logits, targets, ignore_index, label_smoothing)


@task.mistake("labels-shifted-twice", WHO)
def shifts_all_rows_as_one(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.flatten(0, -2)[:-1],
        targets.flatten()[1:],
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@task.mistake("logits-ignored", "Is a sure prediction as surprised as a guess?")
def as_if_all_were_equal(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return torch.tensor(float(logits.shape[-1])).log()
