"""A lesson as a page from the disk: what axe-core finds is not ours, nor what is fetched."""

import os
from pathlib import Path

import pytest

from tests.browser.lab import find, outside, severe

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
# The kinds of content there are; all sixteen in `make long`.
FEW = ["00_start", "05_cross_attention"]
ALL = sorted(path.stem for path in NOTEBOOKS.glob("[01]*.ipynb"))
# nbconvert's template, not our pages: its prompts and colours of code are pale, its links
# have no line below them. In tables with a name for each row the corner stays empty:
# Markdown's tables know no other way.
NOT_OURS = {
    "color-contrast": (
        'class="jp-InputPrompt',
        "<span class=",
        'class="jp-OutputPrompt',
    ),
    "link-in-text-block": ("<a href=",),
    "empty-table-header": ("<th></th>",),
}
# nbconvert's page asks for its own scripts there, and shows all but formulas without.
THEIRS = "https://cdnjs.cloudflare.com/ajax/libs/"


@pytest.mark.slow
@pytest.mark.parametrize("lesson", ALL if os.environ.get("COURSE_LONG") else FEW)
def test_an_exported_lesson_has_no_fault_of_ours(lesson, browser, axe, tmp_path):
    from nbconvert import HTMLExporter

    page = tmp_path / "lesson.html"
    page.write_text(HTMLExporter().from_filename(NOTEBOOKS / f"{lesson}.ipynb")[0])
    severe(browser)  # what the page before said,
    browser.get_log("performance")  # and what it asked for
    browser.get(page.as_uri())
    find(browser, "main")
    ours = [
        (name, node)
        for name, nodes in axe("body")
        for node in nodes
        if not any(mark in node for mark in NOT_OURS.get(name, ()))
    ]
    assert ours == []
    assert [line for line in severe(browser) if THEIRS not in line["message"]] == []
    assert [url for url in outside(browser, "file://") if THEIRS not in url] == []
    pictures = browser.execute_script(
        "return [...document.images].map((i) => [i.naturalWidth > 0, i.alt.length > 20])"
    )
    assert pictures
    assert all(all(one) for one in pictures)
