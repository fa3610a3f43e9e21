"""Collect what the students of the class handed in.

    .venv/bin/python deploy/collect.py 02_masks        (or: make collect NAME=02_masks)

A notebook is handed in by saving it where it lies, in exercises/NN_word. This copies it
from every home of the class (COURSE_CLASS) into handed-in/NN_word/STUDENT/, which
`python -m course_lib grade NN_word --submissions` reads.
"""

import argparse
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_lib.grading.submissions import MOST_BYTES
from course_lib.grading.wire import clean


@contextmanager
def opened(name: str | Path, flags: int = 0, below: int | None = None) -> Iterator[int]:
    """Open a file or folder that is no link: a link could lead to another student."""
    number = os.open(name, os.O_NOFOLLOW | os.O_NONBLOCK | flags, dir_fd=below)
    try:
        yield number
    finally:
        os.close(number)


def collect(homes: Path, assignment: str, target: Path) -> Iterator[str]:
    """Copy each student's notebooks of an assignment; yield a line for each student.

    Args:
        homes: holds a folder for each student.
        assignment: such as "02_masks".
        target: a new folder, for a folder for each student.

    Raises:
        FileExistsError: target exists; an earlier collection is never mixed with a later.
    """
    target.mkdir(parents=True)
    for home in sorted(homes.iterdir()):
        (target / home.name).mkdir()
        try:
            taken = take(home, assignment, target / home.name)
        except OSError as error:
            taken = [f"nothing ({error.strerror})"]
        yield f"{home.name}: {', '.join(taken) or 'nothing'}"


def take(home: Path, assignment: str, target: Path) -> list[str]:
    """Copy one student's notebooks; return the names, or why one was left."""
    folder = os.O_DIRECTORY
    said = []
    with (
        opened(home, folder) as top,
        opened("exercises", folder, top) as middle,
        opened(assignment, folder, middle) as place,
    ):
        for name in sorted(os.listdir(place)):
            if name.lower().endswith(".ipynb"):
                try:
                    remark = copy(place, name, target / name)
                except OSError as error:
                    remark = f" left ({error.strerror})"
                said.append(clean(name, 80) + remark)
    return said


def copy(place: int, name: str, target: Path) -> str:
    """Copy a notebook of ordinary size; return a remark where it was left."""
    with opened(name, below=place) as number:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MOST_BYTES:
            return f" left (no ordinary file, or more than {MOST_BYTES >> 20} MB)"
        with open(number, "rb", closefd=False) as file:
            target.write_bytes(file.read(MOST_BYTES))
    os.utime(target, ns=(about.st_atime_ns, about.st_mtime_ns))
    return ""


def main() -> int:
    """Read the command line and collect; return the exit status."""
    course = Path(os.environ.get("COURSE_CLASS", "class"))
    parser = argparse.ArgumentParser(description="Collect an assignment of the class.")
    parser.add_argument("assignment", metavar="NN_word")
    parser.add_argument("--to", type=Path, help="a new folder; handed-in/NN_word")
    options = parser.parse_args()
    target = options.to or course / "handed-in" / options.assignment
    try:
        for line in collect(course / "homes", options.assignment, target):
            print(line)
    except FileExistsError:
        print(
            f"{target} is there: move it away, or name another (--to)", file=sys.stderr
        )
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"collected into {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
