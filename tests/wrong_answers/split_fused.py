"""Wrong answers to split_fused."""

import torch

from course_lib.attention import split_heads
from tests.answers import wrong


@wrong("fused-qkv-layout")
def three_blocks(fused, n_heads):
    q, k, v = fused.split(fused.shape[-1] // 3, dim=-1)
    return split_heads(q, n_heads), split_heads(k, n_heads), split_heads(v, n_heads)


@wrong("fused-qkv-layout")
def thirds_of_many_heads(fused, n_heads):
    x = split_heads(fused, 3 * n_heads)
    return x[:, :n_heads], x[:, n_heads : 2 * n_heads], x[:, 2 * n_heads :]


@wrong("numbers-dealt-in-threes")
def strided(fused, n_heads):
    return tuple(split_heads(fused[..., i::3], n_heads) for i in range(3))


@wrong("heads-split-by-view")
def by_view(fused, n_heads):
    b, t, c = fused.shape
    d = c // (3 * n_heads)
    x = fused.view(b, n_heads, t, 3 * d)
    return x[..., :d], x[..., d : 2 * d], x[..., 2 * d :]


@wrong("heads-not-moved")
def forgets_transpose(fused, n_heads):
    b, t, c = fused.shape
    x = fused.view(b, t, n_heads, c // n_heads)
    return torch.chunk(x, 3, dim=-1)


@wrong("parts-out-of-order")
def values_first(fused, n_heads):
    v, k, q = split_heads(fused, n_heads).chunk(3, -1)
    return q, k, v


@wrong("merged-again")
def per_head_then_joined(fused, n_heads):
    b, t, c = fused.shape
    x = fused.view(b, t, n_heads, 3, c // (3 * n_heads))
    return tuple(x[:, :, :, i].reshape(b, t, c // 3) for i in range(3))


@wrong("axes-swapped")
def keys_ready_for_the_product(fused, n_heads):
    q, k, v = split_heads(fused, n_heads).chunk(3, -1)
    return q.mT, k.mT, v.mT


@wrong("parts-of-width-three")
def takes_three_features(fused, n_heads):
    x = split_heads(fused, n_heads)
    return x[..., 0:3], x[..., 3:6], x[..., 6:9]


@wrong("only-queries-mended")
def one_of_three(fused, n_heads):
    q, k, v = (split_heads(part, n_heads) for part in fused.chunk(3, -1))
    return split_heads(fused, n_heads).chunk(3, -1)[0], k, v


@wrong("parts-out-of-order", "heads-not-moved")
def two_slips(fused, n_heads):
    k, q, v = fused.unflatten(-1, (n_heads, -1)).chunk(3, -1)
    return q, k, v
