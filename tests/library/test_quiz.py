"""Questions are data; a file that breaks a rule is refused with a reason."""

import re
import subprocess
import sys

import pytest

from course_lib.progress import read_progress
from course_lib.quiz import html_text, load_questions, plain_text
from course_lib.quiz.widget import Quiz, earlier

QUESTION = """
[[question]]
id = "one"
text = "What is 1 + 1?"
[[question.choice]]
text = "2"
right = true
reason = "Count on your fingers."
[[question.choice]]
text = "11"
right = false
reason = "These are numbers, not strings: `1 + 1`."
"""
SEVERAL = """
[[question]]
id = "even"
text = "Which are even? Choose all that hold."
several = true
choice = [
  {text = "2", right = true, reason = "2 = 2 · 1"},
  {text = "3", right = false, reason = "3 < 2 · 2"},
  {text = "4", right = true, reason = "4 = 2 · 2"},
]
"""


@pytest.fixture
def load(tmp_path):
    def loaded(text):
        (tmp_path / "sums.toml").write_text(text, encoding="utf-8")
        return load_questions("sums", tmp_path)

    return loaded


def test_a_file_gives_its_questions_in_order(load):
    one, even = load(QUESTION + SEVERAL)
    assert (one.id, one.text, one.several, one.key) == (
        "one",
        "What is 1 + 1?",
        False,
        "a",
    )
    assert (even.several, even.key) == (True, "ac")
    assert [choice.right for choice in even.choices] == [True, False, True]


@pytest.mark.parametrize(
    ("chosen", "right"),
    [
        ("ac", True),
        ("ca", True),
        ("a", False),
        ("abc", False),
        ("b", False),
        ("", False),
    ],
)
def test_an_answer_is_right_if_it_names_the_right_choices_and_no_other(
    chosen, right, load
):
    assert load(SEVERAL)[0].is_right(chosen) is right


