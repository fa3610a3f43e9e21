"""The formulas of the position schemes, as functions."""

import math
from typing import NamedTuple

import torch
from torch import Tensor


def sinusoids(n_positions: int, d_model: int, layout: str = "interleaved") -> Tensor:
    """Tabulate sines and cosines of every position at wavelengths from 2 pi to 10000 * 2 pi.

    Pair i turns by position / 10000^(2i / d_model).

    Args:
        n_positions: rows.
        d_model: even width.
        layout: "interleaved" (sine, cosine, sine, ... as in the paper) or "halves"
            (all sines, then all cosines, with Whisper's slightly wider frequencies
            10000^(-i / (d_model/2 - 1))).

    Returns:
        (position, d_model) float32.

    Raises:
        ValueError: d_model is odd or the layout is unknown.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.5.
    Lesson: notebooks/04_positions.ipynb

    >>> sinusoids(2, 4)[1]
    tensor([0.8415, 0.5403, 0.0100, 0.9999])
    """
    check_waves(d_model, layout)
    return sinusoids_at(torch.arange(n_positions), d_model, layout)


def check_waves(d_model: int, layout: str) -> None:
    """Raise a ValueError unless waves of this width and layout exist."""
    if d_model < 2 or d_model % 2 or layout not in ("interleaved", "halves"):
        raise ValueError(
            f"sinusoids were asked for with d_model={d_model} and layout={layout!r}; they need an "
            f"even width and the layout 'interleaved' or 'halves'"
        )


