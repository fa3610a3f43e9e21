"""Tokenizers: text comes back as it was, whole characters only, and errors say why."""

import codecs
import json
from itertools import pairwise

import pytest
import tokenizers
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.tokens import (
    BPETokenizer,
    ByteTokenizer,
    CharacterTokenizer,
    TextDecoder,
    Tokenizer,
    WordTokenizer,
)

TEXTS = [
    "low lower lowest, new newer newest",
    "Grüße, naïve café; 日本語 你好 👩‍👩‍👧 e\u0301",
    "one 1 two 22 three 333\n\tfour  4444 ",
] * 3
HARD = "👩‍👩‍👧 🏳️‍🌈 你好 e\u0301 \U0010ffff\x00\r\n"
BYTES = ByteTokenizer(specials=["bos", "eos"])
BPE = BPETokenizer.train(TEXTS, vocab_size=300, specials=["eos", "pad"])
ALL = [BYTES, BPE, CharacterTokenizer([*TEXTS, HARD], specials=["pad"])]

any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(any_text)
def test_byte_and_bpe_tokens_give_every_text_back(text):
    for tokenizer in (BYTES, BPE):
        assert tokenizer.decode(tokenizer.encode(text)) == text


@given(st.text("".join(TEXTS) + HARD, max_size=30))
def test_character_tokens_give_texts_of_their_characters_back(text):
    tokenizer = ALL[2]
    assert len(tokenizer.encode(text)) == len(text)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@given(any_text)
def test_byte_tokens_are_the_bytes_of_utf8(text):
    assert BYTES.encode(text) == list(text.encode("utf-8"))


@given(st.lists(st.integers(0, 255), max_size=12))
def test_a_stream_of_any_bytes_equals_decoding_at_once(ids):
    assert "".join(BYTES.decode_stream(ids)) == bytes(ids).decode(errors="replace")
    assert BYTES.decode(ids) == bytes(ids).decode(errors="replace")


@pytest.mark.parametrize("tokenizer", ALL)
@given(text=st.text("👍🏽中e\u0301 é\U0010ffff", max_size=8))
def test_streamed_pieces_are_whole_characters_and_join_to_the_text(tokenizer, text):
    text = "".join(c for c in text if c in HARD or tokenizer is not ALL[2])
    pieces = list(tokenizer.decode_stream(iter(tokenizer.encode(text))))
    assert "".join(pieces) == text
    assert all(pieces)
    assert "\N{REPLACEMENT CHARACTER}" not in "".join(pieces)


def test_a_character_appears_with_its_last_byte():
    decoder = TextDecoder(BYTES)
    assert [decoder.push(byte) for byte in "é👍".encode()] == [
        "",
        "é",
        "",
        "",
        "",
        "👍",
    ]


def test_half_a_character_at_the_end_is_shown_as_a_replacement():
    assert list(BYTES.decode_stream([104, 0xF0, 0x9F])) == [
        "h",
        "\N{REPLACEMENT CHARACTER}",
    ]


def test_special_tokens_are_shown_or_skipped():
    ids = [BYTES.bos_id, 104, 105, BYTES.eos_id]
    assert BYTES.decode(ids) == "<bos>hi<eos>"
    assert BYTES.decode(ids, skip_special=True) == "hi"
    assert BYTES.decode(torch.tensor(ids), skip_special=True) == "hi"


def test_only_the_specials_that_were_asked_for_exist():
    assert (BYTES.bos_id, BYTES.eos_id, BYTES.pad_id) == (256, 257, None)
    assert BYTES.vocab_size == 258
    assert (BPE.bos_id, BPE.token(BPE.eos_id), BPE.token(BPE.pad_id)) == (
        None,
        "<eos>",
        "<pad>",
    )
    assert ByteTokenizer().special_ids == frozenset()


@pytest.mark.parametrize("tokenizer", ALL)
def test_ids_are_0_to_vocab_size_and_each_has_a_visible_form(tokenizer):
    shown = [tokenizer.token(i) for i in range(tokenizer.vocab_size)]
    assert all(shown)
    assert all(text.isprintable() and " " not in text for text in shown)


