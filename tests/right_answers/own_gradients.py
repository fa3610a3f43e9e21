"""Right answers to own_gradients."""

import torch
import torch.nn.functional as F

from course_lib.training import next_token_loss
from tests.answers import right


@right("one backward pass over the sum")
def one_backward(model, micro_batches, n_real, n_processes):
    total = torch.zeros(())
    for x, y in micro_batches:
        nats = F.cross_entropy(model(x).mT, y, reduction="none", ignore_index=-100)
        total = total + nats.sum()
    loss = total / (n_real / n_processes)
    loss.backward()
    return loss


@right("the library's mean, times its own count")
def mean_times_count(model, micro_batches, n_real, n_processes):
    total = 0.0
    for inputs, targets in micro_batches:
        count = int((targets != -100).sum())
        loss = next_token_loss(model(inputs), targets) * count * n_processes / n_real
        loss.backward()
        total += loss.item()
    return total


@right("sums first, gradients scaled at the end")
def scaled_at_the_end(model, micro_batches, n_real, n_processes):
    total, factor = 0.0, n_processes / n_real
    for inputs, targets in micro_batches:
        logits = model(inputs).flatten(0, 1)
        nats = F.cross_entropy(logits, targets.flatten(), reduction="sum")
        nats.backward()
        total += nats.item()
    for parameter in model.parameters():
        parameter.grad *= factor
    return total * factor


@right("empty pieces are passed over")
def skips_empty(model, micro_batches, n_real, n_processes):
    total = 0.0
    for inputs, targets in micro_batches:
        real = targets != -100
        if not real.any():
            continue
        log_p = model(inputs).log_softmax(-1)[real]
        loss = -log_p.gather(1, targets[real][:, None]).sum() * n_processes / n_real
        loss.backward()
        total += loss.item()
    return total
