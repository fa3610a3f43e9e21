"""Wrong answers to shift_matrix."""

import math

import torch

from tests.answers import wrong


@wrong("turned-the-wrong-way")
def the_usual_rotation(steps, d_model):
    m = torch.zeros(d_model, d_model)
    for t in range(d_model // 2):
        a = steps / 10000 ** (2 * t / d_model)
        m[2 * t, 2 * t] = m[2 * t + 1, 2 * t + 1] = math.cos(a)
        m[2 * t, 2 * t + 1] = -math.sin(a)
        m[2 * t + 1, 2 * t] = math.sin(a)
    return m


@wrong("turned-the-wrong-way")
def for_rows_not_columns(steps, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.cos(steps * w), torch.sin(steps * w)
    pairs = torch.stack([c, s], -1).tolist()
    parts = [torch.tensor([[a, b], [-b, a]]).T for a, b in pairs]
    return torch.block_diag(*parts)


@wrong("no-turn")
def no_minus(steps, d_model):
    parts = []
    for t in range(d_model // 2):
        a = torch.tensor(steps * 10000.0 ** (-2 * t / d_model))
        parts.append(torch.stack([a.cos(), a.sin(), a.sin(), a.cos()]).view(2, 2))
    return torch.block_diag(*parts)


@wrong("one-speed-for-all")
def one_radian(steps, d_model):
    c, s = math.cos(steps), math.sin(steps)
    return torch.block_diag(*[torch.tensor([[c, s], [-s, c]])] * (d_model // 2))


@wrong("exponent-of-the-pair")
def t_over_d(steps, d_model):
    m = torch.zeros(d_model, d_model)
    for t in range(d_model // 2):
        a = steps * 10000 ** (-t / d_model)
        block = [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
        m[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] = torch.tensor(block)
    return m


@wrong("sinusoid-inverted-frequency")
def grows(steps, d_model):
    m = torch.zeros(d_model, d_model)
    for t in range(d_model // 2):
        a = steps * 10000 ** (2 * t / d_model)
        block = [[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]]
        m[2 * t : 2 * t + 2, 2 * t : 2 * t + 2] = torch.tensor(block)
    return m


@wrong("halves-for-neighbours")
def four_diagonals(steps, d_model):
    a = steps * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    c, s = torch.diag(a.cos()), torch.diag(a.sin())
    return torch.cat([torch.cat([c, s], 1), torch.cat([-s, c], 1)], 0)


@wrong("diagonal-only")
def cosine_diagonal(steps, d_model):
    a = steps * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.diag(a.cos().repeat_interleave(2))


@wrong("features-shifted")
def permutation(steps, d_model):
    return torch.roll(torch.eye(d_model), shifts=steps, dims=0)


@wrong("direction-ignored")
def absolute(steps, d_model):
    a = abs(steps) * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    m = torch.diag(a.cos().repeat_interleave(2))
    even = torch.arange(0, d_model, 2)
    m[even, even + 1], m[even + 1, even] = a.sin(), -a.sin()
    return m


@wrong("one-position-only")
def fits_position_zero(steps, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    goal = torch.stack([(steps * w).sin(), (steps * w).cos()], -1).flatten()
    start = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
    return torch.outer(goal, start) / (d_model / 2)


@wrong("no-turn", "one-speed-for-all")
def two_slips(steps, d_model):
    c, s = math.cos(steps), math.sin(steps)
    return torch.block_diag(*[torch.tensor([[c, s], [s, c]])] * (d_model // 2))
