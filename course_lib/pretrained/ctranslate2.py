"""Read a model.bin of CTranslate2: named tensors, and nothing that could run."""

import struct
from math import prod
from pathlib import Path

import torch
from torch import Tensor

VERSION = 6
DTYPES = {
    0: torch.float32,
    1: torch.int8,
    2: torch.int16,
    3: torch.int32,
    4: torch.float16,
    5: torch.bfloat16,
}
MAX_AXES = 4


def read_ctranslate2(path: str | Path) -> dict[str, Tensor]:
    """Return the tensors of a model.bin by name.

    Every count and size is compared with what the file still has before it is used.

    Args:
        path: the file.

    Returns:
        name -> tensor, in the file's dtypes; a second name of a tensor leads to it too.

    Raises:
        ValueError: the file is cut, damaged or of another kind or version.

    Source: CTranslate2, python/ctranslate2/specs/model_spec.py, ModelSpec.save.
    Lesson: notebooks/14_captions.ipynb

    >>> import os
    >>> read_ctranslate2(os.devnull)
    Traceback (most recent call last):
    ValueError: ... is cut: a number needs 4 bytes at byte 0, 0 are left
    """
    cursor = _Cursor(path)
    if (version := cursor.number("I")) != VERSION:
        cursor.refuse(f"its version is {version}, expected {VERSION}")
    cursor.text()  # the kind of model: its tensors tell as much
    cursor.number("I")  # and that kind's revision
    tensors: dict[str, Tensor] = {}
    for _ in range(cursor.number("I")):
        _add(cursor, tensors, cursor.text(), cursor.tensor())
    for _ in range(cursor.number("I")):
        name, original = cursor.text(), cursor.text()
        if original not in tensors:
            cursor.refuse(f"{name} is another name of {original}, which is not there")
        _add(cursor, tensors, name, tensors[original])
    if left := len(cursor.data) - cursor.position:
        cursor.refuse(f"{left} bytes follow where it should end")
    return tensors


def _add(
    cursor: "_Cursor", tensors: dict[str, Tensor], name: str, tensor: Tensor
) -> None:
    if name in tensors:
        cursor.refuse(f"the name {name} comes twice")
    tensors[name] = tensor


class _Cursor:
    """A place in the file; every step checks that the file is long enough."""

    def __init__(self, path: str | Path):
        self.path, self.position = path, 0
        with open(path, "rb") as file:
            self.data = bytearray(file.read())

    def refuse(self, reason: str) -> None:
        """Stop reading."""
        raise ValueError(f"{self.path} cannot be read as CTranslate2: {reason}")

    def skip(self, n_bytes: int, what: str) -> int:
        """Check that n_bytes are left and step over them; return where they start."""
        start, left = self.position, len(self.data) - self.position
        if n_bytes > left:
            raise ValueError(
                f"{self.path} is cut: {what} needs {n_bytes} bytes at byte {start}, "
                f"{left} are left"
            )
        self.position += n_bytes
        return start

    def number(self, code: str) -> int:
        """Read one number of a struct code."""
        start = self.skip(struct.calcsize(f"<{code}"), "a number")
        return struct.unpack_from(f"<{code}", self.data, start)[0]

    def text(self) -> str:
        """Read a text: its length, then its bytes, the last of them 0."""
        length = self.number("H")
        start = self.skip(length, "a text")
        raw = bytes(self.data[start : start + length])
        if not raw.endswith(b"\0") or not raw[:-1].isascii():
            self.refuse(f"the text at byte {start} is not ASCII with a 0 at its end")
        return raw[:-1].decode()

    def tensor(self) -> Tensor:
        """Read a tensor: its shape, its dtype, how many bytes, the bytes."""
        start, n_axes = self.position, self.number("B")
        if n_axes > MAX_AXES:
            self.refuse(f"the tensor at byte {start} has {n_axes} axes")
        shape = [self.number("I") for _ in range(n_axes)]
        kind, n_bytes = self.number("B"), self.number("I")
        if kind not in DTYPES:
            self.refuse(f"the tensor at byte {start} has dtype {kind}, expected 0 to 5")
        if n_bytes != prod(shape) * DTYPES[kind].itemsize or not n_bytes:
            self.refuse(
                f"the tensor at byte {start} has shape {tuple(shape)} of {DTYPES[kind]} "
                f"and {n_bytes} bytes, which do not agree"
            )
        start = self.skip(n_bytes, "a tensor")
        raw = torch.frombuffer(
            self.data, dtype=torch.uint8, count=n_bytes, offset=start
        )
        # A copy starts where its dtype may start; the file's tensors start anywhere.
        return raw.clone().view(DTYPES[kind]).view(shape)
