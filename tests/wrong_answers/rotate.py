"""Wrong answers to rotate."""

import torch

from tests.answers import wrong


@wrong("rope-mixed-pairing")
def repeated_angles_half_turn(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    angle = (positions[..., None] * freq).repeat_interleave(2, dim=-1)
    if positions.ndim == 2:
        angle = angle.unsqueeze(1)
    a, b = x.chunk(2, dim=-1)
    turned = torch.cat((-b, a), dim=-1)
    return x * angle.cos() + turned * angle.sin()


@wrong("rope-mixed-pairing")
def halved_angles_neighbour_turn(x, positions, base=10000.0, pairing="interleaved"):
    d = x.size(-1)
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2) / d)
    freqs = positions.unsqueeze(-1).float() * inv_freq
    emb = torch.cat((freqs, freqs), dim=-1)
    emb = emb[:, None] if emb.ndim == 3 else emb
    turned = torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).reshape(x.shape)
    return x * emb.cos() + turned * emb.sin()


@wrong("rope-wrong-axis")
def positions_of_the_heads(x, positions, base=10000.0, pairing="interleaved"):
    n_heads, d = x.shape[1], x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.arange(n_heads)[:, None, None] * freq
    a, b = x[..., 0::2], x[..., 1::2]
    first = a * angle.cos() - b * angle.sin()
    second = a * angle.sin() + b * angle.cos()
    return torch.stack((first, second), dim=-1).flatten(-2)


@wrong("rope-wrong-axis")
def turns_along_axis_one(x, positions, base=10000.0, pairing="interleaved"):
    # Written for (batch, position, head, d_head).
    d = x.shape[-1]
    freq = 1 / base ** (torch.arange(0, d, 2).float() / d)
    angle = (torch.arange(x.shape[1])[:, None] * freq)[None, :, None, :]
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(3)


