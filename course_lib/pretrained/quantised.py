"""Small-number weights: blocks of a few integers that share a scale."""

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor


def dequantise_q4_1(raw: Tensor) -> Tensor:
    """Turn 4-bit blocks into numbers: value = scale * nibble + minimum.

    A block of 20 bytes holds 32 values: a float16 scale, a float16 minimum and 16
    bytes. Their low halves are the values 0 to 15, their high halves 16 to 31.

    Args:
        raw: (n_bytes,) uint8; n_bytes is a multiple of 20.

    Returns:
        (n_bytes / 20 * 32,) float32.

    Raises:
        ValueError: n_bytes is not a multiple of 20.

    Source: ggml project, src/ggml-quants.c, dequantize_row_q4_1.
    Lesson: notebooks/08_decoder.ipynb

    >>> scale_and_minimum = torch.tensor([0.5, -1.0]).half().view(torch.uint8)
    >>> block = torch.cat([scale_and_minimum, torch.arange(16, dtype=torch.uint8)])
    >>> dequantise_q4_1(block)[:5]
    tensor([-1.0000, -0.5000,  0.0000,  0.5000,  1.0000])
    """
    blocks = _blocks(raw, 20)
    scales = blocks[:, :2].contiguous().view(torch.float16).float()
    minima = blocks[:, 2:4].contiguous().view(torch.float16).float()
    packed = blocks[:, 4:]
    values = torch.cat([packed & 15, packed >> 4], dim=1).float()
    return values.mul_(scales).add_(minima).flatten()


def dequantise_q8_0(raw: Tensor) -> Tensor:
    """Turn 8-bit blocks into numbers: value = scale * integer.

    A block of 34 bytes holds 32 values: a float16 scale and 32 signed bytes.

    Args:
        raw: (n_bytes,) uint8; n_bytes is a multiple of 34.

    Returns:
        (n_bytes / 34 * 32,) float32.

    Raises:
        ValueError: n_bytes is not a multiple of 34.

    Source: ggml project, src/ggml-quants.c, dequantize_row_q8_0.
    Lesson: notebooks/08_decoder.ipynb

    >>> scale = torch.tensor([0.5]).half().view(torch.uint8)
    >>> block = torch.cat([scale, torch.arange(32, dtype=torch.uint8)])
    >>> dequantise_q8_0(block)[:5]
    tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000])
    """
    blocks = _blocks(raw, 34)
    scales = blocks[:, :2].contiguous().view(torch.float16).float()
    values = blocks[:, 2:].contiguous().view(torch.int8).float()
    return values.mul_(scales).flatten()


def _blocks(raw: Tensor, n_bytes: int) -> Tensor:
    """View raw as rows of n_bytes."""
    if raw.numel() % n_bytes:
        raise ValueError(
            f"{raw.numel()} bytes were given, expected a multiple of {n_bytes}, "
            "the bytes of one block: was the tensor cut?"
        )
    return raw.view(-1, n_bytes)


class BlockFormat(NamedTuple):
    """How one kind of tensor is stored: n_values numbers in n_bytes bytes."""

    name: str
    n_values: int
    n_bytes: int
    dequantise: Callable[[Tensor], Tensor]

    def bytes_of(self, shape: tuple[int, ...]) -> int:
        """Bytes of a tensor of that shape; its last axis must be whole blocks."""
        if shape[-1] % self.n_values:
            raise ValueError(
                f"a {self.name} tensor of shape {shape} was given, expected a last "
                f"axis that is a multiple of {self.n_values}"
            )
        return prod(shape) // self.n_values * self.n_bytes


# The numbers are GGUF's own names of the formats.
FORMATS = {
    0: BlockFormat("F32", 1, 4, lambda raw: raw.clone().view(torch.float32)),
    1: BlockFormat("F16", 1, 2, lambda raw: raw.view(torch.float16).float()),
    3: BlockFormat("Q4_1", 32, 20, dequantise_q4_1),
    8: BlockFormat("Q8_0", 32, 34, dequantise_q8_0),
}
