"""Notebooks that nobody handed in: made from an exercise, its solution, wrong answers."""

import importlib
import inspect

import nbformat
from nbformat import NotebookNode

from course_lib.grading.assignment import Assignment
from tests.answers import answers
from tests.grading.attacks import ROOT

# In a student's notebook there is no tests.answers.
IMPORT = "from tests.answers import wrong"
STAND_IN = "def wrong(*mistakes):\n    return lambda answer: answer"


def worked(name: str) -> NotebookNode:
    """Give an exercise with all its answers."""
    (path,) = (ROOT / "solutions" / name).glob("*.ipynb")
    return nbformat.read(path, 4)


def not_begun(name: str) -> NotebookNode:
    """Give an exercise as it was handed out."""
    (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
    return nbformat.read(path, 4)


def changed(notebook: NotebookNode, function: str, source: str) -> NotebookNode:
    """Write something else into the cell that a student fills in."""
    (cell,) = [one for one in notebook.cells if graded_as(one) == function]
    cell.source = source
    return notebook


def graded_as(cell: NotebookNode) -> str | None:
    """Give the name by which nbgrader knows a cell."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def wrong_answers(assignment: Assignment) -> list[tuple[str, str]]:
    """List (function, cell) of each kept wrong answer to an assignment."""
    found = []
    for function, answer in answers("wrong_answers", "mistakes"):
        if function in assignment.points and inspect.isfunction(answer):
            module = importlib.import_module(answer.__module__)
            source = inspect.getsource(module).replace(IMPORT, STAND_IN)
            cell = f"{source}\n\n{function} = {answer.__name__}"
            found.append((function, cell))
    return found


def wrong(name: str, function: str, cell: str) -> NotebookNode:
    """Give an exercise whose answers are right but for one."""
    return changed(worked(name), function, cell)
