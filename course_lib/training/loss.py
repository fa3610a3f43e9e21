"""Targets one place apart from inputs, and the loss per real token."""

import math
from collections.abc import Iterable, Sequence
from contextlib import nullcontext

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.modes import mode

IGNORED = -100

# What the model is called with (its tokens, or a tuple of arguments), and the targets.
Batch = tuple[Tensor | tuple, Tensor]


def shift_right(targets: Tensor, bos_id: int) -> Tensor:
    """Make the decoder's inputs: a start token, then every target but the last.

    Input t is target t - 1, so the prediction at t is made without seeing target t.

    Args:
        targets: (batch, position) int.
        bos_id: id of the start token.

    Returns:
        inputs: (batch, position) int; targets that do not count (-100) become bos_id,
        since the embedding has no row for them and no real target comes after.

    Raises:
        ValueError: targets are not (batch, position) ids.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.1.
    Lesson: notebooks/11_training.ipynb

    >>> shift_right(torch.tensor([[5, 7, 2]]), bos_id=1)
    tensor([[1, 5, 7]])
    """
    _check_ids("shift_right", targets)
    shifted = F.pad(targets[:, :-1], (1, 0), value=bos_id)
    return shifted.masked_fill(shifted == IGNORED, bos_id)


def inputs_and_targets(
    tokens: Tensor, lengths: Tensor | Sequence[int] | None = None
) -> tuple[Tensor, Tensor]:
    """Cut sequences into what is fed and what is to be predicted, one place apart.

    Padding is recognised by its place, never by its id, so the padding id may be the
    end token's.

    Args:
        tokens: (batch, position) int, padded on the right.
        lengths: (batch,) int, real tokens of each row; None: all.

    Returns:
        inputs: (batch, position - 1), tokens without the last place.
        targets: (batch, position - 1), tokens without the first; -100 at padding.

    Raises:
        ValueError: tokens are not (batch, position) ids with two places or more, or
            lengths do not fit.

    Lesson: notebooks/11_training.ipynb

    >>> inputs_and_targets(torch.tensor([[1, 5, 2, 2]]), lengths=[3])
    (tensor([[1, 5, 2]]), tensor([[   5,    2, -100]]))
    """
    _check_ids("inputs_and_targets", tokens)
    if tokens.shape[1] < 2:
        raise ValueError(
            f"inputs_and_targets was given tokens {tuple(tokens.shape)}; a row needs a token "
            f"to feed and one to predict, at least 2 places"
        )
    targets = tokens[:, 1:].long()  # narrow dtypes have no room for -100
    if lengths is not None:
        lengths = torch.as_tensor(lengths, device=tokens.device)
        most = tokens.shape[1]
        if lengths.shape != tokens.shape[:1] or bool(
            ((lengths < 0) | (lengths > most)).any()
        ):
            raise ValueError(
                f"lengths were {lengths.tolist()}; tokens {tuple(tokens.shape)} need one per "
                f"row, each from 0 to {most}"
            )
        place = torch.arange(1, most, device=tokens.device)
        targets = targets.masked_fill(place >= lengths[:, None], IGNORED)
    return tokens[:, :-1], targets


