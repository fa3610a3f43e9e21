"""The quiz in JupyterLab: it asks, it is noted, and a stored page does without it."""

import json
from pathlib import Path

import nbformat
import pytest

from course_lib.quiz import load_questions

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402

from tests.browser.lab import find, outside, until  # noqa: E402

SOURCE = 'from course_lib.quiz import show_quiz\n\nshow_quiz("masks")'
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_an_answer_in_jupyterlab_reaches_the_progress_file(browser, lab):
    v4 = nbformat.v4
    cells = [v4.new_code_cell(SOURCE), v4.new_markdown_cell("the end")]
    lab.run(browser, v4.new_notebook(cells=cells))
    fieldsets = find(browser, ".quiz fieldset")
    questions = load_questions("masks")
    assert len(fieldsets) == len(questions)
    n_cells = len(browser.find_elements(By.CSS_SELECTOR, ".jp-Cell"))

    key = "abcd".index(questions[0].key)
    boxes = fieldsets[0].find_elements(By.TAG_NAME, "input")
    wrong = next(i for i in range(4) if i != key)
    for place, note in ((wrong, "0 of 5 right, 0"), (key, "1 of 5 right, 0")):
        boxes[place].click()
        boxes[place].send_keys("x")  # would cut the cell, if it reached JupyterLab
        fieldsets[0].find_element(By.TAG_NAME, "button").click()
        says = browser.find_element(By.CSS_SELECTOR, ".quiz-note")
        until(browser, lambda says=says, note=note: note in says.text)
    assert len(browser.find_elements(By.CSS_SELECTOR, ".jp-Cell")) == n_cells
    noted = json.loads(lab.progress.read_text())["quiz"]["masks"][questions[0].id]
    assert noted["tries"] == 2
    assert (noted["first_right"], noted["right"]) == (False, True)


@pytest.mark.slow
def test_the_quiz_goes_on_when_the_kernel_is_gone(browser, lab):
    lab.run(
        browser, nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE)])
    )
    find(browser, ".quiz fieldset")
    browser.execute_async_script(
        "const done = arguments[0];"
        "const panel = window.jupyterapp.shell.currentWidget;"
        "panel.sessionContext.shutdown().then(() => setTimeout(done, 500));"
    )
    (fieldset, *_) = find(browser, ".quiz fieldset")
    question = load_questions("masks")[0]
    fieldset.find_elements(By.TAG_NAME, "input")["abcd".index(question.key)].click()
    fieldset.find_element(By.TAG_NAME, "button").click()
    until(browser, lambda: "Right." in fieldset.text)
    note = browser.find_element(By.CSS_SELECTOR, ".quiz-note")
    until(browser, lambda: note.text.startswith("Not noted yet: the kernel is"))


@pytest.mark.slow
def test_answers_given_while_the_kernel_is_busy_are_all_noted(browser, lab):
    cells = [nbformat.v4.new_code_cell(s) for s in (SOURCE, "1 + 1")]
    lab.progress.unlink(missing_ok=True)
    lab.run(browser, nbformat.v4.new_notebook(cells=cells))
    fieldsets = find(browser, ".quiz fieldset")
    browser.execute_script(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel"
        ".requestExecute({code: 'import time; time.sleep(6)'});"
    )
    questions = load_questions("masks")[:4]
    for question, fieldset in zip(questions, fieldsets, strict=False):
        fieldset.find_elements(By.TAG_NAME, "input")["abcd".index(question.key)].click()
        fieldset.find_element(By.TAG_NAME, "button").click()
    note = browser.find_element(By.CSS_SELECTOR, ".quiz-note")
    until(browser, lambda: "4 of 5 right, 4 at the first try" in note.text)
    noted = json.loads(lab.progress.read_text())["quiz"]["masks"]
    assert sorted(noted) == sorted(question.id for question in questions)


@pytest.mark.slow
def test_the_quiz_asks_nothing_of_the_network(browser, lab):
    browser.get_log("performance")
    v4 = nbformat.v4
    lab.run(browser, v4.new_notebook(cells=[v4.new_code_cell(SOURCE)]))
    find(browser, ".quiz fieldset")
    assert outside(browser, lab.url) == []


@pytest.fixture(scope="module")
def stored_quiz():
    """Give a notebook that holds only a lesson's quiz, as it is stored."""
    lesson = nbformat.read(ROOT / "notebooks" / "02_masks.ipynb", as_version=4)
    is_quiz = [c for c in lesson.cells if c.cell_type == "code" and SOURCE in c.source]
    lesson.cells = is_quiz
    return lesson


@pytest.mark.slow
def test_a_stored_lesson_shows_the_questions_before_anything_runs(
    browser, lab, stored_quiz
):
    nbformat.write(stored_quiz, lab.folder / "stored.ipynb")
    browser.get(f"{lab.url}lab/tree/stored.ipynb?reset")
    details = find(browser, ".jp-OutputArea details")
    questions = load_questions("masks")
    assert len(details) == len(questions)
    reason = questions[0].choices[0].reason
    assert reason not in details[0].text
    details[0].find_element(By.TAG_NAME, "summary").click()
    until(browser, lambda: reason in details[0].text)


@pytest.mark.slow
def test_an_exported_page_shows_the_questions_too(browser, stored_quiz, tmp_path):
    from nbconvert import HTMLExporter

    page, _ = HTMLExporter().from_notebook_node(stored_quiz)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    details = find(browser, "main details")
    assert len(details) == len(load_questions("masks"))
    questions = browser.find_element(By.TAG_NAME, "main").text
    assert all(question.text in questions for question in load_questions("masks"))
