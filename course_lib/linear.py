"""The linear layer of the course: nn.Linear, laid out for one token at a time."""

import torch
from torch import nn


class Linear(nn.Linear):
    """Map (..., d_in) to (..., d_out): nn.Linear, its weight stored along its longer axis.

    Shape, results and state_dict are those of nn.Linear; only the order of the
    numbers in memory differs. Decoding multiplies one row by each matrix, and on a
    CPU that product reads long runs of memory faster than short ones. So a layer
    that widens, or keeps the width, stores (d_in, d_out); one that narrows stores
    (d_out, d_in), as nn.Linear does.

    Args:
        d_in: width of the input.
        d_out: width of the output.
        bias: add a learned vector.

    Lesson: notebooks/10_kv_cache.ipynb

    >>> layer = Linear(3, 5)
    >>> tuple(layer.weight.shape), layer.weight.stride()
    ((5, 3), (1, 5))
    >>> Linear(5, 3).weight.stride()
    (5, 1)
    """

    def __init__(self, d_in: int, d_out: int, bias: bool = True):
        nn.Module.__init__(self)  # nn.Linear's own would make and draw the other layout
        self.in_features, self.out_features = d_in, d_out
        narrows = d_out < d_in
        weight = torch.empty(d_out, d_in) if narrows else torch.empty(d_in, d_out).t()
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(torch.empty(d_out)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start from Glorot's normal distribution, the bias from 0."""
        if self.weight.is_meta:
            return  # a model that is only being laid out draws its weights later
        draw_weight(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


def draw_weight(
    weight: nn.Parameter, gain: float = 1.0, generator: torch.Generator | None = None
) -> None:
    """Fill a weight from Glorot's normal distribution, in an order that its layout cannot change.

    Args:
        weight: (d_out, d_in), filled in place.
        gain: multiplies the standard deviation.
        generator: the source of randomness; None: torch's own.

    Source: Glorot, Bengio (2010), eq. 12.
    Lesson: notebooks/08_decoder.ipynb

    >>> weight = nn.Parameter(torch.zeros(5, 3))
    >>> draw_weight(weight, generator=torch.Generator().manual_seed(3))
    >>> bool((weight != 0).all())
    True
    """
    drawn = weight.new_empty(weight.shape[::-1]).t()  # one seed, one model
    with torch.no_grad():
        weight.copy_(nn.init.xavier_normal_(drawn, gain, generator))
