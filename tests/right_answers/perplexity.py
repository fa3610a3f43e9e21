"""Right answers to perplexity, each in its own style."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("sums and counts")
@torch.no_grad()
def sums(model, batches):
    was_training = getattr(model, "training", False)
    if was_training:
        model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    if was_training:
        model.train()
    return math.exp(total / count)


@right("means weighted by their counts")
def weighted_means(model, batches):
    training = getattr(model, "training", None)
    if training is not None:
        model.eval()
    means, counts = [], []
    with torch.inference_mode():
        for inputs, targets in batches:
            real = targets.ne(-100)
            logits = model(inputs)[real]
            if len(logits):
                means.append(F.cross_entropy(logits, targets[real]))
                counts.append(real.sum())
        counts = torch.stack(counts).double()
        result = torch.exp((torch.stack(means).double() * counts).sum() / counts.sum())
    if training is not None:
        model.train(training)
    return result.item()


@right("all surprises in one list, a 0-d tensor back")
def all_surprises(model, batches):
    modes = {}
    if isinstance(model, torch.nn.Module):
        modes = {part: part.training for part in model.modules()}
        model.eval()
    surprises = []
    try:
        for inputs, targets in batches:
            log_p = model(inputs).detach().log_softmax(dim=-1)
            for row, ids in zip(log_p, targets, strict=True):
                surprises += [
                    -row[i, y] for i, y in enumerate(ids.tolist()) if y != -100
                ]
    finally:
        for part, training in modes.items():
            part.training = training
    return torch.stack(surprises).mean().exp()
