"""The player in JupyterLab: the sound plays, and captions appear word by word."""

import nbformat
import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

SOURCE = """
from dataclasses import replace
from course_lib.apps.captions import Word, show_captions
from course_lib.data.speech import sentences
spoken = next(each for each in sentences() if each.name == "letter")
ends = [*spoken.starts[1:], 2.5]
words = [Word(*each) for each in zip(spoken.words, spoken.starts, ends)]
words[-1] = replace(words[-1], text="<b>week</b>.")
show_captions(spoken.path, words, label="A letter & more")
"""
CUES = """
const track = document.querySelector(".jp-Cell video").textTracks[0];
return [...(track.cues || [])].map((cue) => [cue.startTime, cue.endTime, cue.text]);
"""
SHOWN = """
const video = document.querySelector(".jp-Cell video");
return [...video.textTracks[0].activeCues].map((cue) => cue.getCueAsHTML().textContent);
"""


@pytest.fixture
def video(browser, lab):
    cells = [nbformat.v4.new_code_cell(SOURCE)]
    lab.run(browser, nbformat.v4.new_notebook(cells=cells))
    wait = WebDriverWait(browser, 30, poll_frequency=0.05)
    found = wait.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".jp-Cell video"))
    wait.until(lambda b: b.execute_script("return arguments[0].duration", found[0]))
    wait.until(lambda b: b.execute_script(CUES))
    return found[0]


@pytest.mark.slow
def test_captions_grow_word_by_word_while_the_sound_plays(browser, video):
    wait = WebDriverWait(browser, 30, poll_frequency=0.05)
    assert 2.5 < browser.execute_script("return arguments[0].duration", video) < 4
    cues = browser.execute_script(CUES)
    assert [text.count(" ") + 1 for _, _, text in cues] == list(range(1, 11))
    assert all(a[1] == b[0] for a, b in zip(cues, cues[1:], strict=False))

    def shown_at(seconds):
        browser.execute_script(
            "arguments[0].currentTime = arguments[1]", video, seconds
        )
        return wait.until(lambda b: b.execute_script(SHOWN))

    assert shown_at(0.7) == ["She wrote a long"]
    assert shown_at(2.3) == ["She wrote a long letter to her brother last <b>week</b>."]
    browser.execute_script("arguments[0].muted = true; arguments[0].play()", video)
    wait.until(
        lambda b: b.execute_script("return arguments[0].currentTime > 2.4", video)
    )


@pytest.mark.slow
def test_the_text_can_be_read_without_playing(browser, video, axe):
    details = browser.find_element(By.CSS_SELECTOR, ".jp-Cell details")
    details.find_element(By.TAG_NAME, "summary").click()
    assert "A letter & more: the text" in details.text
    assert "She wrote a long letter" in details.text
    assert "<b>week</b>." in details.text
    assert axe(".jp-OutputArea-output figure") == []
