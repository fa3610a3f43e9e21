"""Wrong answers to own_gradients."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("not-repaired")
def unchanged_but_returns(model, micro_batches, n_real, n_processes):
    total = 0.0
    for inputs, targets in micro_batches:
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        (loss / len(micro_batches)).backward()
        total += (loss / len(micro_batches)).item()
    return total


@wrong("divided-by-own-tokens")
def own_tokens(model, micro_batches, n_real, n_processes):
    count = max(1, sum((y >= 0).sum().item() for _, y in micro_batches))
    total = 0
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).mT, y, reduction="sum") / count
        nats.backward()
        total += nats.item()
    return total


@wrong("processes-divide-twice")
def no_factor(model, micro_batches, n_real, n_processes):
    losses = []
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).mT, y, reduction="none").sum()
        losses.append(nats / n_real)
    loss = torch.stack(losses).sum()
    loss.backward()
    return loss.item()


@wrong("processes-divide-twice")
def divides_by_both(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss = nats / (n_real * n_processes)
        loss.backward()
        total += loss.item()
    return total


@wrong("pieces-divide-too")
def still_divides_by_pieces(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss = loss * n_processes / n_real
        loss = loss / len(micro_batches)
        loss.backward()
        total += float(loss)
    return total


@wrong("empty-micro-batch-nan")
def weights_the_means(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        mean = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss = mean * (y != -100).sum() / n_real * n_processes
        loss.backward()
        total += loss.item()
    return total


@wrong("sum-not-mean")
def sums(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss.backward()
        total += loss.item()
    return total


@wrong("only-the-last-gradients")
def clears_in_the_loop(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        model.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss = loss * (n_processes / n_real)
        loss.backward()
        total += loss.item()
    return total


@wrong("returned-another-loss")
def returns_nats(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        (nats * n_processes / n_real).backward()
        total += nats.item()
    return total


@wrong("loss-of-the-last-piece")
def last_loss(model, micro_batches, n_real, n_processes):
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss = nats * n_processes / n_real
        loss.backward()
    return loss.item()


@wrong("loss-not-returned")
def forgets_to_return(model, micro_batches, n_real, n_processes):
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        (nats * n_processes / n_real).backward()


@wrong("counts-places")
def places(model, micro_batches, n_real, n_processes):
    total = 0.0
    n = sum(y.numel() for _, y in micro_batches)
    for x, y in micro_batches:
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("processes-divide-twice", "pieces-divide-too")
def two_slips(model, micro_batches, n_real, n_processes):
    total = 0.0
    for x, y in micro_batches:
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten(), reduction="sum")
        loss = loss / n_real / len(micro_batches)
        loss.backward()
        total += loss.item()
    return total
