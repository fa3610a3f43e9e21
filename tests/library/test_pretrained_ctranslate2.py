"""A model.bin gives its tensors, or a sentence that says where it is damaged."""

import pytest
import torch

from course_lib.pretrained.ctranslate2 import read_ctranslate2
from tests.library.small_models import numbers
from tests.library.tiny_whisper import ctranslate2_bytes, text

TENSORS = {"a/b": numbers(2, 3), "c": numbers(5)}


def read(folder, data):
    (folder / "model.bin").write_bytes(data)
    return read_ctranslate2(folder / "model.bin")


def test_tensors_and_their_second_names_are_read(tmp_path):
    tensors = read(tmp_path, ctranslate2_bytes(TENSORS, [("d", "c")]))
    assert list(tensors) == ["a/b", "c", "d"]
    assert all(torch.equal(tensors[name], TENSORS[name].half()) for name in TENSORS)
    assert tensors["d"] is tensors["c"]


def test_a_file_cut_anywhere_is_refused(tmp_path):
    whole = ctranslate2_bytes(TENSORS, [("d", "c")])
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"is cut: .* are left"):
            read(tmp_path, whole[:length])


def test_a_changed_byte_never_gives_anything_but_tensors_or_a_sentence(tmp_path):
    whole = ctranslate2_bytes({"a": numbers(2, 3), "c": numbers(1)}, [("d", "c")])
    refused = 0
    for place in range(len(whole)):
        for change in (0x01, 0x80, 0xFF):
            damaged = bytearray(whole)
            damaged[place] ^= change
            try:
                read(tmp_path, bytes(damaged))
            except ValueError as error:
                refused += "model.bin" in str(error)
    assert refused > len(whole)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ctranslate2_bytes(TENSORS, version=5), "version is 5, expected 6"),
        (ctranslate2_bytes(TENSORS) + b"\0", "1 bytes follow"),
        (ctranslate2_bytes(TENSORS, [("d", "e")]), "d is another name of e, which"),
        (ctranslate2_bytes(TENSORS, [("c", "a/b")]), "the name c comes twice"),
        (ctranslate2_bytes({"é": numbers(2)}), "not ASCII"),
        (ctranslate2_bytes({"a": numbers(1, 1, 1, 1, 1)}), "has 5 axes"),
        (ctranslate2_bytes({"a": numbers(0, 3)}), "0 bytes, which do not agree"),
        (
            ctranslate2_bytes({"a": numbers(3)}).replace(b"\x04\x06", b"\x09\x06"),
            "dtype 9, expected 0 to 5",
        ),
        (
            ctranslate2_bytes({"a": numbers(3)}).replace(b"\x04\x06", b"\x00\x06"),
            r"shape \(3,\) of torch.float32 and 6 bytes",
        ),
        (ctranslate2_bytes({}).replace(text("WhisperSpec"), b"\0\0"), "0 at its end"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, data, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, data)
