"""Grade a class: many submissions side by side, one line of a file for each."""

import fcntl
import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO

from tqdm import tqdm

from course_lib.grading.assignment import Assignment
from course_lib.grading.grader import Mark, grade
from course_lib.grading.sandbox import Limits, SandboxError
from course_lib.grading.submissions import Submission


class BatchError(ValueError):
    """A results file that cannot be written or continued; the message says why."""


def grade_class(
    submissions: list[Submission],
    assignment: Assignment,
    out: Path,
    seed: int,
    kind: str = "bwrap",
    limits: Limits | None = None,
    jobs: int = 1,
    resume: bool = False,
    scheduler: str | None = None,
) -> list[str]:
    """Grade all submissions and add a line to a file as each is done.

    A line is written and flushed to the disk at once and as a whole: after a kill,
    `resume` grades those that have no line, with the seed that the file was begun with.

    Args:
        submissions: what was handed in.
        assignment: what was asked.
        out: the results, one JSON object a line.
        seed: draws the inputs.
        kind: the sandbox (see sandbox.choose).
        limits: what one student's process may use.
        jobs: how many at once on this machine.
        resume: go on with a file that is there.
        scheduler: address of a Dask cluster that does the work instead.

    Returns:
        the students whom the grader itself failed on; the reason stands in their line.

    Raises:
        BatchError: the file is there already, is of another assignment or seed, or
            another process writes it.
    """
    failed: list[str] = []
    with _opened(out, resume) as file:
        done = _done(file, assignment, seed)
        left = [one for one in submissions if one.student not in done]
        work = (left, assignment, seed, kind, limits)
        marked = _on_cluster(scheduler, *work) if scheduler else _here(jobs, *work)
        n_done = len(submissions) - len(left)
        with tqdm(total=len(submissions), initial=n_done, desc=assignment.name) as bar:
            for student, marks, fault in marked:
                if fault:
                    failed.append(student)
                    marks = _unmarked(student, assignment, seed, fault)
                _write(file, student, assignment, seed, marks)
                bar.update()
    return failed


def read_results(path: Path) -> dict[str, list[Mark]]:
    """Read a file of results: {student: marks}.

    Args:
        path: what grade_class has written; a last line that was cut off is left out.

    Raises:
        BatchError: it is no such file.
    """
    return {
        student: [Mark(**mark) for mark in row["marks"]]
        for student, row in _rows(path.read_bytes(), path).items()
    }


def write_results(marks: dict[str, list[Mark]], assignment: str, path: Path) -> None:
    """Write a file of results anew, for whoever reads it with read_results.

    Args:
        marks: {student: marks}.
        assignment: such as "02_masks".
        path: the file; one that is there is replaced.
    """
    lines = (
        _line(student, assignment, given[0].seed, given)
        for student, given in marks.items()
    )
    path.write_bytes(b"".join(lines))


@contextmanager
def _opened(out: Path, resume: bool) -> Iterator[IO[bytes]]:
    """Open the results for ourselves alone."""
    if out.exists() and not resume:
        raise BatchError(f"{out} is there already; --resume goes on with it")
    with out.open("a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BatchError(f"another process writes {out}") from None
        yield file


def _done(file: IO[bytes], assignment: Assignment, seed: int) -> set[str]:
    """Read who has a line; cut off a last one that a kill left half written."""
    file.seek(0)
    data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    if whole != data:
        file.truncate(len(whole))
    rows = _rows(whole, Path(file.name))
    for row in rows.values():
        if row["assignment"] != assignment.name:
            raise BatchError(f"{file.name} is of {row['assignment']}")
        if row["seed"] != seed:
            raise BatchError(f"{file.name} was begun with --seed {row['seed']}")
    return set(rows)


def begun_seed(out: Path) -> int | None:
    """Return the seed that a file of results was begun with, None where there is none."""
    rows = _rows(out.read_bytes(), out) if out.exists() else {}
    return next((row["seed"] for row in rows.values()), None)


def _rows(data: bytes, path: Path) -> dict[str, dict]:
    rows = {}
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        try:
            row = json.loads(line)
            rows[row["student"]] = row
        except (ValueError, TypeError, KeyError):
            raise BatchError(
                f"{path} is no file of results: see line {number}"
            ) from None
    return rows


def _write(file: IO[bytes], student: str, assignment, seed: int, marks) -> None:
    file.write(_line(student, assignment.name, seed, marks))
    file.flush()
    os.fsync(file.fileno())


def _line(student: str, assignment: str, seed: int, marks: list[Mark]) -> bytes:
    row = {"student": student, "assignment": assignment, "seed": seed}
    row["marks"] = [asdict(mark) for mark in marks]
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _unmarked(student: str, assignment, seed: int, fault: str) -> list[Mark]:
    return [
        Mark(student, name, "unreadable", None, points, message=fault, seed=seed)
        for name, points in assignment.points.items()
    ]


Marked = Iterator[tuple[str, list[Mark], str]]


def _here(jobs, left, *task) -> Marked:
    """Grade on this machine: threads wait for the sandboxes' processes."""
    with ThreadPoolExecutor(max(1, jobs)) as pool:
        waiting = {pool.submit(_twice, one, *task): one.student for one in left}
        try:
            for future in as_completed(waiting):
                yield waiting[future], *_outcome(future)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _twice(*task) -> list[Mark]:
    """Try again where the sandbox did not start: a full process table passes."""
    try:
        return grade(*task)
    except SandboxError:
        return grade(*task)


def _outcome(future) -> tuple[list[Mark], str]:
    """Take the marks; an error that nobody foresaw costs one student, not the batch."""
    try:
        return future.result(), ""
    except Exception as error:
        fault = f"The grader failed here: {type(error).__name__}: {error}"
        print(fault, file=sys.stderr)
        return [], fault


def _on_cluster(scheduler: str, left, *task) -> Marked:
    """Hand the same function to a Dask cluster; it repeats what a lost worker had."""
    import distributed  # late: only who has a cluster needs it

    with distributed.Client(scheduler) as client:
        futures = {
            client.submit(_twice, one, *task, pure=False): one.student for one in left
        }
        for future in distributed.as_completed(futures):
            yield futures[future], *_outcome(future)
