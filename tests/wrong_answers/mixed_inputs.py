"""Wrong answers to mixed_inputs."""

import torch

from tests.answers import wrong


@wrong("choice-not-shifted")
def where_without_shift(model, inputs, use_own):
    preds = model(inputs).argmax(dim=-1)
    preds[:, 0] = inputs[:, 0]
    return torch.where(use_own, preds, inputs)


@wrong("choice-not-shifted")
def assigns_by_mask(model, inputs, use_own):
    out = inputs.clone()
    pred = model(inputs).softmax(-1).max(-1).indices
    out[use_own] = pred[use_own]
    return out


@wrong("choice-shifted-to-the-left")
def shifts_like_targets(model, inputs, use_own):
    pred = model(inputs).argmax(-1)
    out = inputs.clone()
    out[:, :-1] = torch.where(use_own[:, :-1], pred[:, 1:], inputs[:, :-1])
    return out


@wrong("start-replaced")
def roll(model, inputs, use_own):
    pred = torch.roll(model(inputs).argmax(-1), shifts=1, dims=1)
    return torch.where(use_own, pred, inputs)


@wrong("start-replaced")
def zero_start(model, inputs, use_own):
    own = torch.zeros_like(inputs)
    own[:, 1:] = model(inputs).argmax(-1)[:, :-1]
    mixed = inputs.clone()
    mixed[use_own] = own[use_own]
    return mixed


@wrong("mask-polarity")
def other_way_round(model, inputs, use_own):
    own = inputs.clone()
    own[:, 1:] = model(inputs)[:, :-1].argmax(-1)
    return torch.where(use_own, inputs, own)


@wrong("reads-its-own-choices")
def one_after_another(model, inputs, use_own):
    mixed = inputs.clone()
    for t in range(inputs.size(1) - 1):
        best = model(mixed)[:, t].argmax(-1)
        mixed[:, t + 1] = torch.where(use_own[:, t + 1], best, mixed[:, t + 1])
    return mixed


@wrong("use-own-ignored")
def everything(model, inputs, use_own):
    return torch.cat([inputs[:, :1], model(inputs).argmax(-1)[:, :-1]], dim=1)


@wrong("places-shifted-too")
def mask_of_targets(model, inputs, use_own):
    pred = model(inputs).argmax(-1)
    out = inputs.clone()
    for b in range(len(inputs)):
        for t in range(inputs.shape[1] - 1):
            if use_own[b, t]:
                out[b, t + 1] = pred[b, t]
    return out


@wrong("input-changed-in-place")
def writes_into_the_inputs(model, inputs, use_own):
    own = model(inputs).argmax(-1)
    inputs[:, 1:] = torch.where(use_own[:, 1:], own[:, :-1], inputs[:, 1:])
    return inputs


@wrong("first-row-only")
def one_row(model, inputs, use_own):
    own = model(inputs)[0].argmax(-1)
    out = inputs.clone()
    for t in range(1, inputs.shape[1]):
        if use_own[0, t]:
            out[:, t] = own[t - 1]
    return out


@wrong("returns-logits")
def no_argmax(model, inputs, use_own):
    logits = model(inputs)
    own = torch.cat([logits[:, :1], logits[:, :-1]], 1)
    return own * use_own[..., None]


@wrong("choice-not-shifted", "mask-polarity")
def two_slips(model, inputs, use_own):
    return torch.where(use_own, inputs, model(inputs).argmax(-1))
