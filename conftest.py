"""What every test may use without importing it, and how tests are shared out."""

from collections import Counter
from pathlib import PurePosixPath

import pytest
import torch

# Their tests take long and need nothing of each other: each goes to whoever is free.
SPREAD = ("tests/course/test_lessons.py", "tests/course/test_exercises.py")


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace):
    """Let docstring examples say `torch` without an import line."""
    doctest_namespace["torch"] = torch


@pytest.hookimpl(optionalhook=True)  # a run may do without xdist
def pytest_xdist_make_scheduler(config, log):
    """Keep a file's tests on one worker, whose fixtures and caches serve them all.

    xdist 3.8 has groups of tests for this, but they do nothing under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.split("::")[0]
            return nodeid if file in SPREAD else file

    return ByFile(config, log)


def pytest_terminal_summary(terminalreporter):
    """Say where the time went: seconds by folder, and by notebook."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            file = PurePosixPath(getattr(report, "nodeid", "").split("::")[0])
            place = file if file.suffix == ".ipynb" else PurePosixPath(*file.parts[:2])
            seconds[str(place)] += getattr(report, "duration", 0)
    terminalreporter.section("seconds, all workers together")
    for place, spent in seconds.most_common(25):
        if spent >= 1:
            terminalreporter.write_line(f"{spent:7.0f} {place}")
