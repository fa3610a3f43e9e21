"""The explorer in JupyterLab: it is looked at, it is clicked, Python reads the click."""

import nbformat
import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.browser.lab import ask, find, outside, severe, until  # noqa: E402

SOURCE = """
import torch
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.explorer import explore

config = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)
decoder = Decoder(config, generator=torch.Generator().manual_seed(3))
explorer = explore(decoder, [1, 2, 3, 5], max_new_tokens=2, text="<{}>".format)
explorer
"""


@pytest.fixture
def page(browser, lab):
    """Open a notebook that ends with an explorer and a cell of text."""
    browser.get_log("browser")
    browser.get_log("performance")
    v4 = nbformat.v4
    cells = [v4.new_code_cell(SOURCE), v4.new_markdown_cell("the end")]
    lab.run(browser, v4.new_notebook(cells=cells))
    find(browser, ".dx-status")
    return browser


def status(browser):
    return browser.execute_script(
        "return document.querySelector('.dx-status').textContent"
    )


def control(browser, key):
    return find(browser, f'[data-key="{key}"]')[0]


def says(browser, words):
    until(browser, lambda: words in status(browser))


@pytest.mark.slow
def test_a_person_looks_and_python_reads_what_was_clicked(page, lab, axe):
    n_cells = len(page.find_elements(By.CSS_SELECTOR, ".jp-Cell"))
    says(page, "Most is added by")
    control(page, "layer-1-self").click()
    says(page, "Layer 1, head 0, self-attention.")
    canvas = control(page, "weights")
    page.execute_script("arguments[0].focus()", canvas)
    page.switch_to.active_element.send_keys(Keys.HOME)
    until(page, lambda: ask(page, "print(explorer.cell[1])") == "0")
    page.switch_to.active_element.send_keys(Keys.ARROW_UP)
    says(page, "at position 2 reads most")
    for key in ("x", "d", "d", Keys.ARROW_RIGHT):
        page.switch_to.active_element.send_keys(key)
    until(page, lambda: ask(page, "print(explorer.cell)") == "(2, 1)")
    assert len(page.find_elements(By.CSS_SELECTOR, ".jp-Cell")) == n_cells
    said = ask(
        page,
        "print(explorer.mode, explorer.layer, explorer.kind, explorer.description)",
    )
    assert said == f"local 1 self {status(page)}"

    ask(page, "explorer.step, explorer.head = 1, 2")
    says(page, "Layer 1, head 2")
    control(page, "mode-dynamic").click()
    says(page, "keys and values of 4 come from the cache")
    control(page, "temperature").send_keys(Keys.CONTROL, "a")
    control(page, "temperature").send_keys("0.5", Keys.ENTER)
    asked = "print(explorer.temperature, explorer.mode)"
    until(page, lambda: ask(page, asked) == "0.5 dynamic")
    control(page, "mode-static").click()
    find(page, ".dx-still img")
    said = ask(page, "print(explorer.figure().alt)")
    says(page, said)
    assert axe(".dx") == []
    assert len(page.find_elements(By.CSS_SELECTOR, ".jp-Cell")) == n_cells

    assert severe(page) == []
    assert outside(page, lab.url) == []


@pytest.mark.slow
def test_the_explorer_says_when_its_kernel_is_gone(page):
    says(page, "Most is added by")
    page.execute_async_script(
        "const done = arguments[0];"
        "const panel = window.jupyterapp.shell.currentWidget;"
        "panel.sessionContext.shutdown().then(() => setTimeout(done, 500));"
    )
    control(page, "mode-local").click()
    words = "No answer from Python: the kernel is busy or gone."
    until(page, lambda: words in page.find_element(By.CSS_SELECTOR, ".dx").text)


@pytest.mark.slow
def test_a_stored_notebook_shows_the_still_before_anything_runs(browser, lab, tmp_path):
    from nbconvert import HTMLExporter

    from course_lib.decoder import Decoder, DecoderConfig
    from course_lib.explorer import explore

    decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    explorer = explore(decoder, [1, 2, 3], max_new_tokens=2, mode="local")
    data, _ = explorer._repr_mimebundle_()
    alt = explorer.figure().alt
    kept = {name: data[name] for name in ("text/html", "text/plain")}
    v4 = nbformat.v4
    cell = v4.new_code_cell("explorer", execution_count=1)
    cell.outputs = [v4.new_output("execute_result", kept, execution_count=1)]
    notebook = v4.new_notebook(cells=[cell])
    nbformat.write(notebook, lab.folder / "stored.ipynb")
    browser.get(f"{lab.url}lab/tree/stored.ipynb?reset")
    (picture,) = find(browser, ".jp-OutputArea figure img")
    assert picture.get_attribute("alt") == alt
    page, _ = HTMLExporter().from_notebook_node(notebook)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    browser.get((tmp_path / "page.html").as_uri())
    (picture,) = find(browser, "main figure img")
    assert picture.get_attribute("alt") == alt
