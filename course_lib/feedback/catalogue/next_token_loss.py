"""What goes wrong in next_token_loss."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.losses import use_loss
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.training import next_token_loss

task = Task(
    "next_token_loss",
    asks="the mean surprise, in nats, of the targets that count; it shifts nothing.",
    lesson="11_training",
    reference=next_token_loss,
    use=use_loss,
    read="4. Loss per real token",
)

PADDING = "Is predicting padding an achievement?"
DIVISOR = "Divided by the number of what?"
CODE = "Which id marks a target that does not count, and who says so?"
SMOOTH = "Do both halves of the smoothed loss skip padding?"
SMOOTHING = "6. Label smoothing"


@task.inputs
def probes(draw: Draw):
    yield Probe("one place, three ids", draw.normal(1, 1, 3), draw.ints(0, 3, 1, 1))
    yield Probe("two rows of two places", draw.normal(2, 2, 3), draw.ints(0, 3, 2, 2))
    padded = draw.ints(0, 5, 2, 3)
    padded[0, 1:] = -100
    yield Probe("a row of one target, one of three", draw.normal(2, 3, 5), padded)
    uneven = draw.ints(1, 5, 3, 4)
    uneven[0, 2:] = uneven[2, 1:] = 0
    logits = draw.normal(3, 4, 5)
    yield Probe("0 does not count", logits, uneven, ignore_index=0)
    yield Probe("all ids count, 0 too", logits, uneven)
    smooth = draw.ints(0, 7, 2, 4)
    logits = draw.normal(2, 4, 7)
    yield Probe("label smoothing", logits, smooth, label_smoothing=0.2)
    ragged = smooth.clone()
    ragged[0, 1:] = -100
    yield Probe("label smoothing, padding", logits, ragged, label_smoothing=0.3)
    nothing = torch.full((2, 3), -100)
    yield Probe("nothing to predict", draw.normal(2, 3, 5), nothing)
    large = 1000 * draw.normal(2, 3, 5)
    yield Probe("scores of 1000", large, draw.ints(0, 5, 2, 3))


@task.property("padding-does-not-count", PADDING)
def no_gradient_at_padding(values) -> bool:
    gradient = values["a row of one target, one of three"]["gradient"]
    return not gradient[0, 1:].any()


@task.property("no-surprise-is-negative", "Can a surprise be below 0?")
def positive(values) -> bool:
    return all(float(value["loss"]) > -1e-6 for value in values.values())


@task.property("gradient", "How does a parameter learn from your number?")
def has_gradient(values) -> bool:
    return bool(values["two rows of two places"]["gradient"].any())


@task.mistake(
    "logits-viewed-not-transposed", "Did the numbers move, or only the names?"
)
def viewed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    batch, n, vocab = logits.shape
    logits = logits.view(batch, vocab, n)
    return F.cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


@task.mistake("loss-on-padding", PADDING)
def padding_is_id_zero(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets.clamp(min=0), -100, label_smoothing)


@task.mistake("loss-on-padding", PADDING)
def padding_is_the_last_id(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets % logits.shape[-1], -100, label_smoothing)


@task.mistake("mean-over-all-places", DIVISOR)
def divides_by_all_places(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return total(logits, targets, ignore_index, label_smoothing) / targets.numel()


@task.mistake("ignore-index-mismatch", CODE)
def always_minus_100(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, -100, label_smoothing)


@task.mistake("ignore-index-mismatch", CODE)
def always_minus_one(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, -1, label_smoothing)


@task.mistake("ignore-index-mismatch", CODE)
def always_zero(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, 0, label_smoothing)


@task.mistake("ignore-index-mismatch", CODE)
def every_negative_and_no_other(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    return mean(logits, targets.masked_fill(targets < 0, -100), -100, label_smoothing)


@task.mistake(
    "double-softmax-in-loss",
    "Does cross_entropy expect logits or probabilities?",
    "“Softmax first, then cross-entropy.”",
)
def softmax_first(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits.softmax(-1), targets, ignore_index, label_smoothing)


@task.mistake("labels-shifted-twice", "Who shifts: your batch or your loss?")
def shifts_again(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits[:, :-1], targets[:, 1:], ignore_index, label_smoothing)


@task.mistake("labels-shifted-twice", "Who shifts: your batch or your loss?")
def shifts_again_by_torch(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return by_torch(logits[:, :-1], targets[:, 1:], ignore_index, label_smoothing)


@task.mistake("labels-shifted-back", "Which target belongs to the scores at place t?")
def scores_of_the_next_place(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return by_torch(logits[:, 1:], targets[:, :-1], ignore_index, label_smoothing)


@task.mistake("labels-shifted-back", "Which target belongs to the scores at place t?")
def rolled_targets(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return by_torch(logits, targets.roll(1, 1), ignore_index, label_smoothing)


@task.mistake("targets-transposed", "In which order do logits and targets name places?")
def targets_transposed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    targets = targets.T.reshape(targets.shape)
    return by_torch(logits, targets, ignore_index, label_smoothing)


@task.mistake("last-position-only", "From how many places does the model learn?")
def last_place_only(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return by_torch(logits[:, -1:], targets[:, -1:], ignore_index, label_smoothing)


@task.mistake("nothing-to-predict-fails", "What is the loss if no target counts?")
def fails_without_targets(logits, targets, ignore_index=-100, label_smoothing=0.0):
    torch.stack(list(targets[targets != ignore_index]))
    return mean(logits, targets, ignore_index, label_smoothing)


@task.mistake("label-smoothing-counts-pads", SMOOTH, SMOOTHING)
def smooth_part_over_all_places(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    hard = mean(logits, targets, ignore_index, 0.0)
    even = -logits.log_softmax(-1).mean()
    return (1 - label_smoothing) * hard + label_smoothing * even


@task.mistake("label-smoothing-counts-pads", SMOOTH, SMOOTHING)
def smooth_part_summed_over_all_places(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    hard = total(logits, targets, ignore_index, 0.0)
    even = -logits.log_softmax(-1).mean(-1).sum()
    count = (targets != ignore_index).sum().clamp(min=1)
    return ((1 - label_smoothing) * hard + label_smoothing * even) / count


@task.mistake("label-smoothing-missing", "Where does label_smoothing enter?", SMOOTHING)
def ignores_smoothing(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, ignore_index, 0.0)


@task.mistake(
    "label-smoothing-shares-wrong",
    "Over how many ids is the share spread, and do all shares add up to one?",
    SMOOTHING,
)
def spread_over_the_others(logits, targets, ignore_index=-100, label_smoothing=0.0):
    share = label_smoothing * logits.shape[-1] / (logits.shape[-1] - 1)
    return mean(logits, targets, ignore_index, share)


@task.mistake(
    "label-smoothing-shares-wrong",
    "Over how many ids is the share spread, and do all shares add up to one?",
    SMOOTHING,
)
def even_part_summed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return smoothed(logits, targets, ignore_index, 1 - label_smoothing, label_smoothing)


@task.mistake(
    "label-smoothing-shares-wrong",
    "Over how many ids is the share spread, and do all shares add up to one?",
    SMOOTHING,
)
def hard_part_kept_whole(logits, targets, ignore_index=-100, label_smoothing=0.0):
    each = label_smoothing / logits.shape[-1]
    return smoothed(logits, targets, ignore_index, 1.0, each)


@task.mistake("mean-of-means", "Does a token in a short row count more?")
def mean_of_rows(logits, targets, ignore_index=-100, label_smoothing=0.0):
    pairs = zip(logits, targets, strict=True)
    rows = [mean(row, ids, ignore_index, label_smoothing) for row, ids in pairs]
    return torch.stack(rows).mean()


@task.mistake("sum-not-mean", DIVISOR)
def summed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return total(logits, targets, ignore_index, label_smoothing)


@task.mistake("sum-not-mean", DIVISOR)
def sum_per_row(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return total(logits, targets, ignore_index, label_smoothing) / len(targets)


@task.mistake("bits-not-nats", "Which base has your logarithm?")
def in_bits(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, ignore_index, label_smoothing) / 0.6931472


@task.mistake("sign-missing", "Can a surprise be below 0?")
def negative(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return -mean(logits, targets, ignore_index, label_smoothing)


@task.mistake("exponential-of-the-loss", "Is a loss in nats, or in choices?")
def perplexity(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, ignore_index, label_smoothing).exp()


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and the logarithm of 0?"
)
def unstable(logits, targets, ignore_index=-100, label_smoothing=0.0):
    exponentials = logits.exp()
    logs = (exponentials / exponentials.sum(-1, keepdim=True)).log()
    return from_logs(logs, targets, ignore_index, label_smoothing)


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and the logarithm of 0?"
)
def logarithm_of_softmax(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logs = logits.softmax(-1).log()
    return from_logs(logs, targets, ignore_index, label_smoothing)


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and the logarithm of 0?"
)
def logarithm_of_the_sum(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logs = logits - logits.exp().sum(-1, keepdim=True).log()
    loss = from_logs(logs, targets, ignore_index, label_smoothing)
    return loss + 0 * logs.mean()


@task.mistake("log-of-zero", "How large can a surprise be with your small number?")
def small_number_added(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logs = (logits.softmax(-1) + 1e-9).log()
    return from_logs(logs, targets, ignore_index, label_smoothing)


@task.mistake("log-of-zero", "How large can a surprise be with your small number?")
def smaller_number_added(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logs = (logits.softmax(-1) + 1e-12).log()
    return from_logs(logs, targets, ignore_index, label_smoothing)


@task.mistake("logarithm-missing", "Is a surprise a probability?")
def share_of_the_others(logits, targets, ignore_index=-100, label_smoothing=0.0):
    shares = logits.softmax(-1) - 1
    return from_logs(shares, targets, ignore_index, label_smoothing)


@task.mistake(
    "softmax-wrong-dim", "At one place, over which axis do shares add up to 1?"
)
def over_positions(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logs = logits.log_softmax(1)
    return from_logs(logs, targets, ignore_index, label_smoothing)


@task.mistake("loss-without-graph", "How does a parameter learn from your number?")
def a_number(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return mean(logits, targets, ignore_index, label_smoothing).detach()


def total(logits, targets, ignore_index, label_smoothing):
    """Sum the surprise of the targets."""
    return F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="sum",
    )


def by_torch(logits, targets, ignore_index, label_smoothing):
    """Average as torch does: NaN where no target counts."""
    found = total(logits, targets, ignore_index, label_smoothing)
    return found / (targets != ignore_index).sum()


def mean(logits, targets, ignore_index, label_smoothing):
    """Average the surprise of the targets that count."""
    count = max(int((targets != ignore_index).sum()), 1)
    return total(logits, targets, ignore_index, label_smoothing) / count


def smoothed(logits, targets, ignore_index, hard_share, each_share):
    """Weight the target's surprise and the sum of all surprises."""
    real = targets != ignore_index
    surprises = -logits[real].log_softmax(-1)
    hard = surprises.gather(-1, targets[real][:, None])
    total = hard_share * hard.sum() + each_share * surprises.sum()
    return total / real.sum().clamp(min=1)


def from_logs(logs, targets, ignore_index, label_smoothing):
    """Average over the targets that count, from log-probabilities."""
    real = targets != ignore_index
    surprises = -logs[real]
    hard = surprises.gather(-1, targets[real][:, None]).sum()
    loss = (1 - label_smoothing) * hard
    if label_smoothing:
        loss = loss + label_smoothing * surprises.mean(-1).sum()
    return loss / real.sum().clamp(min=1)
