"""Right answers to next_token_loss, each in its own style."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import right


@right("torch's cross_entropy, flattened")
def flattened(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.size(-1)),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@right("vocab moved to the second axis")
def transposed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = nn.CrossEntropyLoss(
        ignore_index=ignore_index, label_smoothing=label_smoothing
    )
    return loss(logits.transpose(1, 2), targets)


@right("real places picked out, logsumexp")
def by_hand(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    logits, targets = logits[real], targets[real]
    total = torch.logsumexp(logits, dim=-1)
    chosen = logits[torch.arange(len(targets)), targets]
    own = total - chosen
    spread = total - logits.mean(dim=-1)
    return ((1 - label_smoothing) * own + label_smoothing * spread).mean()


@right("a matrix of smoothed targets")
def smoothed_targets(logits, targets, ignore_index=-100, label_smoothing=0.0):
    vocab = logits.shape[-1]
    real = (targets != ignore_index).float()
    one_hot = F.one_hot((targets * real.long()).clamp(min=0), vocab).float()
    wanted = one_hot * (1 - label_smoothing) + label_smoothing / vocab
    surprise = -(wanted * logits.log_softmax(-1)).sum(-1)
    return (surprise * real).sum() / real.sum()
