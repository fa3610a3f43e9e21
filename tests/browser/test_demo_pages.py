"""Every demo as a page of its own, served by Voila, with the network cut."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
pytest.importorskip("voila", reason="needs voila (extra `teach`)")
from selenium.webdriver.common.by import By  # noqa: E402

from course_lib.pretrained.storage import cache_folder  # noqa: E402
from tests.browser.lab import find, outside, severe, until  # noqa: E402

ROOT = Path(__file__).parents[2]
DEMOS = sorted(path.stem for path in (ROOT / "notebooks" / "demos").glob("*.ipynb"))
STARTED_SECONDS = 60


@contextlib.contextmanager
def served(name, home):
    """Serve a demo as `make demo` does, and give its address."""
    command = [sys.executable, "-u", ROOT / "tools" / "demo.py", name]
    command += ["--no-browser", "--port=0", "--Voila.ip=127.0.0.1"]
    weights = {"COURSE_CACHE": str(cache_folder(os.environ))}
    environment = os.environ | weights | {"HOME": str(home), "PYTHONUNBUFFERED": "1"}
    server = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said = []
        for line in server.stdout:
            said.append(line)
            if found := re.search(r"http://\S+:\d+/\S*", line):
                break
        else:
            raise AssertionError("".join(said))
        yield found[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(20)
        server.stdout.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_is_a_page(name, browser, tmp_path):
    with served(name, tmp_path) as url:
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(url)
        find(browser, ".demo-question")
        (view, *_) = find(browser, ".demo-readout, .dx-status")
        until(browser, lambda: view.text)
        first = view.text
        assert not browser.find_elements(By.CSS_SELECTOR, ".jp-InputArea, .demo-still")
        assert "Speaker" not in browser.find_element(By.CSS_SELECTOR, "body").text
        find(browser, "[data-key=next]")[0].click()
        find(browser, "[data-key=reveal]")[0].click()
        answer = browser.find_element(By.CSS_SELECTOR, ".demo-answer")
        until(browser, lambda: answer.text)
        until(browser, lambda: view.text and view.text != "")
        assert first
        assert severe(browser) == []
        assert outside(browser, url.rstrip("/"), url.replace("http", "ws")) == []


def test_an_unknown_demo_is_answered_with_those_there_are():
    command = [sys.executable, ROOT / "tools" / "demo.py", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(name in done.stderr for name in DEMOS)
