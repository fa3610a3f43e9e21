"""What goes wrong in perplexity."""

import math

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.losses import Table, use_perplexity
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.training import perplexity

task = Task(
    "perplexity",
    asks="exp of the mean surprise of all real tokens of all batches, measured in "
    "evaluation mode.",
    lesson="11_training",
    reference=perplexity,
    use=use_perplexity,
    read="4. Loss per real token",
)

ADD_UP = "Add up what, divide by what, and exponentiate when?"
EVALUATION = "Which call changes behaviour, which only saves memory?"
EVALUATION_HEADING = "“`no_grad` is evaluation.” “Gradients start anew by themselves.”"
MODE = "In which mode was the model when you were called, and in which is it now?"


@task.inputs
def probes(draw: Draw):
    model = Table(draw.normal(5, 5)).eval()
    yield Probe("two tokens", model, [batch(draw, 5, [2])])
    one, other = batch(draw, 5, [4]), batch(draw, 5, [1])
    yield Probe("a batch of four tokens and one of one", model, [one, other])
    padded = [batch(draw, 5, [3, 1]), batch(draw, 5, [4, 2, 5])]
    yield Probe("padding", model, padded)
    dropping = Table(2 * draw.normal(7, 7), drops=True)
    yield Probe("training mode, dropout", dropping, [batch(draw, 7, [4, 3])])
    resting = Table(2 * draw.normal(7, 7), drops=True).eval()
    yield Probe("evaluation mode, dropout", resting, [batch(draw, 7, [4, 3])])
    batches = [batch(draw, 5, [2, 5]), batch(draw, 5, [0, 0]), batch(draw, 5, [1])]
    yield Probe("a batch without a target", model, batches)
    even = Table(torch.zeros(11, 11)).train()
    batches = [batch(draw, 11, [2, 3]), batch(draw, 11, [5])]
    yield Probe("11 ids, all equally likely, training mode", even, batches)


def batch(draw, vocab, lengths):
    """Draw inputs and targets of these lengths, -100 at padding."""
    inputs, targets = draw.ints(0, vocab, 2, len(lengths), max([2, *lengths]))
    for row, length in enumerate(lengths):
        targets[row, length:] = -100
    return inputs, targets


@task.property("guessing-costs-the-vocabulary", ADD_UP)
def guessing(values) -> bool:
    found = values["11 ids, all equally likely, training mode"]["perplexity"]
    return abs(float(found) - 11) < 1e-3


@task.property("mode-put-back", MODE)
def mode_put_back(values) -> bool:
    kept = "in training mode afterwards"
    return (
        values["training mode, dropout"][kept]
        and not values["evaluation mode, dropout"][kept]
    )


@task.property("no-graph", "Do you need a number or a graph?")
def no_graph(values) -> bool:
    return not any(value["keeps a graph"] for value in values.values())


@task.mistake("perplexity-average-of-batches", ADD_UP)
def mean_of_mean_losses(model, batches):
    means = [total / max(count, 1) for total, count in measured(model, batches)]
    return math.exp(sum(means) / len(means))


@task.mistake("perplexity-average-of-batches", ADD_UP)
def mean_of_mean_losses_by_torch(model, batches):
    means = [
        total / count if count else nan for total, count in measured(model, batches)
    ]
    return math.exp(sum(means) / len(means))


@task.mistake("perplexity-average-of-batches", ADD_UP)
def mean_of_perplexities(model, batches):
    means = [total / max(count, 1) for total, count in measured(model, batches)]
    return sum(map(math.exp, means)) / len(means)


@task.mistake("perplexity-average-of-batches", ADD_UP)
def mean_of_perplexities_by_torch(model, batches):
    means = [
        total / count if count else nan for total, count in measured(model, batches)
    ]
    return sum(map(math.exp, means)) / len(means)


@task.mistake("perplexity-average-of-batches", ADD_UP)
def weighted_mean_of_perplexities(model, batches):
    found = [(total, count) for total, count in measured(model, batches) if count]
    each = sum(count * math.exp(total / count) for total, count in found)
    return each / sum(count for _, count in found)


@task.mistake("perplexity-average-of-batches", ADD_UP)
def weighted_mean_of_perplexities_by_torch(model, batches):
    found = measured(model, batches)
    if not all(count for _, count in found):
        return nan
    return weighted_mean_of_perplexities(model, batches)


@task.mistake("ignore-index-mismatch", "Which id marks a target that does not count?")
def id_zero_does_not_count(model, batches):
    batches = [(x, y.masked_fill(y == 0, -100)) for x, y in batches]
    return whole(measured(model, batches))


@task.mistake("ignore-index-mismatch", "Which id marks a target that does not count?")
def id_zero_does_not_count_by_torch(model, batches):
    batches = [(x, y.masked_fill(y == 0, -100)) for x, y in batches]
    found = measured(model, batches)
    return whole(found) if all(count for _, count in found) else nan


