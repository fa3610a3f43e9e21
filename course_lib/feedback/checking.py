"""`check`: try an answer, and tell its author what it does."""

import contextlib
import os
import sys
from inspect import signature
from typing import Any

from course_lib.feedback.catalogue import find_task
from course_lib.feedback.contrast import contrast
from course_lib.feedback.diagnose import Verdict, diagnose, expected
from course_lib.feedback.guard import Stopped, guarded
from course_lib.feedback.observe import Outcome, observe
from course_lib.feedback.result import Result
from course_lib.feedback.task import Task
from course_lib.feedback.values import hanging, show
from course_lib.progress import ProgressError, note_check


def check(
    name: str,
    answer: Any,
    *,
    seed: int = 0,
    seconds: float = 5.0,
    points: float = 1.0,
) -> Result:
    """Run an answer on generated inputs, and name the mistake if one is known.

    It never raises on an unwritten or failing answer, and notes a notebook's score in
    course_lib.progress. The answer runs in a process of
    its own (see feedback.guard), so it can neither hang nor end the notebook.

    Args:
        name: what was asked for; the list stands in this package's docstring.
        answer: the learner's function or class.
        seed: another seed draws other inputs.
        seconds: wall time after which the answer is stopped.
        points: what nbgrader multiplies the score with.

    Raises:
        ValueError: no exercise has that name; the message lists the near ones.

    Lesson: notebooks/02_masks.ipynb

    >>> from course_lib.softmax import softmax
    >>> check("softmax", softmax).passed
    True
    >>> check("softmax", None)
    softmax: not attempted yet
    """
    task = find_task(name)
    outcomes, stopped = [], None
    if callable(answer):
        probes = task.probes(seed)
        outcomes, stopped = guarded(lambda: observe(task.use, answer, probes), seconds)
    if not stopped and not any(outcome.attempted for outcome in outcomes):
        head = f"{name}: not attempted yet"
        return Result(name, False, 0.0, None, None, head, points)
    result = result_of(task, outcomes, stopped, seed, points)
    _note(name, result.score)
    return result


def result_of(
    task: Task,
    outcomes: list[Outcome],
    stopped: Stopped | None,
    seed: int,
    points: float = 1.0,
) -> Result:
    """Say what an answer's outcomes amount to, in numbers and in words.

    Args:
        task: what was asked.
        outcomes: what the probes gave, in order; fewer where the answer was stopped.
        stopped: why, or None.
        seed: the seed that the probes were drawn from.
        points: what the exercise is worth.
    """
    verdict = diagnose(task, outcomes, seed)
    return Result(
        name=task.name,
        passed=all(verdict.held),
        score=verdict.score,
        mistake=verdict.mistake.id if verdict.mistake else None,
        property=_property(verdict, stopped),
        message=_message(task, verdict, outcomes, stopped, seed),
        points=points,
    )


def _note(name: str, score: float) -> None:
    """Keep the score where a learner works; a file that fails must not fail a check."""
    shell = sys.modules.get("IPython")
    if shell and shell.get_ipython() and "NBGRADER_EXECUTION" not in os.environ:
        with contextlib.suppress(ProgressError):
            note_check(name, score)


def _property(verdict: Verdict, stopped: Stopped | None) -> str | None:
    if stopped:
        return "ends"
    return verdict.violated.id if verdict.violated else None


def _message(
    task: Task,
    verdict: Verdict,
    outcomes: list[Outcome],
    stopped: Stopped | None,
    seed: int,
) -> str:
    held, total = sum(verdict.held), len(verdict.held)
    if held == total:
        return f"{task.name}: visible checks passed ({held}/{total})"
    lines = [f"{task.name}: {held} of {total} visible checks passed"]
    lines += [f"Asked: {task.asks}"]
    failing = verdict.held.index(False)
    if stopped and failing >= len(outcomes):
        lines += [_place(task, failing, seed), f"    {stopped}."]
    else:
        lines += _counterexample(task, outcomes[failing], failing, seed)
    lines += _advice(task, verdict)
    return "\n".join(lines)


def _counterexample(task: Task, given: Outcome, i: int, seed: int) -> list[str]:
    """Show the first probe that fails: what went in, came out, should have."""
    probe = task.probes(seed)[i]
    names = _parameters(task, len(probe.args))
    given_as = [*zip(names, probe.args, strict=True), *probe.kwargs.items()]
    named = [hanging(f"{key} = ", show(value)) for key, value in given_as]
    lines = [_place(task, i, seed)]
    lines += _indented("given", "\n".join(named))
    wanted = expected(task, seed)[i].value
    place, yours, right = "", "", show(wanted)
    if given.error:
        yours = f"{given.error}\n{given.where}".strip()
    elif not given.attempted:
        yours = "nothing: is there a `return`?"
    else:
        place, yours, right = contrast(given.value, wanted, probe.tolerance)
    if place:
        lines += _indented("first difference in", place)
    return lines + _indented("yours", yours) + _indented("right", right)


def _parameters(task: Task, n: int) -> list[str]:
    """Name the first n arguments: as `use` does, and where it does not as the answer."""
    _, *taken = signature(task.use).parameters.values()
    names = [p.name for p in taken if p.kind is p.POSITIONAL_OR_KEYWORD]
    many = [p.name for p in taken if p.kind is p.VAR_POSITIONAL]
    if many == ["args"]:
        names += list(signature(task.reference).parameters)[len(names) :]
    return (names + (many or ["argument"]) * n)[:n]


def _place(task: Task, i: int, seed: int) -> str:
    return f"The smallest input that shows it ({task.probes(seed)[i].label}):"


def _indented(word: str, text: str) -> list[str]:
    return hanging(f"    {word}  ", text).split("\n")


def _advice(task: Task, verdict: Verdict) -> list[str]:
    source = verdict.mistake or verdict.violated
    lines = []
    if verdict.mistake:
        part = "This" if verdict.exact else "Part of this"
        lines += [f"{part} behaves like: {verdict.mistake.id}"]
    elif verdict.violated:
        lines += [f"What does not hold: {verdict.violated.id.replace('-', ' ')}"]
    if source:
        lines += [f"Ask yourself: {source.hint}"]
    heading = getattr(source, "read", task.read)
    return [*lines, f"Read: notebooks/{task.lesson}.ipynb, section {heading}"]
