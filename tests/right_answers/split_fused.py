"""Right answers to split_fused."""

import torch

from course_lib.attention import split_heads
from tests.answers import right


@right("every third of many heads")
def every_third_head(fused, n_heads):
    x = split_heads(fused, 3 * n_heads)
    return x[:, 0::3], x[:, 1::3], x[:, 2::3]


@right("five axes, permuted")
def five_axes(fused, n_heads):
    b, t, c = fused.shape
    x = fused.view(b, t, n_heads, 3, c // (3 * n_heads)).permute(3, 0, 2, 1, 4)
    return x[0], x[1], x[2]


@right("slices, one head after the other")
def slices(fused, n_heads):
    d = fused.shape[-1] // (3 * n_heads)
    parts = []
    for part in range(3):
        heads = []
        for head in range(n_heads):
            start = (3 * head + part) * d
            heads.append(fused[:, :, start : start + d])
        parts.append(torch.stack(heads, 1))
    return parts


@right("the width reordered, then the old code")
def reordered(fused, n_heads):
    d = fused.shape[-1] // (3 * n_heads)
    order = torch.arange(fused.shape[-1]).view(n_heads, 3, d).transpose(0, 1).flatten()
    return tuple(split_heads(x, n_heads) for x in fused[..., order].chunk(3, -1))
