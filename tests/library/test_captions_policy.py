"""What is committed stays: the policy alone, on hypotheses that a test writes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.apps.captions.policy import StablePrefix, cut_place
from course_lib.apps.captions.tiny import tiny_whisper
from course_lib.apps.captions.words import Word, words_of


def say(text, start=0.0):
    return [
        Word(word, start + i, start + i + 1, ids=(i,))
        for i, word in enumerate(text.split())
    ]


def texts(words):
    return " ".join(word.text for word in words)


def heard(policy, *hypotheses):
    """Let the policy hear texts from the beginning, without what it has committed."""
    return [
        texts(policy.hear(say(text)[len(policy.committed) :])) for text in hypotheses
    ]


def test_what_two_hypotheses_share_is_committed():
    policy = StablePrefix()
    assert heard(
        policy, "ask not wet", "ask not what you", "ask not what your country"
    ) == ["", "ask not", "what"]
    assert texts(policy.committed) == "ask not what"
    assert texts(policy.pending) == "your country"


def test_neither_case_nor_punctuation_keep_words_apart():
    assert heard(StablePrefix(), "ask not. What", "Ask, not what you") == [
        "",
        "Ask, not what",
    ]


def test_punctuation_behind_the_last_word_may_be_only_the_end_of_the_sound():
    policy = StablePrefix()
    assert heard(policy, "ask not.", "ask not.", "ask not what") == ["", "ask", "not"]


def test_agreement_of_one_commits_at_once_and_of_three_later():
    assert heard(StablePrefix(1), "ask not.", "ask not. Now") == ["ask not.", "Now"]
    three = ["ask not", "ask not what", "ask not wet", "ask not what"]
    assert heard(StablePrefix(3), *three) == ["", "", "ask not", ""]


def test_a_flush_commits_everything_and_begins_to_compare_anew():
    policy = StablePrefix()
    assert texts(policy.hear(say("ask not."), flush=True)) == "ask not."
    assert policy.pending == []
    assert heard(policy, "ask not. Now", "ask not. Now we") == ["", "Now"]


def test_agreement_needs_a_hypothesis():
    with pytest.raises(ValueError, match="agreement was 0"):
        StablePrefix(0)


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("a b B. c, d?".split()), max_size=7),
            st.booleans(),
            st.integers(0, 3),
        ),
        max_size=12,
    ),
    st.integers(1, 3),
)
def test_no_committed_word_ever_changes(story, agreement):
    policy, out, forgotten = StablePrefix(agreement), [], 0
    for spoken, flush, n_cut in story:
        before = list(out)
        hypothesis = say(" ".join(spoken), start=len(out))
        new = policy.hear(hypothesis, flush)
        out += new
        assert out[: len(before)] == before
        assert new == hypothesis[: len(new)]
        assert policy.pending == hypothesis[len(new) :]
        assert out[forgotten:] == policy.committed
        assert not flush or not policy.pending
        n_cut = min(n_cut, len(policy.committed))
        policy.forget(n_cut)
        forgotten += n_cut


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=5, max_size=5), min_size=2))
def test_what_is_committed_stood_in_as_many_hypotheses_in_a_row_as_must_agree(stories):
    policy, earlier = StablePrefix(2), None
    for story in stories:
        n_before = len(policy.committed)
        policy.hear(say(" ".join(story))[n_before:])
        n_after = len(policy.committed)
        if n_after > n_before:
            assert story[n_before:n_after] == earlier[n_before:n_after]
        earlier = story


SENTENCES = say("Wait. Ask not. What you can")


def test_a_short_window_is_not_cut():
    assert cut_place(SENTENCES, 5, seconds=12, soft=12, hard=20) is None


def test_a_cut_comes_behind_the_last_committed_sentence_that_something_follows():
    assert cut_place(SENTENCES, 5, seconds=13, soft=12, hard=20) == 3
    assert cut_place(SENTENCES, 2, seconds=13, soft=12, hard=20) == 1
    assert cut_place(SENTENCES[:3], 3, seconds=13, soft=12, hard=20) == 1
    assert cut_place(SENTENCES[:1], 1, seconds=13, soft=12, hard=20) is None


def test_without_a_sentence_s_end_the_longest_late_pause_is_cut():
    words = [
        *say("a b", start=0),
        *say("c d e", start=4),
        *say("f g", start=7.5),
    ]
    assert cut_place(words, 6, seconds=19, soft=12, hard=20) is None
    assert cut_place(words, 6, seconds=21, soft=12, hard=20) == 5
    assert cut_place(words, 0, seconds=21, soft=12, hard=20) is None
    assert cut_place(words[:1], 1, seconds=21, soft=12, hard=20) is None


_, TOKENIZER = tiny_whisper()


@pytest.mark.parametrize(
    ("text", "continued", "words"),
    [
        (" And so", False, ["And", "so"]),
        ("And so,", False, ["And", "so,"]),
        (", ask", True, ["ask"]),
        ("s ask", True, ["ask"]),
        (" ask - not", True, ["ask -", "not"]),
        (" 'tis 5%", True, ["'tis", "5%"]),
        (" café", True, ["café"]),
        ("...", False, []),
        (".", True, []),
        ("", True, []),
    ],
)
def test_ids_become_words(text, continued, words):
    ids = TOKENIZER.encode(text)
    made = words_of(TOKENIZER, ids, continued)
    assert [word for word, _, _ in made] == words
    for word, first, end in made:
        assert TOKENIZER.decode(ids[first:end]).strip() == word


def test_a_word_that_ended_a_while_ago_needs_no_second_opinion():
    words = [Word("Ask", 0, 1), Word("not.", 1, 2), Word("what", 2, 3), Word("x", 1, 2)]
    policy = StablePrefix()
    assert policy.hear(words, settled=2.0) == words[:2]
    assert policy.pending == words[2:]
    assert StablePrefix().hear(words, settled=0.9) == StablePrefix().hear(words) == []
    assert policy.hear(words[2:]) == words[2:]  # the second opinion, as ever
