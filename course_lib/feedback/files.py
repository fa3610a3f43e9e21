"""Run a notebook in a kernel of its own and read what its checks said."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from course_lib.feedback.result import MIME, Result

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
CELL_SECONDS = 120
CALL = re.compile(r"""^check\(\s*["'](\w+)["']""", re.MULTILINE)


@dataclass(frozen=True)
class FileReport:
    """What the checks of one file gave.

    results: for each name that the exercise asks for its Result, or None where the file
        has no check of it that ran.
    faults: sentences about cells that failed.
    """

    results: dict[str, Result | None]
    faults: list[str]

    @property
    def passed(self) -> bool:
        """Every check of the exercise ran and passed."""
        return bool(self.results) and all(
            result is not None and result.passed for result in self.results.values()
        )


def check_file(path: Path) -> FileReport:
    """Run every cell of a notebook and collect its checks.

    Args:
        path: an exercise's notebook, under whatever name.

    Raises:
        ValueError: it is missing, is no notebook or has no check; the message says
            which.

    >>> check_file(Path("no such file.ipynb"))
    Traceback (most recent call last):
    ...
    ValueError: there is no file no such file.ipynb
    """
    notebook = _read(path)
    called = [name for cell in _code(notebook) for name in CALL.findall(cell.source)]
    wanted = _wanted(called)
    if not wanted:
        raise ValueError(
            f"{path} has no check(...) cell; is it one of the notebooks of exercises/?"
        )
    faults = _run(notebook, path.parent)
    found = {name: None for name in wanted}
    for cell in _code(notebook):
        for output in cell.get("outputs", []):
            if MIME in output.get("data", {}):
                result = Result(**output.data[MIME])
                found[result.name] = result
            elif output.output_type == "error":
                line = cell.source.strip().splitlines()[0]
                faults.append(f"a cell failed ({output.ename}): {line}")
    return FileReport(found, faults)


def _read(path: Path) -> NotebookNode:
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder; name the .ipynb file in it") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file in UTF-8") from None
    except (json.JSONDecodeError, nbformat.reader.NotJSONError):
        raise ValueError(
            f"{path} is not a notebook: it is not JSON. Was it cut off, or merged?"
        ) from None
    except (AttributeError, KeyError, nbformat.ValidationError):
        notebook = None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError(f"{path} is JSON, but not a notebook")
    return notebook


def _code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _wanted(called: list[str]) -> list[str]:
    """List the names that the exercise asks for: those of the file most like it."""
    asked = list(dict.fromkeys(called))
    for path in sorted(EXERCISES.glob("*/*.ipynb")):
        names = CALL.findall("\n".join(c.source for c in _code(_read(path))))
        if set(names) & set(asked):
            return names + [name for name in asked if name not in names]
    return asked


def _run(notebook: NotebookNode, folder: Path) -> list[str]:
    """Execute in place; return what stopped it."""
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=CELL_SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # the kernel greets at start
    except DeadKernelError:
        return ["the Python process died; cells after that did not run"]
    except CellTimeoutError:
        return [f"a cell took more than {CELL_SECONDS} s; cells after it did not run"]
    return []
