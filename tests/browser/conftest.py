"""A browser and a JupyterLab for every test of this folder, started once."""

import importlib.util
import os
from pathlib import Path

import pytest

from tests.browser.lab import missing, open_browser, serve_lab


def pytest_collection_modifyitems(items):
    """Everything in this folder needs the browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Give a headless Chromium with a fresh profile."""
    if reason := missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with open_browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def axe(browser):
    """Give a function that names what axe-core finds wrong in a part of the page."""
    package = Path(importlib.util.find_spec("selenium_axe_python").origin).parent
    source = (package / "axe-core" / "axe.min.js").read_text(encoding="utf-8")

    def run(selector):
        browser.execute_script(source)
        found = browser.execute_async_script(
            "const done = arguments[1];"
            "axe.run(arguments[0]).then((found) => done(found), (e) => done(String(e)));",
            selector,
        )
        assert found["passes"], "axe looked at nothing"
        return [
            (fault["id"], [node["html"] for node in fault["nodes"]])
            for fault in found["violations"]
        ]

    return run


@pytest.fixture(scope="session")
def lab(tmp_path_factory, browser):
    """Start JupyterLab in an empty home, with a progress file of its own."""
    with serve_lab(tmp_path_factory.mktemp("lab")) as lab:
        yield lab
