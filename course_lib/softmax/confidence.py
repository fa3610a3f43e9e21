"""Are the probabilities true? Confidence beside accuracy, and one temperature for all."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from course_lib.softmax.probabilities import (
    check_fit,
    counted,
    require_floating,
    softmax,
    widened,
)


class Calibration(NamedTuple):
    """How sure predictions were, and how often right, in bins of equal width.

    confidences (bin,): mean of the largest probability; NaN in an empty bin.
    accuracies (bin,): share of right predictions; NaN in an empty bin.
    counts (bin,): predictions in the bin.
    error (): expected calibration error, the mean gap over all predictions.

    Lesson: notebooks/01_softmax.ipynb
    """

    confidences: Tensor
    accuracies: Tensor
    counts: Tensor
    error: Tensor


def calibration(
    logits: Tensor, targets: Tensor, n_bins: int = 15, ignore_index: int = -100
) -> Calibration:
    """Compare how sure predictions are with how often they are right.

    A prediction is the id of the largest logit, its confidence the probability of
    that id. Bin m holds the confidences in (m / n_bins, (m + 1) / n_bins].

    Args:
        logits: (..., vocab) float.
        targets: (...) int, an id per row, or ignore_index.
        n_bins: at least 1.
        ignore_index: targets with this value are left out.

    Returns:
        confidences, accuracies and counts (bin,), and error (), 0 where no target
        counts: the gap |accuracy - confidence| of each bin, weighted by its share of
        the predictions.

    Raises:
        ValueError: shapes do not fit, targets are not whole numbers, one is outside
            the vocabulary, logits are not floating point or give no probabilities
            (NaN, or infinite ones), or n_bins is smaller than 1.

    Source: Guo et al. (2017), arXiv:1706.04599, section 2, eq. 3.
    Lesson: notebooks/01_softmax.ipynb

    >>> logits = torch.tensor([[0.9, 0.1], [0.7, 0.3]]).log()
    >>> calibration(logits, torch.tensor([0, 1]), n_bins=1).error
    tensor(0.3000)
    """
    check_fit("calibration", logits, targets)
    require_floating("calibration", logits)
    if n_bins < 1:
        raise ValueError(f"n_bins was {n_bins}; pass a number of bins of at least 1")
    counts, ids = counted("calibration", logits, targets, ignore_index)
    wide = widened(logits.detach())
    confidences, rights = softmax(wide).amax(-1)[counts], wide.argmax(-1) == ids
    rights = rights[counts].to(wide.dtype)
    if confidences.isnan().any():
        raise ValueError(
            "calibration was given logits with NaN, or with a row whose largest is "
            "infinite; such a row has no probabilities, mark its target with "
            f"ignore_index ({ignore_index})"
        )
    # Edges in the dtype of the confidences: what rounds to an edge lies on it.
    edges = (torch.arange(1, n_bins, device=wide.device) / n_bins).to(wide.dtype)
    bins = torch.bucketize(confidences, edges)  # an edge belongs to the bin below it
    sizes = torch.bincount(bins, minlength=n_bins)
    sure, right = (
        torch.zeros(n_bins, dtype=torch.float64, device=wide.device).index_add(
            0, bins, numbers.double()
        )
        for numbers in (confidences, rights)
    )
    error = (right - sure).abs().sum() / sizes.sum().clamp(min=1)
    means = ((sums / sizes).to(wide.dtype) for sums in (sure, right))
    return Calibration(*means, sizes, error.to(wide.dtype))


def fit_temperature(logits: Tensor, targets: Tensor, ignore_index: int = -100) -> float:
    """Find the temperature T that minimises cross_entropy(logits / T, targets).

    The loss is convex in 1 / T. Newton's method in float64 finds where its slope is
    0, inside a bracket that halves whenever a Newton step is too timid or too bold.

    Args:
        logits: (..., vocab) float, of examples that the model was not trained on.
        targets: (...) int, an id per row, or ignore_index.
        ignore_index: targets with this value are left out.

    Returns:
        T > 0. Above 1: the model was too sure; below 1: not sure enough.

    Raises:
        ValueError: shapes do not fit, targets are not whole numbers, one is outside
            the vocabulary or has no finite surprise, logits are not floating point,
            no target counts; or no T is the best one: the loss falls all the way to
            T = 0 (every target has the largest logit) or to T = infinity (targets
            have no larger logits than the rest).

    Source: Guo et al. (2017), arXiv:1706.04599, section 4.2 (temperature scaling).
    Lesson: notebooks/01_softmax.ipynb

    >>> logits = 2 * torch.tensor([[0.8, 0.2]]).log().expand(5, 2)
    >>> round(fit_temperature(logits, torch.tensor([0, 0, 0, 0, 1])), 4)
    2.0
    """
    check_fit("fit_temperature", logits, targets)
    require_floating("fit_temperature", logits)
    counts, ids = counted("fit_temperature", logits, targets, ignore_index)
    if not counts.any():
        raise ValueError(
            f"fit_temperature was given no target that counts; all are {ignore_index}"
        )
    scores = logits.detach()[counts].double()
    scores = scores - scores.amax(-1, keepdim=True)
    chosen = scores.gather(-1, ids[counts][:, None])[:, 0]
    if not chosen.isfinite().all():
        raise ValueError(
            "fit_temperature was given logits with NaN, or a target of probability 0; "
            "the loss is then infinite at every temperature"
        )
    possible = scores.isfinite()  # the rest has probability 0 at every temperature
    finite = scores.masked_fill(~possible, 0.0)

    def slope_and_curvature(inverse: float) -> tuple[float, float]:
        """Differentiate the loss twice by 1 / T."""
        weights = softmax((finite * inverse).masked_fill(~possible, -torch.inf))
        mean = (weights * finite).sum(-1, keepdim=True)
        variance = (weights * (finite - mean).square()).sum(-1)
        return (mean[:, 0] - chosen).mean().item(), variance.mean().item()

    if not slope_and_curvature(0.0)[0] < 0:
        raise ValueError(
            "no temperature is the best one: the targets have no larger logits than the "
            "other ids, so the loss falls all the way to T = infinity"
        )
    if chosen.max() == chosen.min() == 0:
        raise ValueError(
            "no temperature is the best one: every target has the largest logit, so the "
            "loss falls all the way to T = 0; use examples on which the model also errs"
        )
    return 1 / _root(slope_and_curvature)


def _root(slope_and_curvature: Callable[[float], tuple[float, float]]) -> float:
    """Find where a slope that rises from below 0 at 0 to above 0 is 0."""
    low, high = 1.0, 1.0
    while slope_and_curvature(low)[0] > 0:
        low, high = low / 2, low
    while slope_and_curvature(high)[0] < 0:
        low, high = high, high * 2
    place, last_step = (low + high) / 2, high - low
    for _ in range(200):
        slope, curvature = slope_and_curvature(place)
        low, high = (place, high) if slope < 0 else (low, place)
        newton = place - slope / curvature if curvature > 0 else low
        timid = abs(newton - place) > abs(last_step) / 2
        target = (low + high) / 2 if timid or not low < newton < high else newton
        place, last_step = target, target - place
        if abs(last_step) <= 1e-12 * place:
            break
    return place
