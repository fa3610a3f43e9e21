"""Masks in every right form: bool or additive, with or without leading axes."""

import torch
from torch import Tensor

from course_lib.feedback.adapters.answers import written


def use_mask(answer, *args, **kwargs) -> Tensor | dict:
    """Call a mask's function; read bool or additive, with or without leading axes.

    Floats other than 0 and very negative ones are shown as what they are: numbers that
    are added to the scores.
    """
    mask = torch.as_tensor(written(answer(*args, **kwargs)))
    while mask.ndim > 2 and mask.shape[0] == 1:
        mask = mask[0]
    return read_mask(mask)


def use_padding_mask(answer, lengths, n_keys, *args, **kwargs) -> Tensor | dict:
    """Call a padding mask's function; read any that is the same for heads and queries."""
    mask = torch.as_tensor(written(answer(lengths, n_keys, *args, **kwargs)))
    while mask.ndim < 4 and (mask.ndim == 1 or mask.shape[0] == 1):
        mask = mask[None]
    if mask.ndim == 4 and bool((mask == mask[:, :1, :1]).all()):
        mask = mask[:, :1, :1]
    return read_mask(mask)


def read_mask(mask: Tensor) -> Tensor | dict:
    """Read a bool mask, or an additive one of 0 and very negative numbers, as bool."""
    if not mask.is_floating_point():
        return mask.bool()
    hidden = mask <= -1e4
    return ~hidden if bool((hidden | (mask == 0)).all()) else {"added to scores": mask}


def read_bool(mask) -> Tensor:
    """Read a mask as bool; where it holds other floats, say what they would do."""
    read = read_mask(torch.as_tensor(mask))
    if isinstance(read, dict):
        raise TypeError(
            "a mask of floats is added to the scores; asked is one of bools"
        )
    return read
