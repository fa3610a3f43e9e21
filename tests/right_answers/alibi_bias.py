"""Right answers to alibi_bias."""

import math

import torch

from tests.answers import right


@right("slopes of two powers, broadcast")
def broadcast(n_heads, query_positions, key_positions):
    p = 2 ** math.floor(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-8 * h / (2 * p)) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[..., :, None] - key_positions[..., None, :]).abs()
    return -torch.tensor(slopes)[:, None, None] * distance.unsqueeze(-3)


@right("the recursion of the paper's code, einsum, a batch axis of 1")
def recursion(n_heads, query_positions, key_positions):
    def slopes_of(n):
        if math.log2(n).is_integer():
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]
        closest = 2 ** math.floor(math.log2(n))
        return slopes_of(closest) + slopes_of(2 * closest)[0::2][: n - closest]

    distance = (key_positions[None, :] - query_positions[:, None]).abs().float()
    return -torch.einsum("h,qk->hqk", torch.tensor(slopes_of(n_heads)), distance)[None]


@right("three loops")
def loops(n_heads, query_positions, key_positions):
    p = 1
    while 2 * p <= n_heads:
        p *= 2
    bias = torch.zeros(n_heads, len(query_positions), len(key_positions))
    for h in range(n_heads):
        exponent = 8 * (h + 1) / p if h < p else 8 * (2 * (h - p) + 1) / (2 * p)
        for i, q in enumerate(query_positions.tolist()):
            for j, k in enumerate(key_positions.tolist()):
                bias[h, i, j] = -(2**-exponent) * abs(q - k)
    return bias


@right("geometric slopes by cumulative products, minimum of both signs")
def geometric(n_heads, query_positions, key_positions):
    p = 2 ** (n_heads.bit_length() - 1)
    first = torch.full((p,), 2.0 ** (-8 / p)).cumprod(0)
    second = torch.full((2 * p,), 2.0 ** (-4 / p)).cumprod(0)[::2]
    slopes = torch.cat((first, second))[:n_heads].view(-1, 1, 1)
    gap = key_positions[None, :] - query_positions[:, None]
    return slopes * torch.minimum(gap, -gap)
