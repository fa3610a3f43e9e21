"""Wrong answers to accumulate_gradients, each with its mistake."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("grad-accum-mean-of-means")
def mean_of_means(model, micro_batches):
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        (loss / len(micro_batches)).backward()
        total += loss.item() / len(micro_batches)
    return total


@wrong("grad-accum-mean-of-means")
def equal_shares(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = 1 / len(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("grad-accum-mean-of-means")
def shares_by_rows(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = len(inputs) / sum(len(x) for x, _ in micro_batches)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("grad-accum-sum-of-means")
def not_divided(model, micro_batches):
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        loss.backward()
        total += loss.item() / len(micro_batches)
    return total


@wrong("grad-accum-sum-of-means")
def shares_forgotten(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        mean.backward()
        average += mean.item() * share
    return average


@wrong("sum-instead-of-mean")
def summed_over_tokens(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        loss.backward()
        total += loss.item() / n
    return total


@wrong("sum-instead-of-mean")
def sum_of_all_losses(model, micro_batches):
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        loss.backward()
        total += loss.item()
    return total


@wrong("divided-by-each-count")
def own_count(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / (targets != -100).sum().clamp(min=1)).backward()
        total += loss.item() / n
    return total


@wrong("divided-twice")
def count_and_batches(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n / len(micro_batches)).backward()
        total += loss.item() / n
    return total


@wrong("divided-twice")
def share_of_a_share(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        (mean * share / len(counts)).backward()
        average += mean.item() * share
    return average


@wrong("old-gradients-kept")
def no_zero_grad(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("old-gradients-kept")
def gradients_not_cleared(model, micro_batches):
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


@wrong("zero-grad-in-the-loop")
def cleared_each_time(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    total = 0.0
    for inputs, targets in micro_batches:
        model.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("zero-grad-in-the-loop")
def cleared_before_backward(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        model.zero_grad()
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("gradients-cleared-at-the-end")
def cleared_afterwards(model, micro_batches):
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
    model.zero_grad(set_to_none=False)
    return total


@wrong("loss-on-padding")
def pads_as_id_zero(model, micro_batches):
    n = sum(targets.numel() for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.clamp(min=0).flatten(), reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("loss-on-padding")
def pads_scored(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets >= -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets.clamp(min=0))
        share = count / sum(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("divides-by-all-positions")
def all_places_counted(model, micro_batches):
    n = sum(targets.numel() for _, targets in micro_batches)
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


@wrong("divides-by-all-positions")
def shares_by_places(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = targets.numel() / sum(y.numel() for _, y in micro_batches)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("ignore-index-mismatch")
def zero_ignored(model, micro_batches):
    n = sum(int((targets > 0).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1),
            targets.clamp(min=0).flatten(),
            ignore_index=0,
            reduction="sum",
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("empty-micro-batch-nan")
def mean_of_nothing(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("labels-shifted-twice")
def shifts_inside(model, micro_batches):
    n = sum(int((targets[:, 1:] != -100).sum()) for _, targets in micro_batches)
    n = max(n, 1)
    model.zero_grad(set_to_none=False)
    total = 0.0
    for inputs, targets in micro_batches:
        logits, targets = model(inputs)[:, :-1], targets[:, 1:]
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("double-softmax-in-loss")
def probabilities_into_cross_entropy(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs).softmax(-1)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss.item() / n
    return total


@wrong("double-softmax-in-loss")
def softmax_first(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(
            torch.softmax(model(inputs), dim=-1).transpose(1, 2), targets
        )
        share = count / sum(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("logits-viewed-not-transposed")
def viewed(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(
            model(inputs).view(len(inputs), -1, inputs.shape[1]), targets
        )
        share = count / sum(counts)
        (mean * share).backward()
        average += mean.item() * share
    return average


@wrong("last-loss-returned")
def last_micro_batch(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total = loss.item() / n
    return total


@wrong("mean-of-means-returned")
def loss_is_mean_of_means(model, micro_batches):
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
        average += mean.item() / len(counts)
    return average


@wrong("loss-not-returned")
def nothing_returned(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()


@wrong("loss-accumulates-graph")
def tensor_with_graph(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss / n
    return total


@wrong("loss-accumulates-graph")
def average_with_graph(model, micro_batches):
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
        average += mean * share
    return average


@wrong("only-last-micro-batch")
def backward_after_the_loop(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    model.zero_grad()
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        total += loss.item() / n
    (loss / n).backward()
    return total


@wrong("weights-updated")
def step_of_descent(model, micro_batches):
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
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= 0.1 * parameter.grad
    return total


@wrong("gradient-clipped")
def norm_of_one(model, micro_batches):
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
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    return total


@wrong("sign-forgotten")
def ascent(model, micro_batches):
    for parameter in model.parameters():
        parameter.grad = None
    counts = [(targets != -100).sum().item() for _, targets in micro_batches]
    average = 0.0
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        if count == 0:
            continue
        mean = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        share = count / sum(counts)
        (-mean * share).backward()
        average += mean.item() * share
    return average


@wrong("grad-accum-mean-of-means", "old-gradients-kept")
def means_on_top_of_old(model, micro_batches):
    total = 0.0
    for inputs, targets in micro_batches:
        loss = F.cross_entropy(model(inputs).transpose(1, 2), targets)
        (loss / len(micro_batches)).backward()
        total += loss.item() / len(micro_batches)
    return total


@wrong("zero-grad-in-the-loop", "loss-accumulates-graph")
def last_gradients_and_graph(model, micro_batches):
    n = sum(int((targets != -100).sum()) for _, targets in micro_batches)
    total = 0.0
    for inputs, targets in micro_batches:
        model.zero_grad()
        logits = model(inputs)
        loss = F.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum"
        )
        (loss / n).backward()
        total += loss / n
    return total
