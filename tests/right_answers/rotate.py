"""Right answers to rotate."""

import torch

from tests.answers import right


@right("both pairings, by chunks and strides")
def both(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    if positions.ndim == 2:
        angle = angle.unsqueeze(1)
    c, s = torch.cos(angle), torch.sin(angle)
    if pairing == "half":
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * c - b * s, a * s + b * c), dim=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@right("complex numbers, interleaved throughout")
def complex_numbers(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    freqs = 1.0 / (base ** (torch.arange(0, d, 2).double() / d))
    angle = positions.unsqueeze(-1).double() * freqs
    angle = angle if positions.dim() == 1 else angle.unsqueeze(1)
    turn = torch.polar(torch.ones_like(angle), angle)
    z = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(z * turn).flatten(-2).type_as(x)


@right("rotate_half, halves throughout")
def rotate_half(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=torch.float) / d)
    freqs = positions.float().unsqueeze(-1) * inv_freq
    emb = torch.cat((freqs, freqs), dim=-1)
    if emb.ndim == 3:
        emb = emb[:, None]
    x1, x2 = x[..., : d // 2], x[..., d // 2 :]
    return (x * emb.cos()) + (torch.cat((-x2, x1), dim=-1) * emb.sin())


@right("a rotation matrix for each position")
def matrices(x, positions, base=10000.0, pairing="interleaved"):
    b, h, t, d = x.shape
    positions = positions.expand(b, t).float()
    matrix = torch.zeros(b, t, d, d)
    for i in range(d // 2):
        angle = positions * base ** (-2 * i / d)
        m, n = (2 * i, 2 * i + 1) if pairing == "interleaved" else (i, i + d // 2)
        matrix[:, :, m, m] = matrix[:, :, n, n] = angle.cos()
        matrix[:, :, m, n], matrix[:, :, n, m] = -angle.sin(), angle.sin()
    return torch.einsum("btij,bhtj->bhti", matrix, x)


@right("pair by pair in a loop")
def loop(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    out = torch.empty_like(x)
    for i in range(d // 2):
        theta = positions.float() / base ** (2 * i / d)
        theta = theta[:, None] if positions.ndim == 2 else theta
        a, b = x[..., 2 * i], x[..., 2 * i + 1]
        out[..., 2 * i] = a * theta.cos() - b * theta.sin()
        out[..., 2 * i + 1] = a * theta.sin() + b * theta.cos()
    return out
