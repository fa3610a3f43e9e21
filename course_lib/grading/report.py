"""What a student is told, what a class got wrong, and one table of points."""

import csv
import html
import re
from collections import Counter
from pathlib import Path

from course_lib.feedback.catalogue import find_task
from course_lib.grading.grader import Mark

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 1rem/1.5 sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ white-space: pre-wrap; background: #f4f4f4; padding: 0.5rem }}</style>
<main>{body}</main></html>
"""


def write_reports(marks: dict[str, list[Mark]], assignment: str, folder: Path) -> None:
    """Write a report for each student, one for the class, and the points.

    STUDENT.txt, .md and .html in `students/`, class.md, class.html, grades.csv, and
    the same points for Canvas and Moodle. What students wrote stands in them as text,
    never as markup.

    Args:
        marks: {student: marks}, as batch.read_results gives them.
        assignment: such as "02_masks".
        folder: where they are written; what is there of the same name is replaced.
    """
    students = folder / "students"
    students.mkdir(parents=True, exist_ok=True)
    for student, name in _file_names(marks).items():
        text, markdown = student_text(marks[student]), student_markdown(marks[student])
        (students / f"{name}.txt").write_text(text, encoding="utf-8")
        (students / f"{name}.md").write_text(markdown, encoding="utf-8")
        page = as_page(f"{assignment}: {student}", marks[student])
        (students / f"{name}.html").write_text(page, encoding="utf-8")
    lines = class_lines(marks)
    (folder / "class.md").write_text(
        f"# {assignment}: the class\n\n" + _fenced("\n".join(lines)) + "\n",
        encoding="utf-8",
    )
    body = f"<h1>{html.escape(assignment)}: the class</h1>"
    body += f"<pre>{html.escape(chr(10).join(lines))}</pre>"
    (folder / "class.html").write_text(
        PAGE.format(title=html.escape(assignment), body=body), encoding="utf-8"
    )
    write_points(marks, assignment, folder / "grades.csv")
    for platform in ("canvas", "moodle"):
        write_for_platform(marks, assignment, platform, folder / f"{platform}.csv")


def student_text(marks: list[Mark]) -> str:
    """Put one student's marks into words.

    >>> print(student_text([Mark("ada", "softmax", "missing", None, 2.0, message="no")]))
    0 of 2 points; 1 of 1 exercises without a mark
    <BLANKLINE>
    softmax: missing
    no
    <BLANKLINE>
    """
    blocks = [_total(marks)]
    blocks += [f"{_head(mark)}\n{mark.message}" for mark in marks]
    return "\n\n".join(blocks) + "\n"


def student_markdown(marks: list[Mark]) -> str:
    """Do the same in Markdown; messages are blocks that nothing in them can end.

    Args:
        marks: one student's.
    """
    blocks = [f"# {marks[0].student}".replace("\n", " "), _total(marks)]
    for mark in marks:
        blocks += [f"## {_head(mark)}", _fenced(mark.message)]
    return "\n\n".join(blocks) + "\n"


def as_page(title: str, marks: list[Mark]) -> str:
    """Do the same as a page without scripts, all text escaped.

    Args:
        title: its heading.
        marks: one student's.
    """
    body = f"<h1>{html.escape(title)}</h1><p>{html.escape(_total(marks))}</p>"
    for mark in marks:
        body += (
            f"<h2>{html.escape(_head(mark))}</h2><pre>{html.escape(mark.message)}</pre>"
        )
    return PAGE.format(title=html.escape(title), body=body)


def class_lines(marks: dict[str, list[Mark]]) -> list[str]:
    """Say for each exercise how it went, which mistakes were made, what to read again.

    Args:
        marks: {student: marks}.
    """
    lines = [f"{len(marks)} students"]
    for exercise in _exercises(marks):
        given = [
            mark for one in marks.values() for mark in one if mark.exercise == exercise
        ]
        scores = [mark.score for mark in given if mark.score is not None]
        statuses = Counter(mark.status for mark in given).most_common()
        lines += ["", exercise, "  " + ", ".join(f"{n} {word}" for word, n in statuses)]
        parts = (
            ("none", 0, 0),
            ("to half", 0, 0.5),
            ("to all", 0.5, 0.999),
            ("all", 0.999, 1),
        )
        for name, low, high in parts:
            n = sum(low < score <= high or score == low == high for score in scores)
            lines.append(
                f"  {name:8}{n:4} " + "#" * round(40 * n / max(1, len(scores)))
            )
        mistakes = Counter(mark.mistake or mark.property for mark in given)
        mistakes.pop(None, None)
        lines += [f"  {n:3} x {name}" for name, n in mistakes.most_common(5)]
        read = Counter(_section(mark) for mark in given if mark.mistake)
        if read:
            lines.append(f"  teach again: {read.most_common(1)[0][0]}")
    return lines


def write_points(marks: dict[str, list[Mark]], assignment: str, path: Path) -> None:
    """Write a table, a row a student; what has no mark is left blank, and is no 0.

    Args:
        marks: {student: marks}.
        assignment: such as "02_masks".
        path: the CSV file; UTF-8.
    """
    exercises = _exercises(marks)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["student", "assignment", *exercises, "points", "of", "status"])
        for student, given in marks.items():
            points = {mark.exercise: _points(mark) for mark in given}
            known = [one for one in points.values() if one is not None]
            total = round(sum(known), 4) if known else ""
            statuses = " ".join(f"{mark.exercise}:{mark.status}" for mark in given)
            cells = ["" if points.get(e) is None else points[e] for e in exercises]
            of = sum(mark.points for mark in given)
            table.writerow(
                [_harmless(student), assignment, *cells, total, of, statuses]
            )


def read_manual(path: Path, manual: dict[str, float]) -> dict[str, list[Mark]]:
    """Read what a person gave for the answers in words.

    Args:
        path: CSV with the columns student, question, points and, if wanted, comment.
        manual: the most points of each question, as Assignment.manual has them.

    Raises:
        ValueError: a column is missing, a question is unknown, or points are no number
            from 0 to the most; the message names the line.
    """
    found: dict[str, list[Mark]] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        for line, row in enumerate(csv.DictReader(file), 2):
            if missing := {"student", "question", "points"} - row.keys():
                raise ValueError(f"{path} has no column {', '.join(sorted(missing))}")
            student, question = row["student"], row["question"]
            if question not in manual:
                names = ", ".join(manual) or "none"
                raise ValueError(
                    f"{path}, line {line}: {question!r} is not one of {names}"
                )
            try:
                score = float(row["points"]) / manual[question]
            except ValueError:
                score = -1.0
            if not 0 <= score <= 1:
                most = f"a number from 0 to {manual[question]:g}"
                raise ValueError(
                    f"{path}, line {line}: {row['points']!r} is not {most}"
                )
            told = row.get("comment") or ""
            mark = Mark(
                student, question, "graded", score, manual[question], message=told
            )
            found.setdefault(student, []).append(mark)
    return found


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
    heads = {
        "canvas": [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            assignment,
        ],
        "moodle": ["email", assignment, "feedback"],
    }[platform]
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(heads)
        for student, given in marks.items():
            known = [one for one in map(_points, given) if one is not None]
            total, name = round(sum(known), 4) if known else "", _harmless(student)
            if platform == "canvas":
                table.writerow(["", "", "", name, "", total])
            else:
                told = "; ".join(_head(mark) for mark in given)
                table.writerow([name, total, told])


def _points(mark: Mark) -> float | None:
    return None if mark.score is None else round(mark.score * mark.points, 4)


def _harmless(text: str) -> str:
    """Keep a spreadsheet from taking a name for a formula."""
    return f"'{text}" if text[:1] in "=+-@\t" else text


def _exercises(marks: dict[str, list[Mark]]) -> list[str]:
    return list(dict.fromkeys(mark.exercise for one in marks.values() for mark in one))


def _total(marks: list[Mark]) -> str:
    points = sum(_points(mark) or 0 for mark in marks)
    text = f"{points:g} of {sum(mark.points for mark in marks):g} points"
    if blank := sum(mark.score is None for mark in marks):
        text += f"; {blank} of {len(marks)} exercises without a mark"
    return text


def _head(mark: Mark) -> str:
    points = _points(mark)
    if points is None:
        return f"{mark.exercise}: {mark.status}"
    return f"{mark.exercise}: {points:g} of {mark.points:g}, {mark.status}"


def _section(mark: Mark) -> str:
    task = find_task(mark.exercise)
    read = next(one.read for one in task.mistakes if one.id == mark.mistake)
    return f"notebooks/{task.lesson}.ipynb, section {read}"


def _fenced(text: str) -> str:
    """Put a text into a block whose fence is longer than any in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=2)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _file_names(students) -> dict[str, str]:
    """Give each student a file name of their own, whatever they are called."""
    names: dict[str, str] = {}
    for student in students:
        name = re.sub(r"[^\w-]", "_", student)[:100] or "_"
        n, free = 1, name
        while free.lower() in {taken.lower() for taken in names.values()}:
            n += 1
            free = f"{name}_{n}"
        names[student] = free
    return names
