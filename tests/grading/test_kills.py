"""A driver that is killed again and again loses no student and grades none twice.

The same class is graded twice with one seed: undisturbed, and by drivers that are killed
at random moments and started again with `--resume`. `make long` does it with 300
students, a tenth of them in the sandbox. What `make test` has of it is in test_grader.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import nbformat
import pytest

from course_lib.grading.assignment import find_assignment
from tests.grading.conftest import ROOT, as_ordinary_user
from tests.grading.made_up import not_begun, worked, wrong, wrong_answers

NAME, SEED = "02_masks", 31
LONG = bool(os.environ.get("COURSE_LONG"))


def hand_in(folder, n_students, draw):
    """Write a mixed class: right, wrong, not begun, damaged and empty notebooks."""
    wrong_ones = wrong_answers(find_assignment(NAME))
    makers = {
        "right": lambda: nbformat.writes(worked(NAME)),
        "wrong": lambda: nbformat.writes(wrong(NAME, *draw.choice(wrong_ones))),
        "ends python": lambda: nbformat.writes(
            wrong(
                NAME, "sink_mask", "def sink_mask(*args):\n    import os; os._exit(3)"
            )
        ),
        "not begun": lambda: nbformat.writes(not_begun(NAME)),
        "cut off": lambda: nbformat.writes(worked(NAME))[:1000],
        "no notebook": lambda: None,
    }
    kinds = draw.choices(list(makers), [2, 5, 1, 2, 6, 4], k=n_students)
    for i, kind in enumerate(kinds):
        place = folder / f"s{i:03d} {kind}"
        place.mkdir(parents=True)
        if (text := makers[kind]()) is not None:
            (place / "masks.ipynb").write_text(text)


def start(folder, out, sandbox):
    """Start a driver in a session of its own, as whom its sandbox asks for."""
    who = as_ordinary_user() if sandbox else []
    command = [*who, sys.executable, "-m", "course_lib", "grade", NAME, "--resume"]
    command += ["--submissions", folder, "--out", out, "--seed", str(SEED)]
    command += ["--jobs", "2", *([] if sandbox else ["--trust-submissions"])]
    with out.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True
        )


def grade_undisturbed(folder, out, sandbox):
    driver = start(folder, out, sandbox)
    assert driver.wait(7000) == 0, complaints(out)


def complaints(out):
    return out.with_suffix(".log").read_text()[-2000:]


def grade_with_kills(folder, out, sandbox, draw, most_lines):
    """Kill drivers at random moments until one comes to its end; count the kills."""
    kills = 0
    while True:
        driver = start(folder, out, sandbox)
        enough = n_lines(out) + draw.randint(0, most_lines)
        while driver.poll() is None and n_lines(out) < enough:
            time.sleep(0.01)
        time.sleep(draw.uniform(0, 1))
        if driver.poll() is None:
            os.killpg(driver.pid, signal.SIGKILL)
            kills += 1
        if driver.wait() == 0:
            return kills
        assert driver.returncode == -signal.SIGKILL, complaints(out)


def n_lines(out):
    return out.read_bytes().count(b"\n") if out.exists() else 0


def lines_of(out):
    """Return {student: line}; a student with two lines is an error."""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({row["student"] for row in rows}) == len(rows)
    return {row["student"]: row for row in rows}


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="takes 10 to 25 minutes: run make long")
@pytest.mark.timeout(9000)
@pytest.mark.parametrize(
    ("n_students", "sandboxed", "most_lines"), [(270, False, 30), (30, True, 6)]
)
def test_kills_at_random_moments_change_no_mark(
    n_students, sandboxed, most_lines, open_folder, request
):
    if sandboxed:
        request.getfixturevalue("sandbox")
    draw = random.Random(n_students)
    folder = open_folder / f"kills{n_students}"
    folder.mkdir()
    folder.chmod(0o777)
    hand_in(folder / "in", n_students, draw)
    grade_undisturbed(folder / "in", folder / "whole.jsonl", sandboxed)
    killed_out = folder / "killed.jsonl"
    kills = grade_with_kills(folder / "in", killed_out, sandboxed, draw, most_lines)
    whole, killed = lines_of(folder / "whole.jsonl"), lines_of(killed_out)
    statuses = Counter(m["status"] for row in whole.values() for m in row["marks"])
    print(f"{n_students} students, {kills} kills, {len(killed)} lines, {statuses}")
    assert set(whole) == {place.name for place in (folder / "in").iterdir()}
    assert killed == whole
    assert kills >= 2
