"""Reports say what was found, and nothing that a student wrote acts in them."""

import csv
import html
import re
from dataclasses import replace

import nbformat
import pytest
from nbclient import NotebookClient

from course_lib.feedback.catalogue import find_task
from course_lib.grading.class_report import class_lines, how_it_went, teach_again
from course_lib.grading.grader import Mark
from course_lib.grading.report import student_text, write_reports
from tests.grading.attacks import ROOT

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


@pytest.mark.slow
def test_the_class_notebook_runs_and_shows_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    write_reports(marks(), "02_masks", tmp_path)
    first = (tmp_path / "class.ipynb").read_bytes()
    notebook = nbformat.reads(first.decode(), 4)
    nbformat.validate(notebook)
    stored = "".join(cell.source for cell in notebook.cells)
    assert not [student for student in MARKS if repr(student) in stored]
    run = NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    outputs = [out for cell in run.cells for out in cell.get("outputs", [])]
    told = "".join(out.text for out in outputs if out.output_type == "stream")
    for exercise in how_it_went(marks()):
        assert f"{exercise.name} {exercise.statuses}" in told
        for mistake, n in exercise.mistakes.items():
            assert f"{n:5} x {mistake}" in told
    assert all(section in told for section in teach_again(how_it_went(marks())))
    assert student_text(marks()["ada"]) in told
    (picture,) = [out for out in outputs if out.output_type == "display_data"]
    counts = html.escape(f"packed_mask: {how_it_went(marks())[0].parts()}")
    assert counts in picture.data["text/html"]
    write_reports(marks(), "02_masks", tmp_path)
    assert (tmp_path / "class.ipynb").read_bytes() == first


def test_the_counts_are_those_of_the_marks():
    packed, sink = how_it_went(marks())
    assert packed.statuses == {"graded": 2, "missing": 1}
    assert packed.scores == (1.0, 0.0)
    assert packed.parts() == {"none": 1, "to half": 0, "to all": 0, "all": 1}
    assert packed.mistakes == {"constant": 1}
    assert sink.parts() == {"none": 1, "to half": 1, "to all": 0, "all": 0}
    assert list(teach_again([packed, sink, sink]).values()) == [2]
