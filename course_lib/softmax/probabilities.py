"""From scores to probabilities, and from probabilities to a loss."""

import torch
from torch import Tensor


def require_floating(name: str, scores: Tensor) -> None:
    """Raise ValueError unless scores are floating point."""
    if not scores.is_floating_point():
        raise ValueError(
            f"{name} was given scores of dtype {scores.dtype}; it needs a floating "
            f"dtype, for example scores.float()"
        )


def widened(scores: Tensor) -> Tensor:
    """Compute 16-bit scores in float32: their sums lose digits, and float16 overflows."""
    half = scores.dtype in (torch.float16, torch.bfloat16)
    return scores.float() if half else scores


def softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Turn scores into positive weights that sum to 1 along one axis.

    softmax(s)_i = exp(s_i - max s) / sum_j exp(s_j - max s). The maximum changes
    nothing in exact arithmetic and keeps exp from overflowing in floating point.

    Args:
        scores: (..., any) float; any shape.
        dim: the axis along which the weights sum to 1.

    Returns:
        weights: the shape and dtype of scores.

    Raises:
        ValueError: scores are not floating point.

    Source: Goodfellow, Bengio, Courville (2016), Deep Learning, section 4.1.
    Lesson: notebooks/01_softmax.ipynb

    >>> softmax(torch.tensor([1000.0, 1000.0]))
    tensor([0.5000, 0.5000])
    """
    require_floating("softmax", scores)
    wide = widened(scores)
    exponentials = (wide - wide.amax(dim, keepdim=True)).exp()
    weights = exponentials / exponentials.sum(dim, keepdim=True)
    return weights.to(scores.dtype)


def log_softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Return the logarithm of softmax without ever forming a probability of 0.

    Args:
        scores: (..., any) float; any shape.
        dim: the axis along which the probabilities sum to 1.

    Returns:
        log-probabilities in nats, the shape and dtype of scores.

    Raises:
        ValueError: scores are not floating point.

    Source: Goodfellow, Bengio, Courville (2016), Deep Learning, section 4.1.
    Lesson: notebooks/01_softmax.ipynb

    >>> log_softmax(torch.tensor([0.0, -1000.0]))
    tensor([    0., -1000.])
    """
    require_floating("log_softmax", scores)
    wide = widened(scores)
    shifted = wide - wide.amax(dim, keepdim=True)
    log_probabilities = shifted - shifted.exp().sum(dim, keepdim=True).log()
    return log_probabilities.to(scores.dtype)


def check_fit(name: str, logits: Tensor, targets: Tensor) -> None:
    """Raise ValueError unless there is one whole number a row of logits."""
    if logits.shape[:-1] != targets.shape:
        raise ValueError(
            f"{name} was given logits {tuple(logits.shape)} and targets "
            f"{tuple(targets.shape)}; targets need the shape of the logits without "
            f"their last axis, {tuple(logits.shape[:-1])}"
        )
    if targets.is_floating_point() or targets.dtype == torch.bool:
        raise ValueError(
            f"{name} was given targets of dtype {targets.dtype}; it needs ids, "
            f"for example targets.long()"
        )


def counted(
    name: str, logits: Tensor, targets: Tensor, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Give which targets count, and ids that may be looked up, 0 where none counts."""
    targets = targets.long()  # narrow dtypes have no room for the mark
    counts = targets != ignore_index
    vocab = logits.shape[-1]
    outside = counts & ((targets < 0) | (targets >= vocab))
    if outside.any():
        raise ValueError(
            f"{name} was given the target {targets[outside][0].item()}; ids run from 0 to "
            f"{vocab - 1}, and {ignore_index} marks a target that does not count"
        )
    return counts, targets.masked_fill(~counts, 0)  # ignore_index may lie anywhere


def cross_entropy(
    logits: Tensor,
    targets: Tensor,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Average the surprise, in nats, of the targets under the predicted distribution.

    With smoothing e the target distribution is (1 - e) on the target and e / vocab
    on every id.

    Args:
        logits: (..., vocab) float.
        targets: (...) int, an id per row, or ignore_index.
        ignore_index: targets with this value are left out of sum and count.
        label_smoothing: e in [0, 1].

    Returns:
        loss_nats: () float, the mean over the targets that count; 0 where none does.

    Raises:
        ValueError: shapes do not fit, targets are not whole numbers, one is outside
            the vocabulary, or label_smoothing is outside [0, 1].

    Source: Szegedy et al. (2016), arXiv:1512.00567, section 7 (label smoothing).
    Lesson: notebooks/01_softmax.ipynb

    >>> logits = torch.zeros(2, 3, 5)
    >>> cross_entropy(logits, torch.zeros(2, 3, dtype=torch.long))
    tensor(1.6094)
    """
    check_fit("cross_entropy", logits, targets)
    if not 0.0 <= label_smoothing <= 1.0:
        raise ValueError(
            f"label_smoothing was {label_smoothing}; it is a share of the probability, "
            f"pass a number from 0 to 1"
        )
    counts, ids = counted("cross_entropy", logits, targets, ignore_index)
    log_probabilities = log_softmax(widened(logits))
    chosen = log_probabilities.gather(-1, ids[..., None])[..., 0]
    surprise = -(1 - label_smoothing) * chosen
    if label_smoothing:
        surprise = surprise - label_smoothing * log_probabilities.mean(-1)
    surprise = surprise.masked_fill(~counts, 0.0)
    return (surprise.sum() / counts.sum().clamp(min=1)).to(logits.dtype)
