"""Every demo as a page of its own, served by Voila, with the network cut."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
pytest.importorskip("voila", reason="needs voila (extra `teach`)")
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from course_lib.pretrained.storage import cache_folder  # noqa: E402
from tests.browser.lab import find, outside, severe, until  # noqa: E402

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import demo as tool  # noqa: E402

DEMOS = sorted(path.stem for path in tool.DEMOS.glob("*.ipynb"))
STARTED_SECONDS = 60
LOWEST = "return document.querySelector('.demo-readout').getBoundingClientRect().bottom"


@pytest.fixture(scope="module")
def voila(tmp_path_factory, browser):
    """Serve all demos with the settings of `make demo`, and give their address."""
    command = [sys.executable, "-u", "-m", "voila", tool.DEMOS, *tool.SETTINGS]
    with socket.socket() as free:  # with port 0, voila does not say which it took
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command += ["--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1"]
    own = {"COURSE_CACHE": str(cache_folder(os.environ))}
    own |= {"HOME": str(tmp_path_factory.mktemp("home"))}
    server = subprocess.Popen(
        command,
        env=tool.environment() | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    said = []
    # what it says later has to be read, too, or its pipe runs full
    reader = threading.Thread(target=lambda: said.extend(server.stdout), daemon=True)
    reader.start()
    try:
        yield wait_for_address(server, said)
        # the last page asks its kernel to end when it is left: not in another test's log
        browser.get("about:blank")
        browser.get_log("browser")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(20)
        reader.join(20)
        server.stdout.close()


def wait_for_address(server, said):
    """Give the address that voila says once it answers there."""
    deadline = time.monotonic() + STARTED_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if found := re.search(r"http://[\w.]+:\d+/", "".join(said)):
            return found[0]
        time.sleep(0.1)
    raise AssertionError("voila did not start:\n" + "".join(said))


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_is_a_page(name, browser, voila):
    browser.get(
        "about:blank"
    )  # a page that is left asks its kernel to end, and may not
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(f"{voila}voila/render/{name}.ipynb")
    find(browser, ".demo-question", 60)
    (view, *_) = find(browser, ".demo-readout, .dx-status")
    until(browser, lambda: view.text)
    page = browser.find_element(By.CSS_SELECTOR, "body")
    assert not page.find_elements(By.CSS_SELECTOR, ".jp-InputArea, .demo-still, h1")
    assert "Speaker" not in page.text
    question = find(browser, ".demo-question")[0]
    first = question.text, view.text
    find(browser, "[data-key=next]")[0].click()
    find(browser, "[data-key=reveal]")[0].click()
    answer = browser.find_element(By.CSS_SELECTOR, ".demo-answer")
    until(browser, lambda: answer.text)
    until(browser, lambda: (question.text, view.text) != first and view.text)
    assert severe(browser) == []
    assert outside(browser, voila, voila.replace("http", "ws")) == []


HEIGHT = "return document.querySelector('.demo-picture img').clientHeight"
# For a second: the sizes that the picture has, and what could be scrolled.
WATCH = """
const done = arguments[0], sizes = new Set(), scrolled = new Set();
const scrolls = (one) =>
  /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight;
const end = performance.now() + 1000;
const look = () => {
  sizes.add(document.querySelector(".demo-picture img").clientHeight);
  [...document.querySelectorAll("body *")].filter(scrolls).forEach((one) =>
    scrolled.add(one.id || one.className));
  if (performance.now() < end) requestAnimationFrame(look);
  else done([[...sizes], [...scrolled]]);
};
look();
"""
# with the longest words, and those that have flickered; `make long` looks at all
LENGTHY = ["chat", "positions", "feed_forward"]


def at_rest(browser):
    """Whether the picture kept one size for a second, and nothing could be scrolled."""
    sizes, scrolled = browser.execute_async_script(WATCH)
    return len(sizes) == 1 and not scrolled


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMOS if os.environ.get("COURSE_LONG") else LENGTHY)
def test_on_a_projector_all_is_seen_and_nothing_moves(name, browser, voila):
    """At 1280 x 720 and size 2: without scrolling, and without a flicker."""
    browser.set_window_size(1280, 900)
    edge = browser.execute_script("return window.outerHeight - window.innerHeight")
    browser.set_window_size(1280, 720 + edge)
    browser.get(f"{voila}voila/render/{name}.ipynb")
    size = find(browser, "[data-key=font_scale]", 60)[0]
    Select(size).select_by_value("2")
    for _ in range(20):
        reveal = find(browser, "[data-key=reveal]")[0]
        reveal.click()
        until(browser, lambda: find(browser, ".demo-answer")[0].text)
        until(browser, lambda: browser.execute_script(LOWEST) <= 721)
        until(browser, lambda: at_rest(browser))
        assert browser.execute_script(HEIGHT) >= 160
        forth = find(browser, "[data-key=next]")[0]
        if forth.get_attribute("aria-disabled") == "true":
            return
        forth.click()
        until(browser, lambda: not find(browser, ".demo-answer")[0].text)


def test_make_demo_serves_one_notebook_with_these_settings():
    command = tool.command("masks", "--no-browser")
    assert command[1:4] == ["-m", "voila", str(tool.DEMOS / "masks.ipynb")]
    assert command[4:] == [*tool.SETTINGS, "--no-browser"]
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert 'tools/demo.py "$(NAME)"' in recipe


def test_an_unknown_demo_is_answered_with_those_there_are():
    command = [sys.executable, ROOT / "tools" / "demo.py", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(name in done.stderr for name in DEMOS)
