"""Filters: which ids may be drawn, and how sharply."""

from collections.abc import Sequence

import torch
from torch import Tensor


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Sharpen (below 1) or flatten (above 1) the distribution: logits / temperature.

    Args:
        logits: (..., vocab) float.
        temperature: 0 or more; 0 keeps only the largest logit, the lowest id of equals.

    Returns:
        logits: the same shape.

    Raises:
        ValueError: temperature is negative or not finite, or logits hold NaN.

    Source: Ackley, Hinton, Sejnowski (1985), A learning algorithm for Boltzmann machines.
    Lesson: notebooks/09_sampling.ipynb

    >>> apply_temperature(torch.tensor([1.0, 3.0]), 2.0)
    tensor([0.5000, 1.5000])
    >>> apply_temperature(torch.tensor([1.0, 3.0, 3.0]), 0)
    tensor([-inf, 3., -inf])
    """
    check_logits(logits)
    if not 0 <= temperature < float("inf"):
        raise ValueError(
            f"temperature was {temperature}; pass a finite number of 0 or more (0 = greedy)"
        )
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        hidden = torch.ones_like(logits, dtype=torch.bool).scatter(-1, best, False)
        return logits.masked_fill(hidden, -torch.inf)
    # What is smaller is 0 in float32, and 0 / 0 is NaN.
    temperature = max(temperature, torch.finfo(torch.float32).tiny)
    cooled = logits / temperature
    overflows = (cooled.isinf() & logits.isfinite()).any(-1, keepdim=True)
    if bool(overflows.any()):
        # Shifting first changes no probability. Only in that row, so that a row does
        # not depend on its batch; and by a finite number, since inf - inf is NaN.
        limits = torch.finfo(logits.dtype)
        largest = logits.amax(-1, keepdim=True).clamp(limits.min, limits.max)
        cooled = torch.where(overflows, (logits - largest) / temperature, cooled)
    return cooled


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, no more and no fewer; of equals, the lowest ids.

    Args:
        logits: (..., vocab) float.
        k: at least 1; vocab or more keeps all.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: k is smaller than 1 or not a whole number, or logits hold NaN.

    Source: Fan, Lewis, Dauphin (2018), arXiv:1805.04833, section 5.4.
    Lesson: notebooks/09_sampling.ipynb

    >>> top_k(torch.tensor([2.0, 5.0, 2.0]), 2)
    tensor([2., 5., -inf])
    """
    check_logits(logits)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(
            f"k was {k!r}; pass how many ids to keep, a whole number of at least 1"
        )
    if k >= logits.shape[-1]:
        return logits.clone()
    least = logits.topk(k, dim=-1).values[..., -1:]
    above, equal = logits > least, logits == least
    room = k - above.sum(-1, keepdim=True)
    kept = above | (equal & (equal.cumsum(-1) <= room))
    return logits.masked_fill(~kept, -torch.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest most probable ids whose probabilities sum to p or more.

    The id that crosses p is kept, so there is always one. Equal probabilities are
    taken in the order of their ids.

    Args:
        logits: (..., vocab) float.
        p: above 0, at most 1; 1 keeps all.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: p is not in (0, 1], or logits hold NaN.

    Source: Holtzman et al. (2020), arXiv:1904.09751, section 3.1.
    Lesson: notebooks/09_sampling.ipynb

    >>> top_p(torch.tensor([0.5, 0.3, 0.2]).log(), 0.7).exp()
    tensor([0.5000, 0.3000, 0.0000])
    """
    check_logits(logits)
    _check_share("p", p)
    if p == 1:
        return logits.clone()
    ordered, ids = probabilities_of(logits).sort(dim=-1, descending=True, stable=True)
    mass_before = ordered.double().cumsum(-1) - ordered.double()
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, mass_before < p)
    return logits.masked_fill(~kept, -torch.inf)


def min_p(logits: Tensor, p: float) -> Tensor:
    """Keep the ids at least p times as probable as the most probable one.

    Args:
        logits: (..., vocab) float.
        p: above 0, at most 1.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: p is not in (0, 1], or logits hold NaN.

    Source: Nguyen et al. (2024), arXiv:2407.01082, section 3.
    Lesson: notebooks/09_sampling.ipynb

    >>> min_p(torch.tensor([0.5, 0.3, 0.2]).log(), 0.5).exp()
    tensor([0.5000, 0.3000, 0.0000])
    """
    check_logits(logits)
    _check_share("p", p)
    probabilities = probabilities_of(logits)
    kept = probabilities >= p * probabilities.amax(-1, keepdim=True)
    return logits.masked_fill(~kept, -torch.inf)


def repetition_penalty(
    logits: Tensor, history: Tensor | Sequence[Sequence[int]], penalty: float
) -> Tensor:
    """Make ids that were already written less likely, once each, however often they came.

    A positive logit is divided by the penalty, a negative one multiplied.

    Args:
        logits: (batch, vocab) float.
        history: (batch, position) int, or a list of ids per row.
        penalty: above 0; 1 changes nothing, above 1 discourages.

    Returns:
        logits: the same shape.

    Raises:
        ValueError: penalty is not above 0, history does not fit or holds unknown ids,
            or logits hold NaN.

    Source: Keskar et al. (2019), CTRL, arXiv:1909.05858, section 4.1.
    Lesson: notebooks/09_sampling.ipynb

    >>> repetition_penalty(torch.tensor([[2.0, -2.0, 3.0]]), [[0, 1, 1]], 2.0)
    tensor([[ 1., -4.,  3.]])
    """
    check_logits(logits)
    if not 0 < penalty < float("inf"):
        raise ValueError(
            f"penalty was {penalty}; pass a finite number above 0 (1 = no penalty)"
        )
    if logits.ndim != 2 or len(history) != len(logits):
        raise ValueError(
            f"repetition_penalty was given logits {tuple(logits.shape)} and a history of "
            f"{len(history)} rows; it needs (batch, vocab) and one history per row"
        )
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, ids in enumerate(history):
        ids = torch.as_tensor(ids, device=logits.device)
        if ids.ndim != 1 or (
            ids.numel() and (ids.is_floating_point() or ids.dtype == torch.bool)
        ):
            raise ValueError(
                f"history row {row} has shape {tuple(ids.shape)} and dtype {ids.dtype}; pass the "
                f"ids of that row, a flat list of whole numbers"
            )
        ids = ids.long()
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < logits.shape[-1]:
            raise ValueError(
                f"history row {row} holds ids from {int(ids.min())} to {int(ids.max())}; this "
                f"vocabulary has ids 0 to {logits.shape[-1] - 1}"
            )
        seen[row, ids] = True
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, penalised, logits)


def suppress(logits: Tensor, ids: Sequence[int]) -> Tensor:
    """Hide some ids whatever their scores, such as tokens that are no text.

    Args:
        logits: (..., vocab) float.
        ids: whole numbers; may be empty.

    Returns:
        logits: the same shape, -inf at the ids.

    Raises:
        ValueError: an id is not in the vocabulary, no id is left, or logits hold NaN.

    Source: github.com/openai/whisper, whisper/decoding.py, SuppressTokens.
    Lesson: notebooks/14_captions.ipynb

    >>> suppress(torch.tensor([2.0, 5.0, 3.0]), [1])
    tensor([2., -inf, 3.])
    """
    check_logits(logits)
    vocab_size = logits.shape[-1]
    for token_id in ids:
        if type(token_id) is not int or not 0 <= token_id < vocab_size:
            raise ValueError(
                f"suppress was given the id {token_id!r}; this vocabulary has ids 0 to "
                f"{vocab_size - 1}"
            )
    hidden = torch.tensor([*ids], dtype=torch.long, device=logits.device)
    logits = logits.index_fill(-1, hidden, -torch.inf)
    if bool((logits.amax(-1) == -torch.inf).any()):
        raise ValueError(
            f"suppress hid {len(hidden)} ids and no other can be drawn; leave at least one"
        )
    return logits


def check_logits(logits: Tensor) -> None:
    """Raise a ValueError unless logits are floats without NaN."""
    if not logits.is_floating_point():
        raise ValueError(f"logits have dtype {logits.dtype}; pass floats")
    if bool(logits.isnan().any()):
        raise ValueError(
            "logits hold NaN; look for the layer that made it before you sample"
        )


def _check_share(name: str, share: float) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"{name} was {share}; pass a share above 0 and at most 1")


def probabilities_of(logits: Tensor) -> Tensor:
    """Return softmax in at least float32; +inf would leave no probabilities."""
    if bool((logits == torch.inf).any()):
        raise ValueError("logits hold +inf; look for an overflow before you sample")
    return torch.softmax(
        logits, -1, dtype=torch.promote_types(logits.dtype, torch.float32)
    )
