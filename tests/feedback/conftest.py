"""How the library's tests run."""

import pytest

from course_lib import hardware


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Small models are faster on one thread, above all beside other test processes."""
    with hardware.threads(1):
        yield
