"""Reading GGUF files: right numbers, and a clear refusal of everything damaged."""

import random
import struct
import tracemalloc

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course_lib.pretrained.gguf import GGUFFile
from course_lib.pretrained.quantised import dequantise_q4_1, dequantise_q8_0
from tests.library.tiny_gguf import gguf_bytes, slow_q4_1, slow_q8_0

FIELDS = {
    "general.name": "tiny",
    "general.file_type": 3,
    "tokenizer.add": False,
    "rope.base": 0.5,
    "tokens": ["a", "", "é"],
    "types": [1, -1, 3],
}


def half(number):
    """Return a float16 as 2 bytes."""
    return struct.pack("<e", number)


def tensors():
    """Return one tensor of each format, of different sizes."""
    source = random.Random(0)
    q4_1 = [half(0.3) + half(-2.0) + source.randbytes(16) for _ in range(2 * 3)]
    q8_0 = [half(-0.07) + source.randbytes(32) for _ in range(5)]
    return {
        "four": ("Q4_1", (3, 64), b"".join(q4_1)),
        "eight": ("Q8_0", (5, 32), b"".join(q8_0)),
        "half": ("F16", (7,), struct.pack("<7e", *range(7))),
        "full": ("F32", (2, 3), struct.pack("<6f", *range(6))),
    }


WHOLE = gguf_bytes(FIELDS, tensors())


def read(folder, raw):
    """Read bytes as a GGUF file."""
    path = folder / "tiny.gguf"
    path.write_bytes(raw)
    return GGUFFile(path)


def flatten(values, shape):
    """Return a list of numbers as a float32 tensor of that shape."""
    return torch.tensor(values, dtype=torch.float32).view(shape)


def test_fields_come_back_as_they_were_written(tmp_path):
    assert read(tmp_path, WHOLE).fields == FIELDS


def test_every_format_equals_a_slow_loop(tmp_path):
    file, written = read(tmp_path, WHOLE), tensors()
    assert file.shapes == {name: shape for name, (_, shape, _) in written.items()}
    expected = {
        "four": flatten(slow_q4_1(written["four"][2]), (3, 64)),
        "eight": flatten(slow_q8_0(written["eight"][2]), (5, 32)),
        "half": flatten(range(7), (7,)),
        "full": flatten(range(6), (2, 3)),
    }
    for name, values in expected.items():
        torch.testing.assert_close(file.tensor(name), values, rtol=0, atol=0)


@given(st.binary(min_size=20 * 3, max_size=20 * 3))
def test_any_q4_1_bytes_equal_a_slow_loop(raw):
    raw = b"".join(half(0.125) + half(3.5) + raw[i : i + 16] for i in (0, 20, 40))
    ours = dequantise_q4_1(torch.frombuffer(bytearray(raw), dtype=torch.uint8))
    assert ours.tolist() == slow_q4_1(raw)


@given(st.binary(min_size=64, max_size=64), st.floats(-100, 100, width=16))
def test_any_q8_0_bytes_equal_a_slow_loop(raw, scale):
    raw = half(scale) + raw[:32] + half(-scale) + raw[32:]
    ours = dequantise_q8_0(torch.frombuffer(bytearray(raw), dtype=torch.uint8))
    assert ours.tolist() == slow_q8_0(raw)


def test_a_tensor_is_a_copy(tmp_path):
    file = read(tmp_path, WHOLE)
    file.tensor("full").zero_()
    assert file.tensor("full").sum() == 15


def test_another_alignment_is_obeyed(tmp_path):
    fields = FIELDS | {"general.alignment": 64}
    file = read(tmp_path, gguf_bytes(fields, tensors(), alignment=64))
    assert file.tensor("full").sum() == 15


@pytest.mark.parametrize("n_bytes", [0, 3, 4, 7, 23, 24, 40, 150, 300, len(WHOLE) - 32])
def test_a_cut_file_is_refused_with_its_name(tmp_path, n_bytes):
    with pytest.raises(ValueError, match=r"tiny\.gguf"):
        read(tmp_path, WHOLE[:n_bytes])


