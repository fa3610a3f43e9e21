"""What every test may use without importing it, and how tests are shared out."""

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
