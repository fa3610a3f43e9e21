"""How the library's tests run."""

from pathlib import Path

import pytest

from course_lib import hardware
from course_lib.feedback.catalogue import find_task


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small models are faster on one thread, above all beside other test processes."""
    with hardware.threads(1):
        yield


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Keep a task's tests in one process, which then runs each known mistake once."""
    here = Path(__file__).parent  # the hook is called with every folder's tests
    for item in items:
        if here not in item.path.parents:
            continue
        given = getattr(item, "callspec", None)
        task = given and (given.params.get("task") or given.params.get("name"))
        if task:
            name = getattr(task, "name", None) or find_task(task).name
            item.add_marker(pytest.mark.xdist_group(name))
