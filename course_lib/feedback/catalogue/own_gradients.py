"""What goes wrong in own_gradients: what a process must leave where torch averages."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.losses import Table
from course_lib.feedback.task import Draw, Probe, Task


def own_gradients(model, micro_batches, n_real, n_processes):
    total = sum(summed(model, pair) for pair in micro_batches)
    loss = total * (n_processes / n_real)
    loss.backward()
    return loss.item()


def summed(model, pair):
    """Sum the surprise of the real targets of (inputs, targets)."""
    logits = model(pair[0])
    return F.cross_entropy(logits.transpose(1, 2), pair[1], reduction="sum")


def real(pair) -> int:
    """Count the real targets of (inputs, targets)."""
    return int((pair[1] != -100).sum())


def use_processes(answer, model, *process) -> dict:
    """Let every process leave its gradients; take the mean of them, as torch does."""
    n_real, n = sum(real(pair) for own in process for pair in own), len(process)
    mean = [torch.zeros_like(p) for p in model.parameters()]
    returned = []
    for own in process:
        for parameter in model.parameters():
            parameter.grad = None
        returned.append(torch.as_tensor(answer(model, own, n_real, n)).item())
        for total, parameter in zip(mean, model.parameters(), strict=True):
            if parameter.grad is not None:
                total += parameter.grad / n
    return {"returned by each": returned, "gradients after the mean": mean}


task = Task(
    "own_gradients",
    asks="in .grad what becomes, as a mean over the processes, the gradient of the "
    "mean loss over all real tokens; returned, this process's part of that loss. Each "
    "process below is a list of its micro-batches.",
    lesson="15_scale",
    reference=own_gradients,
    use=use_processes,
    read="7. Two processes, one gradient",
)

OWN_MEAN = "Does a token count more on a process, or in a piece, that has few of them?"
OWN_MEAN_HEADING = "“Each process takes its own mean, then the gradients are averaged.”"
FACTOR = "Torch takes a mean over processes: by what is your sum divided, all in all?"
EMPTY = "What is the mean of nothing?"
RETURNED = (
    "Over the processes, is the mean of these numbers the loss that was asked for?"
)


@task.inputs
def probes(draw: Draw):
    model = Table(draw.normal(3, 3))
    three = [[torch.tensor([[0, 1, 2]]), torch.tensor([[1, 2, 0]])]]
    one = [[torch.tensor([[1, 2]]), torch.tensor([[0, -100]])]]
    yield Probe("three tokens here, one there", model, three, one)
    yield Probe("one process, one piece", model, [batch(draw, 3, [4])])
    larger = Table(draw.normal(5, 5))
    pieces = [batch(draw, 5, [3]), batch(draw, 5, [1])]
    yield Probe("one process, two pieces", larger, pieces)
    ragged = [batch(draw, 5, [4, 1]), batch(draw, 5, [2])]
    yield Probe("two pieces each", larger, ragged, [batch(draw, 5, [5, 3]), *pieces])
    empty = [batch(draw, 5, [2]), batch(draw, 5, [0, 0])]
    yield Probe("a piece without a target", larger, empty, [batch(draw, 5, [1, 5])])
    nothing = [batch(draw, 5, [0])]
    yield Probe("a process without a target", larger, nothing, [batch(draw, 5, [2, 4])])
    many = [[batch(draw, 5, [n, 1])] for n in (1, 6, 2, 4)]
    yield Probe("four processes", larger, *many)


def batch(draw, vocab, lengths):
    """Draw inputs and targets of these lengths, -100 at padding."""
    inputs, targets = draw.ints(0, vocab, 2, len(lengths), max([2, *lengths]))
    for row, length in enumerate(lengths):
        targets[row, length:] = -100
    return [inputs, targets]


@task.property("gradient-of-a-mean", FACTOR)
def scores_of_a_row_add_up_to_zero(values) -> bool:
    found = [value["gradients after the mean"][0] for value in values.values()]
    return all(float(gradient.sum().abs()) < 1e-4 for gradient in found)


def backward(losses) -> float:
    """Call backward on each loss; return their sum."""
    for loss in losses:
        loss.backward()
    return sum(loss.item() for loss in losses)


@task.mistake("not-repaired", OWN_MEAN, OWN_MEAN_HEADING)
def as_it_was(model, micro_batches, n_real, n_processes):
    losses = [
        F.cross_entropy(model(x).flatten(0, 1), y.flatten()) / len(micro_batches)
        for x, y in micro_batches
    ]
    return backward(losses)


@task.mistake("grad-accum-mean-of-means", OWN_MEAN, OWN_MEAN_HEADING)
def mean_of_means_without_nan(model, micro_batches, n_real, n_processes):
    n = len(micro_batches)
    return backward([summed(model, p) / max(real(p), 1) / n for p in micro_batches])


@task.mistake("divided-by-own-tokens", OWN_MEAN, OWN_MEAN_HEADING)
def by_the_tokens_of_this_process(model, micro_batches, n_real, n_processes):
    own = max(sum(map(real, micro_batches)), 1)
    return backward([summed(model, pair) / own for pair in micro_batches])


@task.mistake("divided-by-own-tokens", OWN_MEAN, OWN_MEAN_HEADING)
def by_the_tokens_of_this_process_with_a_factor(
    model, micro_batches, n_real, n_processes
):
    own = max(sum(map(real, micro_batches)), 1)
    return backward([summed(model, p) * n_processes / own for p in micro_batches])


@task.mistake("processes-divide-twice", FACTOR)
def factor_forgotten(model, micro_batches, n_real, n_processes):
    return backward([summed(model, pair) / n_real for pair in micro_batches])


@task.mistake("processes-divide-twice", FACTOR)
def divided_again(model, micro_batches, n_real, n_processes):
    parts = [summed(model, p) / n_real / n_processes for p in micro_batches]
    return backward(parts)


@task.mistake("processes-divide-twice", FACTOR)
def only_the_returned_loss_has_the_factor(model, micro_batches, n_real, n_processes):
    loss = factor_forgotten(model, micro_batches, n_real, n_processes)
    return loss * n_processes


@task.mistake(
    "pieces-divide-too", "Is the gradient smaller if the batch is cut more finely?"
)
def by_the_number_of_pieces(model, micro_batches, n_real, n_processes):
    share = n_processes / n_real / len(micro_batches)
    return backward([summed(model, pair) * share for pair in micro_batches])


@task.mistake("sum-not-mean", "Divided by the number of what?")
def never_divided(model, micro_batches, n_real, n_processes):
    return backward([summed(model, pair) for pair in micro_batches])


@task.mistake("sum-not-mean", "Divided by the number of what?")
def never_divided_with_a_factor(model, micro_batches, n_real, n_processes):
    return backward([summed(model, pair) * n_processes for pair in micro_batches])


@task.mistake("mean-over-all-places", "Is a padded place a token?")
def by_the_places_of_this_process(model, micro_batches, n_real, n_processes):
    places = sum(targets.numel() for _, targets in micro_batches)
    return backward([summed(model, pair) / places for pair in micro_batches])


@task.mistake("empty-micro-batch-nan", EMPTY)
def mean_times_count(model, micro_batches, n_real, n_processes):
    losses = [
        F.cross_entropy(model(x).transpose(1, 2), y)
        * (real((x, y)) * n_processes / n_real)
        for x, y in micro_batches
    ]
    return backward(losses)


@task.mistake(
    "loss-on-padding", "Is predicting padding an achievement, and is it counted?"
)
def padding_counts(model, micro_batches, n_real, n_processes):
    pairs = [(x, y.clamp(min=0)) for x, y in micro_batches]
    return own_gradients(model, pairs, n_real, n_processes)


@task.mistake(
    "only-the-last-gradients", "Where are the gradients of the first piece at the end?"
)
def zeroed_before_each(model, micro_batches, n_real, n_processes):
    total = 0.0
    for pair in micro_batches:
        model.zero_grad()
        total += own_gradients(model, [pair], n_real, n_processes)
    return total


@task.mistake("loss-of-the-last-piece", RETURNED)
def returns_the_last(model, micro_batches, n_real, n_processes):
    own_gradients(model, micro_batches, n_real, n_processes)
    return summed(model, micro_batches[-1]).item() * n_processes / n_real


@task.mistake("returned-another-loss", RETURNED)
def returns_without_the_factor(model, micro_batches, n_real, n_processes):
    return own_gradients(model, micro_batches, n_real, n_processes) / n_processes


@task.mistake("returned-another-loss", RETURNED)
def returns_the_own_sum(model, micro_batches, n_real, n_processes):
    loss = own_gradients(model, micro_batches, n_real, n_processes)
    return loss * n_real / n_processes


@task.mistake("loss-not-returned", "What does your function give back?")
def returns_nothing(model, micro_batches, n_real, n_processes):
    own_gradients(model, micro_batches, n_real, n_processes)


@task.mistake(
    "gradients-missing", "Who fills .grad, and has this process filled it at the end?"
)
def only_the_loss(model, micro_batches, n_real, n_processes):
    total = sum(summed(model, pair).item() for pair in micro_batches)
    return total * n_processes / n_real


@task.mistake("mean-taken-by-hand", "Who takes the mean over processes: you or torch?")
def gradients_divided_at_the_end(model, micro_batches, n_real, n_processes):
    loss = own_gradients(model, micro_batches, n_real, n_processes)
    for parameter in model.parameters():
        parameter.grad /= n_processes
    return loss / n_processes**2
