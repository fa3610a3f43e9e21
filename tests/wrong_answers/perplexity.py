"""Wrong answers to perplexity, each with its mistake."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("perplexity-average-of-batches")
@torch.no_grad()
def mean_of_batch_means(model, batches):
    training = model.training
    model.eval()
    losses = []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
    model.train(training)
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity-average-of-batches")
@torch.no_grad()
def mean_of_perplexities(model, batches):
    training = model.training
    model.eval()
    losses = []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
    model.train(training)
    return sum(math.exp(loss) for loss in losses) / len(losses)


@wrong("perplexity-average-of-batches")
@torch.no_grad()
def mean_weighted_by_rows(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(len(targets))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("perplexity-weighted-perplexities")
@torch.no_grad()
def exponential_before_the_mean(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(math.exp(loss) * n for loss, n in zip(losses, counts, strict=True))
    return total / sum(counts)


@wrong("no-grad-is-not-eval")
@torch.no_grad()
def only_no_grad(model, batches):
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    return math.exp(total / count)


@wrong("no-grad-is-not-eval")
@torch.no_grad()
def inference_mode_only(model, batches):
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        with torch.inference_mode():
            loss = F.cross_entropy(model(inputs)[real], targets[real])
        losses.append(loss.item())
        counts.append(int(real.sum()))
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("model-left-in-eval")
@torch.no_grad()
def mode_not_put_back(model, batches):
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    return math.exp(total / count)


@wrong("model-left-in-eval")
@torch.no_grad()
def mode_read_after_eval(model, batches):
    model.eval()
    training = model.training
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("model-put-in-training")
@torch.no_grad()
def always_trains_afterwards(model, batches):
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    model.train()
    return math.exp(total / count)


@wrong("evaluated-in-training-mode")
@torch.no_grad()
def train_instead_of_eval(model, batches):
    training = model.training
    model.train()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("loss-on-padding")
@torch.no_grad()
def pads_as_id_zero(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets.clamp(min=0), reduction="sum"
        ).item()
        count += targets.numel()
    model.train(was_training)
    return math.exp(total / count)


@wrong("divides-by-all-positions")
@torch.no_grad()
def all_places_counted(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += targets.numel()
    model.train(was_training)
    return math.exp(total / count)


@wrong("divides-by-all-positions")
@torch.no_grad()
def inputs_counted(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(inputs.numel() for inputs, _ in batches))


@wrong("ignore-index-mismatch")
@torch.no_grad()
def pad_id_ignored(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits, targets = model(inputs), targets.clamp(min=0)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=0, reduction="sum"
        ).item()
        count += (targets != 0).sum().item()
    model.train(was_training)
    return math.exp(total / max(count, 1))


@wrong("ignore-index-mismatch")
@torch.no_grad()
def zero_ignored(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets > 0
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("labels-shifted-twice")
@torch.no_grad()
def shifts_inside(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits, targets = model(inputs)[:, :-1], targets[:, 1:]
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    model.train(was_training)
    return math.exp(total / max(count, 1))


@wrong("labels-shifted-twice")
@torch.no_grad()
def drops_the_last_logit(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        logits, targets = model(inputs)[:, :-1], targets[:, 1:]
        real = targets != -100
        loss = F.cross_entropy(logits[real], targets[real], reduction="sum").item()
        losses.append(loss / max(int(real.sum()), 1))
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("double-softmax-in-loss")
@torch.no_grad()
def probabilities_into_cross_entropy(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs).softmax(-1)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    model.train(was_training)
    return math.exp(total / count)


@wrong("double-softmax-in-loss")
@torch.no_grad()
def softmax_before_the_loss(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(
            F.cross_entropy(
                torch.softmax(model(inputs)[real], dim=-1), targets[real]
            ).item()
        )
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("logits-viewed-not-transposed")
@torch.no_grad()
def viewed(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.reshape(len(logits), -1, logits.shape[1]),
            targets,
            ignore_index=-100,
            reduction="sum",
        ).item()
        count += (targets != -100).sum().item()
    model.train(was_training)
    return math.exp(total / count)


@wrong("exponential-forgotten")
@torch.no_grad()
def mean_loss(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    model.train(was_training)
    return total / count


@wrong("exponential-forgotten")
@torch.no_grad()
def loss_per_token(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return total / sum(counts)


@wrong("base-two")
@torch.no_grad()
def two_to_the_nats(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += (targets != -100).sum().item()
    model.train(was_training)
    return 2 ** (total / count)


@wrong("sign-forgotten")
@torch.no_grad()
def inverse(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(-total / sum(counts))


@wrong("sum-instead-of-mean")
@torch.no_grad()
def exponential_of_the_sum(model, batches):
    was_training = model.training
    model.eval()
    total = 0.0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
    model.train(was_training)
    return math.exp(min(total, 500.0))


@wrong("only-last-batch")
@torch.no_grad()
def returns_in_the_loop(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total = F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count = (targets != -100).sum().item()
    model.train(was_training)
    return math.exp(total / count)


@wrong("only-first-batch")
@torch.no_grad()
def next_of_iter(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in list(batches)[:1]:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return math.exp(total / sum(counts))


@wrong("loss-accumulates-graph")
def tensor_with_graph(model, batches):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        )
        count += (targets != -100).sum().item()
    model.train(was_training)
    return torch.exp(total / count)


@wrong("loss-accumulates-graph")
def sum_of_losses_with_graph(model, batches):
    training = model.training
    model.eval()
    losses, counts = [], []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]))
        counts.append(int(real.sum()))
    model.train(training)
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return (total / sum(counts)).exp()


@wrong("perplexity-average-of-batches", "no-grad-is-not-eval")
@torch.no_grad()
def batch_means_with_dropout(model, batches):
    losses = []
    for inputs, targets in batches:
        real = targets != -100
        losses.append(F.cross_entropy(model(inputs)[real], targets[real]).item())
    return math.exp(sum(losses) / len(losses))


@wrong("model-left-in-eval", "divides-by-all-positions")
@torch.no_grad()
def left_and_diluted(model, batches):
    model.eval()
    total, count = 0.0, 0
    for inputs, targets in batches:
        logits = model(inputs)
        total += F.cross_entropy(
            logits.transpose(1, 2), targets, ignore_index=-100, reduction="sum"
        ).item()
        count += targets.numel()
    return math.exp(total / count)
