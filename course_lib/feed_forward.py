"""The position-wise feed-forward network: each position alone, wider and back."""

from collections.abc import Callable
from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.linear import Linear

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """Look up a non-linearity by name.

    Args:
        name: "relu", "gelu" (exact), "gelu_tanh" or "silu".

    Returns:
        A function from a tensor to a tensor of the same shape.

    Raises:
        ValueError: the name is unknown.

    Lesson: notebooks/06_feed_forward.ipynb

    >>> activation("relu")(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    if name not in ACTIVATIONS:
        raise ValueError(
            f"activation was {name!r}; choose one of {', '.join(ACTIVATIONS)}"
        )
    return ACTIVATIONS[name]


class FeedForward(nn.Module):
    """Widen, bend, narrow: to_output(activation(to_hidden(x))), each position alone.

    Args:
        d_model: width of the residual stream.
        d_ff: width of the hidden layer, often 4 * d_model.
        activation: name of the non-linearity.
        bias: give both projections a bias.

    Raises:
        ValueError: the activation is unknown.

    Source: Vaswani et al. (2017), arXiv:1706.03762, eq. 2.
    Lesson: notebooks/06_feed_forward.ipynb
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "relu", bias: bool = True
    ):
        super().__init__()
        self.activation = _named(activation)
        self.to_hidden = Linear(d_model, d_ff, bias)
        self.to_output = Linear(d_ff, d_model, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., d_model) to (..., d_model)."""
        return self.to_output(self.activation(self.to_hidden(x)))


class GatedFeedForward(nn.Module):
    """Let one projection gate another: to_output(activation(to_gate(x)) * to_hidden(x)).

    Args:
        d_model: width of the residual stream.
        d_ff: width of the hidden layer; 2/3 of an ungated one has as many parameters.
        activation: name of the gate's non-linearity; "silu" makes it SwiGLU.
        bias: give the three projections a bias.

    Raises:
        ValueError: the activation is unknown.

    Source: Shazeer (2020), arXiv:2002.05202, eq. 6.
    Lesson: notebooks/06_feed_forward.ipynb
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "silu", bias: bool = False
    ):
        super().__init__()
        self.activation = _named(activation)
        self.to_gate = Linear(d_model, d_ff, bias)
        self.to_hidden = Linear(d_model, d_ff, bias)
        self.to_output = Linear(d_ff, d_model, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., d_model) to (..., d_model)."""
        return self.to_output(self.activation(self.to_gate(x)) * self.to_hidden(x))


_named = activation  # inside the classes `activation` is the name that was given
