"""What a model has to beat: compressors of files, measured in bits."""

import bz2
import gzip
import lzma

METHODS = ("gzip", "bz2", "xz")


def compressed_bits(data: bytes, method: str = "xz", primer: bytes = b"") -> int:
    """Measure what a compressor of files needs for some data, its header included.

    With a primer, it is what the data adds to the file when the primer stands before
    it: a compressor that has seen the training data. gzip and bz2 look back 32 kB and
    900 kB at most, so it helps them little; xz is given a window for all of it.

    Args:
        data: what to compress.
        method: "gzip", "bz2" or "xz", each at its strongest level.
        primer: what the compressor has seen before.

    Returns:
        bits; divide by len(data) yourself.

    Raises:
        ValueError: there is no such method, or data is not bytes.

    Source: RFC 1952 (gzip); the .xz file format, version 1.2.1 (tukaani.org).
    Lesson: notebooks/11_training.ipynb

    >>> compressed_bits(b"abc" * 1000, "gzip") < 8 * 100
    True
    """
    if method not in METHODS:
        raise ValueError(f"method was {method!r}, expected one of {', '.join(METHODS)}")
    if not isinstance(data, bytes) or not isinstance(primer, bytes):
        raise ValueError(
            f"data was {type(data).__name__} and primer {type(primer).__name__}, "
            "expected bytes: use text.encode()"
        )
    alone = _compress(primer, method) if primer else 0
    return 8 * (_compress(primer + data, method) - alone)


def _compress(data: bytes, method: str) -> int:
    """Return the compressed size in bytes."""
    if method == "gzip":
        return len(gzip.compress(data, 9, mtime=0))
    if method == "bz2":
        return len(bz2.compress(data, 9))
    best = 9 | lzma.PRESET_EXTREME
    window = max(len(data), 4096)
    filters = [{"id": lzma.FILTER_LZMA2, "preset": best, "dict_size": window}]
    return len(lzma.compress(data, filters=filters))
