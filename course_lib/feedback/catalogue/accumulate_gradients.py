"""What goes wrong in accumulate_gradients."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.losses import Table, use_gradients
from course_lib.feedback.task import Draw, Probe, Task


def accumulate_gradients(model, micro_batches) -> float:
    """Leave the gradient of the mean loss over all real targets of all micro-batches.

    Args:
        model: called as model(inputs).
        micro_batches: list of (inputs, targets), (batch, position) int, -100 where
            nothing is to be predicted.

    Returns:
        The loss; old gradients are replaced.

    Source: lesson 11: a batch may be cut, and its gradient stays the same.

    >>> model = Table(torch.zeros(5, 5))
    >>> tokens = torch.tensor([[1, 2, 3]])
    >>> round(accumulate_gradients(model, [(tokens, tokens)]), 3)
    1.609
    """
    model.zero_grad()
    count, loss = sum(map(real, micro_batches)), 0.0
    for micro_batch in micro_batches:
        part = total(model, micro_batch) / count
        part.backward()
        loss += part.item()
    return loss


task = Task(
    "accumulate_gradients",
    asks="in every .grad the gradient of the mean loss over all real targets of all "
    "micro-batches; that loss, as a float, is returned.",
    lesson="11_training",
    reference=accumulate_gradients,
    use=use_gradients,
    read="5. A batch in pieces",
)

WEIGHT = "Does a token in a short micro-batch count more?"
DIVISOR = "Divided by the number of what?"
RETURNED = "Whose loss do you return?"
ANEW = "What stands in .grad before your first backward, and before your second?"
LAST = "Whose gradients stand in .grad at the end: where are those of the first piece?"
FILLED = "Who fills .grad, and does anybody empty it afterwards?"
FINER = "Is the gradient larger if the batch is cut more finely?"
ANEW_HEADING = "“`no_grad` is evaluation.” “Gradients start anew by themselves.”"


@task.inputs
def probes(draw: Draw):
    model = Table(draw.normal(3, 3))
    yield Probe("one micro-batch", model, [batch(draw, 3, [2])])
    three_and_one = [batch(draw, 3, [3]), batch(draw, 3, [1])]
    yield Probe("three tokens, then one", model, three_and_one)
    larger = Table(draw.normal(5, 5))
    ragged = [batch(draw, 5, [4, 1]), batch(draw, 5, [2]), batch(draw, 5, [3, 5, 1])]
    yield Probe("padding", larger, ragged)
    again = [batch(draw, 5, [2, 3]), batch(draw, 5, [4])]
    yield Probe("gradients are there already", larger, again, old_gradient=3.0)
    empty = [batch(draw, 5, [2]), batch(draw, 5, [0, 0]), batch(draw, 5, [5, 3])]
    yield Probe("a micro-batch without a target", larger, empty)
    pieces = [batch(draw, 5, [n]) for n in (2, 1, 3, 1)]
    yield Probe("four micro-batches", larger, pieces)


def batch(draw, vocab, lengths):
    """Draw inputs and targets of these lengths, -100 at padding."""
    inputs, targets = draw.ints(0, vocab, 2, len(lengths), max([2, *lengths]))
    for row, length in enumerate(lengths):
        targets[row, length:] = -100
    return inputs, targets


@task.property("no-graph", "Do you need a number or a graph?")
def no_graph(values) -> bool:
    return not any(value["keeps a graph"] for value in values.values())


@task.property("gradient-of-a-mean", DIVISOR)
def scores_of_a_row_add_up_to_zero(values) -> bool:
    found = [value["gradients"][0].sum().abs() for value in values.values()]
    return all(float(total) < 1e-4 for total in found)


@task.property("gradients-are-there", FILLED)
def are_there(values) -> bool:
    return bool(values["one micro-batch"]["gradients"][0].any())


@task.mistake("grad-accum-mean-of-means", WEIGHT)
def mean_of_means(model, micro_batches):
    model.zero_grad()
    losses = [
        total(model, pair) / max(real(pair), 1) / len(micro_batches)
        for pair in micro_batches
    ]
    return backward(losses)


@task.mistake("grad-accum-mean-of-means", WEIGHT)
def mean_of_means_by_torch(model, micro_batches):
    model.zero_grad()
    losses = [
        F.cross_entropy(model(x).transpose(1, 2), y) / len(micro_batches)
        for x, y in micro_batches
    ]
    return backward(losses)


@task.mistake("grad-accum-mean-of-means", WEIGHT)
def weighted_by_rows(model, micro_batches):
    model.zero_grad()
    rows = sum(len(x) for x, _ in micro_batches)
    losses = [
        total(model, pair) / max(real(pair), 1) * len(pair[0]) / rows
        for pair in micro_batches
    ]
    return backward(losses)


@task.mistake("grad-accum-mean-of-means", WEIGHT)
def gradients_of_means_right_loss(model, micro_batches):
    loss = accumulate_gradients(model, micro_batches)
    mean_of_means(model, micro_batches)
    return loss


@task.mistake("sum-of-means", FINER)
def sum_of_means(model, micro_batches):
    model.zero_grad()
    return backward([total(model, p) / max(real(p), 1) for p in micro_batches])


@task.mistake("sum-of-means", FINER)
def sum_of_means_by_torch(model, micro_batches):
    model.zero_grad()
    losses = [F.cross_entropy(model(x).transpose(1, 2), y) for x, y in micro_batches]
    return backward(losses)


@task.mistake("sum-of-means", FINER)
def sum_of_means_mean_returned(model, micro_batches):
    return sum_of_means(model, micro_batches) / len(micro_batches)


@task.mistake("sum-of-means", FINER)
def sum_of_means_right_loss(model, micro_batches):
    loss = accumulate_gradients(model, micro_batches)
    sum_of_means(model, micro_batches)
    return loss


@task.mistake("divided-twice", "By what is the loss of one piece divided, all in all?")
def by_the_count_and_the_pieces(model, micro_batches):
    loss = accumulate_gradients(model, micro_batches)
    for parameter in model.parameters():
        parameter.grad /= len(micro_batches)
    return loss


@task.mistake("divided-twice", "By what is the loss of one piece divided, all in all?")
def by_the_count_and_the_pieces_loss_too(model, micro_batches):
    return by_the_count_and_the_pieces(model, micro_batches) / len(micro_batches)


@task.mistake("sum-not-mean", DIVISOR)
def never_divided(model, micro_batches):
    model.zero_grad()
    return backward([total(model, pair) for pair in micro_batches])


@task.mistake("sum-not-mean", DIVISOR)
def loss_divided_gradients_not(model, micro_batches):
    return never_divided(model, micro_batches) / sum(map(real, micro_batches))


@task.mistake("mean-over-all-places", DIVISOR)
def divides_by_all_places(model, micro_batches):
    model.zero_grad()
    places = sum(y.numel() for _, y in micro_batches)
    return backward([total(model, pair) / places for pair in micro_batches])


@task.mistake("mean-over-all-places", DIVISOR)
def weighted_by_places(model, micro_batches):
    model.zero_grad()
    places = sum(y.numel() for _, y in micro_batches)
    return backward(
        [
            total(model, pair) / max(real(pair), 1) * pair[1].numel() / places
            for pair in micro_batches
        ]
    )


@task.mistake("empty-micro-batch-nan", "What is the mean of nothing?")
def mean_of_nothing(model, micro_batches):
    model.zero_grad()
    count = sum(map(real, micro_batches))
    return backward(
        [
            F.cross_entropy(model(x).transpose(1, 2), y) * real((x, y)) / count
            for x, y in micro_batches
        ]
    )


@task.mistake("ignore-index-mismatch", "Which id marks a target that does not count?")
def id_zero_does_not_count(model, micro_batches):
    return accumulate_gradients(
        model, [(x, y.masked_fill(y == 0, -100)) for x, y in micro_batches]
    )


@task.mistake("double-softmax-in-loss", "Does cross_entropy expect logits?")
def softmax_first(model, micro_batches):
    return accumulate_gradients_of(lambda x: model(x).softmax(-1), model, micro_batches)


@task.mistake(
    "logits-viewed-not-transposed", "Did the numbers move, or only the names?"
)
def viewed(model, micro_batches):
    def moved(x):
        logits = model(x)
        return logits.reshape(len(x), -1, x.shape[1]).transpose(1, 2)

    return accumulate_gradients_of(moved, model, micro_batches)


@task.mistake("sign-missing", "Does a step against .grad make the loss smaller?")
def negative_gradients(model, micro_batches):
    loss = accumulate_gradients(model, micro_batches)
    for parameter in model.parameters():
        parameter.grad *= -1
    return loss


@task.mistake("weights-updated", "Who takes the step: you, or the optimizer?")
def takes_a_step(model, micro_batches):
    loss = accumulate_gradients(model, micro_batches)
    torch.optim.SGD(model.parameters(), lr=0.1).step()
    return loss


@task.mistake("loss-not-returned", RETURNED)
def returns_nothing(model, micro_batches):
    accumulate_gradients(model, micro_batches)


@task.mistake("loss-on-padding", "Is predicting padding an achievement?")
def padding_counts(model, micro_batches):
    return accumulate_gradients(model, [(x, y.clamp(min=0)) for x, y in micro_batches])


@task.mistake("only-the-last-gradients", LAST, ANEW_HEADING)
def zeroed_before_each(model, micro_batches):
    count, loss = sum(map(real, micro_batches)), 0.0
    for pair in micro_batches:
        model.zero_grad()
        loss += backward([total(model, pair) / count])
    return loss


@task.mistake("only-the-last-gradients", LAST, ANEW_HEADING)
def zeroed_before_each_mean(model, micro_batches):
    losses = []
    for pair in micro_batches:
        model.zero_grad()
        losses.append(backward([total(model, pair) / max(real(pair), 1)]))
    return sum(losses) / len(losses)


@task.mistake("old-gradients-kept", ANEW, ANEW_HEADING)
def never_zeroed(model, micro_batches):
    count = sum(map(real, micro_batches))
    return backward([total(model, pair) / count for pair in micro_batches])


@task.mistake("old-gradients-kept", ANEW, ANEW_HEADING)
def never_zeroed_mean_of_means(model, micro_batches):
    n = len(micro_batches)
    return backward([total(model, p) / max(real(p), 1) / n for p in micro_batches])


@task.mistake("loss-of-the-last-piece", RETURNED)
def returns_the_last_mean(model, micro_batches):
    accumulate_gradients(model, micro_batches)
    return total(model, micro_batches[-1]).item() / real(micro_batches[-1])


@task.mistake("loss-of-the-last-piece", RETURNED)
def returns_the_last_part(model, micro_batches):
    accumulate_gradients(model, micro_batches)
    count = sum(map(real, micro_batches))
    return total(model, micro_batches[-1]).item() / count


@task.mistake("returned-loss-is-a-sum", RETURNED)
def returns_the_sum(model, micro_batches):
    return accumulate_gradients(model, micro_batches) * sum(map(real, micro_batches))


@task.mistake("returned-loss-is-a-mean-of-means", RETURNED)
def returns_the_mean_of_means(model, micro_batches):
    accumulate_gradients(model, micro_batches)
    means = [total(model, p).item() / max(real(p), 1) for p in micro_batches]
    return sum(means) / len(means)


@task.mistake("loss-accumulates-graph", "Do you need a number or a graph?")
def keeps_the_graph(model, micro_batches):
    model.zero_grad()
    count = sum(map(real, micro_batches))
    losses = [total(model, pair) / count for pair in micro_batches]
    for loss in losses:
        loss.backward(retain_graph=True)
    return sum(losses)


@task.mistake("gradients-missing", FILLED)
def only_the_loss(model, micro_batches):
    model.zero_grad()
    losses = [total(model, pair).item() for pair in micro_batches]
    return sum(losses) / sum(map(real, micro_batches))


@task.mistake("last-piece-left-out", "How many micro-batches reach backward?")
def all_but_the_last(model, micro_batches):
    return accumulate_gradients(model, micro_batches[:-1] or micro_batches)


@task.mistake("labels-shifted-twice", "Who shifts: the batch or you?")
def shifts_again(model, micro_batches):
    model.zero_grad()
    count = sum(real((x, y[:, 1:])) for x, y in micro_batches)
    parts = [(model(x)[:, :-1], y[:, 1:]) for x, y in micro_batches]
    return backward([summed(logits, y) / count for logits, y in parts])


def accumulate_gradients_of(scores_of, model, micro_batches):
    """Accumulate as asked, but for the scores."""
    model.zero_grad()
    count = sum(map(real, micro_batches))
    return backward([summed(scores_of(x), y) / count for x, y in micro_batches])


def real(pair) -> int:
    """Count the real targets of (inputs, targets)."""
    return int((pair[1] != -100).sum())


def summed(logits, targets):
    """Sum the surprise of the targets that count."""
    return F.cross_entropy(logits.transpose(1, 2), targets, reduction="sum")


def total(model, pair):
    """Sum the surprise of the real targets of (inputs, targets)."""
    return summed(model(pair[0]), pair[1])


def backward(losses) -> float:
    """Add up the gradients of losses; return their sum."""
    for loss in losses:
        loss.backward()
    return sum(loss.item() for loss in losses)
