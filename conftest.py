"""What every test may use without importing it."""

import pytest
import torch


@pytest.fixture(autouse=True)
def names_in_doctests(doctest_namespace):
    """Let docstring examples say `torch` without an import line."""
    doctest_namespace["torch"] = torch