@pytest.mark.parametrize(
    ("sound", "broken", "says"),
    [
        ('id = "one"', 'id = "Number One"', "small letters"),
        ('id = "one"', "", "A question has id"),
        ("right = true", "right = false", "one choice is right"),
        ("right = false", "right = true", "one choice is right"),
        ("right = true", 'right = "yes"', "true or false"),
        ('reason = "Count on your fingers."', "", "reason"),
        ('reason = "Count on your fingers."', 'reason = " "', "missing"),
        ('text = "11"', 'text = "2"', "say the same"),
        ('text = "11"', 'text = "$1^1$"', "plain text"),
        ('text = "11"', 'text = "<b>11</b>"', "plain text"),
        ('text = "11"', 'text = "*eleven*"', "plain text"),
        ('text = "11"', 'text = "11"\ncolour = "red"', "colour"),
        ("What is", "Choose all that hold:", "if, and only if"),
        ('"What is 1 + 1?"', '"What is 1 + 1?"\nseveral = true', "two right choices"),
        ("[[question]]", "[[query]]", "no ..question"),
        ("[[question]]", "[[question", "not TOML"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused(sound, broken, says, load):
    assert sound in QUESTION
    with pytest.raises(ValueError, match=says) as error:
        load(QUESTION.replace(sound, broken, 1))
    assert "sums.toml" in str(error.value)


def test_a_second_right_choice_among_three_is_not_enough_for_one_choice(load):
    with pytest.raises(ValueError, match="one choice is right, or set several"):
        load(SEVERAL.replace("several = true", "").replace("Choose all that hold.", ""))


def test_everything_right_is_no_question(load):
    with pytest.raises(ValueError, match="and a wrong one"):
        load(SEVERAL.replace("right = false", "right = true"))


def test_two_questions_need_two_ids(load):
    with pytest.raises(ValueError, match="same id"):
        load(QUESTION + QUESTION)


def test_an_unknown_quiz_is_answered_with_those_there_are(load, tmp_path):
    load(QUESTION)
    with pytest.raises(ValueError, match="no quiz named 'sum'.*: sums"):
        load_questions("sum", tmp_path)


def test_plain_text_asks_everything_before_it_answers(load):
    text = plain_text(load(QUESTION + SEVERAL))
    asked, answers = text.split("\nReasons\n")
    assert "Count" not in asked
    assert asked.startswith(
        "1. What is 1 + 1?\n   (a) 2\n   (b) 11\n\n2. Which are even?"
    )
    assert answers.splitlines() == [
        "1 (a) right: Count on your fingers.",
        "1 (b) wrong: These are numbers, not strings: `1 + 1`.",
        "2 (a) right: 2 = 2 · 1",
        "2 (b) wrong: 3 < 2 · 2",
        "2 (c) right: 4 = 2 · 2",
    ]


def test_html_folds_the_reasons_and_takes_nothing_for_a_tag(load):
    page = html_text(load(QUESTION + SEVERAL))
    shown = re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL)
    assert "fingers" in page
    assert "fingers" not in shown
    assert "<code>1 + 1</code>" in page
    assert "3 &lt; 2" in page


# The widget's Python side -------------------------------------------------------------


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.json"))
    return tmp_path / "progress.json"


def tell(widget, question, chosen):
    """Send what the page sends when a choice is checked."""
    widget._handle_custom_msg({"question": question, "chosen": chosen}, [])


def test_the_widget_holds_the_questions_and_a_text_for_pages_without_a_kernel():
    questions = load_questions("masks")
    widget = Quiz("masks")
    assert [q["id"] for q in widget.questions] == [q.id for q in questions]
    data, _ = widget._repr_mimebundle_()
    assert data["text/html"] == html_text(questions)
    assert data["text/plain"] == plain_text(questions)
    assert "application/vnd.jupyter.widget-view+json" in data


def test_an_answer_is_judged_noted_and_told(file):
    questions = load_questions("masks")
    widget = Quiz("masks")
    assert widget.note == ""
    assert not file.exists()
    wrong = next(a for a in "abcd" if a != questions[0].key)
    tell(widget, questions[0].id, wrong)
    assert widget.note == "Your progress: 0 of 5 right, 0 at the first try."
    tell(widget, questions[0].id, questions[0].key)
    tell(widget, questions[1].id, questions[1].key)
    assert widget.note == "Your progress: 2 of 5 right, 1 at the first try."
    assert widget.noted == 3
    assert read_progress(file)["quiz"]["masks"][questions[0].id]["first"] == [wrong]
    assert Quiz("masks").note == widget.note


def test_the_same_answer_again_is_another_try(file):
    question = load_questions("masks")[0]
    widget = Quiz("masks")
    for _ in range(2):
        tell(widget, question.id, "a")
    assert read_progress(file)["quiz"]["masks"][question.id]["tries"] == 2


@pytest.mark.parametrize(
    "answer",
    [{}, {"question": "unknown", "chosen": "a"}, {"question": "purpose"}]
    + [
        {"question": "purpose", "chosen": chosen}
        for chosen in ("", "z", "a b", "h", None, 3)
    ],
)
def test_what_no_page_sends_is_not_noted(answer, file):
    Quiz("masks")._handle_custom_msg(answer, [])
    assert not file.exists()


def test_a_file_that_cannot_be_written_is_told_and_the_quiz_goes_on(file):
    file.write_text("damaged")
    widget = Quiz("masks")
    assert "damaged" in widget.note
    tell(widget, "purpose", "b")
    assert widget.note.startswith("Not noted.")
    assert widget.noted == 1
    assert file.read_text() == "damaged"


def test_answers_to_questions_that_are_gone_do_not_count(file):
    from course_lib.progress import note_answer

    note_answer("masks", "a-former-question", "a", True)
    assert earlier("masks", load_questions("masks")) == ""


def test_outside_a_notebook_the_quiz_is_plain_text():
    code = "from course_lib.quiz import show_quiz; show_quiz('masks')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == plain_text(load_questions("masks")) + "\n"
    assert done.stderr == ""


def test_a_question_with_several_right_is_judged_by_all_of_them(file):
    question = next(q for q in load_questions("masks") if q.several)
    widget = Quiz("masks")
    for chosen, right in ((question.key[:1], False), (question.key[::-1], True)):
        tell(widget, question.id, chosen)
        noted = read_progress(file)["quiz"]["masks"][question.id]
        assert noted["right"] is right
        assert noted["last"] == sorted(chosen)
    tell(widget, question.id, "abcd")
    assert "0 of 5 right, 0 at the first try" in widget.note
