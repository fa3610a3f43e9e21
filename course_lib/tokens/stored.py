"""Tokenizers as plain values, to be stored beside the weights they were trained with."""

import json

import tokenizers

from course_lib.tokens.bpe import BPETokenizer
from course_lib.tokens.interface import Tokenizer
from course_lib.tokens.texts import SPECIAL_KINDS
from course_lib.tokens.units import ByteTokenizer, CharacterTokenizer, WordTokenizer


def describe(tokenizer: Tokenizer) -> dict:
    """Return plain values from which `rebuild` makes the same tokenizer.

    Args:
        tokenizer: one of the course's four kinds.

    Returns:
        a dict that json can write.

    Raises:
        ValueError: it is of another kind.

    Source: RFC 8259 (JSON).
    Lesson: notebooks/11_training.ipynb

    >>> describe(CharacterTokenizer("ba", specials=["eos"]))
    {'kind': 'characters', 'specials': {'eos': '<eos>'}, 'units': ['a', 'b']}
    """
    ids = {kind: getattr(tokenizer, f"{kind}_id") for kind in SPECIAL_KINDS}
    ids = sorted((i, kind) for kind, i in ids.items() if i is not None)
    specials = {kind: tokenizer.token_bytes(i).decode() for i, kind in ids}
    if isinstance(tokenizer, BPETokenizer):
        # What BPETokenizer wraps is the only thing that knows the merges.
        merges = json.loads(tokenizer._bpe.to_str())
        return {"kind": "bpe", "specials": specials, "bpe": merges}
    if isinstance(tokenizer, ByteTokenizer):
        return {"kind": "bytes", "specials": specials}
    units = [tokenizer.token_bytes(i).decode() for i in range(tokenizer.vocab_size)]
    units = units[: len(units) - len(specials)]
    if isinstance(tokenizer, CharacterTokenizer):
        return {"kind": "characters", "specials": specials, "units": units}
    if isinstance(tokenizer, WordTokenizer):
        return {
            "kind": "words",
            "specials": specials,
            "units": tokenizer.words,
            "separator": tokenizer.separator,
        }
    raise ValueError(
        f"a tokenizer of bytes, characters, words or BPE was expected, got "
        f"{type(tokenizer).__name__}"
    )


def rebuild(description: dict) -> Tokenizer:
    """Make the tokenizer that `describe` described.

    Args:
        description: what describe returned, perhaps written as JSON and read again.

    Returns:
        a tokenizer with the same ids.

    Raises:
        ValueError: a field is missing, or the kind is unknown.

    Source: RFC 8259 (JSON).
    Lesson: notebooks/11_training.ipynb

    >>> rebuild(describe(CharacterTokenizer("ba"))).encode("ab")
    [0, 1]
    """
    try:
        kind, specials = description["kind"], description["specials"]
        if kind == "bpe":
            return BPETokenizer(_bpe(description["bpe"]), **specials)
        if kind == "bytes":
            return ByteTokenizer(list(specials))
        if kind == "characters":
            return CharacterTokenizer(description["units"], list(specials))
        if kind == "words":
            separator = description["separator"]
            return WordTokenizer(description["units"], separator, list(specials))
    except KeyError as error:
        raise ValueError(f"the description of a tokenizer lacks {error}") from None
    except TypeError as error:
        raise ValueError(f"no description of a tokenizer: {error}") from None
    raise ValueError(f"no tokenizer is of the kind {kind!r}")


def _bpe(merges: dict) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(json.dumps(merges))
    except Exception as error:  # the tokenizers library raises Exception itself
        raise ValueError(f"no description of a BPE: {error}") from None
