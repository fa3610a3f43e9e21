"""Wrong answers to strided_perplexity."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("not-repaired")
def unchanged(model, tokens, window, stride):
    losses = []
    for start in range(0, len(tokens) - 1, stride):
        fed = tokens[start : start + window]
        targets = tokens[start + 1 : start + window + 1]
        logits = model(fed[None])[0, : len(targets)]
        losses.append(F.cross_entropy(logits, targets))
    return torch.stack(losses).mean().exp().item()


@wrong("overlap-counted-again")
def sums_every_window(model, tokens, window, stride):
    total, count = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        fed = tokens[start : start + window]
        targets = tokens[start + 1 : start + window + 1]
        logits = model(fed[None])[0, : len(targets)]
        total += F.cross_entropy(logits, targets, reduction="sum").item()
        count += len(targets)
    return math.exp(total / count)


@wrong("overlap-counted-again")
def sums_and_stops_at_the_end(model, tokens, window, stride):
    total, count = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        targets = tokens[start + 1 : start + window + 1]
        logits = model(tokens[start : start + len(targets)][None])[0]
        total += F.cross_entropy(logits, targets, reduction="sum").item()
        count += len(targets)
        if start + window + 1 >= len(tokens):
            break
    return math.exp(total / count)


@wrong("perplexity-average-of-batches")
def new_ones_but_mean_of_means(model, tokens, window, stride):
    losses, done = [], 1
    for start in range(0, len(tokens) - 1, stride):
        targets = tokens[start + 1 : start + window + 1].clone()
        logits = model(tokens[start : start + len(targets)][None])[0]
        end = start + 1 + len(targets)
        targets[: done - start - 1] = -100
        if end > done:
            losses.append(F.cross_entropy(logits, targets))
        done = max(done, end)
    return torch.stack(losses).mean().exp().item()


@wrong("perplexity-average-of-batches")
def mean_of_exponentials(model, tokens, window, stride):
    found, done = [], 0
    n = len(tokens) - 1
    for start in range(0, n, stride):
        end = min(start + window, n)
        if end <= done:
            continue
        nats = F.cross_entropy(
            model(tokens[start:end][None])[0],
            tokens[start + 1 : end + 1],
            reduction="none",
        )
        found.append(nats[done - start :].mean().exp().item())
        done = end
    return sum(found) / len(found)


@wrong("context-thrown-away")
def overwrites(model, tokens, window, stride):
    nats = torch.zeros(len(tokens) - 1)
    for start in range(0, len(tokens) - 1, stride):
        y = tokens[start + 1 : start + window + 1]
        logits = model(tokens[None, start : start + len(y)])[0]
        nats[start : start + len(y)] = F.cross_entropy(logits, y, reduction="none")
    return nats.mean().exp().item()


@wrong("context-thrown-away")
def stride_becomes_window(model, tokens, window, stride):
    total = 0.0
    for start in range(0, len(tokens) - 1, window):
        y = tokens[start + 1 : start + window + 1]
        logits = model(tokens[None, start : start + len(y)])[0]
        total += F.cross_entropy(logits, y, reduction="sum").item()
    return math.exp(total / (len(tokens) - 1))


@wrong("window-limit-ignored")
def whole_text(model, tokens, window, stride):
    logits = model(tokens[None, :-1])[0]
    return F.cross_entropy(logits, tokens[1:]).exp().item()


@wrong("loss-for-perplexity")
def no_exp(model, tokens, window, stride):
    total, done = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window, len(tokens) - 1)
        logp = model(tokens[None, start:end])[0].log_softmax(-1)
        for t in range(done, end):
            total -= logp[t - start, tokens[t + 1]].item()
        done = max(done, end)
    return total / done


@wrong("divided-by-all-tokens")
def divides_by_length(model, tokens, window, stride):
    total, done = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window, len(tokens) - 1)
        logp = model(tokens[None, start:end])[0].log_softmax(-1)
        for t in range(done, end):
            total -= logp[t - start, tokens[t + 1]].item()
        done = max(done, end)
    return math.exp(total / len(tokens))


@wrong("last-stride-of-each")
def only_the_last_stride_counts(model, tokens, window, stride):
    total, count = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        y = tokens[start + 1 : start + window + 1]
        logits = model(tokens[None, start : start + len(y)])[0]
        total += F.cross_entropy(logits[-stride:], y[-stride:], reduction="sum").item()
        count += len(y[-stride:])
    return math.exp(total / count)


@wrong("context-thrown-away", "loss-for-perplexity")
def two_slips(model, tokens, window, stride):
    total = 0.0
    for start in range(0, len(tokens) - 1, stride):
        y = tokens[start + 1 : start + stride + 1]
        logits = model(tokens[None, start : start + len(y)])[0]
        total += F.cross_entropy(logits, y, reduction="sum").item()
    return total / (len(tokens) - 1)
