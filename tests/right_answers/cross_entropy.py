"""Right answers to cross_entropy."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("torch's own on flattened rows")
def flattened(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1).long(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@right("torch's own with the vocabulary moved to axis 1")
def moved(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.movedim(-1, 1),
        targets,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@right("only the rows that count, logsumexp minus the chosen logit")
def selected(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    z, t = logits[keep], targets[keep]
    lse = z.logsumexp(-1)
    nll = lse - z[torch.arange(len(t)), t]
    smooth = lse - z.mean(-1)
    loss = (1 - label_smoothing) * nll + label_smoothing * smooth
    return loss.sum() / max(len(t), 1)


@right("a smoothed one-hot target and einsum")
def one_hot(logits, targets, ignore_index=-100, label_smoothing=0.0):
    v = logits.shape[-1]
    keep = (targets != ignore_index).to(logits.dtype)
    goal = F.one_hot(targets.masked_fill(targets == ignore_index, 0), v)
    goal = goal * (1 - label_smoothing) + label_smoothing / v
    logp = torch.log_softmax(logits, dim=-1)
    return -torch.einsum("...v,...v,...->", goal, logp, keep) / keep.sum().clamp(min=1)


@right("a loop over plain numbers")
def loop(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = []
    for row, t in zip(
        logits.reshape(-1, logits.shape[-1]).tolist(),
        targets.reshape(-1).tolist(),
        strict=True,
    ):
        if t == ignore_index:
            continue
        top = max(row)
        lse = top + math.log(sum(math.exp(s - top) for s in row))
        uniform = sum(lse - s for s in row) / len(row)
        losses.append(
            (1 - label_smoothing) * (lse - row[t]) + label_smoothing * uniform
        )
    return torch.tensor(sum(losses) / len(losses) if losses else 0.0)


@right("masked sums over the full shape")
def masked(logits, targets, ignore_index=-100, label_smoothing=0.0):
    mask = targets.ne(ignore_index)
    logp = logits - torch.logsumexp(logits, -1, keepdim=True)
    index = torch.where(mask, targets, torch.zeros_like(targets)).unsqueeze(-1)
    nll = -torch.take_along_dim(logp, index, -1).squeeze(-1)
    loss = nll.lerp(-logp.mean(-1), label_smoothing)
    return torch.where(mask, loss, 0.0).sum() / mask.sum()