def next_token_loss(
    logits: Tensor,
    targets: Tensor,
    ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Average the surprise of the targets, in nats per real token. It never shifts.

    logits[:, t] is scored against targets[:, t]: shift once, when the batch is made.

    Args:
        logits: (batch, position, vocab) float.
        targets: (batch, position) int, ignore_index where nothing is to be predicted.
        ignore_index: marks targets that do not count.
        label_smoothing: share of the probability that is spread over all ids.

    Returns:
        loss_nats: () float32 or wider, the mean over real targets; 0 if there are none.

    Raises:
        ValueError: shapes do not fit, a target is outside the vocabulary, or
            label_smoothing is outside [0, 1].

    Lesson: notebooks/11_training.ipynb

    >>> next_token_loss(torch.zeros(1, 2, 5), torch.tensor([[3, -100]]))
    tensor(1.6094)
    """
    total, count = loss_and_count(logits, targets, ignore_index, label_smoothing)
    return total / count.clamp(min=1)


def loss_and_count(
    logits: Tensor, targets: Tensor, ignore_index: int, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Sum the surprise and count the real targets, so that batches can be added up."""
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"the loss was given logits {tuple(logits.shape)} and targets "
            f"{tuple(targets.shape)}; targets need one id per row of logits, "
            f"{tuple(logits.shape[:-1])}"
        )
    if (
        not logits.is_floating_point()
        or targets.dtype.is_floating_point
        or (targets.dtype == torch.bool)
    ):
        raise ValueError(
            f"the loss was given logits of {logits.dtype} and targets of {targets.dtype}; it "
            f"needs floats and ids"
        )
    targets = targets.long()
    if not 0 <= label_smoothing <= 1:
        raise ValueError(
            f"label_smoothing was {label_smoothing}; it is a share of the probability, from 0 to 1"
        )
    real, vocab = targets != ignore_index, logits.shape[-1]
    unknown = real & ((targets < 0) | (targets >= vocab))
    if bool(unknown.any()):
        raise ValueError(
            f"the loss was given the target {int(targets[unknown][0])}; ids run from 0 to "
            f"{vocab - 1}, and {ignore_index} marks a target that does not count"
        )
    wide = torch.promote_types(logits.dtype, torch.float32)
    total = F.cross_entropy(
        logits.flatten(0, -2).to(wide),
        targets.flatten().long(),
        ignore_index=ignore_index,
        label_smoothing=label_smoothing,
        reduction="sum",
    )
    return total, real.sum()


@torch.no_grad()
def perplexity(model: nn.Module, batches: Iterable[Batch]) -> float:
    """Measure exp(mean surprise per real token), every token weighted alike.

    Averaging the batches' own means would weight tokens of small batches more.

    Args:
        model: called as model(inputs) or, if inputs are a tuple, model(*inputs).
        batches: (inputs, targets) pairs; targets -100 where nothing is to be predicted.

    Returns:
        The perplexity, 1 at best; the model's training mode is left as it was.

    Raises:
        ValueError: there is no real target at all.

    Source: Jelinek et al. (1977), Perplexity - a measure of the difficulty of speech
        recognition tasks.
    Lesson: notebooks/11_training.ipynb

    >>> uniform = lambda tokens: torch.zeros(*tokens.shape, 5)
    >>> tokens = torch.tensor([[1, 2, 3]])
    >>> round(perplexity(uniform, [inputs_and_targets(tokens)]), 3)
    5.0
    """
    total, count = 0.0, 0
    evaluating = (
        mode(model, training=False) if isinstance(model, nn.Module) else nullcontext()
    )
    with evaluating:
        for inputs, targets in batches:
            loss, real = loss_and_count(call(model, inputs), targets, IGNORED, 0.0)
            total, count = total + loss.item(), count + int(real)
    if count == 0:
        raise ValueError(
            "perplexity was given no real target; pass at least one batch with one"
        )
    mean = total / count
    return math.exp(mean) if mean < 709 else math.inf  # exp overflows a float there


def call(model: nn.Module, inputs: Tensor | tuple) -> Tensor:
    """Call the model on its own device."""
    parameter = next(model.parameters(), None) if isinstance(model, nn.Module) else None
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    if parameter is not None:
        inputs = tuple(
            x.to(parameter.device) if isinstance(x, Tensor) else x for x in inputs
        )
    return model(*inputs)


def _check_ids(name: str, ids: Tensor) -> None:
    if ids.ndim != 2 or ids.is_floating_point():
        raise ValueError(
            f"{name} was given shape {tuple(ids.shape)} and dtype {ids.dtype}; pass ids as "
            f"(batch, position) int"
        )
