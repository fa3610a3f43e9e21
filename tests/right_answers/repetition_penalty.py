"""Right answers to repetition_penalty, each in its own style."""

import torch

from tests.answers import right


@right("loops over sets")
def sets(logits, history, penalty):
    out = logits.clone()
    for row, ids in enumerate(history):
        for i in {int(i) for i in ids}:
            value = out[row, i]
            out[row, i] = value / penalty if value > 0 else value * penalty
    return out


@right("gather and scatter per row, as transformers does")
def gathered(logits, history, penalty):
    rows = []
    for row, ids in zip(logits, history, strict=True):
        ids = torch.as_tensor(ids, dtype=torch.long)
        score = row.gather(0, ids)
        score = torch.where(score < 0, score * penalty, score / penalty)
        rows.append(row.scatter(0, ids, score))
    return torch.stack(rows)


@right("a matrix of who was seen")
def seen_matrix(logits, history, penalty):
    seen = torch.zeros(logits.shape, dtype=torch.bool)
    for row in range(len(history)):
        seen[row, torch.as_tensor(history[row]).long()] = True
    factor = torch.where(logits > 0, 1 / penalty, penalty)
    return torch.where(seen, logits * factor, logits)


@right("positive and negative parts")
def parts(logits, history, penalty):
    vocab = logits.shape[-1]
    counts = [
        torch.bincount(torch.as_tensor(h).long(), minlength=vocab) for h in history
    ]
    strength = torch.where(torch.stack(counts) > 0, float(penalty), 1.0)
    return logits.clamp(min=0) / strength + logits.clamp(max=0) * strength
