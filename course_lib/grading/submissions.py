"""What was handed in: found, read and never run here."""

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from course_lib.grading.wire import clean

MOST_BYTES = 5 * 2**20  # of one notebook, outputs included
MOST_FILES = 1_000  # of one student's folder


@dataclass(frozen=True)
class Submission:
    """One student's notebook.

    student: the name of the folder or file.
    cells: sources of its code cells, in order.
    status: "unreadable", "missing" or "forbidden" where there is nothing to run.
    reason: a sentence that says why.
    """

    student: str
    cells: tuple[str, ...] = ()
    status: str | None = None
    reason: str = ""


def find_submissions(
    folder: Path, names: list[str], assignment: str = ""
) -> list[Submission]:
    """Read what a class handed in, a folder or a file for each student.

    In a student's folder a notebook may have any name and stand at any depth; of
    several the one is taken that has most of the asked functions, and of equals the one
    in a folder of the assignment's name.

    Args:
        folder: holds STUDENT/ ... .ipynb or STUDENT.ipynb.
        names: the functions that are asked for.
        assignment: such as "02_masks".

    Raises:
        ValueError: there is no such folder, or nothing is in it.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    entries = [one for one in entries if not one.name.startswith(".")]
    found, seen = [], set()
    for entry in entries:
        if entry.is_file(follow_symlinks=False) and not _is_notebook(entry.name):
            continue
        student = clean(re.sub(r"\.ipynb$", "", entry.name, flags=re.I), 200)
        if student in seen:
            raise ValueError(f"{folder} holds two submissions of {student}")
        seen.add(student)
        found.append(_read_student(student, Path(entry.path), names, assignment))
    if not found:
        raise ValueError(f"{folder} holds no submission: no folder and no notebook")
    return found


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")


def _read_student(student, path: Path, names, assignment) -> Submission:
    try:
        if path.is_symlink():
            return Submission(student, (), "forbidden", "the submission is a link")
        files = [path] if path.is_file() else _notebooks(path)
        if not files:
            return Submission(student, (), "missing", "no notebook was handed in")
        read = [(_cells(file), file) for file in files]
    except Refused as error:
        return Submission(student, (), error.status, str(error))
    except OSError as error:
        why = f"the file cannot be read: {error.strerror}"
        return Submission(student, (), "unreadable", why)
    good = [(cells, file) for cells, file in read if not isinstance(cells, Refused)]
    if not good:
        return Submission(student, (), read[0][0].status, str(read[0][0]))
    cells, _ = max(
        good, key=lambda one: (_defines(one[0], names), assignment in one[1].parts)
    )
    return Submission(student, tuple(cells))


class Refused(ValueError):
    """A file that is not read; status says how it counts."""

    def __init__(self, status: str, reason: str):
        super().__init__(reason)
        self.status = status


def _notebooks(folder: Path) -> list[Path]:
    """List the notebooks below a folder; no link is followed, none is tolerated."""
    found, count = [], 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(n for n in folders if not n.startswith("."))
        for name in [*folders, *sorted(files)]:
            count += 1
            if (Path(place) / name).is_symlink():
                raise Refused("forbidden", f"{clean(name, 80)} is a link")
        if count > MOST_FILES:
            raise Refused("forbidden", f"more than {MOST_FILES} files")
        found += [Path(place, n) for n in sorted(files) if _is_notebook(n)]
    return found


def _cells(path: Path) -> "list[str] | Refused":
    """Return the code cells' sources, or why they cannot be had."""
    name = clean(path.name, 80)
    # O_NOFOLLOW: it may have become a link since; O_NONBLOCK: a pipe must not hang us.
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(number, "rb") as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode):
            return Refused("forbidden", f"{name} is no ordinary file")
        if about.st_size > MOST_BYTES:
            size = about.st_size / 2**20
            return Refused("forbidden", f"{name} has {size:.0f} MB, more than 5")
        data = file.read(MOST_BYTES + 1)
    try:
        return _sources(json.loads(_text(data)))
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        return Refused("unreadable", f"{name} is not a notebook; was it cut or merged?")


def _text(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def _sources(notebook: dict) -> list[str]:
    """Read formats 3 and 4 by hand: metadata is not needed, and not trusted."""
    cells = notebook.get("cells")
    if cells is None:
        cells = [one for sheet in notebook["worksheets"] for one in sheet["cells"]]
    found = []
    for cell in cells:
        if cell.get("cell_type") == "code":
            source = cell.get("source", cell.get("input", ""))
            text = source if isinstance(source, str) else "".join(source)
            found.append(text.replace("\r\n", "\n").replace("\r", "\n"))
    return found


def _defines(cells: list[str], names: list[str]) -> int:
    text = "\n".join(cells)
    return sum(
        bool(re.search(rf"^(?:def|class)\s+{name}\b|^{name}\s*=", text, re.MULTILINE))
        for name in names
    )
