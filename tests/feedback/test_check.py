"""What `check` says of an answer, right or wrong, written or not."""

import re

import pytest
import torch

from course_lib.feedback import check
from course_lib.feedback.values import plain, same, show
from course_lib.masks import causal_mask


def flipped(n_queries, n_keys=None, offset=None):
    n_keys = n_keys or n_queries
    offset = n_keys - n_queries if offset is None else offset
    return causal_mask(n_queries, n_keys, offset).logical_not()


def test_a_right_answer_passes_and_nothing_more_is_claimed():
    result = check("causal_mask", causal_mask)
    assert (result.passed, result.score) == (True, 1.0)
    assert (result.mistake, result.property) == (None, None)
    assert re.fullmatch(
        r"causal_mask: visible checks passed \((\d+)/\1\)", result.message
    )


@pytest.mark.parametrize("answer", [None, ..., 3, "causal_mask"])
def test_what_cannot_be_called_is_not_attempted(answer):
    result = check("causal_mask", answer)
    assert (result.passed, result.score) == (False, 0.0)
    assert result.message == "causal_mask: not attempted yet"


def test_an_unwritten_exercise_is_not_attempted():
    def raises(*args, **kwargs):
        raise NotImplementedError

    def gives_nothing(*args, **kwargs):
        pass

    def gives_dots(*args, **kwargs):
        return ...

    for answer in (raises, gives_nothing, gives_dots):
        assert check("softmax", answer).message == "softmax: not attempted yet"


def test_a_forgotten_return_is_not_an_unwritten_exercise():
    def forgets(scores, dim=-1):
        weights = scores.softmax(dim)
        weights.sum()

    message = check("softmax", forgets).message
    assert "not attempted" not in message
    assert "the function gave None; is there a `return`?" in message


def test_a_wrong_answer_is_named_with_its_smallest_input_a_question_and_a_place():
    result = check("causal_mask", flipped)
    assert result.mistake == "causal-mask-flipped"
    assert not result.passed
    lines = result.message.splitlines()
    assert re.fullmatch(r"causal_mask: \d of \d+ visible checks passed", lines[0])
    assert lines[1].startswith("Asked: ")
    assert "yours  [[0, 1" in result.message
    assert "right  [[1, 0" in result.message
    assert "This behaves like: causal-mask-flipped" in lines
    assert lines[-2].startswith("Ask yourself: ")
    assert lines[-2].endswith("?")
    assert lines[-1].startswith("Read: notebooks/02_masks.ipynb, section ")


def test_a_fault_that_is_in_no_catalogue_violates_a_property():
    def reads_one_too_many(n_queries, n_keys=None, offset=None):
        n_keys = n_keys or n_queries
        offset = n_keys - n_queries if offset is None else offset
        return torch.ones(n_queries, n_keys).tril(offset + 2).bool()

    result = check("causal_mask", reads_one_too_many)
    assert result.property == "causality"
    assert "What does not hold: causality" in result.message


def test_an_exception_is_shown_with_the_learners_line_and_no_traceback_of_ours():
    def reads_too_far(scores, dim=-1):
        return scores[100]

    message = check("softmax", reads_too_far).message
    assert "IndexError: index 100 is out of bounds" in message
    assert "of reads_too_far: return scores[100]" in message
    assert "Traceback" not in message
    assert "course_lib/" not in message


@pytest.mark.parametrize("stop", [SystemExit, KeyboardInterrupt, MemoryError])
def test_what_is_raised_to_end_a_program_ends_nothing(stop):
    def ends(scores, dim=-1):
        raise stop

    assert stop.__name__ in check("softmax", ends).message


def test_one_tensor_is_not_taken_apart_where_two_are_asked_for():
    def rows(tokens, lengths=None):
        return tokens[:, 1:]

    message = check("inputs_and_targets", rows).message
    assert "TypeError: one tensor was returned; two are asked for" in message
    assert "Ask yourself" not in message


def test_an_input_that_was_written_into_is_noticed():
    def in_place(scores, dim=-1):
        scores -= scores.amax(dim, keepdim=True)
        return torch.softmax(scores, dim)

    result = check("softmax", in_place)
    assert result.property == "inputs-kept"
    assert not result.passed


class AlwaysEqual:
    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __float__(self):
        return 1.0


def test_an_object_that_equals_everything_scores_nothing():
    result = check("softmax", AlwaysEqual())
    assert (result.passed, result.score) == (False, 0.0)


def test_a_constant_and_the_identity_score_nothing():
    for answer, property in (
        (lambda s, dim=-1: torch.ones(3) / 3, "result depends on input"),
        (lambda s, dim=-1: s, "result differs from input"),
    ):
        result = check("softmax", answer)
        assert result.score == 0.0
        assert f"What does not hold: {property}" in result.message
        assert result.property == property.replace(" ", "-")


def test_what_an_answer_prints_is_not_shown_many_times(capsys):
    def talks(scores, dim=-1):
        print("so far so good")
        return torch.softmax(scores, dim)

    assert check("softmax", talks).passed
    assert capsys.readouterr() == ("", "")


def test_an_unknown_name_gets_the_near_ones():
    with pytest.raises(
        ValueError, match="no exercise is called 'casual_mask'.*causal_mask"
    ):
        check("casual_mask", causal_mask)


def test_another_seed_draws_other_inputs_with_the_same_verdict():
    for seed in range(5):
        assert check("softmax", lambda s, dim=-1: s.softmax(dim), seed=seed).passed
        assert check("causal_mask", flipped, seed=seed).mistake == "causal-mask-flipped"
    assert check("softmax", lambda s, dim=-1: s * 2, seed=1).message != (
        check("softmax", lambda s, dim=-1: s * 2, seed=2).message
    )


def test_nbgrader_reads_the_points_as_a_number(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    result = check("causal_mask", flipped, points=7)
    assert float(repr(result)) == pytest.approx(7 * result.score)
    assert result._repr_html_() is None


def test_html_shows_the_same_text_escaped():
    def shows_a_tag(scores, dim=-1):
        raise ValueError("<script>alert(1)</script>")

    result = check("softmax", shows_a_tag)
    page = result._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert 'role="status"' in page


@pytest.mark.parametrize(
    ("given", "wanted", "equal"),
    [
        ([1, 2], torch.tensor([1.0, 2.0]), True),
        (torch.ones(2, dtype=torch.bool), torch.ones(2), True),
        (torch.ones(2), torch.ones(2, 1), False),
        (float("nan"), 1.0, False),
        (float("inf"), float("inf"), True),
        ([[1], [2, 3]], [[1], [2, 3]], True),
        ([[1], [2, 3]], [[1], [2, 4]], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ("a", "b", False),
        (True, 1, True),
    ],
)
def test_values_are_equal_when_their_numbers_are(given, wanted, equal):
    assert same(plain(given), plain(wanted)) is equal


def test_a_large_value_is_shown_by_its_corner_and_shape():
    text = show(torch.zeros(100, 50))
    assert text.endswith("shape (100, 50), float32")
    assert len(text) < 500
