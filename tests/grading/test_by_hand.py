"""A person's marks are added to the grader's, from a table or from a gradebook."""

import csv
import os
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from course_lib.grading.assignment import Assignment, find_assignment
from course_lib.grading.by_hand import add_by_hand, read_by_hand
from course_lib.grading.command import run
from course_lib.grading.grader import Mark
from tests.grading.made_up import worked

pytestmark = pytest.mark.filterwarnings("ignore:Object of type")  # of nbgrader's own
ASKED = Assignment("02_masks", {"packed_mask": 2.0}, {"reach_of_a_window": 2.0})


@pytest.fixture(autouse=True)
def programs(monkeypatch):
    """Let nbgrader find alembic, which it calls by its name."""
    beside = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([beside, os.environ["PATH"]]))


def formgrader(path, typed):
    """Write a gradebook, and into it what formgrader's page does.

    Args:
        path: the database.
        typed: {student: (manual score, extra credit, comment)}.
    """
    with Gradebook(f"sqlite:///{path}", "decoder") as book:
        book.add_assignment("02_masks")
        book.add_assignment("01_softmax")
        book.add_notebook("masks", "02_masks")
        place = ("masks", "02_masks")
        most = {"packed_mask-check": 2, "reach_of_a_window": 2}
        for name, points in most.items():
            book.add_grade_cell(name, *place, max_score=points, cell_type="code")
        book.add_solution_cell("reach_of_a_window", *place)
        for student, (score, extra, comment) in typed.items():
            book.add_student(student)
            book.add_submission("02_masks", student)
            checked = book.find_grade("packed_mask-check", *place, student)
            checked.auto_score, checked.needs_manual_grade = 1.25, False
            grade = book.find_grade("reach_of_a_window", *place, student)
            grade.manual_score, grade.extra_credit = score, extra
            grade.needs_manual_grade = score is None
            told = book.find_comment("reach_of_a_window", *place, student)
            told.manual_comment = comment
        book.db.commit()


def one(mark):
    return mark.score, mark.points, mark.message, mark.status


def test_a_gradebook_means_what_the_same_table_means(tmp_path):
    book, table = tmp_path / "grade book #1.db", tmp_path / "marks.csv"
    typed = {"ada": (1.5, None, "nearly"), "bob": (0.0, None, None)}
    formgrader(book, typed | {"zoe": (None, None, "look again")})
    question = "reach_of_a_window"
    table.write_text(
        "student,question,points,comment\n"
        f"ada,{question},1.5,nearly\nbob,{question},0,\n"
    )
    before = book.read_bytes()
    found = read_by_hand(book, ASKED)
    assert found == read_by_hand(table, ASKED)
    assert one(found["ada"][question]) == (0.75, 2.0, "nearly", "graded")
    assert book.read_bytes() == before


def test_whoever_has_no_mark_has_a_blank_and_the_sum_counts_it(tmp_path):
    table = tmp_path / "marks.csv"
    table.write_text("student,question,points\nada,reach_of_a_window,1\n")
    graded = {name: [Mark(name, "packed_mask", "graded", 1.0, 2.0)] for name in "ab"}
    graded["ada"] = graded.pop("a")
    merged = add_by_hand(graded, table, ASKED)
    assert [mark.score for mark in merged["ada"]] == [1.0, 0.5]
    assert one(merged["b"][1]) == (None, 2.0, "Not marked yet.", "missing")
    assert len(graded["ada"]) == 1
    table.write_text("student,question,points\neve,reach_of_a_window,1\n")
    with pytest.raises(ValueError, match="nobody is called 'eve'"):
        add_by_hand(graded, table, ASKED)


def test_a_slip_in_a_table_is_named(tmp_path):
    file = tmp_path / "manual.csv"
    for line, told in (
        ("ada,reach_of_a_window,3", "line 2: '3' is not a number from 0 to 2"),
        ("ada,reach_of_a_window,nan", "line 2: 'nan'"),
        ("ada,reach_of_a_window,", "line 2: ''"),
        ("ada,reach_of_a_window", "line 2: ''"),
        ("ada,other,1", "line 2: 'other' is not one of reach_of_a_window"),
        (
            "ada,reach_of_a_window,1\nada,reach_of_a_window,2",
            "line 3: ada has a mark for reach_of_a_window already",
        ),
    ):
        file.write_text(f"student,question,points\n{line}\n")
        with pytest.raises(ValueError, match=told):
            read_by_hand(file, ASKED)
    file.write_text("name,points\nada,1\n")
    with pytest.raises(ValueError, match="no column question, student"):
        read_by_hand(file, ASKED)


def test_a_gradebook_that_does_not_fit_is_named(tmp_path):
    book = tmp_path / "gradebook.db"
    formgrader(book, {"ada": (2.0, 0.5, "more than all")})
    with pytest.raises(ValueError, match=r"ada: 2\.5 is not a number from 0 to 2"):
        read_by_hand(book, ASKED)
    with pytest.raises(ValueError, match="has no assignment 03_attention"):
        read_by_hand(book, find_assignment("03_attention"))
    assert not read_by_hand(book, find_assignment("01_softmax"))
    book.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    with pytest.raises(ValueError, match="is no gradebook of this nbgrader"):
        read_by_hand(book, ASKED)


@pytest.mark.slow
def test_the_command_merges_a_gradebook_into_the_reports(tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    nbformat.write(worked("02_masks"), tmp_path / "in" / "ada" / "masks.ipynb")
    formgrader(tmp_path / "gradebook.db", {"ada": (1.5, None, "nearly")})
    command = ["02_masks", "--submissions", tmp_path / "in", "--trust-submissions"]
    command += ["--out", tmp_path / "results.jsonl", "--reports", tmp_path / "out"]
    command += ["--manual", tmp_path / "gradebook.db"]
    for again in ([], ["--resume"]):
        assert run([*map(str, command), *again]) == 0
        with (tmp_path / "out" / "grades.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        assert (row["reach_of_a_window"], row["points"], row["of"]) == (
            "1.5",
            "11.5",
            "12.0",
        )
        report = (tmp_path / "out" / "students" / "ada.txt").read_text()
        assert "reach_of_a_window: 1.5 of 2, graded\nnearly" in report
