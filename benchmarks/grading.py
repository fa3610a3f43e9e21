"""Grade one class with nbgrader and with our grader, and write benchmarks/GRADING.md.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.grading [--students 40]

Half of the class hands in the worked solution, half a wrong answer to one task. nbgrader
autogrades in one process, the only way that it has; ours has two jobs, and its sandbox.
Each grades the class twice, in the order A B B A, so that a busy neighbour slows both; a
sandbox that is ended takes its account of CPU time with it, so only wall time is shown.
Where we are root both run as nobody.
"""

import argparse
import csv
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat

from benchmarks.rounds import conditions
from course_lib.grading.assignment import find_assignment
from course_lib.grading.batch import read_results
from tests.grading.conftest import run_as_ordinary_user
from tests.grading.made_up import ROOT, worked, wrong, wrong_answers

HERE = Path(__file__).parent
NAME, N_JOBS = "02_masks", 2
GOAL = 1.5  # times nbgrader's rate
NBGRADER, OURS = "nbgrader autograde", f"course_lib grade --jobs {N_JOBS}, bubblewrap"


@dataclass(frozen=True)
class Run:
    """One class graded once.

    seconds: wall time, start of the command included.
    load: the machine's load average of a minute, when it began.
    """

    who: str
    seconds: float
    load: float


def hand_in(course: Path, n_students: int) -> None:
    """Make a course's folder in which everybody has handed in."""
    course.mkdir()
    shutil.copytree(ROOT / "solutions" / NAME, course / "solutions" / NAME)
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    wrong_ones = wrong_answers(find_assignment(NAME))
    for i in range(n_students):
        made = wrong(NAME, *wrong_ones[i // 2 % len(wrong_ones)]) if i % 2 else None
        folder = course / "submitted" / f"s{i:03d}" / NAME
        folder.mkdir(parents=True)
        nbformat.write(made or worked(NAME), folder / "masks.ipynb")
    _run(course, "nbgrader", "generate_assignment", NAME, "--create")


def grade(who: str, course: Path, n_students: int) -> Run:
    """Grade a copy of the class, and see that everybody has marks."""
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        copy = Path(shutil.copytree(course, Path(folder) / "course"))
        _open(Path(folder))
        load, began = os.getloadavg()[0], time.monotonic()
        if who == NBGRADER:
            _run(copy, "nbgrader", "autograde", NAME, "--log-level=ERROR")
        else:
            files = ["--submissions", "submitted", "--out", "results.jsonl"]
            _run(copy, "course_lib", "grade", NAME, *files, "--jobs", str(N_JOBS))
        run = Run(who, time.monotonic() - began, load)
        full = _full_marks(who, copy)
        if full != {f"s{i:03d}" for i in range(0, n_students, 2)}:
            raise SystemExit(
                f"{who}: full marks for {sorted(full)}, every second was due"
            )
    return run


def _full_marks(who: str, course: Path) -> set[str]:
    if who != NBGRADER:
        marks = read_results(course / "results.jsonl")
        return {s for s, given in marks.items() if all(m.score == 1 for m in given)}
    _run(course, "nbgrader", "export")
    most = sum(find_assignment(NAME).points.values())
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["student_id"] for row in rows if float(row["score"]) == most}


def _run(course: Path, module: str, *arguments: str) -> None:
    _open(course)
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "HOME": str(course),
        "OMP_NUM_THREADS": "1",
    }
    done = run_as_ordinary_user(
        *["-m", module, *arguments], cwd=course, env=environment, timeout=3600
    )
    if done.returncode:
        raise SystemExit(f"{module} {arguments[0]} failed\n{done.stderr}")


def _open(folder: Path) -> None:
    """Let nobody write there, where we are root."""
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777 if path.is_dir() else 0o666)


def table(runs: list[Run], n_students: int) -> list[str]:
    """Write what was measured, and whether the goal is met."""
    lines = [
        "| | wall seconds | submissions a minute | load before |",
        "|---|---|---|---|",
    ]
    rates = {}
    for who in (NBGRADER, OURS):
        its = [run for run in runs if run.who == who]
        seconds = sum(run.seconds for run in its)
        rates[who] = 60 * n_students * len(its) / seconds
        walls = " and ".join(f"{run.seconds:.0f}" for run in its)
        loads = " and ".join(f"{run.load:.1f}" for run in its)
        lines.append(f"| {who} | {walls} | {rates[who]:.1f} | {loads} |")
    ratio = rates[OURS] / rates[NBGRADER]
    met = "met" if ratio >= GOAL else "missed"
    told = f"{ratio:.2f} times nbgrader's rate; the goal of {GOAL} is {met}."
    return [*lines, "", told]


def main() -> None:
    """Grade the class four times and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--students", type=int, default=40)
    n_students = parser.parse_args().students
    with tempfile.TemporaryDirectory(prefix="grading-") as folder:
        _open(Path(folder))
        course = Path(folder) / "course"
        hand_in(course, n_students)
        runs = []
        for who in (NBGRADER, OURS, OURS, NBGRADER):
            runs.append(grade(who, course, n_students))
            print(runs[-1], flush=True)
    on = {"cores": os.cpu_count()} | conditions() | {"clock": "wall"}
    where = ", ".join(f"{key} {value}" for key, value in on.items())
    page = [
        "# Grading, measured",
        "",
        f"Written by `python -m benchmarks.grading`; see there. {n_students} notebooks of",
        f"exercise {NAME}, every second with a wrong answer; all import torch.",
        "",
        f"Measured with: {where}.",
        "",
        *table(runs, n_students),
        "",
    ]
    (HERE / "GRADING.md").write_text("\n".join(page), encoding="utf-8")
    print(page[-2])


if __name__ == "__main__":
    main()
