"""Right answers to packed_swiglu."""

import torch
import torch.nn.functional as F

from course_lib.feed_forward import GatedFeedForward
from tests.answers import right


@right("the rows cut, two products")
def rows(x, packed, narrow):
    to_gate, to_hidden = packed.split(len(packed) // 2)
    gate = x @ to_gate.T
    return (gate * gate.sigmoid() * (x @ to_hidden.T)) @ narrow.T


@right("unflattened in two rows")
def unflattened(x, packed, narrow):
    gate, hidden = F.linear(x, packed).unflatten(-1, (2, -1)).unbind(-2)
    return F.linear(F.silu(gate) * hidden, narrow)


@right("the library's module")
def library(x, packed, narrow):
    d_model, d_ff = narrow.shape
    module = GatedFeedForward(d_model, d_ff)
    parts = packed[:d_ff], packed[d_ff:], narrow
    names = ("to_gate.weight", "to_hidden.weight", "to_output.weight")
    module.load_state_dict(dict(zip(names, parts, strict=True)))
    return module(x)


@right("einsum over the cut matrix")
def einsum(x, packed, narrow):
    both = packed.view(2, -1, packed.shape[-1])
    gate, hidden = torch.einsum("...d,nfd->n...f", x, both)
    return torch.einsum("...f,df->...d", gate / (1 + (-gate).exp()) * hidden, narrow)
