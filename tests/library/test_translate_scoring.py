"""Exact match and edits, against a recursion that tries everything."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.apps.translate.scoring import edit_distance, score


def by_trying_everything(first, second):
    @cache
    def distance(i, j):
        if i == 0 or j == 0:
            return i + j
        same = first[i - 1] == second[j - 1]
        return min(
            distance(i - 1, j) + 1,
            distance(i, j - 1) + 1,
            distance(i - 1, j - 1) + (not same),
        )

    return distance(len(first), len(second))


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_distance_is_the_fewest_edits(first, second):
    assert edit_distance(first, second) == by_trying_everything(first, second)


@pytest.mark.parametrize(
    ("first", "second", "edits"),
    [("", "", 0), ("", "abc", 3), ("ab", "ba", 2), ("flaw", "lawn", 2)],
)
def test_known_distances(first, second, edits):
    assert edit_distance(first, second) == edits


def test_words_are_compared_whole():
    assert edit_distance("T EH N".split(), "T AE N S".split()) == 2


def test_a_translation_counts_as_exact_if_one_reference_is_met():
    found = score(["A B", "A C"], [["X", "A B"], ["A B C D"]], separator=" ")
    assert found.exact == 0.5
    assert found.n == 2
    # no edit in two units, and two edits in four units
    assert found.error_rate == pytest.approx(2 / 6)


def test_without_a_separator_characters_count():
    found = score(["haus"], [["maus"]])
    assert (found.exact, found.error_rate) == (0, 1 / 4)


@pytest.mark.parametrize(
    ("translations", "references"),
    [([], []), (["a"], []), (["a"], [[]]), (["a"], ["a"])],
)
def test_nothing_to_compare_with_is_refused(translations, references):
    with pytest.raises(ValueError, match="pass"):
        score(translations, references)
