"""Normalisation: bring each position's vector to a standard size, then let it be learned."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def layer_norm(
    x: Tensor, gain: Tensor, bias: Tensor | None, eps: float = 1e-5
) -> Tensor:
    """Centre each position's vector, scale it to variance 1, then apply gain and bias.

    y = (x - mean) / sqrt(variance + eps) * gain + bias, over the last axis, with the
    biased variance (divided by d_model, not d_model - 1).

    Args:
        x: (..., d_model) float.
        gain: (d_model,).
        bias: (d_model,) or None.
        eps: added to the variance, inside the root.

    Returns:
        The shape of x.

    Raises:
        ValueError: gain or bias does not have the width of x.

    Source: Ba, Kiros, Hinton (2016), arXiv:1607.06450, eq. 4.
    Lesson: notebooks/07_block.ipynb

    >>> layer_norm(torch.tensor([1.0, 3.0]), torch.ones(2), torch.zeros(2))
    tensor([-1.0000,  1.0000])
    """
    _require_width("layer_norm", x, gain, bias)
    return F.layer_norm(x, gain.shape, gain, bias, eps)


def rms_norm(x: Tensor, gain: Tensor, eps: float = 1e-5) -> Tensor:
    """Scale each position's vector to root mean square 1, then apply the gain.

    y = x / sqrt(mean(x^2) + eps) * gain, over the last axis.

    Args:
        x: (..., d_model) float.
        gain: (d_model,).
        eps: added to the mean square, inside the root.

    Returns:
        The shape of x.

    Raises:
        ValueError: gain does not have the width of x.

    Source: Zhang, Sennrich (2019), arXiv:1910.07467, eq. 4.
    Lesson: notebooks/07_block.ipynb

    >>> rms_norm(torch.tensor([1.0, 7.0]), torch.ones(2))
    tensor([0.2000, 1.4000])
    """
    _require_width("rms_norm", x, gain, None)
    return F.rms_norm(x, gain.shape, gain, eps)


class LayerNorm(nn.Module):
    """layer_norm with a learned gain and, if bias, a learned bias.

    Args:
        d_model: width.
        eps: added to the variance.
        bias: learn a bias.

    Lesson: notebooks/07_block.ipynb
    """

    def __init__(self, d_model: int, eps: float = 1e-5, bias: bool = True):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (..., d_model) over its last axis."""
        return layer_norm(x, self.gain, self.bias, self.eps)


class RMSNorm(nn.Module):
    """rms_norm with a learned gain.

    Args:
        d_model: width.
        eps: added to the mean square.

    Lesson: notebooks/07_block.ipynb
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """Normalise (..., d_model) over its last axis."""
        return rms_norm(x, self.gain, self.eps)


def _require_width(name: str, x: Tensor, gain: Tensor, bias: Tensor | None) -> None:
    shape = (x.shape[-1],)
    if gain.shape != shape or (bias is not None and bias.shape != shape):
        given = (
            tuple(gain.shape)
            if bias is None
            else (tuple(gain.shape), tuple(bias.shape))
        )
        raise ValueError(
            f"{name} was given x {tuple(x.shape)} and gain (and bias) of shape {given}; "
            f"they need the width of x, {shape}"
        )
