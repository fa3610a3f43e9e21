"""Tables of points: one for a spreadsheet, and what Canvas and Moodle take."""

import csv
from pathlib import Path

from course_lib.grading.grader import Mark

HEADS = {
    "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"],
    "moodle": ["email"],
}


def points_of(mark: Mark) -> float | None:
    """Give the points of a mark; None where there is none, which is no 0.

    >>> points_of(Mark("ada", "softmax", "graded", 0.5, 3.0))
    1.5
    """
    return None if mark.score is None else round(mark.score * mark.points, 4)


def heading(mark: Mark) -> str:
    """Say what was asked, and what it got, in a line.

    >>> heading(Mark("ada", "softmax", "graded", 0.5, 3.0))
    'softmax: 1.5 of 3, graded'
    """
    points = points_of(mark)
    if points is None:
        return f"{mark.exercise}: {mark.status}"
    return f"{mark.exercise}: {points:g} of {mark.points:g}, {mark.status}"


def write_points(marks: dict[str, list[Mark]], assignment: str, path: Path) -> None:
    """Write a table, a row a student; what has no mark is left blank.

    Args:
        marks: {student: marks}.
        assignment: such as "02_masks".
        path: the CSV file; UTF-8.
    """
    exercises = list(
        dict.fromkeys(mark.exercise for one in marks.values() for mark in one)
    )
    rows = [["student", "assignment", *exercises, "points", "of", "status"]]
    for student, given in marks.items():
        points = {mark.exercise: _blank(points_of(mark)) for mark in given}
        cells = [points.get(exercise, "") for exercise in exercises]
        of = sum(mark.points for mark in given)
        statuses = " ".join(f"{mark.exercise}:{mark.status}" for mark in given)
        rows.append(
            [_harmless(student), assignment, *cells, _total(given), of, statuses]
        )
    _write(path, rows)


def write_for_platform(
    marks: dict[str, list[Mark]], assignment: str, platform: str, path: Path
) -> None:
    """Write the points as Canvas or Moodle takes them; without a mark, left blank.

    Canvas fills the file that it exported itself: give its columns Student, ID, SIS User
    ID, SIS Login ID and Section there, by the login, which is our student. Moodle lets
    one choose the columns at the import.

    Args:
        marks: {student: marks}; students are called by their login or e-mail address.
        assignment: such as "02_masks".
        platform: "canvas" or "moodle".
        path: the CSV file.
    """
    told = ["feedback"] if platform == "moodle" else []
    rows = [[*HEADS[platform], assignment, *told]]
    for student, given in marks.items():
        name, total = _harmless(student), _total(given)
        if platform == "canvas":
            rows.append(["", "", "", name, "", total])
        else:
            rows.append([name, total, "; ".join(heading(mark) for mark in given)])
    _write(path, rows)


def _write(path: Path, rows: list[list]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _total(given: list[Mark]) -> float | str:
    known = [one for one in map(points_of, given) if one is not None]
    return round(sum(known), 4) if known else ""


def _blank(points: float | None) -> float | str:
    return "" if points is None else points


def _harmless(text: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t" else text
