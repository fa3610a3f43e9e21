"""Wrong answers to shift_right, each with its mistake."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("decoder-input-has-ignore-index")
def ignored_left_in(targets, bos_id):
    start = torch.full((targets.shape[0], 1), bos_id, dtype=targets.dtype)
    return torch.cat([start, targets[:, :-1]], dim=1)


@wrong("decoder-input-has-ignore-index")
def padded_only(targets, bos_id):
    return F.pad(targets[:, :-1], (1, 0), value=bos_id)


@wrong("decoder-input-has-ignore-index")
def replaces_minus_one(targets, bos_id):
    inputs = targets.roll(1, dims=1)
    inputs[:, 0] = bos_id
    return inputs.masked_fill(inputs == -1, bos_id)


@wrong("shifted-left")
def start_at_the_end(targets, bos_id):
    start = torch.full((targets.shape[0], 1), bos_id, dtype=targets.dtype)
    inputs = torch.cat([targets[:, 1:], start], dim=1)
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("shifted-left")
def roll_minus_one(targets, bos_id):
    inputs = targets.roll(-1, dims=1)
    inputs[:, -1] = bos_id
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("last-target-wraps-around")
def only_rolled(targets, bos_id):
    inputs = torch.roll(targets, shifts=1, dims=1)
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("last-target-kept")
def one_longer(targets, bos_id):
    start = targets.new_full((len(targets), 1), bos_id)
    inputs = torch.cat([start, targets], dim=1)
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("last-target-kept")
def pads_without_cutting(targets, bos_id):
    return F.pad(targets.masked_fill(targets == -100, bos_id), (1, 0), value=bos_id)


@wrong("first-target-overwritten")
def start_in_place_of_the_first(targets, bos_id):
    inputs = targets.clone()
    inputs[:, 0] = bos_id
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("first-target-overwritten")
def first_dropped(targets, bos_id):
    start = targets.new_full((targets.size(0), 1), bos_id)
    inputs = torch.cat((start, targets[:, 1:]), dim=1)
    return torch.where(inputs < 0, bos_id, inputs)


@wrong("labels-not-shifted")
def identity(targets, bos_id):
    return targets.masked_fill(targets == -100, bos_id)


@wrong("labels-not-shifted")
def no_start(targets, bos_id):
    return targets[:, :-1].masked_fill(targets[:, :-1] == -100, bos_id)


@wrong("labels-shifted-twice")
def two_starts(targets, bos_id):
    inputs = F.pad(targets, (2, -2), value=bos_id)[:, : targets.shape[1]]
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("labels-shifted-twice")
def shifts_in_a_loop(targets, bos_id):
    inputs = targets.clone()
    for _ in range(2):
        inputs = inputs.roll(1, dims=1)
        inputs[:, 0] = bos_id
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("double-bos")
def start_before_a_start(targets, bos_id):
    inputs = F.pad(targets[:, :-1], (2, 0), value=bos_id)
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("shifted-along-batch")
def over_rows(targets, bos_id):
    start = torch.full((1, targets.shape[1]), bos_id, dtype=targets.dtype)
    inputs = torch.cat([start, targets[:-1]], dim=0)
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("shifted-along-batch")
def roll_over_everything(targets, bos_id):
    inputs = targets.roll(1)  # without dims the rows run into each other
    inputs[0, 0] = bos_id
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("start-in-first-row-only")
def one_start(targets, bos_id):
    inputs = targets.roll(1, dims=1)
    inputs[0, 0] = bos_id
    return inputs.masked_fill(inputs == -100, bos_id)


@wrong("start-id-hard-coded")
def starts_with_one(targets, bos_id):
    inputs = F.pad(targets[:, :-1], (1, 0), value=1)
    return inputs.masked_fill(inputs == -100, 1)


@wrong("start-id-hard-coded")
def starts_with_zero(targets, bos_id):
    inputs = torch.zeros_like(targets)
    inputs[:, 1:] = targets[:, :-1]
    return inputs.masked_fill(inputs == -100, 0)


@wrong("input-changed-in-place")
def writes_into_targets(targets, bos_id):
    targets[:, 1:] = targets[:, :-1].clone()
    targets[:, 0] = bos_id
    targets[targets == -100] = bos_id
    return targets


@wrong("input-changed-in-place")
def fills_the_targets(targets, bos_id):
    targets.masked_fill_(targets == -100, bos_id)
    return F.pad(targets[:, :-1], (1, 0), value=bos_id)


@wrong("wrong-dtype")
def floats(targets, bos_id):
    inputs = torch.zeros(targets.shape)
    inputs[:, 1:] = targets[:, :-1]
    inputs[:, 0] = bos_id
    inputs[inputs == -100] = bos_id
    return inputs


@wrong("all-starts")
def constant(targets, bos_id):
    return torch.full_like(targets, bos_id)


@wrong("decoder-input-has-ignore-index", "last-target-kept")
def longer_and_ignored(targets, bos_id):
    return torch.cat([targets.new_full((len(targets), 1), bos_id), targets], dim=1)


@wrong("start-id-hard-coded", "input-changed-in-place")
def zero_in_place(targets, bos_id):
    targets[targets == -100] = 0
    inputs = targets.roll(1, dims=1)
    inputs[:, 0] = 0
    return inputs
