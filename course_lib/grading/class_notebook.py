"""The class report as a notebook: the same counts, in cells that can be changed."""

import nbformat
from nbformat import NotebookNode

from course_lib.grading.grader import Mark

MARKS = "marks.jsonl"  # beside the notebook
READ = f"""\
from pathlib import Path

from course_lib.grading.batch import read_results
from course_lib.grading.class_report import how_it_went, teach_again
from course_lib.grading.report import student_text

marks = read_results(Path("{MARKS}"))
exercises = how_it_went(marks)
for exercise in exercises:
    print(exercise.name, exercise.statuses)"""
SCORES = """\
from matplotlib import pyplot

from course_lib.figures import show_figure

fig, axes = pyplot.subplots(
    len(exercises), figsize=(6, 2 * len(exercises)), squeeze=False, layout="constrained"
)
for ax, exercise in zip(axes[:, 0], exercises, strict=True):
    ax.hist(exercise.scores, bins=10, range=(0, 1), edgecolor="white")
    ax.set(title=exercise.name, xlabel="share of the points", ylabel="students")
counts = "; ".join(f"{one.name}: {one.parts()}" for one in exercises)
show_figure(fig, f"Histograms of the scores. {counts}.", "Who has no mark is left out.")"""
MISTAKES = """\
for exercise in exercises:
    print(exercise.name)
    for mistake, n in exercise.mistakes.items():
        print(f"{n:5} x {mistake}")"""
AGAIN = """\
for section, n in teach_again(exercises).items():
    print(f"{n:5} answers: {section}")"""
STUDENT = """\
student = next(iter(marks))  # or a name, in quotes
print(student_text(marks[student]))"""
TOLD = [
    "## Scores",
    "## Which mistakes, how often\n\nIds of the catalogue, or of a property that does "
    "not hold.",
    "## What to teach again\n\nThe sections that explain these mistakes, by the number "
    "of answers that have one.",
    "## One student",
]


def class_notebook(marks: dict[str, list[Mark]], assignment: str) -> NotebookNode:
    """Write the cells; they read the marks that lie beside the notebook.

    No word of a student is in them: the marks are data, and shown as text.

    Args:
        marks: {student: marks}.
        assignment: such as "02_masks".

    >>> class_notebook({}, "02_masks").cells[0].source.splitlines()[0]
    '# 02_masks: the class'
    """
    head = f"# {assignment}: the class\n\n{len(marks)} students; their marks are in "
    head += f"`{MARKS}` beside this notebook. Run all cells, and change what you like."
    cells = [_cell(0, "markdown", head), _cell(1, "code", READ)]
    for told, code in zip(TOLD, (SCORES, MISTAKES, AGAIN, STUDENT), strict=True):
        cells.append(_cell(len(cells), "markdown", told))
        cells.append(_cell(len(cells), "code", code))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.from_dict(
        {
            "cells": cells,
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


def _cell(place: int, kind: str, source: str) -> dict:
    cell = {"cell_type": kind, "id": f"class-{place}", "metadata": {}, "source": source}
    return cell | ({"outputs": [], "execution_count": None} if kind == "code" else {})
