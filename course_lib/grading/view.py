"""What a student's process sees of the course: the library, and no answers."""

import shutil
from pathlib import Path

import course_lib

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
