"""The quizzes of the lessons: complete, and not to be guessed."""

import re
from pathlib import Path

import pytest

from course_lib.quiz import load_questions
from course_lib.quiz.data import FOLDER

ROOT = Path(__file__).parents[2]
LESSONS = sorted(p.stem for p in (ROOT / "notebooks" / "text").glob("*.py"))
WORDS = [name.split("_", 1)[1] for name in LESSONS]
QUESTIONS = [(word, q) for word in WORDS for q in load_questions(word)]


def test_every_lesson_has_a_quiz_and_every_quiz_a_lesson():
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(WORDS)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_shows_its_own_quiz_in_its_quiz_section(name):
    text = (ROOT / "notebooks" / "text" / f"{name}.py").read_text(encoding="utf-8")
    section = text.split("# ## Quiz\n")[1].split("# ## ")[0]
    assert re.findall(r"show_quiz\((.*)\)", text) == [f'"{name.split("_", 1)[1]}"']
    assert "show_quiz(" in section


@pytest.mark.parametrize("word", WORDS)
def test_a_quiz_has_three_questions_or_more_and_one_with_several_right(word):
    questions = load_questions(word)
    assert len(questions) >= 3
    assert any(question.several for question in questions)
    assert all(len(question.choices) >= 3 for question in questions)


def test_neither_place_nor_length_gives_the_answer_away():
    single = [question for _, question in QUESTIONS if not question.several]
    places = [question.key for question in single]
    # Guessing the commonest place, or the longest choice, is hardly better than chance.
    expected = sum(1 / len(question.choices) for question in single)
    allowed = 1.5 * expected
    assert max(places.count(letter) for letter in "abcd") <= allowed
    for pick in (max, min):
        hits = 0
        for question in single:
            length = pick(len(choice.text) for choice in question.choices)
            longest = [c for c in question.choices if len(c.text) == length]
            hits += sum(choice.right for choice in longest) / len(longest)
        assert hits <= allowed, (pick.__name__, hits, expected)


def test_no_reason_is_written_twice():
    reasons = [c.reason for _, question in QUESTIONS for c in question.choices]
    assert len(set(reasons)) == len(reasons)
