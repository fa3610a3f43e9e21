"""Use an answer on every probe and note what happened, without judging it."""

import contextlib
import copy
import dis
import functools
import io
import linecache
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from course_lib.feedback.task import Probe
from course_lib.feedback.values import plain, same


@dataclass(frozen=True)
class Outcome:
    """What one probe gave.

    value: a plain value, where nothing was raised.
    error: "IndexError: ..." where something was raised, else None.
    where: the line that raised it, as a learner would look for it.
    attempted: False where the answer is still the unwritten exercise.
    changed: an argument was changed in place.
    """

    value: Any = None
    error: str | None = None
    where: str = ""
    attempted: bool = True
    changed: bool = False


def observe(use: Callable, answer: Callable, probes: list[Probe]) -> Iterator[Outcome]:
    """Yield the outcome of each probe, in order; whatever is raised becomes one.

    What the answer prints is not shown: a check runs it many times.

    Args:
        use: how the answer is used (Task.use).
        answer: the learner's function or class.
        probes: the inputs.

    >>> [outcome.value for outcome in observe(lambda f, x: f(x), abs, [Probe("", -3)])]
    [3]
    """
    for probe in probes:
        yield _outcome(use, answer, probe)


def _outcome(use: Callable, answer: Callable, probe: Probe) -> Outcome:
    args, kwargs = copy.deepcopy((probe.args, probe.kwargs))
    silence = io.StringIO()
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(silence),
            contextlib.redirect_stderr(silence),
        ):
            value = use(_written(answer), *args, **kwargs)
    except NotImplementedError:
        return Outcome(attempted=False)
    except BaseException as error:  # SystemExit and KeyboardInterrupt are answers, too
        return Outcome(error=_sentence(error), where=_line(error.__traceback__))
    if value is None or value is Ellipsis:
        return Outcome(attempted=False)
    try:
        value = plain(value)
        before, after = plain([probe.args, probe.kwargs]), plain([args, kwargs])
    except Exception as error:  # a list that holds itself, a tensor without numbers
        return Outcome(error=_sentence(error))
    return Outcome(value, changed=not _alike(before, after))


class NothingReturned(TypeError):
    """A function that does something gave None."""


def _written(answer: Callable) -> Callable:
    """Let an unwritten function say so, and one without `return` too, whoever calls it."""
    if isinstance(answer, type):
        return answer

    @functools.wraps(answer)
    def call(*args, **kwargs):
        value = answer(*args, **kwargs)
        if value is Ellipsis or (value is None and _is_empty(answer)):
            raise NotImplementedError
        if value is None:
            raise NothingReturned("the function gave None; is there a `return`?")
        return value

    return call


def _is_empty(answer: Callable) -> bool:
    """Tell whether a function holds a docstring or `pass` at most."""
    code = getattr(answer, "__code__", None)
    does = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}
    return code is not None and all(
        instruction.opname in does for instruction in dis.get_instructions(code)
    )


def _alike(before: Any, after: Any) -> bool:
    """Compare arguments; what holds no numbers cannot be seen to change."""
    if isinstance(before, list):
        return len(before) == len(after) and all(map(_alike, before, after))
    if isinstance(before, dict):
        return before.keys() == after.keys() and all(
            _alike(before[key], after[key]) for key in before
        )
    return type(before).__name__ == "Unreadable" or same(after, before, 0.0)


def _sentence(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def _line(traceback: TracebackType | None) -> str:
    """Return the innermost line of the learner's own code that led to the error."""
    found = ""
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if _is_learners(code.co_filename):
            source = linecache.getline(code.co_filename, traceback.tb_lineno).strip()
            found = f"line {traceback.tb_lineno} of {code.co_name}: {source[:100]}"
        traceback = traceback.tb_next
    return found


def _is_learners(file_name: str) -> bool:
    """Tell code of a notebook or of a learner's file from code of libraries."""
    library = ("site-packages", "course_lib", "<frozen", "importlib")
    return not any(part in file_name for part in library)
