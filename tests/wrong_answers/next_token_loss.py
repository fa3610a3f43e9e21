"""Wrong answers to next_token_loss, each with its mistake."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("double-softmax-in-loss")
def probabilities_into_cross_entropy(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    return F.cross_entropy(
        logits.softmax(-1).reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("double-softmax-in-loss")
def softmax_and_log_softmax(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(torch.softmax(logits, dim=-1), dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("labels-shifted-twice")
def shifts_inside(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits[:, :-1].reshape(-1, logits.shape[-1]),
        targets[:, 1:].reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("labels-shifted-twice")
def rolls_the_targets(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logits, targets = logits[:, :-1, :], targets[:, 1:]
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("logits-viewed-not-transposed")
def viewed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    batch, n, vocab = logits.shape
    return F.cross_entropy(
        logits.view(batch, vocab, n),
        targets,
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("logits-viewed-not-transposed")
def reshaped_to_vocab_first(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    batch, n, vocab = logits.shape
    logits = logits.reshape(batch, vocab, n).transpose(1, 2)
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("labels-not-shifted")
def target_of_the_place_before(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits[:, 1:].reshape(-1, logits.shape[-1]),
        targets[:, :-1].reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("labels-not-shifted")
def rolled_back(logits, targets, ignore_index=-100, label_smoothing=0.0):
    targets = targets.roll(1, dims=1)
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("batch-first-mixup")
def targets_transposed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.T.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("loss-on-padding")
def pads_are_id_zero(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -mixed.mean()


@wrong("loss-on-padding")
def ignored_clamped(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.masked_fill(targets == ignore_index, 0).reshape(-1),
        label_smoothing=label_smoothing,
    )


@wrong("divides-by-all-positions")
def mean_over_places(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.numel()


@wrong("divides-by-all-positions")
def reduction_none_then_mean(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="none",
    )
    return losses.mean()


@wrong("ignore-index-mismatch")
def always_minus_hundred(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        label_smoothing=label_smoothing,
    )


@wrong("ignore-index-mismatch")
def negatives_ignored(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets >= 0
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("ignore-index-mismatch")
def minus_one_ignored(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != -1
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("label-smoothing-counts-pads")
def smooth_part_over_all(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    own = -(own * real).sum() / real.sum()
    smooth = -log_p.mean(dim=-1).sum() / real.sum()
    return (1 - label_smoothing) * own + label_smoothing * smooth


@wrong("label-smoothing-counts-pads")
def smooth_mean_over_places(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    own = -own[real].mean()
    return (1 - label_smoothing) * own - label_smoothing * log_p.mean()


@wrong("label-smoothing-ignored")
def no_smoothing(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
    )


@wrong("label-smoothing-ignored")
def argument_unread(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    return -(own * real).sum() / real.sum()


@wrong("label-smoothing-weight")
def own_part_not_reduced(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("label-smoothing-weight")
def spread_is_a_sum(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.sum(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("label-smoothing-skips-target")
def spread_over_the_others(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * (
        (log_p.sum(dim=-1) - own) / (log_p.shape[-1] - 1)
    )
    return -(mixed * real).sum() / real.sum()


@wrong("sum-instead-of-mean")
def summed(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="sum",
    )


@wrong("sum-instead-of-mean")
def divided_by_batch(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / len(targets)


@wrong("mean-of-row-means")
def rows_then_batch(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    rows = -(mixed * real).sum(1) / real.sum(1).clamp(min=1)
    return rows.mean()


@wrong("mean-of-row-means")
def loop_over_rows(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = [
        F.cross_entropy(
            row, ids, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
        for row, ids in zip(logits, targets, strict=True)
    ]
    return torch.stack(losses).nanmean()


@wrong("softmax-no-max-shift")
def log_of_softmax(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log(logits.exp() / logits.exp().sum(-1, keepdim=True))
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("softmax-no-max-shift")
def log_of_the_sum_of_exp(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("log-of-zero")
def nll_of_log_softmax_probabilities(
    logits, targets, ignore_index=-100, label_smoothing=0.0
):
    real = targets != ignore_index
    log_p = torch.log(torch.softmax(logits, dim=-1) + 1e-9)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("softmax-wrong-dim")
def over_positions(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("sign-forgotten")
def log_likelihood(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return (mixed * real).sum() / real.sum()


@wrong("bits-instead-of-nats")
def log_two(logits, targets, ignore_index=-100, label_smoothing=0.0):
    bits = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
    return bits / torch.log(torch.tensor(2.0))


@wrong("perplexity-instead-of-loss")
def exponential(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
    return loss.exp()


@wrong("probability-without-log")
def one_minus_probability(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.softmax(logits, dim=-1) - 1
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("only-last-position")
def last_place_scored(logits, targets, ignore_index=-100, label_smoothing=0.0):
    logits, targets = logits[:, -1:], targets[:, -1:]
    return F.cross_entropy(
        logits.reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )


@wrong("loss-detached")
def a_number_not_a_graph(logits, targets, ignore_index=-100, label_smoothing=0.0):
    loss = F.cross_entropy(
        logits.detach().reshape(-1, logits.shape[-1]),
        targets.reshape(-1),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
    )
    return loss + 0 * logits.sum()


@wrong("nothing-to-predict-fails")
def loops(logits, targets, ignore_index=-100, label_smoothing=0.0):
    losses = []
    for scores, row in zip(logits, targets, strict=True):
        for position, target in enumerate(row.tolist()):
            if target != ignore_index:
                log_p = scores[position].log_softmax(0)
                uniform = log_p.sum() / len(log_p)
                mixed = (1 - label_smoothing) * log_p[
                    target
                ] + label_smoothing * uniform
                losses.append(-mixed)
    return torch.stack(losses).mean()


@wrong("input-changed-in-place")
def pads_become_zero(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits, dim=-1)
    own = log_p.gather(-1, targets.masked_fill_(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -(mixed * real).sum() / real.sum()


@wrong("double-softmax-in-loss", "loss-on-padding")
def squashed_with_pads(logits, targets, ignore_index=-100, label_smoothing=0.0):
    real = targets != ignore_index
    log_p = torch.log_softmax(logits.softmax(-1), dim=-1)
    own = log_p.gather(-1, targets.masked_fill(~real, 0).unsqueeze(-1)).squeeze(-1)
    mixed = (1 - label_smoothing) * own + label_smoothing * log_p.mean(dim=-1)
    return -mixed.mean()


@wrong("labels-shifted-twice", "label-smoothing-ignored")
def as_in_a_language_model(logits, targets, ignore_index=-100, label_smoothing=0.0):
    return F.cross_entropy(
        logits[..., :-1, :].reshape(-1, logits.shape[-1]),
        targets[..., 1:].reshape(-1),
        ignore_index=ignore_index,
    )
