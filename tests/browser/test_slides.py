"""Slides from disk, in a browser without a network: every slide shows, fits and is heard."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
pytest.importorskip("sphinx_revealjs", reason="needs sphinx-revealjs (extra `teach`)")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.browser.lab import outside, severe, until  # noqa: E402

ROOT = Path(__file__).parents[2]
# Drawn smaller than this, a slide cannot be read from the last row: cut it in two.
SMALLEST = 0.6
AT = "return Reveal.getState().indexh"
FITS = """
const slide = Reveal.getCurrentSlide();
const zoom = Number(slide.style.zoom || 1);
const here = [...slide.querySelectorAll("img")].filter((image) => image.checkVisibility());
if (!here.every((image) => image.complete && image.naturalWidth)) return null;
const bare = [...slide.querySelectorAll("img")].filter((image) => !image.alt);
return [zoom, slide.scrollHeight * zoom, slide.scrollWidth - slide.clientWidth, bare.length];
"""
# Not of our making: nbconvert makes cells focusable, and reveal.js puts its arrows into an
# <aside>; both are theirs to name.
NOT_OURS = {"scrollable-region-focusable", "landmark-complementary-is-top-level"}


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Cut the slides of every lesson and demo."""
    folder = tmp_path_factory.mktemp("slides")
    command = [sys.executable, ROOT / "tools" / "slides.py", "--to", folder]
    subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return folder


@pytest.mark.slow
def test_every_slide_of_every_deck_fits_its_page(browser, decks):
    browser.set_window_size(1280, 900)
    pages = sorted(decks.glob("*_*.html"))
    lessons = [page for page in pages if page.name[0].isdigit()]
    assert len(lessons) == len(list((ROOT / "notebooks").glob("*.ipynb")))
    assert len(pages) - len(lessons) == len(
        list((ROOT / "notebooks/demos").glob("*.ipynb"))
    )
    browser.get("about:blank")
    browser.get_log("browser")
    browser.get_log("performance")
    for page in pages:
        browser.get(page.as_uri())
        until(
            browser, lambda: browser.execute_script("return window.Reveal?.isReady()")
        )
        n_slides = browser.execute_script("return Reveal.getTotalSlides()")
        assert n_slides >= 4, page.name
        for at in range(n_slides):
            browser.execute_script("Reveal.slide(arguments[0], 0)", at)
            zoom, height, over, bare = until(
                browser, lambda: browser.execute_script(FITS)
            )
            where = f"{page.name}, slide {at + 1}"
            assert zoom >= SMALLEST, f"{where} holds too much: {zoom:.2f}"
            assert height <= 721, where
            assert over <= 1, f"{where} is too wide"
            assert not bare, f"{where} has a picture without words"
    assert severe(browser) == []
    assert outside(browser, "file://") == []


@pytest.mark.slow
def test_keys_go_on_notes_are_there_and_formulas_are_drawn(browser, decks, axe):
    browser.get((decks / "02_masks.html").as_uri())
    until(browser, lambda: browser.execute_script("return window.Reveal?.isReady()"))
    body = browser.find_element(By.CSS_SELECTOR, "body")
    body.send_keys(Keys.ARROW_RIGHT)
    until(browser, lambda: browser.execute_script(AT) == 1)
    notes = browser.execute_script("return Reveal.getSlideNotes()")
    assert "which loss will each of the two reach" in notes
    for _ in range(2):
        body.send_keys(Keys.ARROW_RIGHT)
    until(browser, lambda: browser.execute_script(AT) == 3)
    drawn = browser.find_elements(By.CSS_SELECTOR, "section.present math")
    assert drawn
    assert drawn[0].size["width"] > 5
    assert "$" not in browser.find_element(By.CSS_SELECTOR, "section.present").text
    found = [fault for fault in axe(".reveal") if fault[0] not in NOT_OURS]
    assert found == []


@pytest.mark.slow
def test_a_demo_can_be_given_from_its_slides(browser, decks):
    browser.get((decks / "demo_softmax.html").as_uri())
    until(browser, lambda: browser.execute_script("return window.Reveal?.isReady()"))
    browser.execute_script("Reveal.slide(3, 0)")
    slide = browser.find_element(By.CSS_SELECTOR, "section.present")
    (details,) = slide.find_elements(By.CSS_SELECTOR, "details")
    pictures = details.find_elements(By.CSS_SELECTOR, "img")
    assert not pictures[0].is_displayed()  # they predict first
    details.find_element(By.CSS_SELECTOR, "summary").click()
    until(browser, pictures[0].is_displayed)
    assert "Ask" in browser.execute_script("return Reveal.getSlideNotes()")


def test_a_dollar_in_code_stays_and_a_formula_becomes_mathml():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from slides import with_mathml
    finally:
        sys.path.pop(0)
    text = with_mathml("`cost $5` and $x_1$, then\n$$a = b$$\nand $5")
    assert text.startswith("`cost $5` and <math")
    assert text.count("<math") == 2
    assert 'display="block"' in text
    assert text.endswith("and $5")
