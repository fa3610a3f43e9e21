"""Every demo in JupyterLab: run, each control moved, every step revealed, nothing else asked.

What the page says is held against what Python draws for the same values anew.
"""

import json
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from tests.browser.lab import ask, find, outside, severe, until  # noqa: E402

DEMOS = sorted(
    (Path(__file__).parents[2] / "notebooks" / "demos").glob("*.ipynb"),
)
pytestmark = pytest.mark.slow


@pytest.fixture(params=DEMOS, ids=lambda path: path.stem)
def page(request, browser, lab):
    """Open a demo's notebook in JupyterLab and run all of it."""
    browser.get_log("browser")
    browser.get_log("performance")
    lab.run(browser, nbformat.read(request.param, as_version=4))
    find(browser, ".demo-bar .demo-question")
    find(browser, ".demo-stage .demo-plot, .demo-stage .dx-status")
    return browser


def said(browser):
    """Give what the page says of its picture: the plot's read-out, or the explorer's."""
    return browser.execute_script(
        "return document.querySelector('.demo-stage .demo-readout, "
        ".demo-stage .dx-status').textContent"
    )


def asked_anew(browser, code):
    return json.loads(ask(browser, f"import json; print(json.dumps({code}))"))


def is_plot(browser):
    return asked_anew(browser, "hasattr(demo.view, 'readout')")


def agrees(browser):
    """Wait until page and Python say the same, and Python says it of what stands now."""
    if is_plot(browser):
        right = "demo.view.figure(**demo.view.values).caption"
        try:
            until(browser, lambda: said(browser) == asked_anew(browser, right))
        except Exception:
            assert said(browser) == asked_anew(browser, right)
    else:
        until(
            browser,
            lambda: said(browser) == asked_anew(browser, "demo.view.description"),
        )


def move(control):
    """Move a control as a hand does, and give what it then shows."""
    if control.tag_name == "select":
        options = Select(control).options
        here = [option.is_selected() for option in options].index(True)
        Select(control).select_by_index((here + 1) % len(options))
    elif control.get_attribute("type") == "checkbox":
        control.click()
        return control.is_selected()
    elif control.get_attribute("type") == "range":
        before = control.get_attribute("value")
        control.send_keys(Keys.ARROW_RIGHT)
        if control.get_attribute("value") == before:
            control.send_keys(Keys.ARROW_LEFT)
        return float(control.get_attribute("value"))
    else:
        control.send_keys(Keys.CONTROL, "a")
        control.send_keys("5 <b>x", Keys.ENTER)
    return control.get_attribute("value")


def test_a_talk_goes_through(page, lab, axe):
    n_cells = len(page.find_elements(By.CSS_SELECTOR, ".jp-Cell"))
    steps = asked_anew(page, "demo.bar.steps")
    for at, step in enumerate(steps):
        question = page.find_element(By.CSS_SELECTOR, ".demo-question")
        until(page, lambda step=step, q=question: q.text == step["ask"])
        agrees(page)
        page.find_element(By.CSS_SELECTOR, "[data-key=reveal]").click()
        answer = page.find_element(By.CSS_SELECTOR, ".demo-answer")
        until(page, lambda step=step, a=answer: a.text == step["answer"])
        until(page, lambda: asked_anew(page, "demo.revealed"))
        agrees(page)
        looked = asked_anew(page, f"[demo.look_of({at}, True), demo.view.state]")
        assert looked[0] == looked[1]
        page.find_element(By.CSS_SELECTOR, "[data-key=next]").click()
    assert (
        axe(".demo-stage") == []
    )  # at the last reveal's answer, with all that is shown
    for _ in steps:
        page.find_element(By.CSS_SELECTOR, "[data-key=back]").click()
    # the page may still be at an earlier step, and then a control moves from there
    begun = "[demo.at, demo.look_of(0, False) == demo.view.state]"
    until(page, lambda: asked_anew(page, begun) == [0, True])
    agrees(page)

    first = asked_anew(page, "demo.view.state")
    if is_plot(page):
        for name in first:
            control = page.find_element(By.CSS_SELECTOR, f'[data-key="{name}"]')
            shown = move(control)
            until(
                page,
                lambda n=name: asked_anew(page, f"demo.view.values['{n}']") != first[n],
            )
            assert asked_anew(page, f"demo.view.values['{name}']") == shown
            agrees(page)
    else:
        names = [
            control.get_attribute("data-key")
            for control in page.find_elements(
                By.CSS_SELECTOR, ".dx-controls input, .dx-controls select"
            )
            if control.is_displayed()
        ]
        assert names
        for name in names:
            # the explorer draws a control anew when it is moved
            control = page.find_element(By.CSS_SELECTOR, f'.dx [data-key="{name}"]')
            if control.is_displayed() and control.is_enabled():
                move(control)
                agrees(page)
    page.find_element(By.CSS_SELECTOR, "[data-key=again]").click()
    until(page, lambda: asked_anew(page, "demo.view.state") == first)
    agrees(page)

    button = page.find_element(By.CSS_SELECTOR, "[data-key=reveal]")
    for key in ("x", "d", "d", "a", Keys.ARROW_DOWN):
        button.send_keys(key)
    agrees(page)
    assert len(page.find_elements(By.CSS_SELECTOR, ".jp-Cell")) == n_cells
    assert severe(page) == []
    assert outside(page, lab.url) == []


def test_the_bar_says_when_the_kernel_is_gone(browser, lab):
    source = (
        "from course_lib.demos import Demo, Plot, Step, new_stage, slider\n"
        "from course_lib.figures import Still\n\n\n"
        "def draw(layer):\n"
        "    return Still(new_stage()[0], 'Nothing.', f'Layer {layer}.')\n\n\n"
        "view = Plot(draw, layer=slider('Layer', 0, low=0, high=3))\n"
        "demo = Demo('Layers', view, [Step('Next?', 'One.', after={'layer': 1})])\n"
        "demo"
    )
    cell = nbformat.v4.new_code_cell(source)
    lab.run(browser, nbformat.v4.new_notebook(cells=[cell]))
    (reveal,) = find(browser, "[data-key=reveal]")
    reveal.click()
    until(browser, lambda: said(browser) == "Layer 1.")
    browser.execute_async_script(
        "const done = arguments[0];"
        "const panel = window.jupyterapp.shell.currentWidget;"
        "panel.sessionContext.shutdown().then(() => setTimeout(done, 500));"
    )
    (reveal,) = find(browser, "[data-key=reveal]")
    browser.execute_script("arguments[0].click()", reveal)
    words = "No answer from Python: the kernel is busy or gone."
    until(browser, lambda: find(browser, ".demo-answer")[0].text == words)
