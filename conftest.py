"""What every test may use without importing it."""

import pytest
import torch


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace):
    """Let docstring examples say `torch` without an import line."""
    doctest_namespace["torch"] = torch


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Keep a file's tests on one worker, but for those that name a group of their own."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))
