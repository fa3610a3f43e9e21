"""What a student is told, and all reports of a class in one folder."""

import html
import re
from pathlib import Path

import nbformat

from course_lib.grading.batch import write_results
from course_lib.grading.class_notebook import MARKS, class_notebook
from course_lib.grading.class_report import class_lines
from course_lib.grading.grader import Mark
from course_lib.grading.points import (
    heading,
    points_of,
    write_for_platform,
    write_points,
)

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 1rem/1.5 sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }}
pre {{ white-space: pre-wrap; background: #f4f4f4; padding: 0.5rem }}</style>
<main>{body}</main></html>
"""


def write_reports(marks: dict[str, list[Mark]], assignment: str, folder: Path) -> None:
    """Write a report for each student, one for the class, and the points.

    STUDENT.txt, .md and .html in `students/`; class.md, class.html and class.ipynb with
    the marks that it reads; grades.csv, and the same points for Canvas and Moodle. What
    students wrote stands in them as text, never as markup.

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
    _write_class(marks, assignment, folder)
    write_points(marks, assignment, folder / "grades.csv")
    for platform in ("canvas", "moodle"):
        write_for_platform(marks, assignment, platform, folder / f"{platform}.csv")


def _write_class(marks: dict[str, list[Mark]], assignment: str, folder: Path) -> None:
    title, text = f"{assignment}: the class", "\n".join(class_lines(marks))
    (folder / "class.md").write_text(
        f"# {title}\n\n{_fenced(text)}\n", encoding="utf-8"
    )
    body = f"<h1>{html.escape(title)}</h1><pre>{html.escape(text)}</pre>"
    (folder / "class.html").write_text(
        PAGE.format(title=html.escape(title), body=body), encoding="utf-8"
    )
    nbformat.write(class_notebook(marks, assignment), folder / "class.ipynb")
    write_results(marks, assignment, folder / MARKS)


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
    blocks += [f"{heading(mark)}\n{mark.message}" for mark in marks]
    return "\n\n".join(blocks) + "\n"


def student_markdown(marks: list[Mark]) -> str:
    """Do the same in Markdown; messages are blocks that nothing in them can end.

    Args:
        marks: one student's.
    """
    blocks = [f"# {marks[0].student}".replace("\n", " "), _total(marks)]
    for mark in marks:
        blocks += [f"## {heading(mark)}", _fenced(mark.message)]
    return "\n\n".join(blocks) + "\n"


def as_page(title: str, marks: list[Mark]) -> str:
    """Do the same as a page without scripts, all text escaped.

    Args:
        title: its heading.
        marks: one student's.
    """
    body = f"<h1>{html.escape(title)}</h1><p>{html.escape(_total(marks))}</p>"
    for mark in marks:
        body += f"<h2>{html.escape(heading(mark))}</h2><pre>{html.escape(mark.message)}</pre>"
    return PAGE.format(title=html.escape(title), body=body)


def _total(marks: list[Mark]) -> str:
    points = sum(points_of(mark) or 0 for mark in marks)
    text = f"{points:g} of {sum(mark.points for mark in marks):g} points"
    if blank := sum(mark.score is None for mark in marks):
        text += f"; {blank} of {len(marks)} exercises without a mark"
    return text


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
