"""Right answers to shift_matrix."""

import math

import torch

from tests.answers import right


@right("block by block")
def loop(steps, d_model):
    m = torch.zeros(d_model, d_model)
    for t in range(d_model // 2):
        a = steps / 10000 ** (2 * t / d_model)
        m[2 * t, 2 * t], m[2 * t, 2 * t + 1] = math.cos(a), math.sin(a)
        m[2 * t + 1, 2 * t], m[2 * t + 1, 2 * t + 1] = -math.sin(a), math.cos(a)
    return m


@right("two diagonals beside the main one")
def diagonals(steps, d_model):
    a = steps * 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    beside = torch.zeros(d_model - 1).double()
    beside[::2] = a.sin()
    middle = torch.diag(a.cos().repeat_interleave(2))
    return middle + torch.diag(beside, 1) - torch.diag(beside, -1)


@right("solved from a table of waves")
def least_squares(steps, d_model):
    places = torch.arange(4000).double()
    w = 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)

    def waves(at):
        angles = at[:, None] * w
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)

    return torch.linalg.lstsq(waves(places), waves(places + steps)).solution.T


@right("the exponential of a matrix")
def generator(steps, d_model):
    w = 10000.0 ** (-torch.arange(0, d_model, 2).double() / d_model)
    turns = [torch.tensor([[0.0, v], [-v, 0.0]]).double() for v in w.tolist()]
    return torch.matrix_exp(steps * torch.block_diag(*turns))
