"""Positions, whichever numbers they pair and however they are ordered."""

import inspect

import torch
from torch import Tensor

from course_lib.feedback.adapters.answers import settled, written


def use_sinusoids(answer, n_positions, d_model) -> Tensor | dict:
    """Call a table of waves; sines first and cosines last is a matter of order.

    With that order come slightly wider frequencies in some models (1 / 10000 for the
    last pair); they are read as what they stand for.
    """
    table = settled(lambda: written(answer(n_positions, d_model)))
    if isinstance(table, dict):
        return table
    table = torch.as_tensor(table)
    half = d_model // 2
    if d_model < 4 or table.shape != (n_positions, d_model):
        return table
    if bool(table[0, :half].any()) or not bool((table[0, half:] == 1).all()):
        return table
    second = table[min(1, n_positions - 1)]
    turns = torch.atan2(second[:half], second[half:])
    if abs(turns[-1] - 1e-4) < 1e-6:
        waves = _waves(n_positions, turns)
        if torch.allclose(waves, table.float(), atol=1e-3):
            table = _waves(n_positions, turns ** ((half - 1) / half))
    return table.unflatten(-1, (2, half)).mT.flatten(-2)


def _waves(n_positions: int, turns: Tensor) -> Tensor:
    angles = torch.arange(n_positions)[:, None] * turns
    return torch.cat([angles.sin(), angles.cos()], -1)


def use_rotation(answer, x, positions, **kwargs) -> Tensor:
    """Call a rotation; find out which numbers it pairs, and read it as neighbours."""
    if "pairing" in kwargs and not _takes(answer, "pairing"):
        kwargs = {key: kwargs[key] for key in kwargs if key != "pairing"}
    d_head = x.shape[-1]
    first = torch.zeros(1, 1, 2, d_head)
    first[..., 0] = 1.0
    turned = written(answer(first, torch.tensor([0, 1]), **kwargs))
    if d_head == 2 or not bool(turned[0, 0, 1, d_head // 2].abs() > 0.1):
        return written(answer(x, positions, **kwargs))
    halves = x.unflatten(-1, (-1, 2)).mT.flatten(-2)
    turned = written(answer(halves, positions, **kwargs))
    return turned.unflatten(-1, (2, -1)).mT.flatten(-2)


def _takes(function, name: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(
        part.name == name or part.kind is part.VAR_KEYWORD for part in parameters
    )


def use_distance_bias(answer, n_heads, query_positions, key_positions) -> Tensor:
    """Call a bias of scores; keys after the query, and a shift of a row, do not matter."""
    shape = (n_heads, len(query_positions), len(key_positions))
    bias = written(answer(n_heads, query_positions, key_positions))
    while bias.ndim > 3 and bias.shape[0] == 1:
        bias = bias[0]
    if bias.ndim > 3 or any(
        size not in (1, wanted)
        for size, wanted in zip(bias.shape[::-1], shape[::-1], strict=False)
    ):
        return bias
    bias = bias.expand(shape)
    distance = query_positions[:, None] - key_positions
    nearest = distance.masked_fill(distance < 0, 10**6).argmin(-1)[None, :, None]
    bias = bias - bias.gather(-1, nearest.expand(*shape[:2], 1))
    return bias.masked_fill(distance < 0, 0.0)
