"""Stop strings against str.find on the whole text, however it is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.apps.chat import until

letters = st.text("ab", min_size=1, max_size=4)


def before_the_first(text, stops):
    """What stands before the stop string that ends first, of equals the longer."""
    found = [(text.find(s) + len(s), text.find(s)) for s in stops if s in text]
    return text[: min(found)[1]] if found else text


def cut(text, places):
    """Cut a text at these places; the same place twice gives an empty piece."""
    edges = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]


@given(
    st.text("ab", max_size=14),
    st.lists(letters, max_size=3),
    st.lists(st.integers(0, 20), max_size=14),
)
def test_the_text_ends_where_find_says_however_it_is_cut(text, stops, places):
    pieces = cut(text, places)
    assert "".join(pieces) == text
    given_out = list(until(pieces, stops))
    assert "".join(given_out) == before_the_first(text, stops)
    assert "" not in given_out


@given(st.text("ab", max_size=14), st.lists(letters, min_size=1, max_size=3))
def test_nothing_is_held_back_that_cannot_begin_a_stop_string(text, stops):
    shown = 0
    for n, piece in enumerate(until_each(text, stops), start=1):
        shown += len(piece)
        rest = text[shown:n]
        assert rest == "" or any(stop.startswith(rest) for stop in stops)


def until_each(text, stops):
    """For every character of a text without stops: what came out after it went in."""
    if any(stop in text for stop in stops):
        return
    given_out = []

    def characters():
        for character in text:
            yield character
            arrived.append("".join(given_out))
            given_out.clear()

    arrived = []
    for piece in until(characters(), stops):
        given_out.append(piece)
    yield from arrived


@pytest.mark.parametrize(
    ("text", "stops", "shown"),
    [
        ("aaab!", ["aab"], "a"),
        ("ab\n\nUser: no", ["\nUser:", "\n\n"], "ab"),
        ("xxab", ["ab", "xxab"], ""),
        ("xxaby", ["xxaby", "ab"], "xx"),
        ("<|im", ["<|im_end|>"], "<|im"),
        ("abc", [], "abc"),
        ("", ["a"], ""),
    ],
)
def test_cases_that_a_hand_can_check(text, stops, shown):
    for size in (1, 2, 3, 9):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert "".join(until(pieces, stops)) == shown


def test_after_the_stop_nothing_more_is_asked_for_and_the_source_is_closed():
    told = []

    def source():
        try:
            for piece in ("one", " two", " three"):
                told.append(piece)
                yield piece
        finally:
            told.append("closed")

    text = until(source(), [" t"])
    assert next(text) == "one"
    assert list(text) == []
    assert told == ["one", " two", "closed"]


def test_whoever_stops_reading_closes_the_source():
    closed = []

    def source():
        try:
            while True:
                yield "more "
        finally:
            closed.append(True)

    text = until(source(), ["never"])
    next(text)
    text.close()
    assert closed == [True]


def test_the_source_is_closed_before_the_last_text_is_given_out():
    closed = []

    def source():
        try:
            yield "the end, and"
        finally:
            closed.append(True)

    text = until(source(), [","])
    assert next(text) == "the end"
    assert closed == [True]


@pytest.mark.parametrize("stops", ["abc", [""], ["a", ""], [3], [None]])
def test_what_cannot_stop_a_text_is_refused_at_the_call(stops):
    with pytest.raises(ValueError, match="pass a list of texts"):
        until(["a"], stops)
