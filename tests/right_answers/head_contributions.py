"""Right answers to head_contributions."""

import torch

from tests.answers import right


@right("slices of columns, head by head")
def slices(heads, output_weight):
    d = heads.shape[-1]
    parts = []
    for h in range(heads.shape[1]):
        parts.append(heads[:, h] @ output_weight[:, h * d : (h + 1) * d].T)
    return torch.stack(parts, dim=1)


@right("all other heads silent")
def silenced(heads, output_weight):
    parts = []
    for h in range(heads.shape[1]):
        alone = torch.zeros_like(heads)
        alone[:, h] = heads[:, h]
        parts.append(alone.transpose(1, 2).flatten(-2) @ output_weight.T)
    return torch.stack(parts, 1)


@right("einsum over a viewed weight")
def einsum(heads, output_weight):
    b, h, t, d = heads.shape
    return torch.einsum("bhtd,ohd->bhto", heads, output_weight.view(h * d, h, d))


@right("the difference that a head makes")
def with_and_without(heads, output_weight):
    def out(x):
        return x.transpose(1, 2).flatten(-2) @ output_weight.T

    parts = []
    for h in range(heads.shape[1]):
        without = heads.clone()
        without[:, h] = 0
        parts.append(out(heads) - out(without))
    return torch.stack(parts, dim=1)
