"""The linear layer of the course: nn.Linear, laid out for one token at a time."""

import torch
from torch import nn


class Linear(nn.Linear):
    """Map (..., d_in) to (..., d_out): nn.Linear with its weight stored (d_in, d_out).

    Shape, results and state_dict are those of nn.Linear; only the order of the
    numbers in memory differs. Decoding multiplies one row by each matrix, and on a
    CPU that product reads memory faster in this order.

    Args:
        d_in: width of the input.
        d_out: width of the output.
        bias: add a learned vector.

    Lesson: notebooks/10_kv_cache.ipynb

    >>> layer = Linear(3, 5)
    >>> tuple(layer.weight.shape), layer.weight.stride()
    ((5, 3), (1, 5))
    """

    def __init__(self, d_in: int, d_out: int, bias: bool = True):
        nn.Module.__init__(self)  # nn.Linear's own would make and draw the other layout
        self.in_features, self.out_features = d_in, d_out
        self.weight = nn.Parameter(torch.empty(d_in, d_out).t())
        self.bias = nn.Parameter(torch.empty(d_out)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Start from Glorot's normal distribution, the bias from 0."""
        if self.weight.is_meta:
            return  # a model that is only being laid out draws its weights later
        nn.init.xavier_normal_(self.weight)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
