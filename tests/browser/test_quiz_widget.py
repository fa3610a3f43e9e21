"""The quiz in a bare page, without Jupyter: what it says is what Python says."""

import base64
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from course_lib.quiz import data, load_questions

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.browser.lab import until  # noqa: E402

HERE = Path(data.__file__).parent
LESSONS = sorted(path.stem for path in data.FOLDER.glob("*.toml"))
STUB = """<!doctype html><html lang="en"><title>Quiz</title>
<style>{css}</style>
<style>html {{ {theme} }}</style>
<main><h1>Quiz</h1><div id="place"></div></main>
<script type="module">
const values = {values}, heard = {{}};
window.sent = [];
window.keys = [];
window.model = {{
  get: (name) => values[name],
  set(name, value) {{
    values[name] = value;
    for (const hear of heard["change:" + name] ?? []) hear();
  }},
  send(message) {{ window.sent.push(message); }},
  on(names, hear) {{ for (const name of names.split(" ")) (heard[name] ??= []).push(hear); }},
  off(names, hear) {{
    for (const name of names.split(" ")) heard[name] = heard[name].filter((h) => h !== hear);
  }},
}};
window.heard = heard;
addEventListener("keydown", (event) => window.keys.push(event.key));
const widget = await import("data:text/javascript;base64,{script}");
window.clean = widget.default.render({{ model, el: document.getElementById("place") }});
document.title = "ready";
</script></html>"""
DARK = (
    "--jp-ui-font-color1: #ddd; --jp-ui-font-color2: #bbb; --jp-border-color1: #777;"
    "--jp-layout-color2: #333; --jp-brand-color1: #6af; background: #111; color: #ddd"
)


@pytest.fixture
def open_quiz(browser, tmp_path):
    """Open the quiz of a lesson in a page with a stub of the widget's model."""

    def opened(questions, theme="", note=""):
        values = {"questions": [asdict(q) for q in questions], "note": note, "noted": 0}
        script = base64.b64encode((HERE / "widget.js").read_bytes()).decode()
        css = (HERE / "widget.css").read_text()
        page = STUB.format(
            css=css, theme=theme, values=json.dumps(values), script=script
        )
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        browser.get((tmp_path / "page.html").as_uri())
        until(browser, lambda: browser.title == "ready")
        return browser.find_elements(By.TAG_NAME, "fieldset")

    return opened


def reply(fieldset):
    return fieldset.find_element(By.CSS_SELECTOR, "[role=status]").text


def answer(fieldset, letters):
    """Choose exactly these letters and check them."""
    for box in fieldset.find_elements(By.TAG_NAME, "input"):
        wanted = box.get_attribute("value") in letters
        if box.is_selected() != wanted and (
            wanted or box.get_attribute("type")[0] == "c"
        ):
            box.click()
    buttons = fieldset.find_elements(By.TAG_NAME, "button")
    buttons[0].click()


def plain(text):
    return text.replace("`", "")


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_choice_shows_its_own_reason_and_verdict(browser, open_quiz, lesson):
    questions = load_questions(lesson)
    for question, fieldset in zip(questions, open_quiz(questions), strict=True):
        legend = fieldset.find_element(By.TAG_NAME, "legend").text
        assert legend.endswith(plain(question.text))
        for letter, choice in zip(data.LETTERS, question.choices, strict=False):
            answer(fieldset, letter)
            said = reply(fieldset)
            assert said.startswith(
                "✓ Right." if question.is_right(letter) else "✗ Not yet."
            )
            verdict = "right" if choice.right else "wrong"
            assert f"({letter}) {verdict}: {plain(choice.reason)}" in said
            others = [c.reason for c in question.choices if c is not choice]
            assert not [reason for reason in others if plain(reason) in said]
        answer(fieldset, question.key)
        assert reply(fieldset).startswith("✓ Right.")
    sent = browser.execute_script("return window.sent")
    tried = [(s["question"], s["chosen"]) for s in sent]
    letters = [
        (q.id, a) for q in questions for a in [*data.LETTERS[: len(q.choices)], q.key]
    ]
    assert tried == letters


SEVERAL = data.Question(
    "two",
    "Which are even? Choose all that hold.",
    (
        data.Choice("`2`", True, "2 = 2 · 1."),
        data.Choice("3", False, "3 = 2 · 1 + 1."),
        data.Choice("4", True, "4 = 2 · 2."),
    ),
    several=True,
)
ONE = data.Question(
    "one",
    "What is 1 + 1?",
    (data.Choice("2 <b>", True, "Count."), data.Choice("11", False, "No string.")),
)


def test_several_right_choices_must_all_be_chosen_and_none_besides(open_quiz):
    (fieldset,) = open_quiz([SEVERAL])
    still = "One that is right is still missing."
    answer(fieldset, "a")
    assert reply(fieldset).startswith("✗ Not yet.")
    assert still in reply(fieldset)
    answer(fieldset, "abc")
    assert reply(fieldset).startswith("✗ Not yet.")
    assert still not in reply(fieldset)
    answer(fieldset, "ac")
    assert reply(fieldset).startswith("✓ Right.")


