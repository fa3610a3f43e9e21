"""The source of Python's own standard library, which every machine with Python has."""

import sysconfig
import tokenize
from collections.abc import Iterator
from pathlib import Path

from course_lib.data.splits import split

PARTS = ("train", "validation", "test")
# Tests, what pip installed, and folders that hold tables or prose: the 122 files of
# encodings are so much alike that each split would repeat the others.
LEFT_OUT = {"test", "tests", "idle_test", "site-packages", "dist-packages"}
LEFT_OUT |= {"encodings", "pydoc_data", "__pycache__"}
BUILD = ("_sysconfigdata", "config-")  # hold paths of the machine that built Python


def python_files(part: str, folder: str | Path | None = None) -> list[tuple[str, str]]:
    r"""Read one part of the running Python's standard library, without its tests.

    A file belongs to the part that its name is sent to, so it is in the same part
    everywhere; 5 % of the names are for validation and 5 % for the test. The texts
    differ between versions of Python, and so do all numbers measured on them.

    Args:
        part: "train", "validation" or "test".
        folder: another folder of .py files; None: the standard library.

    Returns:
        (name, text) of each file, sorted by name; a name such as "json/decoder.py".
        Line ends are "\n". Empty files and files that cannot be decoded are left out.

    Raises:
        ValueError: part has another name, or the folder holds no .py file.

    Source: the Python standard library, PSF License Agreement.
    Lesson: notebooks/11_training.ipynb

    >>> files = python_files("test")
    >>> all(name.endswith(".py") for name, text in files)
    True
    """
    if part not in PARTS:
        raise ValueError(f"part was {part!r}, expected one of {', '.join(PARTS)}")
    root = Path(sysconfig.get_path("stdlib") if folder is None else folder)
    names = sorted(_names(root))
    if not names:
        raise ValueError(
            f"the folder {root} holds no .py file: pass folder= with one that does, or "
            "use a Python that keeps its standard library as files"
        )
    chosen = split(names)[PARTS.index(part)]
    return [(name, text) for name in chosen if (text := _text(root / name))]


def _names(root: Path) -> Iterator[str]:
    """Yield the names of the files that count, relative and with slashes."""
    for path in root.rglob("*.py"):
        inside = path.relative_to(root)
        if not LEFT_OUT & set(inside.parts) and not inside.parts[0].startswith(BUILD):
            yield inside.as_posix()


def _text(path: Path) -> str:
    """Read a file as Python would, or give "" where it cannot be read so."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeError, LookupError, OSError):
        return ""
