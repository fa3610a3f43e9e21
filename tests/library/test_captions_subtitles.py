"""Subtitles that players read: times in order, short lines, nothing that breaks the format."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.apps.captions.subtitles import cues, srt, vtt
from course_lib.apps.captions.words import Word

SRT = re.compile(
    r"(\d+)\n(\d\d):(\d\d):(\d\d),(\d{3}) --> (\d\d):(\d\d):(\d\d),(\d{3})\n((?:.+\n)+)(?:\n|$)"
)
VTT = re.compile(
    r"(\d\d):(\d\d):(\d\d)\.(\d{3}) --> (\d\d):(\d\d):(\d\d)\.(\d{3})\n((?:.+\n)+)(?:\n|$)"
)


def seconds(hours, minutes, rest, thousandths):
    return int(hours) * 3600 + int(minutes) * 60 + int(rest) + int(thousandths) / 1000


def parsed_srt(text):
    found = SRT.findall(text)
    assert "".join(match.group(0) for match in SRT.finditer(text)) == text
    assert [int(each[0]) for each in found] == list(range(1, len(found) + 1))
    return [(seconds(*each[1:5]), seconds(*each[5:9]), each[9]) for each in found]


def parsed_vtt(text):
    head, _, rest = text.partition("\n\n")
    assert head.strip() == "WEBVTT"
    assert "".join(match.group(0) for match in VTT.finditer(rest)) == rest
    return [
        (seconds(*each[:4]), seconds(*each[4:8]), each[8]) for each in VTT.findall(rest)
    ]


def talk(text, start=0.0, each=0.4):
    return [
        Word(word, start + each * i, start + each * (i + 1))
        for i, word in enumerate(text.split())
    ]


def test_a_cue_ends_with_a_sentence_and_before_a_pause():
    words = [*talk("Wait. Ask"), *talk("not what", start=3.0)]
    assert [cue.text for cue in cues(words)] == ["Wait.", "Ask", "not what"]


def test_a_cue_stays_a_second_unless_the_next_begins():
    first, second = cues([*talk("Wait."), *talk("Ask.", start=0.6)])
    assert (first.start, first.end) == (0, 0.6)
    assert second.end == pytest.approx(1.6)


def test_sentences_of_one_instant_are_shown_one_after_the_other_each_for_a_time():
    """Players drop a cue without duration; attention may give words none."""
    words = [Word("No.", 1.0, 1.0), Word("Yes.", 1.0, 1.0), Word("So.", 1.0, 1.5)]
    for blocks in (parsed_srt(srt(words)), parsed_vtt(vtt(words))):
        assert [text for _, _, text in blocks] == ["No.\n", "Yes.\n", "So.\n"]
        for (start, end, _), (following, _, _) in pairwise(blocks):
            assert start < end <= following < 1.01
        assert blocks[-1][1] == pytest.approx(2.0, abs=0.01)


@pytest.mark.parametrize("instant", [0.0005, 0.0015, 1.0125, 7.0035])
def test_half_a_millisecond_never_leaves_a_cue_without_duration(instant):
    """Half of them are written as the even millisecond: 1.5 and 2.5 would both be 2."""
    words = [Word("No.", instant, instant), Word("Yes.", instant, instant + 0.4)]
    for blocks in (parsed_srt(srt(words)), parsed_vtt(vtt(words))):
        (start, end, _), (following, last, _) = blocks
        assert start < end <= following < last
        assert start == pytest.approx(instant, abs=0.00051)


@given(
    st.lists(
        st.tuples(
            st.text(
                st.characters(codec="utf-8", categories=["L", "N", "P"]),
                min_size=1,
                max_size=14,
            ),
            st.floats(0, 2),
            st.floats(0, 2),
        ),
        max_size=40,
    )
)
def test_any_words_make_subtitles_that_parse(story):
    words, time = [], 0.0
    for text, pause, length in story:
        words.append(Word(text, time + pause, time + pause + length))
        time += pause + length
    for blocks in (parsed_srt(srt(words)), parsed_vtt(vtt(words))):
        times = [time for start, end, _ in blocks for time in (start, end)]
        assert times == sorted(times)
        assert all(start < end for start, end, _ in blocks)
        for _, _, text in blocks:
            assert len(text.splitlines()) <= 2
            assert "-->" not in text
    assert " ".join(cue.text for cue in cues(words)).split() == [
        word.text for word in words
    ]


def test_lines_are_short_enough_to_read():
    text = "and so my fellow Americans ask not what your country can do for you " * 6
    for _, _, lines in parsed_srt(srt(talk(text, each=0.2))):
        assert all(len(line) <= 42 for line in lines.splitlines())
    for start, end, _ in parsed_srt(srt(talk(text, each=0.9))):
        assert end - start <= 7


def test_what_vtt_would_read_as_markup_is_escaped():
    (block,) = parsed_vtt(vtt([Word("a<b>&c", 0, 1)]))
    assert block[2] == "a&lt;b&gt;&amp;c\n"


def test_hours_are_written():
    assert "01:01:01,250 --> 01:01:02,500" in srt([Word("late", 3661.25, 3662.5)])


def test_no_words_make_an_empty_file():
    assert srt([]) == ""
    assert vtt([]) == "WEBVTT\n"