def sinusoids_at(
    positions: Tensor, d_model: int, layout: str = "interleaved"
) -> Tensor:
    """Compute the waves at positions (...): (..., d_model) float32."""
    pair = torch.arange(d_model // 2, dtype=torch.float64, device=positions.device)
    if layout == "interleaved":
        frequencies = 10000.0 ** (-2 * pair / d_model)
    else:
        frequencies = 10000.0 ** (-pair / max(d_model // 2 - 1, 1))
    angles = positions[..., None] * frequencies
    waves = torch.stack(
        (angles.sin(), angles.cos()), dim=-1 if layout == "interleaved" else -2
    )
    return waves.flatten(-2).float()


class Angles(NamedTuple):
    """Cosines and sines of a call's rotation, computed once and used by every layer.

    Both are (position, d_head) or (batch, 1, position, d_head).

    Lesson: notebooks/04_positions.ipynb
    """

    cosines: Tensor
    sines: Tensor


def angles(
    positions: Tensor, d_head: int, base: float = 10000.0, pairing: str = "interleaved"
) -> Angles:
    """Compute the rotation of each position: pair i turns by position / base^(2i / d_head).

    Args:
        positions: (position,) or (batch, position) int.
        d_head: even width of a head.
        base: the slowest pair's wavelength is about 2 pi base.
        pairing: as in rotate.

    Returns:
        Angles, float32.

    Raises:
        ValueError: d_head is odd or the pairing is unknown.

    Source: Su et al. (2021), arXiv:2104.09864, section 3.2.2.
    Lesson: notebooks/04_positions.ipynb

    >>> angles(torch.tensor([0, 1]), d_head=2).cosines
    tensor([[1.0000, 1.0000],
            [0.5403, 0.5403]])
    """
    check_rotation(d_head, pairing)
    pair = torch.arange(0, d_head, 2, dtype=torch.float32, device=positions.device)
    turned = positions[..., None].float() * base ** (-pair / d_head)
    turned = (
        turned.repeat_interleave(2, -1)
        if pairing == "interleaved"
        else turned.repeat(*[1] * positions.ndim, 2)
    )
    if positions.ndim == 2:
        turned = turned[:, None]  # room for the heads
    return Angles(turned.cos(), turned.sin())


def check_rotation(d_head: int, pairing: str) -> None:
    """Raise a ValueError unless a rotation of this width and pairing exists."""
    if d_head % 2 or pairing not in ("interleaved", "half"):
        raise ValueError(
            f"a rotation was asked for with d_head={d_head} and pairing={pairing!r}; it needs an "
            f"even d_head and the pairing 'interleaved' or 'half'"
        )


def rotate(
    x: Tensor,
    positions: Tensor | Angles,
    base: float = 10000.0,
    pairing: str = "interleaved",
) -> Tensor:
    """Turn pairs of numbers in each head by an angle that grows with the position.

    Both pairings give scores that depend on the distance of query and key alone;
    weights trained with one do not work with the other.

    Args:
        x: (batch, head, position, d_head) float.
        positions: (position,) or (batch, position) int, or Angles made of them.
        base: as in angles.
        pairing: "interleaved" turns (0, 1), (2, 3), ...; "half" turns (0, d_head / 2),
            (1, d_head / 2 + 1), ...

    Returns:
        The shape and dtype of x.

    Raises:
        ValueError: d_head is odd, the pairing is unknown, or positions do not fit x.

    Source: Su et al. (2021), arXiv:2104.09864, eq. 34.
    Lesson: notebooks/04_positions.ipynb

    >>> rotate(torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([1]))
    tensor([[[[0.5403, 0.8415]]]])
    """
    check_rotation(x.shape[-1], pairing)
    if not isinstance(positions, Angles):
        positions = angles(positions, x.shape[-1], base, pairing)
    cosines, sines = positions.cosines.to(x.dtype), positions.sines.to(x.dtype)
    batch = cosines.shape[0] if cosines.ndim == 4 else 1
    if cosines.shape[-2:] != x.shape[-2:] or batch not in (1, x.shape[0]):
        raise ValueError(
            f"rotate was given x {tuple(x.shape)} and the angles of {cosines.shape[-2]} positions "
            f"(batch {batch}, width {cosines.shape[-1]}); it needs one position for each place of x"
        )
    if pairing == "half":
        first, second = x.chunk(2, dim=-1)
        quarter_turn = torch.cat((-second, first), dim=-1)
    else:
        quarter_turn = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * cosines + quarter_turn * sines


def alibi_bias(n_heads: int, query_positions: Tensor, key_positions: Tensor) -> Tensor:
    """Make far keys cost more: minus slope times distance, a slope per head.

    With n_heads a power of two, head h (from 1) has the slope 2^(-8 h / n_heads);
    otherwise the slopes of the next lower power are used, then every second one of
    the next higher.

    Args:
        n_heads: heads.
        query_positions: (query,) or (batch, query) int.
        key_positions: (key,) or (batch, key) int.

    Returns:
        (head, query, key), or (batch, head, query, key), float32. Keys after the
        query get minus the distance too; a causal mask hides them anyway.

    Raises:
        ValueError: n_heads is smaller than 1.

    Source: Press, Smith, Lewis (2022), ALiBi, arXiv:2108.12409, section 3.
    Lesson: notebooks/04_positions.ipynb

    >>> alibi_bias(8, torch.tensor([3]), torch.arange(3))[0]
    tensor([[-1.5000, -1.0000, -0.5000]])
    """
    if n_heads < 1:
        raise ValueError(f"alibi_bias was given {n_heads} heads; it needs at least 1")
    distance = (
        (query_positions[..., :, None] - key_positions[..., None, :]).abs().float()
    )
    slopes = torch.tensor(_alibi_slopes(n_heads), device=distance.device)
    return -slopes[:, None, None] * distance[..., None, :, :]


def _alibi_slopes(n_heads: int) -> list[float]:
    lower = 2 ** int(math.log2(n_heads))
    slopes = [2 ** (-8 * head / lower) for head in range(1, lower + 1)]
    between = [2 ** (-8 * head / (2 * lower)) for head in range(1, 2 * lower + 1, 2)]
    return slopes + between[: n_heads - lower]


def relative_scores(
    queries: Tensor, table: Tensor, query_positions: Tensor, key_positions: Tensor
) -> Tensor:
    """Score each query against a learned vector for the distance to each key.

    Row r of the table stands for the offset key - query = r - max_distance; farther
    offsets use the outermost rows.

    Args:
        queries: (batch, head, query, d_head) float.
        table: (2 * max_distance + 1, d_head), shared by the heads.
        query_positions: (query,) or (batch, query) int.
        key_positions: (key,) or (batch, key) int.

    Returns:
        (batch, head, query, key): queries . table[offset], not yet divided by
        sqrt(d_head).

    Raises:
        ValueError: the table has an even number of rows or another width.

    Source: Shaw, Uszkoreit, Vaswani (2018), arXiv:1803.02155, eq. 5.
    Lesson: notebooks/04_positions.ipynb

    >>> queries, table = torch.ones(1, 1, 1, 2), torch.tensor([[-1.0, 0], [0, 0], [1.0, 0]])
    >>> relative_scores(queries, table, torch.tensor([5]), torch.tensor([3, 5, 6]))
    tensor([[[[-1.,  0.,  1.]]]])
    """
    n_rows, d_head = table.shape
    if n_rows % 2 == 0 or d_head != queries.shape[-1]:
        raise ValueError(
            f"relative_scores was given a table {tuple(table.shape)} and queries "
            f"{tuple(queries.shape)}; it needs (2 * max_distance + 1, {queries.shape[-1]})"
        )
    reach = n_rows // 2
    offsets = key_positions[..., None, :] - query_positions[..., :, None]
    rows = offsets.clamp(-reach, reach) + reach  # (query, key) or (batch, query, key)
    every_row = queries @ table.T  # (batch, head, query, 2 * max_distance + 1)
    rows = rows[:, None] if rows.ndim == 3 else rows
    return every_row.gather(-1, rows.expand(*every_row.shape[:-1], rows.shape[-1]))
