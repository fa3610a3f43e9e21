"""`python -m course_lib check FILE`: what a learner's own notebook passes."""

import json
from pathlib import Path

import nbformat
import pytest

from course_lib.__main__ import main

ROOT = Path(__file__).parents[2]
SOLVED = ROOT / "solutions" / "02_masks" / "masks.ipynb"
UNSOLVED = ROOT / "exercises" / "02_masks" / "masks.ipynb"
NAMES = ["packed_mask", "sink_mask", "n_readable", "masked_weights"]


@pytest.fixture(autouse=True)
def own_progress(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.json"))


@pytest.fixture
def solved():
    return nbformat.read(SOLVED, as_version=4)


def write(notebook, path):
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return str(path)


def cell_of(notebook, name):
    return next(
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name
    )


def test_a_solved_file_under_another_name_passes(solved, tmp_path, capsys):
    assert main(["check", write(solved, tmp_path / "masks (1).ipynb")]) == 0
    text = capsys.readouterr().out
    assert "packed_mask: visible checks passed" in text
    assert "4 of 4 exercises pass their visible checks, 10 points" in text
    progress = json.loads((tmp_path / "progress.json").read_text())
    assert sorted(progress["checks"]) == sorted(NAMES)


def test_an_unsolved_file_is_not_attempted_and_fails(capsys):
    assert main(["check", str(UNSOLVED)]) == 1
    assert capsys.readouterr().out.count("not attempted yet") == 4


def test_a_half_solved_file_says_which_half(solved, tmp_path, capsys):
    cell_of(solved, "sink_mask").source = "def sink_mask(*a, **k):\n    return 1 / 0"
    cell_of(solved, "n_readable").source = "def n_readable(n, window:\n    return"
    assert main(["check", "--json", write(solved, tmp_path / "m.ipynb")]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["passed"] is False
    assert list(report["checks"]) == NAMES
    assert report["checks"]["packed_mask"]["passed"] is True
    assert "ZeroDivisionError" in report["checks"]["sink_mask"]["message"]
    assert report["checks"]["n_readable"] is None
    assert report["faults"] == [
        "a cell failed (SyntaxError): def n_readable(n, window:",
        'a cell failed (NameError): check("n_readable", n_readable, points=2)',
    ]


def test_a_check_that_was_deleted_is_missed(solved, tmp_path, capsys):
    solved.cells.remove(cell_of(solved, "sink_mask-check"))
    assert main(["check", write(solved, tmp_path / "m.ipynb")]) == 1
    assert "sink_mask: no check of it ran in this file" in capsys.readouterr().out


def test_a_notebook_whose_process_dies_says_so(solved, tmp_path, capsys):
    solved.cells.insert(2, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    assert main(["check", write(solved, tmp_path / "m.ipynb")]) == 1
    assert "the Python process died" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b'{"cells": [', "is not JSON"),
        (b"\xff\xfe\x00", "not a text file in UTF-8"),
        (b"[1, 2]", "not a notebook"),
        (b'{"a": 1}', "not a notebook"),
        (
            b'{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}',
            "no check",
        ),
    ],
)
def test_what_is_no_exercise_gets_a_sentence(content, message, tmp_path, capsys):
    path = tmp_path / "masks.ipynb"
    path.write_bytes(content)
    assert main(["check", str(path)]) == 1
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_missing_file_and_a_folder_get_a_sentence(tmp_path, capsys):
    assert main(["check", str(tmp_path / "masks.ipynb")]) == 1
    assert "there is no file" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err