def test_tokens_are_shown_readably():
    shown = {32: "␣", 10: "\\n", 0: "\\x00", 0xE9: "\\xe9", 65: "A"}
    assert {i: BYTES.token(i) for i in shown} == shown


def test_bpe_equals_the_library_that_made_it():
    library = tokenizers.Tokenizer.from_str(BPE._bpe.to_str())
    for text in [*TEXTS, HARD, "unseen words 99"]:
        ids = library.encode(text).ids
        assert BPE.encode(text) == ids
        assert BPE.decode(ids) == library.decode(ids, skip_special_tokens=False)


def slow_bpe(word, merges):
    """Merge the pair that was learned first, again and again."""
    while True:
        known = [
            (merges[pair], i) for i, pair in enumerate(pairwise(word)) if pair in merges
        ]
        if not known:
            return word
        i = min(known)[1]
        word = [*word[:i], word[i] + word[i + 1], *word[i + 2 :]]


def test_bpe_equals_merging_by_hand():
    model = json.loads(BPE._bpe.to_str())["model"]
    merges = {tuple(pair): rank for rank, pair in enumerate(model["merges"])}
    for word in ("lowest", "newness", "wolweset"):
        expected = [model["vocab"][part] for part in slow_bpe(list(word), merges)]
        assert BPE.encode(word) == expected


def test_frequent_text_gets_few_tokens_and_training_is_repeatable():
    again = BPETokenizer.train(TEXTS, vocab_size=300, specials=["eos", "pad"])
    assert again.encode(TEXTS[0]) == BPE.encode(TEXTS[0])
    assert len(BPE.encode(TEXTS[0])) < len(TEXTS[0]) / 2


def test_a_small_vocabulary_is_the_bytes_alone():
    tokenizer = BPETokenizer.train(["abc"], vocab_size=256)
    assert len(tokenizer.encode("é日")) == 5


def test_from_tokenizer_names_the_special_tokens():
    library = tokenizers.Tokenizer.from_str(BPE._bpe.to_str())
    tokenizer = BPETokenizer.from_tokenizer(library, eos="<eos>", pad="<eos>")
    assert tokenizer.eos_id == tokenizer.pad_id == BPE.eos_id
    assert tokenizer.encode("low<eos>")[-1] == BPE.eos_id


def test_a_byte_without_a_token_is_refused_and_not_dropped():
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    letters = sorted(set(alphabet) - {"!"})
    model = tokenizers.models.BPE({letter: i for i, letter in enumerate(letters)}, [])
    library = tokenizers.Tokenizer(model)
    library.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    with pytest.raises(ValueError, match="no token for the byte 0x21"):
        BPETokenizer(library).encode("hi!")


def test_a_tokenizer_that_is_not_byte_level_is_refused():
    library = tokenizers.Tokenizer(tokenizers.models.WordLevel({"é日": 0}, "é日"))
    with pytest.raises(ValueError, match="expected a byte-level BPE"):
        BPETokenizer(library)


def test_a_special_token_must_exist():
    with pytest.raises(ValueError, match="eos was '<end>', expected a token"):
        BPETokenizer(BPE._bpe, eos="<end>")


@pytest.mark.parametrize("tokenizer", ALL)
@pytest.mark.parametrize("wrong", [-1, 10**6, 1.0, "a", None, [1]])
def test_an_id_that_does_not_exist_is_refused(tokenizer, wrong):
    for call in (
        tokenizer.token,
        tokenizer.token_bytes,
        lambda i: tokenizer.decode([i]),
    ):
        with pytest.raises(ValueError, match="no token has id|a token id is a whole"):
            call(wrong)


def test_a_batch_of_ids_is_refused():
    with pytest.raises(ValueError, match="pass one row of ids"):
        BYTES.decode(torch.zeros(2, 3, dtype=torch.long))


@pytest.mark.parametrize("tokenizer", ALL)
@pytest.mark.parametrize("wrong", [b"bytes", None, 7, ["text"]])
def test_what_is_no_text_is_refused(tokenizer, wrong):
    with pytest.raises(ValueError, match=r"a text \(str\) was expected, got"):
        tokenizer.encode(wrong)


