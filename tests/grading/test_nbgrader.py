"""nbgrader takes an exercise from end to end, and its limits are those we state."""

import os
import re

import nbformat
import pytest
from nbgrader.api import Gradebook

from course_lib.grading.assignment import find_assignment
from course_lib.grading.by_hand import read_by_hand
from tests.grading.conftest import ROOT, run_as_ordinary_user


@pytest.fixture(scope="module")
def route(sandbox, open_folder):
    """Run the tool once; return its folder and what it said."""
    course = open_folder / "nbgrader"
    done = run_as_ordinary_user(
        *["tools/nbgrader_route.py", "02_masks", "--into", str(course)]
    )
    assert done.returncode == 0, done.stderr
    return course, done.stdout


@pytest.fixture(scope="module")
def rows(route):
    """Return {student: (nbgrader's points, ours, of)} as the table has them."""
    found = re.findall(
        r"^(\w+) +(error|[\d.]+) +(blank|[\d.]+) +(\d+)  ", route[1], re.M
    )
    return {student: rest for student, *rest in found}


@pytest.mark.slow
def test_both_give_a_worked_solution_all_and_an_exercise_not_begun_nothing(rows):
    assert rows["worked"] == ["10.00", "10.00", "10"]
    assert rows["not_begun"] == ["0.00", "blank", "10"]


@pytest.mark.slow
@pytest.mark.parametrize("student", ["wrong", "endless"])
def test_both_take_points_for_one_wrong_answer_and_leave_the_others(rows, student):
    theirs, ours, of = map(float, rows[student])
    assert of / 2 < theirs < of
    assert of / 2 < ours < of


@pytest.mark.slow
def test_the_stated_limits_of_nbgrader_hold_for_it_and_not_for_us(route, rows):
    assert rows["peeks"] == ["10.00", "blank", "10"]
    assert "by nbgrader: left_behind.txt; by course_lib: nothing" in route[1]
    assert rows["copied"] == ["error", "10.00", "10"]
    assert "No sandbox" in route[1]


@pytest.mark.slow
def test_every_student_has_a_page_of_feedback_and_the_gradebook_a_table(route, rows):
    course, _ = route
    pages = course.glob("feedback/*/02_masks/masks.html")
    assert {page.parts[-3] for page in pages} == set(rows) - {"copied"}
    assert len((course / "grades.csv").read_text().splitlines()) == 1 + len(rows)


@pytest.mark.slow
def test_a_notebook_is_filed_for_formgrader_without_being_run(route):
    course, _ = route
    done = run_as_ordinary_user(
        *["-m", "nbgrader", "autograde", "02_masks", "--student=peeks", "--force"],
        "--Execute.enabled=False",
        cwd=course,
        env=os.environ | {"HOME": str(course), "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert not (course / "left_behind.txt").exists()
    (path,) = course.glob("autograded/peeks/02_masks/masks.ipynb")
    assert not [cell for cell in nbformat.read(path, 4).cells if cell.get("outputs")]
    with Gradebook(f"sqlite:///{course}/gradebook.db", "decoder") as book:
        place = ("reach_of_a_window", "masks", "02_masks", "peeks")
        book.find_grade(*place).manual_score = 2.0
        book.find_comment(*place).manual_comment = "right"
        book.db.commit()
    (given,) = read_by_hand(course / "gradebook.db", find_assignment("02_masks"))[
        "peeks"
    ].values()
    assert (given.score, given.points, given.message) == (1.0, 2.0, "right")
