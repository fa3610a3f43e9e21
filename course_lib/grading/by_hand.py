"""What a person gave for the answers in words: from a table, or from formgrader."""

import csv
from collections.abc import Iterator
from pathlib import Path

from course_lib.grading.assignment import Assignment
from course_lib.grading.grader import Mark
from course_lib.grading.wire import clean

SQLITE = b"SQLite format 3\0"


def add_by_hand(
    marks: dict[str, list[Mark]], path: Path, assignment: Assignment
) -> dict[str, list[Mark]]:
    """Put a person's marks behind the grader's; whom they left out has a blank.

    Args:
        marks: {student: marks}, as batch.read_results gives them.
        path: a table or a gradebook (see read_by_hand).
        assignment: what was asked.

    Raises:
        ValueError: it names a student who is not among the marks, or read_by_hand does
            not like it.
    """
    by_hand = read_by_hand(path, assignment)
    for student in by_hand:
        if student not in marks:
            raise ValueError(f"{path}: nobody is called {student!r}")
    return {
        student: given
        + [
            by_hand.get(student, {}).get(question)
            or Mark(student, question, "missing", None, most, message="Not marked yet.")
            for question, most in assignment.manual.items()
        ]
        for student, given in marks.items()
    }


def read_by_hand(path: Path, assignment: Assignment) -> dict[str, dict[str, Mark]]:
    """Read what a person gave: {student: {question: mark}}.

    Args:
        path: a CSV with the columns student, question, points and, if wanted, comment;
            or nbgrader's gradebook, in which formgrader keeps what is typed there. It is
            only read.
        assignment: what was asked.

    Raises:
        ValueError: a column, a question or the assignment is not there, a question has
            two marks, or points are no number from 0 to the most; the message says where.
    """
    with path.open("rb") as file:
        is_gradebook = file.read(len(SQLITE)) == SQLITE
    rows = _from_gradebook(path, assignment) if is_gradebook else _from_csv(path)
    found: dict[str, dict[str, Mark]] = {}
    for place, student, question, points, comment in rows:
        most = assignment.manual.get(question)
        if most is None:
            names = ", ".join(assignment.manual) or "none"
            raise ValueError(f"{place}: {question!r} is not one of {names}")
        try:
            score = float(points) / most
        except ValueError:
            score = -1.0
        if not 0 <= score <= 1:
            raise ValueError(f"{place}: {points!r} is not a number from 0 to {most:g}")
        if question in found.setdefault(student, {}):
            raise ValueError(f"{place}: {student} has a mark for {question} already")
        found[student][question] = Mark(
            student, question, "graded", score, most, message=clean(comment)
        )
    return found


Rows = Iterator[tuple[str, str, str, str | float, str]]


def _from_csv(path: Path) -> Rows:
    with path.open(newline="", encoding="utf-8-sig") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            if missing := {"student", "question", "points"} - row.keys():
                raise ValueError(f"{path} has no column {', '.join(sorted(missing))}")
            values = (row[name] or "" for name in ("student", "question", "points"))
            yield f"{path}, line {line}", *values, row.get("comment") or ""


def _from_gradebook(path: Path, assignment: Assignment) -> Rows:
    """Read through nbgrader's own classes, which know how it means its tables."""
    from nbgrader.api import Gradebook, MissingEntry  # late: it takes seconds
    from sqlalchemy import URL
    from sqlalchemy.exc import DatabaseError

    # Nothing can be written; without a course's id nothing is tried, either.
    address = URL.create(
        "sqlite",
        database=path.resolve().as_uri(),
        query={"mode": "ro", "uri": "true"},
    )
    try:
        with Gradebook(address, course_id="") as book:
            book.find_assignment(assignment.name)
            for submission in book.assignment_submissions(assignment.name):
                yield from _typed(path, submission, assignment)
    except MissingEntry:
        raise ValueError(f"{path} has no assignment {assignment.name}") from None
    except DatabaseError as error:
        raise ValueError(
            f"{path} is no gradebook of this nbgrader ({error.orig}); "
            "`nbgrader db upgrade` renews an old one"
        ) from None


def _typed(path: Path, submission, assignment: Assignment) -> Rows:
    """Give what a person typed in for one student; what nbgrader counted is left out."""
    student = submission.student.id
    for notebook in submission.notebooks:
        comments = {one.name: one.comment for one in notebook.comments}
        for grade in notebook.grades:
            if grade.name in assignment.manual and grade.manual_score is not None:
                points = grade.manual_score + (grade.extra_credit or 0)
                comment = comments.get(grade.name) or ""
                yield f"{path}, {student}", student, grade.name, points, comment