@pytest.mark.parametrize("tokenizer", ALL)
def test_half_a_surrogate_pair_is_refused(tokenizer):
    with pytest.raises(ValueError, match="half a surrogate pair at 1"):
        tokenizer.encode("a\ud83d")


def test_an_unknown_character_is_named_with_its_place():
    tokenizer = CharacterTokenizer(["banana"])
    with pytest.raises(ValueError, match=r"'x' \(at 2\) is not in the vocabulary of 3"):
        tokenizer.encode("baxna")


def test_words_are_what_stands_between_separators():
    tokenizer = WordTokenizer(["drei|und|zwanzig", "drei"], "|", specials=["eos"])
    assert tokenizer.words == ["drei", "und", "zwanzig"]
    assert tokenizer.encode("zwanzig|drei") == [2, 0]
    assert tokenizer.encode("|drei||und|") == [0, 1]
    assert tokenizer.decode([0, 1, 2]) == "drei|und|zwanzig"
    assert tokenizer.decode([0, 3]) == "drei<eos>"
    assert tokenizer.decode([0, 3], skip_special=True) == "drei"
    assert tokenizer.decode([]) == ""
    assert [tokenizer.token(i) for i in range(4)] == ["drei", "und", "zwanzig", "<eos>"]


def test_an_unknown_word_is_named():
    with pytest.raises(ValueError, match="word 'vier' is not in the vocabulary of 2"):
        WordTokenizer(["ein zwei"]).encode("ein vier")


@pytest.mark.parametrize("separator", ["", "||"])
def test_a_separator_is_one_character(separator):
    with pytest.raises(ValueError, match="expected one character"):
        WordTokenizer(["a"], separator)


def test_texts_of_separators_hold_no_word():
    with pytest.raises(ValueError, match="only separators"):
        WordTokenizer(["  ", " "])


@pytest.mark.parametrize("texts", [[], "", ["", ""], iter(())])
def test_empty_training_texts_are_refused(texts):
    with pytest.raises(ValueError, match="training texts are empty"):
        CharacterTokenizer(texts)


def test_bpe_refuses_empty_texts_and_too_small_a_vocabulary():
    with pytest.raises(ValueError, match="training texts are empty"):
        BPETokenizer.train([""], vocab_size=300)
    with pytest.raises(ValueError, match="vocab_size was 256, expected at least 257"):
        BPETokenizer.train(["a"], vocab_size=256, specials=["eos"])


@pytest.mark.parametrize("specials", [["end"], ["eos", "eos"], "eos"])
def test_unknown_specials_are_refused(specials):
    for make in (
        ByteTokenizer,
        lambda specials: CharacterTokenizer("ab", specials),
        lambda specials: BPETokenizer.train(["ab"], 300, specials),
    ):
        with pytest.raises(ValueError, match="expected any of"):
            make(specials=specials)


def test_one_text_and_a_list_of_texts_are_the_same():
    assert CharacterTokenizer("banana").vocab_size == 3
    assert BPETokenizer.train("banana", 257).encode("ba") == BPETokenizer.train(
        ["banana"], 257
    ).encode("ba")


@settings(max_examples=50)
@given(st.lists(st.binary(min_size=1, max_size=4), min_size=1, max_size=8))
def test_any_pieces_stream_as_an_incremental_decoder_does(pieces):
    tokenizer = Tokenizer(pieces)
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    expected = "".join(decoder.decode(piece) for piece in pieces) + decoder.decode(
        b"", True
    )
    assert (
        tokenizer.decode(range(len(pieces)))
        == expected
        == b"".join(pieces).decode(errors="replace")
    )


def test_the_base_class_has_no_encode():
    with pytest.raises(NotImplementedError):
        Tokenizer([b"a"]).encode("a")


@pytest.mark.parametrize("separator", [" ", ">"])
def test_words_that_stream_are_what_decode_gives(separator):
    words = separator.join(["drei", "und", "zwanzig"])
    tokenizer = WordTokenizer([words], separator, specials=["bos", "eos"])
    ids = [3, 0, 1, 2, 4]
    assert "".join(tokenizer.decode_stream(iter(ids))) == tokenizer.decode(ids)
    assert tokenizer.decode(ids) == f"<bos>{words}<eos>"
    assert tokenizer.decode(ids, skip_special=True) == words
