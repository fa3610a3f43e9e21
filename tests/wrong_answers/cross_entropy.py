"""Wrong answers to cross_entropy."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("double-softmax-in-loss")
def probabilities_in(logits, targets, ignore_index=-100, label_smoothing=0.0):
    probs = torch.softmax(logits, dim=-1)
    return F.cross_entropy(
        probs.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("double-softmax-in-loss")
def softmax_twice_by_hand(logits, targets, ignore_index=-100, label_smoothing=0.0):
    p = logits.softmax(-1)
    logp = p - p.logsumexp(-1, keepdim=True)
    keep = targets != ignore_index
    logp, t = logp[keep], targets[keep]
    nll = -logp[torch.arange(len(t)), t]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


@wrong("loss-on-padding")
def pads_become_token_zero(logits, targets, ignore_index=-100, label_smoothing=0.0):
    targets = torch.where(targets == ignore_index, 0, targets)
    logits = logits.reshape(-1, logits.size(-1))
    return F.cross_entropy(logits, targets.reshape(-1), label_smoothing=label_smoothing)


@wrong("loss-on-padding")
def all_positions_count(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits, -1)
    nll = -logp.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


@wrong("mean-over-all-positions")
def divides_by_all(logits, targets, ignore_index=-100, label_smoothing=0.0):
    mask = targets != ignore_index
    logp = logits.log_softmax(-1)
    nll = -logp.gather(-1, (targets * mask)[..., None])[..., 0]
    loss = (1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)
    return (loss * mask).mean()


@wrong("mean-over-all-positions")
def torch_without_reduction(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    )
    return losses.sum() / len(losses)


@wrong("ignore-index-mismatch")
def always_minus_hundred(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        label_smoothing=label_smoothing,
    )


@wrong("ignore-index-mismatch")
def negative_means_skip(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets >= 0
    logp = F.log_softmax(logits[keep], dim=-1)
    picked = logp.gather(1, targets[keep][:, None]).squeeze(1)
    losses = -(1 - label_smoothing) * picked - label_smoothing * logp.mean(dim=1)
    return losses.sum() / max(len(losses), 1)


@wrong("ignore-index-mismatch")
def skips_the_pad_id(logits, targets, ignore_index=-100, label_smoothing=0.0):
    pad_id = 0
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=pad_id,
        label_smoothing=label_smoothing,
    )


@wrong("label-smoothing-counts-pads")
def smooths_the_pads(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits.flatten(0, -2), -1)
    nll = F.nll_loss(logp, targets.flatten(), ignore_index=ignore_index)
    return (1 - label_smoothing) * nll - label_smoothing * logp.mean()


@wrong("label-smoothing-counts-pads")
def smooth_sum_over_pads(logits, targets, ignore_index=-100, label_smoothing=0.0):
    eps = label_smoothing
    logp = logits - logits.logsumexp(-1, keepdim=True)
    keep = targets != ignore_index
    n = keep.sum().clamp(min=1)
    nll = -logp.gather(-1, targets.masked_fill(~keep, 0)[..., None])[..., 0]
    smooth = -logp.mean(-1)
    return (1 - eps) * (nll * keep).sum() / n + eps * smooth.sum() / n


@wrong("logits-viewed-not-transposed")
def views_vocab_second(logits, targets, ignore_index=-100, label_smoothing=0.0):
    b, v = logits.shape[0], logits.shape[-1]
    if logits.ndim > 2:
        logits = logits.reshape(b, v, *targets.shape[1:])
    return F.cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


@wrong("logits-viewed-not-transposed")
def transposes_then_views(logits, targets, ignore_index=-100, label_smoothing=0.0):
    # Moves the vocabulary to the front and then reads it as if it were last.
    v = logits.shape[-1]
    if logits.ndim > 2:
        logits = logits.transpose(1, -1)
    return F.cross_entropy(
        logits.reshape(-1, v),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("softmax-wrong-dim")
def default_axis(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = F.log_softmax(logits)
    keep = targets != ignore_index
    logp, t = logp[keep], targets[keep]
    nll = -logp[range(len(t)), t]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


@wrong("softmax-wrong-dim")
def second_axis(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logp = torch.log_softmax(logits, dim=1)
    keep = targets != ignore_index
    total, count = 0.0, 0
    for row, t in zip(logp[keep], targets[keep], strict=True):
        total = total - (1 - label_smoothing) * row[t] - label_smoothing * row.mean()
        count += 1
    return total / max(count, 1)


@wrong("softmax-no-max-shift")
def raw_exponentials(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    logits, targets = logits[keep], targets[keep]
    logp = logits - logits.exp().sum(-1, keepdim=True).log()
    nll = -logp[torch.arange(len(targets)), targets]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


@wrong("log-of-softmax")
def log_of_probability(logits, targets, ignore_index=-100, label_smoothing=0.0):
    probs = torch.softmax(logits, -1)
    keep = targets != ignore_index
    probs, targets = probs[keep], targets[keep]
    logp = torch.log(probs + 1e-10)
    nll = -logp.gather(-1, targets[:, None])[:, 0]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.mean(-1)).mean()


@wrong("label-smoothing-ignored")
def no_smoothing(logits, targets, ignore_index=-100, label_smoothing=0.0):
    vocab = logits.size(-1)
    return F.cross_entropy(
        logits.reshape(-1, vocab), targets.reshape(-1), ignore_index=ignore_index
    )


@wrong("label-smoothing-ignored")
def plain_average(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    logp = logits.log_softmax(-1)[keep]
    return -logp.gather(-1, targets[keep].unsqueeze(-1)).mean()


@wrong("label-smoothing-skips-target")
def shared_by_the_others(logits, targets, ignore_index=-100, label_smoothing=0.0):
    v = logits.shape[-1]
    keep = targets != ignore_index
    logp, t = logits.log_softmax(-1)[keep], targets[keep]
    goal = torch.full_like(logp, label_smoothing / (v - 1))
    goal.scatter_(-1, t[:, None], 1 - label_smoothing)
    return -(goal * logp).sum(-1).mean()


@wrong("label-smoothing-sum")
def smooth_part_not_divided(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    logp, t = logits.log_softmax(-1)[keep], targets[keep]
    nll = -logp.gather(-1, t[:, None])[:, 0]
    return ((1 - label_smoothing) * nll - label_smoothing * logp.sum(-1)).mean()


@wrong("labels-shifted-twice")
def shifts_inside(logits, targets, ignore_index=-100, label_smoothing=0.0):
    if logits.ndim == 3:
        logits, targets = logits[:, :-1], targets[:, 1:]
    return F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("sum-not-mean")
def total_surprise(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="sum",
    )


@wrong("mean-of-row-means")
def each_row_equal(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = []
    for row, t in zip(logits, targets, strict=True):
        row, t = row.reshape(-1, logits.shape[-1]), t.reshape(-1)
        if (t != ignore_index).any():
            loss = F.cross_entropy(
                row, t, ignore_index=ignore_index, label_smoothing=label_smoothing
            )
            losses.append(loss)
    return torch.stack(losses).mean() if losses else logits.sum() * 0


@wrong("loss-sign")
def negative_loss(logits, targets, ignore_index=-100, label_smoothing=0.0):
    keep = targets != ignore_index
    logp, t = logits.log_softmax(-1)[keep], targets[keep]
    chosen = logp.gather(-1, t[:, None])[:, 0]
    return ((1 - label_smoothing) * chosen + label_smoothing * logp.mean(-1)).mean()


@wrong("wrong-base")
def bits(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = F.cross_entropy(
        logits.flatten(0, -2),
        targets.flatten(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
    return loss / math.log(2)


@wrong("only-two-axes")
def rows_only(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits, targets, ignore_index=ignore_index, label_smoothing=label_smoothing
    )


@wrong("ignore-index-mismatch", "label-smoothing-ignored")
def two_arguments_forgotten(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


@wrong("loss-on-padding", "double-softmax-in-loss")
def two_slips(logits, targets, ignore_index=-100, label_smoothing=0.0):
    targets = targets.masked_fill(targets == ignore_index, 0).flatten()
    probs = logits.softmax(-1).flatten(0, -2)
    return F.cross_entropy(probs, targets, label_smoothing=label_smoothing)


@wrong("softmax-no-max-shift")
def log_of_raw_share(logits, targets, ignore_index=-100, label_smoothing=0.0):
    total, count = 0.0, 0
    vocab = logits.shape[-1]
    for z, t in zip(logits.reshape(-1, vocab), targets.reshape(-1), strict=True):
        if t == ignore_index:
            continue
        p = z.exp() / z.exp().sum()
        total += -(1 - label_smoothing) * p[t].log() - label_smoothing * p.log().mean()
        count += 1
    return total / max(count, 1)


@wrong("labels-shifted-twice")
def next_token_once_more(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logits = logits.reshape(-1, logits.shape[-1])[:-1]
    return F.cross_entropy(
        logits,
        targets.reshape(-1)[1:],
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("constant")
def log_vocab(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return torch.tensor(math.log(logits.shape[-1]))


@wrong("label-smoothing-not-multiplied")
def one_over_vocab_on_top(logits, targets, ignore_index=-100, label_smoothing=0.0):
    vocab = logits.shape[-1]
    logits, targets = logits.reshape(-1, vocab), targets.reshape(-1)
    counts = targets != ignore_index
    logits, targets = logits[counts], targets[counts]
    wanted = (1 - label_smoothing) * F.one_hot(targets, vocab) + 1 / vocab
    return -(wanted * logits.log_softmax(-1)).sum() / max(len(targets), 1)


@wrong("label-smoothing-not-multiplied")
def target_and_the_rest(logits, targets, ignore_index=-100, label_smoothing=0.0):
    n = logits.size(-1)
    keep = targets != ignore_index
    logs = torch.log_softmax(logits[keep], dim=-1)
    wanted = torch.full_like(logs, 1 / n)
    wanted[torch.arange(len(logs)), targets[keep]] = 1 - label_smoothing
    return (-(wanted * logs).sum(-1)).mean()
