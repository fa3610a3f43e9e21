"""Grading as an ordinary user does it: strangers' code never runs as root."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from course_lib.grading.sandbox import missing, python_folders

ROOT = Path(__file__).parents[2]


def as_ordinary_user() -> list[str]:
    """Return what to put before a command so that it runs as nobody, where we are root.

    Root's home is closed to others; the Python in it is shown in a mount of its own.
    """
    if os.geteuid() != 0:
        return []
    line = ["bwrap", "--dev-bind", "/", "/", "--perms", "0755", "--tmpfs", "/root"]
    needed = [
        folder
        for folder in [*python_folders(), ROOT]
        if "/root" in map(str, folder.parents)
    ]
    for top in dict.fromkeys(Path(*folder.parts[:3]) for folder in needed):
        line += ["--ro-bind", str(top), str(top)]
    user = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    return [*line, "--cap-add", "ALL", "--", *user]


def run_as_ordinary_user(*arguments: str, **options) -> subprocess.CompletedProcess:
    """Run this Python with arguments, and return what it said."""
    command = [*as_ordinary_user(), sys.executable, *arguments]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    given = {"capture_output": True, "text": True, "cwd": ROOT, "timeout": 500}
    return subprocess.run(command, **given | {"env": environment} | options)


@pytest.fixture(scope="session")
def sandbox():
    """Skip, and say why, where bubblewrap cannot work."""
    if why := missing("bwrap"):
        pytest.skip(f"bubblewrap: {why}")


@pytest.fixture(scope="session")
def open_folder():
    """Return a folder that everybody may read and write; pytest's own are closed."""
    with tempfile.TemporaryDirectory(
        prefix="class-", ignore_cleanup_errors=True
    ) as name:
        Path(name).chmod(0o777)
        yield Path(name)
