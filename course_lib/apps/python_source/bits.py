"""Bits per byte: of a decoder, and of the compressors and n-grams it has to beat."""

import math
from collections.abc import Sequence

import torch
from torch import nn

from course_lib.data import NGram, compressed_bits, python_files
from course_lib.decoder import Decoder
from course_lib.tokens import BPETokenizer


@torch.no_grad()
def bits_per_byte(
    decoder: Decoder, tokenizer: BPETokenizer, files: Sequence[tuple[str, str]]
) -> float:
    r"""Measure a decoder's surprise at some files, in bits per byte of their text.

    Each file is read alone, after an end token; its own end is predicted too. A window
    of max_length tokens moves on by half, so that every token but the first ones of a
    file has at least half a window before it, and is counted once.

    Args:
        decoder: in eval mode; max_length tokens fit into it.
        tokenizer: with an end token.
        files: (name, text) of each.

    Returns:
        bits per byte of UTF-8.

    Raises:
        ValueError: the files hold no text.

    Source: Gao et al. (2020), The Pile, arXiv:2101.00027, section 3.1 (bits per byte).
    Lesson: notebooks/11_training.ipynb

    >>> from course_lib import pretrained
    >>> decoder, tokenizer = pretrained.load("python-source")
    >>> bits_per_byte(decoder, tokenizer, [("a.py", "import sys\n")]) < 8
    True
    """
    n_bytes = sum(len(text.encode()) for _, text in files)
    if not n_bytes:
        raise ValueError("the files hold no text: give at least one byte")
    window = decoder.config.max_length
    nats = 0.0
    for _, text in files:
        ids = [tokenizer.eos_id, *tokenizer.encode(text), tokenizer.eos_id]
        ids, counted = torch.tensor(ids), 0
        while counted < len(ids) - 1:
            start = max(counted - window // 2, 0)
            inputs, targets = ids[:-1][start:][:window], ids[1:][start:][:window]
            each = nn.functional.cross_entropy(
                decoder(inputs[None])[0], targets, reduction="none"
            )
            nats += each[counted - start :].sum().item()
            counted = start + len(targets)
    return nats / math.log(2) / n_bytes


def compare(
    decoder: Decoder, tokenizer: BPETokenizer, parts: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Measure a decoder and its rivals on parts of the standard library.

    The rivals: gzip and xz of all files of the part, joined; a 5-gram of bytes, counted
    in the training files; and what the part adds to an xz of the training files, which
    is the compressor that has seen the same data as the decoder.

    Args:
        decoder: in eval mode.
        tokenizer: with an end token.
        parts: of "train", "validation" and "test".

    Returns:
        by part, then by name: bits per byte.

    Source: Gao et al. (2020), The Pile, arXiv:2101.00027, section 3.1 (bits per byte).
    Lesson: notebooks/11_training.ipynb

    >>> from course_lib import pretrained
    >>> compare(*pretrained.load("python-source"), parts=[])
    {}
    """
    if not parts:
        return {}
    seen = [text.encode() for _, text in python_files("train")]
    primer, counted = b"".join(seen), NGram(5, seen, vocabulary=range(256))
    figures = {}
    for part in parts:
        files = python_files(part)
        each = [text.encode() for _, text in files]
        joined = b"".join(each)
        bits = {
            "gzip": compressed_bits(joined, "gzip"),
            "xz": compressed_bits(joined, "xz"),
            "byte 5-gram of the training files": sum(map(counted.bits, each)),
            "xz after the training files": compressed_bits(joined, "xz", primer),
        }
        figures[part] = {"this model": bits_per_byte(decoder, tokenizer, files)}
        figures[part] |= {name: value / len(joined) for name, value in bits.items()}
    return figures