REFUSED = {
    "another magic number": (b"PK\x03\x04" + WHOLE[4:], "starts with b'PK.*GGUF"),
    "version 1": (gguf_bytes({}, {}, version=1), "version is 1, expected 2 or 3"),
    "unknown format": (
        gguf_bytes({}, {"x": (12, (2, 256), bytes(288))}),
        "x has format 12, expected one of F32, F16, Q4_1, Q8_0",
    ),
    "rows that are no whole blocks": (
        gguf_bytes({}, {"x": ("Q8_0", (2, 48), bytes(102))}),
        r"x: a Q8_0 tensor of shape \(2, 48\).*multiple of 32",
    ),
    "an end past the file": (
        gguf_bytes({}, {"x": ("F32", (2, 1000), bytes(32))}),
        "x takes 8000 bytes from byte",
    ),
    "an empty axis": (gguf_bytes({}, {"x": ("F32", (2, 0), b"")}), "no empty axis"),
    "five axes": (gguf_bytes({}, {"x": ("F32", (1,) * 5, bytes(4))}), "5 axes"),
    "a bad alignment": (gguf_bytes({"general.alignment": 3}, {}), "alignment is 3"),
    "a huge count": (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0), "list of 1152921"),
    "a name twice": (
        b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + gguf_bytes({"a": 1}, {})[24:41] * 2,
        "names come twice",
    ),
    "a list of lists": (
        gguf_bytes({"a": ["b"]}, {}).replace(b"a\t\0\0\0\x08", b"a\t\0\0\0\x09"),
        "'a' has items of type 9",
    ),
    "an unknown type": (
        gguf_bytes({"a": "b"}, {}).replace(b"a\x08\0\0\0", b"a\x0d\0\0\0"),
        "'a' has type 13",
    ),
    "bytes that are no text": (
        gguf_bytes({"a": "bcd"}, {}).replace(b"bcd", b"b\xffd"),
        "is not UTF-8",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_said_with_what_was_expected(tmp_path, case):
    raw, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        read(tmp_path, raw)


def test_an_unknown_name_is_refused(tmp_path):
    file = read(tmp_path, WHOLE)
    with pytest.raises(ValueError, match="no tensor 'five'"):
        file.tensor("five")
    with pytest.raises(ValueError, match="no field 'five'"):
        file.field("five")


@pytest.mark.parametrize("dequantise", [dequantise_q4_1, dequantise_q8_0])
def test_half_a_block_is_refused(dequantise):
    with pytest.raises(ValueError, match="7 bytes were given, expected a multiple"):
        dequantise(torch.zeros(7, dtype=torch.uint8))


places = st.integers(0, len(WHOLE) - 1)
bad_bytes = st.sampled_from([0, 1, 9, 0x7F, 0x80, 0xFF])


@settings(max_examples=200, deadline=None)
@given(length=places, flips=st.dictionaries(places, bad_bytes, max_size=4))
@example(length=len(WHOLE), flips={})
def test_damage_is_refused_or_read_but_never_fills_memory(
    tmp_path_factory, length, flips
):
    damaged = bytearray(WHOLE)
    for place, byte in flips.items():
        damaged[place] = byte
    damaged = damaged[: length if length % 2 else len(WHOLE)]  # half are cut
    path = tmp_path_factory.getbasetemp() / "tiny.gguf"
    path.write_bytes(damaged)
    tracemalloc.start()
    try:
        read_everything(path)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 2_000_000


def read_everything(path):
    """Read all tensors; a refusal must be a ValueError that names the file."""
    try:
        file = GGUFFile(path)
    except ValueError as error:
        if "tiny.gguf" not in str(error):
            raise
        return
    for name, shape in file.shapes.items():
        assert tuple(file.tensor(name).shape) == shape