def test_nothing_chosen_is_not_an_answer(browser, open_quiz):
    (fieldset,) = open_quiz([ONE])
    answer(fieldset, "")
    assert reply(fieldset) == "Choose first."
    assert browser.execute_script("return window.sent") == []


def test_text_is_shown_as_it_stands_and_never_read_as_html(open_quiz):
    fieldsets = open_quiz([ONE, SEVERAL])
    assert "2 <b>" in fieldsets[0].text
    assert fieldsets[1].find_element(By.TAG_NAME, "code").text == "2"


def test_another_choice_takes_the_old_reply_away(open_quiz):
    (fieldset,) = open_quiz([ONE])
    answer(fieldset, "b")
    fieldset.find_elements(By.TAG_NAME, "input")[0].click()
    assert reply(fieldset) == ""


def test_the_other_reasons_unfold_and_fold_after_an_answer(open_quiz):
    (fieldset,) = open_quiz([SEVERAL])
    others = fieldset.find_elements(By.TAG_NAME, "button")[1]
    assert not others.is_displayed()
    answer(fieldset, "b")
    others.click()
    assert others.get_attribute("aria-expanded") == "true"
    assert all(fieldset.text.count(choice.reason) == 1 for choice in SEVERAL.choices)
    others.click()
    assert others.get_attribute("aria-expanded") == "false"
    assert "2 = 2 · 1." not in fieldset.text
    answer(fieldset, "abc")
    assert not others.is_displayed()


def test_the_keyboard_alone_answers(browser, open_quiz):
    one, several = open_quiz([ONE, SEVERAL])
    press = lambda *keys: [  # noqa: E731
        browser.switch_to.active_element.send_keys(key) for key in keys
    ]
    one.find_element(By.TAG_NAME, "input").send_keys(Keys.SPACE)
    press(Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.TAB, Keys.ENTER)
    assert reply(one).startswith("✓ Right.")
    press(Keys.TAB, Keys.SPACE)  # other reasons
    assert "No string." in one.text
    press(Keys.TAB, Keys.SPACE, Keys.TAB, Keys.TAB, Keys.SPACE, Keys.TAB, Keys.ENTER)
    assert reply(several).startswith("✓ Right.")


def test_keys_do_not_reach_the_notebook_around_it(browser, open_quiz):
    (fieldset,) = open_quiz([ONE])
    fieldset.find_element(By.TAG_NAME, "input").send_keys(
        "x", "d", "d", Keys.ARROW_DOWN
    )
    assert browser.execute_script("return window.keys") == []
    browser.find_element(By.TAG_NAME, "input").send_keys(Keys.CONTROL, "b")
    keys = browser.execute_script("return window.keys")
    assert keys[-1] == "b", "what is held with Ctrl is meant for the notebook"


def test_what_python_notes_is_shown_and_spoken(browser, open_quiz):
    open_quiz([ONE], note="Your progress: 0 of 1 right, 0 at the first try.")
    note = browser.find_element(By.CSS_SELECTOR, ".quiz-note")
    assert note.get_attribute("role") == "status"
    browser.execute_script("window.model.set('note', 'Your progress: 1 of 1 right')")
    assert note.text == "Your progress: 1 of 1 right"
    browser.execute_script("window.model.set('noted', 1)")
    assert note.text == "Your progress: 1 of 1 right"
    browser.execute_script("window.clean()")
    assert browser.execute_script("return window.heard['change:note']") == []


@pytest.mark.parametrize("theme", ["", DARK], ids=["light", "dark"])
def test_axe_finds_nothing_before_or_after_an_answer(browser, open_quiz, axe, theme):
    fieldsets = open_quiz([ONE, SEVERAL], theme, note="Your progress: 1 of 2 right.")
    assert axe(".quiz") == []
    answer(fieldsets[0], "b")
    answer(fieldsets[1], "ac")
    fieldsets[1].find_elements(By.TAG_NAME, "button")[1].click()
    assert axe(".quiz") == []


def test_every_control_has_a_name_of_its_own(browser, open_quiz):
    fieldsets = open_quiz([ONE, SEVERAL])
    answer(fieldsets[0], "b")
    buttons = browser.find_elements(By.CSS_SELECTOR, ".quiz button")
    names = [b.accessible_name for b in buttons if b.is_displayed()]
    assert names == [
        "Check question 1",
        "Other reasons of question 1",
        "Check question 2",
    ]
    inputs = browser.find_elements(By.CSS_SELECTOR, ".quiz input")
    named = [box.accessible_name for box in inputs]
    assert named == ["(a) 2 <b>", "(b) 11", "(a) 2", "(b) 3", "(c) 4"]
    groups = [f.accessible_name for f in fieldsets]
    assert groups == ["1. What is 1 + 1?", f"2. {SEVERAL.text}"]
