"""Exercises are cut from their solutions, hold no answer, and can be solved."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

from course_lib.feedback.result import Result

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import exercises  # noqa: E402  tools/exercises.py

NAMES = sorted(path.stem for path in exercises.TEXTS.glob("*.py"))
every_exercise = pytest.mark.parametrize("name", NAMES)


def exercise_path(name):
    return ROOT / "exercises" / name / exercises.solution_path(name).name


def run(path):
    """Run a notebook's code cells; return the results that its checks show."""
    names, results = {}, {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        *lines, last = cell.source.strip().splitlines()
        if last.startswith("check("):
            exec("\n".join(lines), names)
            result = eval(last, names)
            assert isinstance(result, Result)
            results[result.name] = result
        else:
            exec(cell.source, names)
    return results


def test_there_are_exercises():
    assert "02_masks" in NAMES


@every_exercise
def test_markers_balance_and_solutions_are_in_step_with_their_text(name):
    assert exercises.faults(name) == []


@pytest.mark.slow
def test_the_release_is_what_nbgrader_cuts_byte_for_byte(tmp_path):
    exercises.release(NAMES, tmp_path)
    assert [fault for n in NAMES for fault in exercises.out_of_step(n, tmp_path)] == []
    assert sorted(p.name for p in (ROOT / "exercises").iterdir()) == NAMES


@every_exercise
def test_no_line_of_an_answer_is_in_the_exercise(name):
    text = exercise_path(name).read_text(encoding="utf-8")
    lines = exercises.solution_lines(name)
    assert lines
    released = {
        line.strip()
        for cell in nbformat.reads(text, as_version=4).cells
        for line in cell.source.splitlines()
    }
    assert not lines & released
    assert "SOLUTION" not in text


@every_exercise
def test_the_solved_notebook_gets_full_marks(name):
    for task, result in run(exercises.solution_path(name)).items():
        assert result.passed, f"{task}: {result.message}"


@every_exercise
def test_the_unsolved_notebook_runs_and_is_not_attempted(name):
    results = run(exercise_path(name))
    assert 2 <= len(results) <= 6
    for result in results.values():
        assert result.message.endswith("not attempted yet")


@every_exercise
def test_head_and_exercises_say_points_minutes_and_difficulty(name):
    cells = nbformat.read(exercise_path(name), as_version=4).cells
    text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    head = re.search(r"About (\d+) minutes, (\d+) points", text)
    labels = re.findall(r"Difficulty ([1-5]) of 5, (\d) points?, (\d+) minutes", text)
    titles = re.findall(r"^## \d\. ", text, re.MULTILINE)
    assert 3 <= len(titles) == len(labels) <= 6
    assert int(head[2]) == sum(int(points) for _, points, _ in labels)
    assert int(head[1]) == sum(int(minutes) for *_, minutes in labels)
    given = [
        cell.metadata.nbgrader.points
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    ]
    assert given == [int(points) for _, points, _ in labels]


@every_exercise
def test_each_checked_exercise_has_three_folds_and_one_is_marked_by_a_person(name):
    cells = nbformat.read(exercise_path(name), as_version=4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    roles = [cell.metadata.get("nbgrader", {}) for cell in cells]
    checks = sum(bool(role.get("grade") and role.get("locked")) for role in roles)
    manual = sum(bool(role.get("grade") and role.get("solution")) for role in roles)
    for fold in ("A nudge", "A stronger hint", "The worked solution"):
        assert text.count(f"<details><summary>{fold}</summary>") == checks
    assert manual == 1
    assert f"../../solutions/{name}/" in text
