"""What a student's process sees of the course: the library, and no answers."""

import atexit
import contextlib
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import course_lib

VIEW = "course-view-"
PACKAGE = Path(course_lib.__file__).parent
# The catalogue holds the right answers and the known mistakes; demos, quizzes and
# reports are nothing that an exercise uses.
SEEN_OF_FEEDBACK = ["adapters", "observe.py", "task.py", "values.py"]
SEEN_OF_GRADING = ["inside.py", "wire.py"]
HIDDEN = ["feedback", "grading", "demos", "__pycache__"]
CHECK = '''"""Stands in for course_lib.feedback: a check gives nothing while it is graded."""


def check(*args, **kwargs):
    """Say nothing; the grader asks by itself."""
'''


def make_view(folder: Path) -> Path:
    """Copy the package into a folder, without what holds answers.

    Args:
        folder: where `course_lib` is put.

    Returns:
        the folder, to stand first on a student process's path.
    """
    target = folder / "course_lib"
    shutil.copytree(PACKAGE, target, ignore=lambda _, names: _hidden(_, names))
    for part, seen in (("feedback", SEEN_OF_FEEDBACK), ("grading", SEEN_OF_GRADING)):
        (target / part).mkdir()
        (target / part / "__init__.py").write_text("")
        for name in seen:
            source = PACKAGE / part / name
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, target / part / name)
    (target / "feedback" / "__init__.py").write_text(CHECK)
    return folder


def _hidden(folder: str, names: list[str]) -> list[str]:
    return HIDDEN if Path(folder) == PACKAGE else ["__pycache__"]


@cache
def kept_view() -> Path:
    """Make the view once a process, and take it away with it."""
    clear_views(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{VIEW}{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_view(folder)


def clear_views(folder: Path) -> None:
    """Take away the views of our own processes that were killed.

    Args:
        folder: where views are put; what else is there stays.
    """
    for view in folder.glob(f"{VIEW}*-*"):
        process = view.name.removeprefix(VIEW).split("-")[0]
        with contextlib.suppress(OSError):
            if (
                view.lstat().st_uid == os.geteuid()
                and not Path("/proc", process).exists()
            ):
                shutil.rmtree(view, ignore_errors=True)
