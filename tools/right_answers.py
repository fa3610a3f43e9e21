"""The right answers of the course, in pieces: the exercises' and the catalogue's."""

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import exercises  # noqa: E402  the tool beside this one
from course_lib.feedback.catalogue import find_task, task_names  # noqa: E402


@dataclass(frozen=True)
class Answer:
    """A right answer, in pieces that can be broken.

    task: what it answers.
    place: the exercise or module that it stands in.
    pieces: (decorators, source) of it and of the functions that it calls.
    lines: numbers of the lines that are the answer; None: all.
    names: gives the names that it is defined among.
    """

    task: str
    place: str
    pieces: tuple[tuple[str, str], ...]
    lines: tuple[int, ...] | None
    names: Callable[[], dict]


def solutions() -> Iterator[Answer]:
    """Give the kept answer of each exercise."""
    for path in sorted(exercises.TEXTS.glob("*.py")):
        before: list[str] = []
        for cell in exercises.assembled(path.stem).cells:
            grader = cell.metadata.get("nbgrader", {})
            if cell.cell_type != "code" or grader.get("grade"):
                continue
            if grader.get("solution"):
                head, source = split(cell.source)
                yield Answer(
                    task=grader.grade_id,
                    place=f"solutions/{path.stem}",
                    pieces=((head, source),),
                    lines=answered(source),
                    names=lambda sources=tuple(before): run(sources),
                )
            before.append(cell.source)


def split(source: str) -> tuple[str, str]:
    """Cut a cell before its first `def` or `class`, behind the decorators."""
    body = ast.parse(source).body
    first = next(n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef))
    lines = source.splitlines(keepends=True)
    return "".join(lines[: first.lineno - 1]), "".join(lines[first.lineno - 1 :])


def answered(source: str) -> tuple[int, ...]:
    """Number the lines between the markers."""
    found, inside = [], False
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() in ("### BEGIN SOLUTION", "### END SOLUTION"):
            inside = not inside
        elif inside:
            found.append(number)
    return tuple(found)


def run(sources: Iterable[str]) -> dict:
    """Run code cells in turn; give their names."""
    names: dict = {}
    for source in sources:
        exec(source, names)
    return names


def references() -> Iterator[Answer]:
    """Give each function's reference, with what it calls of its own module.

    What has a task of its own is left out there, and so is validation.
    """
    tasks = [find_task(name) for name in task_names()]
    asked = {task.name for task in tasks}
    for task in tasks:
        module = inspect.getmodule(task.reference)
        defined = definitions(inspect.getsource(module))
        wanted = reached(task.name, defined, asked)
        yield Answer(
            task=task.name,
            place=module.__name__,
            pieces=tuple(defined[name] for name in wanted),
            lines=None,
            names=lambda module=module: dict(vars(module)),
        )


def definitions(source: str) -> dict[str, tuple[str, str]]:
    """Give decorators and source of each function and class of a module."""
    lines, found = source.splitlines(keepends=True), {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            head = "".join(lines[first - 1 : node.lineno - 1])
            body = "".join(lines[node.lineno - 1 : node.end_lineno])
            found[node.name] = head, body
    return found


def reached(name: str, defined: dict, asked: set[str]) -> list[str]:
    """Name a function and what it calls in its module, directly or not."""
    found = [name]
    for one in found:
        nodes = [*ast.walk(ast.parse(defined[one][1]))]
        names = [node for node in nodes if isinstance(node, ast.Name)]
        own = {node.arg for node in nodes if isinstance(node, ast.arg)}
        own |= {name.id for name in names if isinstance(name.ctx, ast.Store)}
        used = {name.id for name in names} - own
        for other in sorted(used & defined.keys() - asked - set(found)):
            if not re.match("_?(check|require)", other):
                found.append(other)
    return found
