"""The number names of lesson 05 are those of num2words, all 999 of them."""

import ast
from pathlib import Path

import jupytext
import pytest

num2words = pytest.importorskip("num2words").num2words

LESSON = Path(__file__).parents[2] / "notebooks" / "text" / "05_cross_attention.py"
NUMBERS = range(1, 1000)
DEFINED = {"SMALL", "TENS", "GERMAN", "name_number"}


def names_made(source):
    """The names that a cell assigns or defines at its top."""
    made = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            made.add(node.name)
        for target in getattr(node, "targets", []):
            made |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    return made


@pytest.fixture(scope="module")
def name_number():
    """Run the cells that define the names, and no others; give their function."""
    namespace = {}
    for cell in jupytext.read(LESSON, fmt="py:percent").cells:
        if cell.cell_type == "code" and names_made(cell.source) & DEFINED:
            exec(cell.source, namespace)
    return namespace["name_number"]


def english(number):
    """Without hyphens and without "and": "three hundred and twenty-one"."""
    return num2words(number, lang="en").replace("-", " ").replace(" and ", " ")


def german(number):
    """As one word, which it is already: "dreihunderteinundzwanzig"."""
    return num2words(number, lang="de")


def test_the_english_names_are_those_of_num2words(name_number):
    assert [" ".join(name_number(n)[0]) for n in NUMBERS] == [*map(english, NUMBERS)]


def test_the_german_names_are_those_of_num2words(name_number):
    assert ["".join(name_number(n)[1]) for n in NUMBERS] == [*map(german, NUMBERS)]


def test_no_two_numbers_share_a_name(name_number):
    assert len({"".join(name_number(n)[1]) for n in NUMBERS}) == len(NUMBERS)


def test_each_piece_comes_from_the_word_that_means_the_same(name_number):
    simple = [*range(1, 20), *range(20, 100, 10)]
    said = {english(n): n for n in simple} | {"hundred": 100}
    written = {german(n): n for n in simple} | {"ein": 1, "hundert": 100}
    for n in NUMBERS:
        words, pieces, origin = name_number(n)
        for piece, place in zip(pieces, origin, strict=True):
            if piece == "und":
                assert place is None
            else:
                assert written[piece] == said[words[place]]


def test_each_word_gives_exactly_one_piece(name_number):
    for n in NUMBERS:
        words, _, origin = name_number(n)
        assert sorted(p for p in origin if p is not None) == [*range(len(words))]
