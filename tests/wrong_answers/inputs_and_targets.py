"""Wrong answers to inputs_and_targets, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("labels-not-shifted")
def targets_are_inputs(tokens, lengths=None):
    inputs, targets = tokens[:, :-1], tokens[:, :-1].clone()
    if lengths is not None:
        places = torch.arange(tokens.shape[1] - 1)
        targets[places >= torch.as_tensor(lengths)[:, None] - 1] = -100
    return inputs, targets


@wrong("labels-not-shifted")
def nothing_cut(tokens, lengths=None):
    targets = tokens.clone()
    if lengths is not None:
        places = torch.arange(tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens, targets


@wrong("labels-shifted-twice")
def two_places_apart(tokens, lengths=None):
    inputs, targets = tokens[:, :-2], tokens[:, 2:].clone()
    if lengths is not None:
        places = torch.arange(2, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return inputs, targets


@wrong("labels-shifted-twice")
def rolled_after_the_cut(tokens, lengths=None):
    targets = tokens[:, 1:].roll(-1, dims=1)
    targets[:, -1] = -100
    if lengths is not None:
        places = torch.arange(2, tokens.shape[1] + 1)
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens[:, :-1], targets


@wrong("targets-before-inputs")
def inputs_see_the_future(tokens, lengths=None):
    inputs, targets = tokens[:, 1:], tokens[:, :-1].clone()
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return inputs, targets


@wrong("targets-before-inputs")
def pair_swapped(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 1, 0) :] = -100
    return targets, tokens[:, :-1]


@wrong("loss-on-padding")
def lengths_unread(tokens, lengths=None):
    return tokens[:, :-1], tokens[:, 1:]


@wrong("loss-on-padding")
def one_pad_counts(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        places = torch.arange(targets.shape[1])  # of the targets, lengths of the tokens
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens[:, :-1], targets


@wrong("loss-on-padding")
def pads_stay_pads(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 1, 0) :] = 0
    return tokens[:, :-1], targets


@wrong("last-real-target-ignored")
def one_too_many_hidden(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None] - 1] = -100
    return tokens[:, :-1], targets


@wrong("last-real-target-ignored")
def inputs_and_targets_both_shorter(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 2, 0) :] = -100
    return tokens[:, :-1], targets


@wrong("ignore-index-mismatch")
def minus_one(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -1
    return tokens[:, :-1], targets


@wrong("ignore-index-mismatch")
def plus_hundred(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 1, 0) :] = 100
    return tokens[:, :-1], targets


@wrong("pad-equals-eos")
def pad_known_by_its_id(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        # whatever stands behind the shortest row is hidden in all rows
        row = int(torch.as_tensor(lengths).argmin())
        pad_id = tokens[row, -1]
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
        targets[targets == pad_id] = -100
    return tokens[:, :-1], targets


@wrong("pad-equals-eos")
def zeros_are_padding(tokens, lengths=None):
    targets = tokens[:, 1:].masked_fill(tokens[:, 1:] == 0, -100)
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens[:, :-1], targets


@wrong("decoder-input-has-ignore-index")
def masked_before_both_cuts(tokens, lengths=None):
    tokens = tokens.clone()
    if lengths is not None:
        places = torch.arange(tokens.shape[1])
        tokens[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens[:, :-1], tokens[:, 1:]


@wrong("decoder-input-has-ignore-index")
def inputs_masked_too(tokens, lengths=None):
    inputs, targets = tokens[:, :-1].clone(), tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        inputs[row, int(length) :] = -100
        targets[row, max(int(length) - 1, 0) :] = -100
    return inputs, targets


@wrong("input-changed-in-place")
def writes_through_the_view(tokens, lengths=None):
    inputs, targets = tokens[:, :-1].clone(), tokens[:, 1:]
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return inputs, targets


@wrong("input-changed-in-place", "decoder-input-has-ignore-index")
def both_are_views(tokens, lengths=None):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 1, 0) :] = -100
    return inputs, targets


@wrong("inputs-not-cut")
def last_input_kept(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens, targets


@wrong("last-target-wraps-around")
def rolled(tokens, lengths=None):
    targets = tokens.roll(-1, dims=1)
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1] + 1)
        targets[places >= torch.as_tensor(lengths)[:, None]] = -100
    return tokens, targets


@wrong("shifted-along-batch")
def over_rows(tokens, lengths=None):
    return tokens[:-1], tokens[1:]


@wrong("first-row-length-for-all")
def one_length(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        targets[:, max(int(lengths[0]) - 1, 0) :] = -100
    return tokens[:, :-1], targets


@wrong("cut-to-shortest")
def shortest_row(tokens, lengths=None):
    if lengths is not None:
        tokens = tokens[:, : max(int(min(lengths)), 2)]
    return tokens[:, :-1], tokens[:, 1:]


@wrong("labels-not-shifted", "loss-on-padding")
def copies_with_padding(tokens, lengths=None):
    return tokens[:, :-1], tokens[:, :-1]


@wrong("ignore-index-mismatch", "last-real-target-ignored")
def minus_one_too_early(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 2, 0) :] = -1
    return tokens[:, :-1], targets
