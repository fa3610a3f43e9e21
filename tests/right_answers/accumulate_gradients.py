"""Right answers to accumulate_gradients, each in its own style."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("sums divided by the number of real targets")
def sums(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@right("means weighted by their share")
def weighted_means(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@right("sums first, gradients divided afterwards")
def divided_afterwards(model, micro_batches):
    model.zero_grad(set_to_none=True)
    total, n = 0.0, 0
    for inputs, targets in micro_batches:
        real = targets != -100
        log_p = model(inputs).log_softmax(dim=-1)
        chosen = log_p.gather(-1, targets.where(real, 0)[..., None]).squeeze(-1)
        loss = -(chosen * real).sum()
        loss.backward()
        total, n = total + float(loss.detach()), n + int(real.sum())
    for parameter in model.parameters():
        if parameter.grad is not None:
            parameter.grad /= n
    return total / n


@right("one graph for all")
def one_graph(model, micro_batches):
    model.zero_grad()
    logits = torch.cat([model(inputs).flatten(0, 1) for inputs, _ in micro_batches])
    targets = torch.cat([targets.flatten() for _, targets in micro_batches])
    loss = F.cross_entropy(logits, targets, ignore_index=-100)
    loss.backward()
    return loss.item()


@right("torch.autograd.grad, written to .grad")
def with_autograd_grad(model, micro_batches):
    parameters = list(model.parameters())
    summed = [torch.zeros_like(parameter) for parameter in parameters]
    total, n = 0.0, 0
    for inputs, targets in micro_batches:
        real = targets.ne(-100)
        loss = F.cross_entropy(model(inputs)[real], targets[real], reduction="sum")
        grads = torch.autograd.grad(loss, parameters, materialize_grads=True)
        summed = [old + new for old, new in zip(summed, grads, strict=True)]
        total, n = total + loss.item(), n + int(real.sum())
    for parameter, grad in zip(parameters, summed, strict=True):
        parameter.grad = grad / n
    return total / n