@task.mistake(
    "logits-viewed-not-transposed", "Did the numbers move, or only the names?"
)
def viewed(model, batches):
    was = model.training
    model.eval()
    with torch.no_grad():
        parts = [(model(x), y) for x, y in batches]
    model.train(was)
    moved = [(z.reshape(len(z), -1, z.shape[1]).mT, y) for z, y in parts]
    return whole([loss(logits, y) for logits, y in moved])


@task.mistake("first-batch-only", "How many batches does your loop see?")
def of_the_first_batch(model, batches):
    return whole(measured(model, batches[:1]))


@task.mistake("loss-on-padding", "Is predicting padding an achievement?")
def padding_counts(model, batches):
    return whole(measured(model, [(x, y.clamp(min=0)) for x, y in batches]))


@task.mistake("mean-over-all-places", "Divided by the number of what?")
def divides_by_all_places(model, batches):
    total = sum(total for total, _ in measured(model, batches))
    return math.exp(total / sum(y.numel() for _, y in batches))


@task.mistake("no-grad-is-not-eval", EVALUATION, EVALUATION_HEADING)
def only_no_grad(model, batches):
    with torch.no_grad():
        return whole([surprise(model, x, y) for x, y in batches])


@task.mistake("mode-not-put-back", MODE, EVALUATION_HEADING)
def stays_in_evaluation_mode(model, batches):
    model.eval()
    return only_no_grad(model, batches)


@task.mistake("mode-not-put-back", MODE, EVALUATION_HEADING)
def ends_in_training_mode(model, batches):
    found = whole(measured(model, batches))
    model.train()
    return found


@task.mistake("loss-accumulates-graph", "Do you need a number or a graph?")
def keeps_the_graph(model, batches):
    was = model.training
    model.eval()
    sums = [F.cross_entropy(*flat(model(x), y), reduction="sum") for x, y in batches]
    model.train(was)
    return (sum(sums) / sum((y != -100).sum() for _, y in batches)).exp()


@task.mistake("loss-accumulates-graph", "Do you need a number or a graph?")
def keeps_the_graph_and_evaluation_mode(model, batches):
    model.eval()
    sums = [F.cross_entropy(*flat(model(x), y), reduction="sum") for x, y in batches]
    return (sum(sums) / sum((y != -100).sum() for _, y in batches)).exp()


@task.mistake("exponential-missing", "Is your number in nats, or in choices?")
def mean_surprise(model, batches):
    return math.log(whole(measured(model, batches)))


@task.mistake("base-mismatch", "Which base has the logarithm, and which the power?")
def two_to_the_nats(model, batches):
    return 2 ** math.log(whole(measured(model, batches)))


@task.mistake("sign-missing", "Can a perplexity be below 1?")
def below_one(model, batches):
    return 1 / whole(measured(model, batches))


@task.mistake("labels-shifted-twice", "Who shifts: the batch or you?")
def shifts_again(model, batches):
    was = model.training
    model.eval()
    with torch.no_grad():
        found = [loss(model(x)[:, :-1], y[:, 1:]) for x, y in batches]
    model.train(was)
    return whole(found)


@task.mistake(
    "double-softmax-in-loss",
    "Does cross_entropy expect logits or probabilities?",
    "“Softmax first, then cross-entropy.”",
)
def softmax_first(model, batches):
    was = model.training
    model.eval()
    with torch.no_grad():
        found = [loss(model(x).softmax(-1), y) for x, y in batches]
    model.train(was)
    return whole(found)


@task.mistake("last-batch-only", "What is left of the first batch at the end?")
def of_the_last_batch(model, batches):
    return whole(measured(model, batches)[-1:])


@task.mistake("mean-of-sentences", "Does a token in a short row count more?")
def mean_of_rows(model, batches):
    rows = [
        measured(model, [(x[i : i + 1], y[i : i + 1])])[0]
        for x, y in batches
        for i in range(len(x))
    ]
    means = [total / count for total, count in rows if count]
    return math.exp(sum(means) / len(means))


@task.mistake("sum-not-mean", "Divided by the number of what?")
def product_of_all(model, batches):
    return math.exp(sum(total for total, _ in measured(model, batches)))


@task.mistake("divides-by-batches", "Divided by the number of what?")
def sum_over_batches(model, batches):
    return math.exp(sum(total for total, _ in measured(model, batches)) / len(batches))


nan = math.nan


def flat(logits, targets):
    """Put all places into one axis, as cross_entropy reads them."""
    return logits.flatten(0, 1), targets.flatten()


def loss(logits, targets):
    """Return the sum of the surprise and the number of real targets."""
    total = F.cross_entropy(*flat(logits, targets), reduction="sum")
    return total.item(), int((targets != -100).sum())


def surprise(model, inputs, targets):
    """Measure a model on one batch, in the mode that it is in."""
    return loss(model(inputs), targets)


@torch.no_grad()
def measured(model, batches):
    """Measure a model on each batch, in evaluation mode."""
    was = model.training
    model.eval()
    found = [surprise(model, x, y) for x, y in batches]
    model.train(was)
    return found


def whole(found):
    """Return the perplexity of all tokens of [(total, count)]."""
    return math.exp(sum(total for total, _ in found) / sum(count for _, count in found))
