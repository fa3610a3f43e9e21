"""The chat panel in JupyterLab: a message is answered, stopped and forgotten."""

import nbformat
import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from tests.browser.lab import find, until  # noqa: E402

# A model that repeats one letter; it ends after three, but for a long message.
SOURCE = """
import time, torch
from course_lib.apps.chat import panel, tiny_chat
model, tokenizer = tiny_chat()

class Letters:
    def __init__(self, *settings, **named):
        self.n = 0

    def __call__(self, logits, history):
        self.n += 1
        time.sleep(0.02)
        short = len(history[0]) < 160
        return torch.tensor([tokenizer.eos_id if short and self.n > 3 else 70])

panel.Sampler = Letters
panel.ChatPanel(model, tokenizer, system="", max_new_tokens=2000)
"""


@pytest.fixture
def page(browser, lab):
    """Open a notebook that holds a chat panel; give its field, log and buttons."""
    cells = [nbformat.v4.new_code_cell(SOURCE)]
    lab.run(browser, nbformat.v4.new_notebook(cells=cells))
    (log,) = find(browser, ".chat-log")
    (field,) = find(browser, ".chat-field")
    buttons = {button.text: button for button in find(browser, ".chat-form button")}
    return field, log, buttons


@pytest.mark.slow
def test_a_person_can_chat_stop_and_begin_anew(browser, page):
    field, log, buttons = page
    field.send_keys("<script>document.title = 'broken'</script>", Keys.ENTER)
    until(browser, lambda: log.text.endswith("assistant: eee"))
    assert log.text.startswith("user: <script>document.title = 'broken'</script>")
    assert browser.title != "broken"
    assert field.get_attribute("value") == ""
    status = browser.find_element(By.CSS_SELECTOR, ".chat-status")
    until(browser, lambda: "tokens fed, first token after" in status.text)
    until(browser, lambda: not buttons["Stop"].is_enabled())  # the status comes first

    field.send_keys("?" * 200)
    buttons["Send"].click()
    until(browser, lambda: log.text.endswith("eeeeeeee"))
    assert log.get_attribute("aria-busy") == "true"
    assert not buttons["Send"].is_enabled()
    buttons["Stop"].click()
    until(browser, lambda: "ended by interrupted" in status.text)
    until(browser, lambda: log.get_attribute("aria-busy") == "false")
    assert len(log.find_elements(By.CSS_SELECTOR, ".chat-turn")) == 4

    buttons["Clear"].click()
    until(browser, lambda: log.text == "" and status.text == "Forgotten.")
    field.send_keys("Hi!", Keys.ENTER)
    until(browser, lambda: log.text == "user: Hi!\nassistant: eee")


@pytest.mark.slow
def test_a_screen_reader_finds_names_for_everything(browser, page, axe):
    field, log, _ = page
    assert axe(".jp-OutputArea-output:has(.chat-log)") == []
    assert field.accessible_name == "Your message"
    assert log.accessible_name == "Conversation"
    assert log.get_attribute("role") == "log"
    (slider,) = find(browser, ".chat-form input[type=range]")
    assert slider.accessible_name == "Temperature"
