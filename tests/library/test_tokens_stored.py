"""A tokenizer that was stored and read again gives the same ids."""

import json

import pytest

from course_lib.tokens import (
    BPETokenizer,
    ByteTokenizer,
    CharacterTokenizer,
    Tokenizer,
    WordTokenizer,
    describe,
    rebuild,
)

TEXT = "ein und zwanzig Grüße"


@pytest.mark.parametrize(
    "tokenizer",
    [
        ByteTokenizer(),
        ByteTokenizer(["eos", "bos"]),
        CharacterTokenizer(TEXT, ["pad", "bos", "eos"]),
        WordTokenizer([TEXT]),
        WordTokenizer([TEXT], " ", ["bos", "eos"]),
        BPETokenizer.train([TEXT] * 3, 280),
        BPETokenizer.train([TEXT] * 3, 280, ["eos", "pad"]),
    ],
)
def test_a_tokenizer_comes_back_from_json(tokenizer):
    again = rebuild(json.loads(json.dumps(describe(tokenizer))))
    assert type(again) is type(tokenizer)
    assert again.vocab_size == tokenizer.vocab_size
    pieces = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    assert [again.token_bytes(i) for i in range(again.vocab_size)] == pieces
    assert again.encode(TEXT) == tokenizer.encode(TEXT)
    assert again.special_ids == tokenizer.special_ids
    for kind in ("bos", "eos", "pad"):
        assert getattr(again, f"{kind}_id") == getattr(tokenizer, f"{kind}_id")


def test_another_kind_cannot_be_described():
    with pytest.raises(ValueError, match="got Tokenizer"):
        describe(Tokenizer([b"a"]))


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({}, "lacks 'kind'"),
        ({"kind": "words", "specials": {}}, "lacks 'separator'"),
        ({"kind": "runes", "specials": {}}, "of the kind 'runes'"),
    ],
)
def test_what_describes_no_tokenizer_is_refused(description, message):
    with pytest.raises(ValueError, match=message):
        rebuild(description)


@pytest.mark.parametrize("part", [{}, None, {"model": 5}])
def test_a_broken_bpe_is_a_value_error(part):
    with pytest.raises(ValueError, match="no description of a BPE"):
        rebuild({"kind": "bpe", "specials": {}, "bpe": part})


def test_a_description_of_nothing_is_a_value_error():
    with pytest.raises(ValueError, match="no description of a tokenizer"):
        rebuild(None)
