"""Wrong answers to sinusoids."""

import math

import numpy as np
import torch

from tests.answers import wrong


@wrong("sinusoid-inverted-frequency")
def grows_instead_of_decays(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(n_positions).float()[:, None]
    freq = 10000 ** (torch.arange(0, d_model, 2).float() / d_model)
    pe = torch.zeros(n_positions, d_model)
    pe[:, 0::2] = torch.sin(pos * freq)
    pe[:, 1::2] = torch.cos(pos * freq)
    return pe


@wrong("sinusoid-inverted-frequency")
def divides_by_the_decay(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    position = torch.arange(0, n_positions).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position / div_term)
    pe[:, 1::2] = torch.cos(position / div_term)
    return pe


@wrong("cosine-own-exponent")
def odd_exponent(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    for pos in range(n_positions):
        for i in range(d_model):
            angle = pos / 10000 ** (i / d_model)
            pe[pos, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
    return pe


@wrong("cosine-own-exponent")
def exponent_plus_one(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    for pos in range(n_positions):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / 10000 ** (i / d_model))
            pe[pos, i + 1] = math.cos(pos / 10000 ** ((i + 2) / d_model))
    return pe


@wrong("cosine-own-exponent")
def base_of_the_cosine(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(n_positions)[:, None].float()
    i = torch.arange(0, d_model, 2) / d_model
    pe = torch.empty(n_positions, d_model)
    pe[:, ::2] = torch.sin(pos / 10000**i)
    pe[:, 1::2] = torch.cos(pos / 1000**i)
    return pe


@wrong("exponent-not-doubled")
def pair_number_over_width(n_positions, d_model, layout="interleaved"):
    i = torch.arange(d_model // 2).double()
    angle = torch.arange(n_positions)[:, None] / 10000 ** (i / d_model)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1).float()


@wrong("exponent-not-doubled")
def halves_with_slow_exponent(n_positions, d_model, layout="interleaved"):
    inv = 1.0 / 10000 ** (torch.arange(d_model // 2) / d_model)
    angle = torch.outer(torch.arange(n_positions).float(), inv)
    return torch.cat((angle.sin(), angle.cos()), dim=-1)


@wrong("exponent-doubled-twice")
def two_times_an_even_number(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    for pos in range(n_positions):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * i) / d_model)))
    return pe


@wrong("sine-cosine-swapped")
def cosine_first(n_positions, d_model, layout="interleaved"):
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(n_positions).unsqueeze(1) * 10000.0 ** (-i / d_model)
    pe = torch.zeros(n_positions, d_model)
    pe[:, 0::2] = angle.cos()
    pe[:, 1::2] = angle.sin()
    return pe


@wrong("positions-from-one")
def counts_from_one(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(1, n_positions + 1)[:, None]
    angle = pos * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).reshape(n_positions, d_model)


@wrong("positions-from-one")
def positions_shifted(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    freq = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    for t in range(n_positions):
        pe[t, 0::2] = torch.sin((t + 1) * freq)
        pe[t, 1::2] = torch.cos((t + 1) * freq)
    return pe


@wrong("wrong-base")
def base_thousand(n_positions, d_model, layout="interleaved"):
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(n_positions)[:, None] * 1000.0 ** (-i / d_model)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)


@wrong("wrong-base")
def decimal_logarithm(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(n_positions).float()[:, None]
    freq = torch.exp(-torch.arange(0, d_model, 2) * math.log10(10000.0) / d_model)
    pe = torch.zeros(n_positions, d_model)
    pe[:, 0::2] = torch.sin(pos * freq)
    pe[:, 1::2] = torch.cos(pos * freq)
    return pe


@wrong("only-sines")
def no_cosine(n_positions, d_model, layout="interleaved"):
    i = torch.arange(d_model) // 2 * 2
    return torch.sin(torch.arange(n_positions)[:, None] / 10000.0 ** (i / d_model))


@wrong("only-sines")
def second_assignment_wins(n_positions, d_model, layout="interleaved"):
    pe = torch.zeros(n_positions, d_model)
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(n_positions)[:, None] / 10000.0 ** (i / d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 0::2] = torch.cos(angle)
    return pe


@wrong("integer-division")
def floor_in_the_exponent(n_positions, d_model, layout="interleaved"):
    pe = np.zeros((n_positions, d_model), dtype=np.float32)
    for pos in range(n_positions):
        for i in range(d_model // 2):
            angle = pos / 10000 ** (2 * i // d_model)
            pe[pos, 2 * i] = np.sin(angle)
            pe[pos, 2 * i + 1] = np.cos(angle)
    return torch.from_numpy(pe)


@wrong("integer-division")
def floor_of_the_angle(n_positions, d_model, layout="interleaved"):
    wavelength = 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angle = torch.arange(n_positions)[:, None] // wavelength
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


@wrong("axes-swapped")
def width_by_position(n_positions, d_model, layout="interleaved"):
    i = torch.arange(0, d_model, 2)[:, None]
    angle = torch.arange(n_positions) / 10000 ** (i / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=1).flatten(0, 1)


@wrong("layouts-mixed")
def halves_of_interleaved_angles(n_positions, d_model, layout="interleaved"):
    i = torch.arange(d_model) // 2
    angle = torch.arange(n_positions)[:, None] / 10000 ** (2 * i / d_model)
    half = d_model // 2
    return torch.cat((angle[:, :half].sin(), angle[:, half:].cos()), dim=-1)


@wrong("layouts-mixed")
def interleaved_of_halved_angles(n_positions, d_model, layout="interleaved"):
    i = torch.arange(d_model // 2).repeat(2)
    pe = torch.arange(n_positions)[:, None] / 10000.0 ** (2 * i / d_model)
    pe[:, 0::2] = pe[:, 0::2].sin()
    pe[:, 1::2] = pe[:, 1::2].cos()
    return pe


@wrong("times-pi")
def full_turns(n_positions, d_model, layout="interleaved"):
    i = torch.arange(0, d_model, 2)
    angle = torch.arange(n_positions)[:, None] / 10000 ** (i / d_model)
    angle = 2 * math.pi * angle
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


@wrong("divides-by-length")
def share_of_the_sequence(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(n_positions)[:, None] / n_positions
    angle = pos * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


@wrong("random-table")
def an_embedding(n_positions, d_model, layout="interleaved"):
    return torch.nn.Embedding(n_positions, d_model).weight.detach()


@wrong("same-for-all-positions")
def position_forgotten(n_positions, d_model, layout="interleaved"):
    angle = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    row = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten()
    return row.repeat(n_positions, 1)


@wrong("sine-cosine-swapped", "positions-from-one")
def two_slips(n_positions, d_model, layout="interleaved"):
    pos = torch.arange(1, n_positions + 1)[:, None]
    angle = pos / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    pe = torch.zeros(n_positions, d_model)
    pe[:, 0::2], pe[:, 1::2] = torch.cos(angle), torch.sin(angle)
    return pe


@wrong("sinusoid-inverted-frequency", "exponent-not-doubled")
def fast_and_flat(n_positions, d_model, layout="interleaved"):
    i = torch.arange(d_model // 2)
    angle = torch.arange(n_positions)[:, None] * 10000 ** (i / d_model)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)


@wrong("exponent-doubled-twice")
def two_times_every_second_feature(n_positions, d_model, layout="interleaved"):
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    position = torch.arange(n_positions, dtype=torch.float64)[:, None]
    angles = position / 10000 ** (2 * i / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1).float()
