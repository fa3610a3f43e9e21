"""Wrong answers to packed_swiglu."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("product-bent")
def unchanged(x, packed, narrow):
    hidden, gate = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate * hidden), narrow)


@wrong("product-bent")
def only_the_order_mended(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate * hidden), narrow)


@wrong("gate-and-hidden-swapped")
def only_the_bend_mended(x, packed, narrow):
    hidden, gate = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate) * hidden, narrow)


@wrong("gate-and-hidden-swapped")
def sliced_the_wrong_way(x, packed, narrow):
    d_ff = packed.shape[0] // 2
    up, gate = x @ packed[:d_ff].T, x @ packed[d_ff:].T
    return (gate * torch.sigmoid(gate) * up) @ narrow.T


@wrong("rows-taken-in-turn")
def unflattened(x, packed, narrow):
    gate, hidden = F.linear(x, packed).unflatten(-1, (-1, 2)).unbind(-1)
    return F.linear(F.silu(gate) * hidden, narrow)


@wrong("both-bent")
def bent_before_the_cut(x, packed, narrow):
    gate, hidden = F.silu(x @ packed.T).chunk(2, -1)
    return (gate * hidden) @ narrow.T


@wrong("another-bend")
def sigmoid_only(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(torch.sigmoid(gate) * hidden, narrow)


@wrong("another-bend")
def torchs_glu(x, packed, narrow):
    hidden_first = F.linear(x, packed).chunk(2, -1)[::-1]
    return F.linear(F.glu(torch.cat(hidden_first, -1), -1), narrow)


@wrong("bend-forgotten")
def product_only(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(gate * hidden, narrow)


@wrong("added-not-multiplied")
def plus(x, packed, narrow):
    gate, hidden = F.linear(x, packed).tensor_split(2, -1)
    return F.linear(F.silu(gate) + hidden, narrow)
