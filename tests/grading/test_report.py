"""Reports say what was found, and nothing that a student wrote acts in them."""

import csv
import re

import pytest

from course_lib.grading.grader import Mark
from course_lib.grading.report import (
    class_lines,
    read_manual,
    student_text,
    write_reports,
)

MARKS = {
    "ada": [
        Mark("ada", "packed_mask", "graded", 1.0, 2.0, message="all held"),
        Mark(
            "ada",
            "sink_mask",
            "graded",
            0.5,
            3.0,
            "window-one-short",
            message="Ask: why?",
        ),
    ],
    "=1+1": [
        Mark("=1+1", "packed_mask", "missing", None, 2.0, message="not begun"),
        Mark(
            "=1+1",
            "sink_mask",
            "timeout",
            None,
            3.0,
            message="```\n# <script>x</script>",
        ),
    ],
    "../ada": [
        Mark(
            "../ada",
            "packed_mask",
            "graded",
            0.0,
            2.0,
            property="constant",
            message="no",
        ),
        Mark("../ada", "sink_mask", "graded", 0.0, 3.0, message="<b>no</b>"),
    ],
}


def marks():
    """Put a mistake that the catalogue knows in the place of the invented one."""
    from dataclasses import replace

    from course_lib.feedback.catalogue import find_task

    known = find_task("sink_mask").mistakes[0].id
    return {
        student: [replace(one, mistake=known if one.mistake else None) for one in given]
        for student, given in MARKS.items()
    }


def test_points_are_those_of_the_marks_and_a_blank_is_no_zero(tmp_path):
    write_reports(marks(), "02_masks", tmp_path)
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == ["ada", "'=1+1", "../ada"]
    assert [row["packed_mask"] for row in rows] == ["2.0", "", "0.0"]
    assert [row["sink_mask"] for row in rows] == ["1.5", "", "0.0"]
    assert [row["points"] for row in rows] == ["3.5", "", "0.0"]
    assert [row["of"] for row in rows] == ["5.0"] * 3


def test_every_student_has_three_files_in_the_folder_and_none_outside(tmp_path):
    write_reports(marks(), "02_masks", tmp_path / "reports")
    names = sorted(path.name for path in (tmp_path / "reports" / "students").iterdir())
    assert len(names) == 9, names
    assert not [name for name in names if re.search(r"[^\w.-]", name)]
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]


def test_markup_of_a_student_is_text(tmp_path):
    write_reports(marks(), "02_masks", tmp_path)
    for page in tmp_path.rglob("*.html"):
        text = page.read_text()
        assert "<script" not in text
        assert "<b>" not in text
    (report,) = tmp_path.glob("students/_1_1.md")
    assert "````text\n```\n# <script>x</script>\n````" in report.read_text()


def test_a_student_reads_the_marks_and_the_message():
    told = student_text(marks()["ada"])
    assert told.startswith("3.5 of 5 points\n")
    assert "sink_mask: 1.5 of 3, graded\nAsk: why?" in told


def test_the_class_is_counted():
    lines = "\n".join(class_lines(marks()))
    assert "3 students" in lines
    packed, sink = lines.split("sink_mask")
    assert "2 graded, 1 missing" in packed
    assert re.search(r"none +1 #{20}\n", packed)
    assert re.search(r"all +1 #{20}\n", packed)
    assert "1 x constant" in packed
    assert "teach again: notebooks/02_masks.ipynb, section" in sink


def test_platforms_get_the_same_points_and_a_blank_stays_blank(tmp_path):
    write_reports(marks(), "02_masks", tmp_path)
    for platform, who in (("canvas", "SIS Login ID"), ("moodle", "email")):
        with (tmp_path / f"{platform}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert [row[who] for row in rows] == ["ada", "'=1+1", "../ada"]
        assert [row["02_masks"] for row in rows] == ["3.5", "", "0.0"]


def test_a_persons_marks_are_read_and_a_slip_is_named(tmp_path):
    file, most = tmp_path / "manual.csv", {"reach": 2.0}
    file.write_text("student,question,points,comment\nada,reach,1.5,nearly\n")
    (mark,) = read_manual(file, most)["ada"]
    assert (mark.score, mark.points, mark.message) == (0.75, 2.0, "nearly")
    for line, told in (
        ("ada,reach,3", "line 2: '3' is not a number from 0 to 2"),
        ("ada,reach,nan", "line 2: 'nan'"),
        ("ada,reach,", "line 2: ''"),
        ("ada,other,1", "line 2: 'other' is not one of reach"),
    ):
        file.write_text(f"student,question,points\n{line}\n")
        with pytest.raises(ValueError, match=told):
            read_manual(file, most)
    file.write_text("name,points\nada,1\n")
    with pytest.raises(ValueError, match="no column question, student"):
        read_manual(file, most)
