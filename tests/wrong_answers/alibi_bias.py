"""Wrong answers to alibi_bias."""

import math

import torch

from tests.answers import wrong


@wrong("alibi-sign")
def rewards_distance(n_heads, query_positions, key_positions):
    p = 2 ** math.floor(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = query_positions[:, None] - key_positions[None, :]
    return torch.tensor(slopes)[:, None, None] * distance


@wrong("alibi-sign")
def minus_forgotten(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2.0 ** (-8 * (h + 1) / p) for h in range(p)]
    slopes += [2.0 ** (-4 * (2 * h + 1) / p) for h in range(n_heads - p)]
    bias = torch.zeros(n_heads, len(query_positions), len(key_positions))
    for h, slope in enumerate(slopes):
        for i, q in enumerate(query_positions):
            for j, k in enumerate(key_positions):
                bias[h, i, j] = slope * abs(int(q) - int(k))
    return bias


@wrong("alibi-slopes")
def powers_of_one_half(n_heads, query_positions, key_positions):
    slopes = 2.0 ** -torch.arange(1, n_heads + 1)
    distance = (query_positions[:, None] - key_positions).abs()
    return -slopes[:, None, None] * distance


@wrong("alibi-slopes")
def four_instead_of_eight(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-4 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-2 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("slope-from-zero")
def first_slope_is_one(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(p)]
    slopes += [2 ** (-4 * h / p) for h in range(0, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("slopes-not-power-of-two")
def one_formula_for_all(n_heads, query_positions, key_positions):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (query_positions[:, None] - key_positions[None]).abs()
    return -slopes.view(-1, 1, 1) * distance


@wrong("slopes-not-power-of-two")
def cuts_the_next_power(n_heads, query_positions, key_positions):
    p = 2 ** math.ceil(math.log2(n_heads))
    slopes = torch.tensor([2 ** (-8 * (h + 1) / p) for h in range(p)])[:n_heads]
    distance = (query_positions[:, None] - key_positions[None]).abs()
    return torch.einsum("h,qk->hqk", slopes, -distance.float())


@wrong("slopes-not-power-of-two")
def next_ones_in_a_row(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, n_heads - p + 1)]
    distance = (query_positions[:, None] - key_positions[None]).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("one-slope")
def same_for_every_head(n_heads, query_positions, key_positions):
    distance = (query_positions[:, None] - key_positions[None]).abs().float()
    return (-0.5 * distance).expand(n_heads, -1, -1)


@wrong("one-slope")
def no_slopes(n_heads, query_positions, key_positions):
    distance = torch.cdist(
        query_positions.float()[:, None], key_positions.float()[:, None]
    )
    return -distance.repeat(n_heads, 1, 1)


@wrong("decode-position-restarts")
def counts_from_zero(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    i = torch.arange(len(query_positions))[:, None]
    j = torch.arange(len(key_positions))[None]
    return -torch.tensor(slopes)[:, None, None] * (i - j).abs()


@wrong("decode-position-restarts")
def last_query_at_last_key(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    n_queries, n_keys = len(query_positions), len(key_positions)
    i = torch.arange(n_keys - n_queries, n_keys)[:, None]
    distance = (i - torch.arange(n_keys)).abs()
    return -torch.tensor(slopes).view(-1, 1, 1) * distance


@wrong("query-key-swapped")
def key_by_query(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (key_positions[:, None] - query_positions[None]).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("squared-distance")
def squares(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions) ** 2
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("linear-slopes")
def shares(n_heads, query_positions, key_positions):
    slopes = torch.arange(1, n_heads + 1) / n_heads
    distance = (query_positions[:, None] - key_positions).abs()
    return -slopes[:, None, None] * distance


@wrong("integer-division")
def floor_in_the_exponent(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2.0 ** -(8 // p * h) for h in range(1, p + 1)]
    slopes += [2.0 ** -(8 // (2 * p) * h) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions).abs()
    return -torch.tensor(slopes)[:, None, None] * distance


@wrong("slopes-reversed")
def weakest_head_first(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions).abs()
    return -torch.tensor(slopes).flip(0)[:, None, None] * distance


@wrong("head-axis-last")
def query_key_head(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    distance = (query_positions[:, None] - key_positions).abs()
    return -distance[..., None] * torch.tensor(slopes)


@wrong("no-query-distance")
def distance_from_the_start(n_heads, query_positions, key_positions):
    p = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * h / p) for h in range(1, p + 1)]
    slopes += [2 ** (-4 * h / p) for h in range(1, 2 * p, 2)][: n_heads - p]
    bias = -torch.tensor(slopes)[:, None, None] * key_positions.float()
    return bias.expand(-1, len(query_positions), -1)


@wrong("alibi-sign", "slopes-not-power-of-two")
def two_slips(n_heads, query_positions, key_positions):
    slopes = 2 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return slopes[:, None, None] * (query_positions[:, None] - key_positions)


@wrong("alibi-slopes", "query-key-swapped")
def halves_and_transposed(n_heads, query_positions, key_positions):
    slopes = 0.5 ** torch.arange(1, n_heads + 1)
    distance = (key_positions[:, None] - query_positions).abs()
    return -slopes[:, None, None] * distance


@wrong("constant")
def zeros(n_heads, query_positions, key_positions):
    return torch.zeros(n_heads, len(query_positions), len(key_positions))
