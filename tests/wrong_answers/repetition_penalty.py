"""Wrong answers to repetition_penalty, each with its mistake."""

import math

import torch

from tests.answers import wrong


@wrong("repetition-penalty-negative-logits")
def divides_all(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in {int(i) for i in ids}:
            out[row, i] = out[row, i] / penalty
    return out


@wrong("repetition-penalty-negative-logits")
def divides_by_a_matrix(logits, history, penalty):
    divisor = torch.ones_like(logits)
    for row in range(len(history)):
        divisor[row, torch.as_tensor(history[row]).long()] = penalty
    return logits / divisor


@wrong("repetition-penalty-sign-turned")
def rewards_repetition(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in {int(i) for i in ids}:
            value = logits[row, i]
            out[row, i] = value * penalty if value > 0 else value / penalty
    return out


@wrong("repetition-penalty-sign-turned")
def condition_turned_round(logits, history, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, ids in enumerate(history):
        seen[row, torch.as_tensor(ids).long()] = True
    changed = torch.where(logits < 0, logits / penalty, logits * penalty)
    return torch.where(seen, changed, logits)


@wrong("repetition-penalty-positive-logits")
def multiplies_all(logits, history, penalty):
    factor = torch.ones_like(logits)
    for row, ids in enumerate(history):
        factor[row, torch.as_tensor(ids).long()] = penalty
    return logits * factor


@wrong("penalty-per-occurrence")
def once_for_each_time(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in ids:
            value = out[row, i].item()
            out[row, i] = value / penalty if value > 0 else value * penalty
    return out


@wrong("penalty-per-occurrence")
def power_of_the_count(logits, history, penalty):
    vocab = logits.shape[-1]
    counts = torch.stack(
        [torch.bincount(torch.as_tensor(h).long(), minlength=vocab) for h in history]
    )
    strength = float(penalty) ** counts
    return torch.where(logits > 0, logits / strength, logits * strength)


@wrong("history-of-all-rows")
def one_set_for_the_batch(logits, history, penalty):
    seen = sorted({int(i) for ids in history for i in ids})
    out = logits.clone()
    values = out[:, seen]
    out[:, seen] = torch.where(values > 0, values / penalty, values * penalty)
    return out


@wrong("history-of-all-rows")
def indexes_columns(logits, history, penalty):
    out = logits.clone()
    for ids in history:
        ids = torch.as_tensor(ids).long().unique()
        values = logits[:, ids]
        out[:, ids] = torch.where(values > 0, values / penalty, values * penalty)
    return out


@wrong("first-row-only")
def penalises_row_zero(logits, history, penalty):
    out = logits.clone()
    ids = torch.as_tensor(history[0]).long()
    values = out[0, ids]
    out[0, ids] = torch.where(values > 0, values / penalty, values * penalty)
    return out


@wrong("only-last-token")
def penalises_the_last(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        if len(ids) > 0:
            value = out[row, ids[-1]].clone()
            out[row, ids[-1]] = value / penalty if value > 0 else value * penalty
    return out


@wrong("penalty-subtracted")
def subtracts(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in {int(i) for i in ids}:
            out[row, i] -= penalty
    return out


@wrong("penalty-subtracted")
def subtracts_its_log(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        out[row, torch.as_tensor(ids).long()] -= math.log(penalty)
    return out


@wrong("seen-ids-removed")
def forbids_repetition(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        out[row, torch.as_tensor(ids).long()] = -torch.inf
    return out


@wrong("unseen-ids-penalised")
def everything_penalised(logits, history, penalty):
    return torch.where(logits > 0, logits / penalty, logits * penalty)


@wrong("unseen-ids-penalised")
def mask_turned_round(logits, history, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, ids in enumerate(history):
        seen[row, torch.as_tensor(ids).long()] = True
    changed = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, logits, changed)


@wrong("input-changed-in-place")
def writes_into_logits(logits, history, penalty):
    for row, ids in enumerate(history):
        for i in {int(i) for i in ids}:
            value = logits[row, i].item()
            logits[row, i] = value / penalty if value > 0 else value * penalty
    return logits


@wrong("input-changed-in-place")
def scatters_into_logits(logits, history, penalty):
    for row, ids in zip(logits, history, strict=True):
        ids = torch.as_tensor(ids).long()
        score = row.gather(0, ids)
        row.scatter_(0, ids, torch.where(score < 0, score * penalty, score / penalty))
    return logits


@wrong("returns-probabilities")
def penalised_probabilities(logits, history, penalty):
    out = logits.softmax(-1)
    for row, ids in enumerate(history):
        out[row, torch.as_tensor(ids).long().unique()] /= penalty
    return out / out.sum(-1, keepdim=True)


@wrong("nothing-penalised")
def identity(logits, history, penalty):
    return logits.clone()


@wrong("repetition-penalty-negative-logits", "penalty-per-occurrence")
def divides_each_time(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in ids:
            out[row, i] /= penalty
    return out


@wrong("history-of-all-rows", "input-changed-in-place")
def all_rows_in_place(logits, history, penalty):
    for i in {int(i) for ids in history for i in ids}:
        column = logits[:, i]
        column.copy_(torch.where(column > 0, column / penalty, column * penalty))
    return logits
