"""Right answers to sinusoids."""

import math

import numpy as np
import torch

from tests.answers import right


@right("even and odd columns written by slices, the layout ignored")
def slices(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(n_positions).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@right("nested loops, the layout ignored")
def loops(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    for pos in range(n_positions):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i / d_model)
            pe[pos, 2 * i] = math.sin(angle)
            pe[pos, 2 * i + 1] = math.cos(angle)
    return pe


@right("all sines, then all cosines, throughout")
def halves(n_positions, d_model, layout="interleaved"):
    inv = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angle = torch.einsum("p,f->pf", torch.arange(n_positions).float(), inv)
    return torch.cat((angle.sin(), angle.cos()), dim=1)


@right("numpy, the cosine as a shifted sine")
def with_numpy(n_positions, d_model, layout="interleaved"):
    i = np.arange(d_model)
    angle = np.arange(n_positions)[:, None] / 10000.0 ** (2 * (i // 2) / d_model)
    return torch.from_numpy(np.sin(angle + (i % 2) * np.pi / 2)).float()


@right("both layouts, the second with Whisper's frequencies")
def both(n_positions, d_model, layout="interleaved"):
    half = d_model // 2
    steps = torch.arange(half).double()
    if layout == "interleaved":
        angle = torch.arange(n_positions)[:, None] * 10000.0 ** (-steps / half)
        return torch.stack((angle.sin(), angle.cos()), 2).flatten(1).float()
    freq = torch.exp(-math.log(10000) / max(half - 1, 1) * steps)
    angle = torch.arange(n_positions)[:, None] * freq
    return torch.cat((angle.sin(), angle.cos()), 1).float()