@wrong("decode-position-restarts")
def counts_from_zero(x, positions, base=10000.0, pairing="interleaved"):
    t, d = x.shape[-2:]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.arange(t)[:, None] * freq
    a, b = x[..., 0::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., 0::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out


@wrong("decode-position-restarts")
def minus_the_first(x, positions, base=10000.0, pairing="interleaved"):
    positions = positions - positions[..., :1]
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    a, b = x.chunk(2, -1)
    c, s = angle.cos(), angle.sin()
    return torch.cat((a * c - b * s, a * s + b * c), dim=-1)


@wrong("left-pad-positions")
def rows_all_alike(x, positions, base=10000.0, pairing="interleaved"):
    if positions.ndim == 2:
        positions = torch.arange(x.shape[2])
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-torch.arange(0, d, 2).float() / d)
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = angle.cos(), angle.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("left-pad-positions")
def longest_row_counts(x, positions, base=10000.0, pairing="interleaved"):
    if positions.dim() > 1:
        positions = positions.max(dim=0).values
    d = x.shape[-1]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.outer(positions.float(), freq).repeat(1, 2)
    a, b = x[..., : d // 2], x[..., d // 2 :]
    return x * angle.cos() + torch.cat((-b, a), -1) * angle.sin()


@wrong("first-row-positions-for-all")
def first_row(x, positions, base=10000.0, pairing="interleaved"):
    positions = positions[0] if positions.ndim == 2 else positions
    d = x.shape[-1]
    angle = positions[:, None] * base ** (-torch.arange(0, d, 2).float() / d)
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = angle.cos(), angle.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("batched-positions-unsupported")
def no_room_for_heads(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    c, s = angle.cos(), angle.sin()
    if pairing == "half":
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * c - b * s, a * s + b * c), dim=-1)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("batched-positions-unsupported")
def outer_product(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    inv = base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.outer(positions.float(), inv)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    c, s = angle.cos(), angle.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("ignores-base")
def ten_thousand(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] / 10000 ** (torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("ignores-base")
def fixed_exponential(x, positions, base=10000.0, pairing="interleaved"):
    half = x.shape[-1] // 2
    freq = torch.exp(-9.210340371976184 * torch.arange(half) / half)
    angle = positions[..., None] * freq
    angle = angle.unsqueeze(1) if angle.ndim == 3 else angle
    a, b = x.split(half, dim=-1)
    return torch.cat(
        (a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), dim=-1
    )


@wrong("rotation-backwards")
def clockwise(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c + b * s, b * c - a * s), dim=-1).flatten(-2)


@wrong("rotation-backwards")
def minus_on_the_other_half(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.cat((angle, angle), -1)
    angle = angle[:, None] if positions.ndim == 2 else angle
    first, second = x.chunk(2, -1)
    return x * angle.cos() + torch.cat((second, -first), -1) * angle.sin()


@wrong("rotation-sign")
def both_plus(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c + b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("rotation-sign")
def halves_swapped_without_minus(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.cat((angle, angle), -1)
    angle = angle[:, None] if positions.ndim == 2 else angle
    return x * angle.cos() + x.roll(d // 2, dims=-1) * angle.sin()


@wrong("sinusoid-inverted-frequency")
def grows_instead_of_decays(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("sinusoid-inverted-frequency")
def divides_by_inverse(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2).float() / d)
    angle = positions.unsqueeze(-1) / inv_freq
    angle = torch.cat((angle, angle), dim=-1)
    angle = angle.unsqueeze(1) if angle.ndim == 3 else angle
    a, b = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-b, a), dim=-1) * angle.sin()


@wrong("exponent-not-doubled")
def pair_number_over_width(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(d // 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("cosine-own-exponent")
def own_angle_for_each_feature(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(d).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    turned = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * angle.cos() + turned * angle.sin()


@wrong("one-frequency")
def same_angle_for_all(x, positions, base=10000.0, pairing="interleaved"):
    angle = positions[..., None].float()
    angle = angle[:, None] if positions.ndim == 2 else angle
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = angle.cos(), angle.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)


@wrong("one-frequency")
def floor_in_the_exponent(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] / base ** (torch.arange(0, d, 2) // d)
    angle = torch.cat((angle, angle), dim=-1)
    angle = angle[:, None] if positions.ndim == 2 else angle
    a, b = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-b, a), dim=-1) * angle.sin()


@wrong("rotates-only-half")
def second_number_kept(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    out = x.clone()
    out[..., 0::2] = x[..., 0::2] * angle.cos() - x[..., 1::2] * angle.sin()
    return out


@wrong("half-turned-pair-reused")
def new_first_number_used(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    out = x.clone()
    a, b = out[..., 0::2], out[..., 1::2]  # views of what is written next
    out[..., 0::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return out


@wrong("input-changed-in-place")
def writes_into_x(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    a, b = x[..., 0::2].clone(), x[..., 1::2].clone()
    x[..., 0::2] = a * angle.cos() - b * angle.sin()
    x[..., 1::2] = a * angle.sin() + b * angle.cos()
    return x


@wrong("input-changed-in-place")
def multiplies_in_place(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = torch.cat((angle, angle), dim=-1)
    angle = angle[:, None] if positions.ndim == 2 else angle
    a, b = x.chunk(2, dim=-1)
    turned = torch.cat((-b, a), dim=-1)
    x *= angle.cos()
    x += turned * angle.sin()
    return x


@wrong("adds-instead-of-turning")
def adds_waves(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] * base ** (-torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    return x + torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(-2)


@wrong("identity")
def nothing_turned(x, positions, base=10000.0, pairing="interleaved"):
    return x.clone()


@wrong("rotation-backwards", "ignores-base")
def two_slips(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    angle = positions[..., None] / 10000 ** (torch.arange(0, d, 2).float() / d)
    angle = angle[:, None] if positions.ndim == 2 else angle
    c, s = angle.cos(), angle.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c + b * s, b * c - a * s), dim=-1).flatten(-2)


@wrong("rope-mixed-pairing", "decode-position-restarts")
def mixed_and_restarted(x, positions, base=10000.0, pairing="interleaved"):
    t, d = x.shape[-2:]
    freq = base ** (-torch.arange(0, d, 2).float() / d)
    angle = (torch.arange(t)[:, None] * freq).repeat_interleave(2, -1)
    a, b = x.chunk(2, dim=-1)
    return x * angle.cos() + torch.cat((-b, a), dim=-1) * angle.sin()


@wrong("cosine-own-exponent")
def sine_a_step_further(x, positions, base=10000.0, pairing="interleaved"):
    d = x.shape[-1]
    i = torch.arange(0, d, 2).float()
    place = positions[..., None] if positions.ndim == 1 else positions[:, None, :, None]
    c = torch.cos(place * base ** (-i / d))
    s = torch.sin(place * base ** (-(i + 1) / d))
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).flatten(-2)
