"""Read a GGUF file: its fields (settings, vocabulary) and its tensors."""

import struct
from pathlib import Path

import torch
from torch import Tensor

from course_lib.pretrained.quantised import FORMATS

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_DIMENSIONS = 4
STRING, ARRAY = 8, 9
NUMBERS = dict(enumerate("BbHhIif?")) | {10: "Q", 11: "q", 12: "d"}


class GGUFFile:
    """The contents of one GGUF file, held in memory as they stand in the file.

    Args:
        path: the file.

    Attributes:
        fields: name -> number, bool, str, or a list of one of these.
        shapes: name -> shape of that tensor, in PyTorch's order of axes.

    Raises:
        ValueError: the file is not a whole GGUF file of version 2 or 3, or it holds
            something this reader does not know (lists of lists, other formats than
            F32, F16, Q4_1 and Q8_0).

    Source: ggml project, docs/gguf.md.
    Lesson: notebooks/08_decoder.ipynb

    >>> import os
    >>> GGUFFile(os.devnull)
    Traceback (most recent call last):
    ValueError: ... is cut: the magic number needs 4 bytes at byte 0, 0 are left
    """

    def __init__(self, path: str | Path):
        cursor = _Cursor(path)
        self.path, self._data = path, cursor.data
        if (magic := cursor.take(4, "the magic number")) != MAGIC:
            cursor.refuse(f"it starts with {magic!r}, expected {MAGIC!r}")
        if (version := cursor.number("I")) not in VERSIONS:
            cursor.refuse(f"its version is {version}, expected 2 or 3")
        n_tensors, n_fields = cursor.count(32, "tensors"), cursor.count(13, "fields")
        self.fields = cursor.named(n_fields, cursor.field)
        entries = cursor.named(n_tensors, cursor.tensor_entry)
        self._places = self._locate(cursor, entries)
        self.shapes = {name: shape for name, (shape, _, _) in entries.items()}

    def field(self, name: str) -> object:
        """Return one field.

        Args:
            name: a key of fields.

        Raises:
            ValueError: no field has that name.
        """
        if name not in self.fields:
            raise ValueError(f"{self.path} has no field {name!r}: is it another model?")
        return self.fields[name]

    def tensor(self, name: str) -> Tensor:
        """Return one tensor as numbers.

        Args:
            name: a key of shapes.

        Returns:
            float32, of shape shapes[name]; a copy.

        Raises:
            ValueError: no tensor has that name.
        """
        if name not in self.shapes:
            raise ValueError(
                f"{self.path} has no tensor {name!r}: is it another model?"
            )
        kind, start, n_bytes = self._places[name]
        raw = torch.frombuffer(
            self._data, dtype=torch.uint8, count=n_bytes, offset=start
        )
        return FORMATS[kind].dequantise(raw).view(self.shapes[name])

    def _locate(self, cursor: "_Cursor", entries: dict) -> dict:
        """Return name -> (format, first byte, bytes), all of it inside the file."""
        alignment = self.fields.get("general.alignment", 32)
        if type(alignment) is not int or alignment < 8 or alignment % 8:
            cursor.refuse(f"its alignment is {alignment!r}, expected a multiple of 8")
        first = -(-cursor.position // alignment) * alignment
        places = {}
        for name, (shape, kind, offset) in entries.items():
            if kind not in FORMATS:
                known = ", ".join(known.name for known in FORMATS.values())
                cursor.refuse(f"{name} has format {kind}, expected one of {known}")
            try:
                n_bytes = FORMATS[kind].bytes_of(shape)
            except ValueError as error:
                cursor.refuse(f"{name}: {error}")
            start, size = first + offset, len(cursor.data)
            if offset % alignment or start + n_bytes > size:
                cursor.refuse(
                    f"{name} takes {n_bytes} bytes from byte {start}, expected a start "
                    f"at a multiple of {alignment} and an end within {size} bytes"
                )
            places[name] = kind, start, n_bytes
        return places


class _Cursor:
    """A place in the file; every step checks that the file is long enough."""

    def __init__(self, path: str | Path):
        self.path, self.position = path, 0
        with open(path, "rb") as file:
            self.data = bytearray(file.seek(0, 2))
            file.seek(0)
            file.readinto(self.data)

    def refuse(self, reason: str) -> None:
        """Stop reading."""
        raise ValueError(f"{self.path} cannot be read as GGUF: {reason}")

    def need(self, n_bytes: int, what: str) -> None:
        """Check that n_bytes are left."""
        left = len(self.data) - self.position
        if n_bytes > left:
            raise ValueError(
                f"{self.path} is cut: {what} needs {n_bytes} bytes at byte "
                f"{self.position}, {left} are left"
            )

    def take(self, n_bytes: int, what: str) -> bytes:
        """Read bytes."""
        self.need(n_bytes, what)
        self.position += n_bytes
        return bytes(self.data[self.position - n_bytes : self.position])

    def numbers(self, code: str, n: int) -> list:
        """Read n numbers of one struct code."""
        form = f"<{n}{code}"
        self.need(struct.calcsize(form), "a number")
        self.position += struct.calcsize(form)
        return list(
            struct.unpack_from(form, self.data, self.position - struct.calcsize(form))
        )

    def number(self, code: str) -> int | float | bool:
        """Read one number."""
        return self.numbers(code, 1)[0]

    def count(self, n_bytes_each: int, what: str) -> int:
        """Read how many things follow; each takes at least n_bytes_each."""
        n = self.number("Q")
        self.need(n * n_bytes_each, f"a list of {n} {what}")
        return n

    def string(self) -> str:
        """Read a text."""
        start, raw = self.position, self.take(self.number("Q"), "a text")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse(f"the text at byte {start} is not UTF-8")

    def value(self, kind: int, name: str) -> object:
        """Read the value of a field."""
        if kind in NUMBERS:
            return self.number(NUMBERS[kind])
        if kind == STRING:
            return self.string()
        if kind != ARRAY:
            self.refuse(f"the field {name!r} has type {kind}, expected 0 to 12")
        kind = self.number("I")
        if kind == STRING:
            return [self.string() for _ in range(self.count(8, "texts"))]
        if kind not in NUMBERS:
            self.refuse(f"the list {name!r} has items of type {kind}, expected 0 to 8")
        return self.numbers(NUMBERS[kind], self.count(1, "numbers"))

    def field(self) -> tuple[str, object]:
        """Read a name and its value."""
        name = self.string()
        return name, self.value(self.number("I"), name)

    def tensor_entry(self) -> tuple[str, tuple]:
        """Read a tensor's name, and its shape, format and offset."""
        name, n_dimensions = self.string(), self.number("I")
        if not 1 <= n_dimensions <= MAX_DIMENSIONS:
            self.refuse(f"{name!r} has {n_dimensions} axes, expected 1 to 4")
        shape = tuple(reversed(self.numbers("Q", n_dimensions)))
        if 0 in shape:
            self.refuse(f"{name!r} has shape {shape}, expected no empty axis")
        return name, (shape, self.number("I"), self.number("Q"))

    def named(self, n: int, read) -> dict:
        """Read n named things; no name may come twice."""
        things = dict(read() for _ in range(n))
        if len(things) != n:
            self.refuse(f"{n - len(things)} names come twice, expected different names")
        return things
