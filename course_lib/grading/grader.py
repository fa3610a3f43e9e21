"""Grade one submission: run it in a sandbox, ask for numbers, compare them here."""

import json
import pickle
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle

from course_lib.feedback import catalogue
from course_lib.feedback.catalogue import find_task
from course_lib.feedback.checking import result_of
from course_lib.feedback.guard import Stopped
from course_lib.feedback.observe import Outcome
from course_lib.grading.assignment import Assignment
from course_lib.grading.conversation import converse
from course_lib.grading.sandbox import Limits, Sandbox
from course_lib.grading.submissions import Submission
from course_lib.grading.view import kept_view
from course_lib.grading.wire import WireError, clean, decode

# A probe's input or use may be a function of the catalogue, which no student sees: it
# goes by value, alone, and not as the name of a module that holds the answer, too.
cloudpickle.register_pickle_by_value(catalogue)
RUNS = 6  # of one notebook: a part that hangs is left out the next time


@dataclass(frozen=True)
class Mark:
    """What one student got for one exercise, and why.

    status: "graded", "timeout", "kernel_died", "unreadable", "missing" or "forbidden".
    score: share of the points, 0 to 1; None where nothing could be judged.
    mistake: its id in the catalogue, or None.
    property: id of a property that does not hold, or None.
    message: what the student is told.
    seed: draws the same inputs again.
    sandbox: what kept the student's process in.
    """

    student: str
    exercise: str
    status: str
    score: float | None
    points: float
    mistake: str | None = None
    property: str | None = None
    message: str = ""
    seed: int = 0
    sandbox: str = "none"


def grade(
    submission: Submission,
    assignment: Assignment,
    seed: int,
    kind: str = "bwrap",
    limits: Limits | None = None,
) -> list[Mark]:
    """Grade a submission: a function of its arguments, wherever it runs.

    Args:
        submission: what was handed in.
        assignment: what was asked.
        seed: draws the inputs.
        kind: the sandbox, "bwrap", "docker" or "none" (see sandbox.choose).
        limits: what the student's process may use.

    Returns:
        a mark for each exercise, in the assignment's order.

    Raises:
        SandboxError: the sandbox itself does not start.
    """
    marks = {
        name: Mark(submission.student, name, "missing", None, worth, seed=seed)
        for name, worth in assignment.points.items()
    }
    if submission.status:
        for name, mark in marks.items():
            marks[name] = replace(
                mark, status=submission.status, message=submission.reason
            )
    else:
        sandbox = Sandbox(kind, kept_view(), limits or Limits())
        for name, (status, found) in _ask(sandbox, submission, marks, seed).items():
            marks[name] = _mark(marks[name], status, found, seed)
    return [replace(mark, sandbox=kind) for mark in marks.values()]


def _mark(mark: Mark, status: str, outcomes: list[Outcome], seed: int) -> Mark:
    """Compare, in our own process, and put it into words."""
    attempted = any(outcome.attempted for outcome in outcomes)
    if status == "graded" and not attempted:
        return replace(mark, status="missing", message="not attempted yet")
    if not outcomes:
        return replace(mark, status=status, message=SENTENCES[status])
    stopped = None if status == "graded" else Stopped(SENTENCES[status].rstrip("."))
    task = find_task(mark.exercise)
    result = result_of(task, outcomes[: len(task.probes(seed))], stopped, seed)
    return replace(
        mark,
        status=status,
        score=result.score,
        mistake=result.mistake,
        property=result.property,
        message=result.message,
    )


SENTENCES = {
    "graded": "",
    "missing": "No function of this name was there after the notebook had run.",
    "timeout": "It was not done in the time allowed.",
    "kernel_died": "It ended the Python process that ran it.",
    "unreadable": "What it gave could not be read.",
    "forbidden": "It gave more than a grader reads.",
}


def _ask(sandbox, submission, names, seed) -> dict[str, tuple[str, list[Outcome]]]:
    """Run the notebook and ask its functions; leave out what stops it, and go on."""
    found: dict[str, tuple[str, list[Outcome]]] = {}
    skip: list[int] = []
    for _ in range(RUNS):
        asked = [name for name in names if name not in found]
        report = _run(sandbox, submission.cells, skip, asked, seed)
        found |= report.done
        if report.end == "graded":
            break
        if report.during:
            found[report.during] = (report.end, report.outcomes)
        elif report.cell is not None and report.cell not in skip:
            skip.append(report.cell)
        else:
            break
    for name in names:
        found.setdefault(
            name, (report.end if report.end != "graded" else "missing", [])
        )
    return found


@dataclass
class _Report:
    """What came out of one run.

    done: status and outcomes of each exercise that came to its end.
    end: "graded" if all did, else the status of what stopped it.
    during, outcomes: the exercise that was under way then, and what it had given.
    cell: the last cell that began.
    """

    done: dict[str, tuple[str, list[Outcome]]]
    end: str = "graded"
    during: str | None = None
    outcomes: list[Outcome] | None = None
    cell: int | None = None


def _run(sandbox, cells, skip, asked, seed) -> _Report:
    job = {
        "cells": list(cells),
        "skip": skip,
        "limits": sandbox.limits.resources(),
        "tasks": tasks_for(asked, seed),
    }
    lines, end = converse(sandbox, pickle.dumps(job))
    report = _Report({}, end)
    for line in lines:
        try:
            _note(report, json.loads(line), asked)
        except (ValueError, RecursionError, TypeError, KeyError):
            report.end = report.end if report.end != "graded" else "unreadable"
            break
    if report.end == "graded" and report.during:
        _close(report)
    return report


def tasks_for(names: list[str], seed: int) -> bytes:
    """Write down the probes of some tasks: how to use an answer, and on what.

    Args:
        names: the functions that are asked for.
        seed: draws the inputs.

    Returns:
        bytes for pickle.loads; they hold no expected value and no answer.
    """
    return cloudpickle.dumps(
        [
            (
                name,
                task.use,
                [(probe.args, probe.kwargs) for probe in task.probes(seed)],
            )
            for name in names
            for task in [find_task(name)]
        ]
    )


def _note(report: _Report, said: Any, asked: list[str]) -> None:
    """Take in one line that came out; a line of the wrong form is an error."""
    if not isinstance(said, dict):
        raise WireError("a line that is no object")
    if isinstance(said.get("cell"), int):
        report.cell = said["cell"]
    elif "exercise" in said:
        name = said["exercise"]
        if name not in asked:
            raise WireError("an exercise that was not asked")
        if "found" in said:
            _close(report)
            report.during, report.outcomes = name, []
            if not said["found"]:
                report.done[name] = ("missing", [])
                report.during = None
        elif name == report.during:
            report.outcomes.append(_outcome(said["outcome"]))
    elif "end" in said:
        _close(report)


def _close(report: _Report) -> None:
    if report.during:
        report.done.setdefault(report.during, ("graded", report.outcomes))
    report.during = None


def _outcome(said: dict) -> Outcome:
    error = said["error"]
    return Outcome(
        value=decode(said["value"]),
        error=None if error is None else clean(str(error), 400),
        where=clean(str(said["where"]), 200),
        attempted=said["attempted"] is True,
        changed=said["changed"] is True,
    )
