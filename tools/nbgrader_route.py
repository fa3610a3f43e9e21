"""Take an exercise through nbgrader, and put its points beside those of our grader.

    python tools/nbgrader_route.py [02_masks] [--into FOLDER]

A small class is made up: the worked solution, the exercise as it is handed out, a wrong
answer, a function without end, a check cell that was copied, and one who takes the answers
from the course's package. It goes through `nbgrader generate_assignment`, `autograde`,
`generate_feedback` and `export`, with the settings of nbgrader_config.py, in a folder of
its own; then through `python -m course_lib grade`.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from course_lib.grading.assignment import Assignment, find_assignment  # noqa: E402
from course_lib.grading.batch import read_results  # noqa: E402
from course_lib.grading.grader import Mark  # noqa: E402
from course_lib.grading.sandbox import SandboxError, choose  # noqa: E402
from tests.grading.made_up import (  # noqa: E402
    changed,
    graded_as,
    not_begun,
    worked,
    wrong,
    wrong_answers,
)

SECONDS = 40  # allowed to a cell, and to a notebook
LEFT_BEHIND = "left_behind.txt"
LIMITS = f"""
nbgrader gives points and a page of feedback for each student. What it does not give:
- No sandbox. A notebook runs with your rights: `peeks` wrote {LEFT_BEHIND} beside the
  gradebook, and could have written the gradebook. Only for a class that you trust.
- No secret. The checks run in the student's own process, which can read what they compare
  with: `peeks` has all points for the course's own answers.
- A plain 0 for what did not end (`endless`) and for what was not begun (`not_begun`).
- No points at all for a notebook in which a check cell was copied (`copied`): its grading
  ends with an error, and the export shows a 0.
- Fresh inputs. nbgrader's checks see the inputs that a learner saw, ours draw others; so
  the share of a wrong answer may differ, as that of `wrong` may.
The question in words has no points on either side until a person has marked it.
"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", nargs="?", default="02_masks", metavar="NN_word")
    parser.add_argument("--into", type=Path, help="a new folder that is kept")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="nbgrader-") as temporary:
        course = options.into or Path(temporary) / "course"
        assignment = find_assignment(options.name)
        hand_in(assignment, course)
        theirs = graded_by_nbgrader(options.name, course)
        left = [left_behind(course)]
        ours = graded_by_us(options.name, course)
        left.append(left_behind(course))
        print("\n".join(table(assignment, theirs, ours)))
        print("\nLeft beside the gradebook by a notebook, when graded")
        print(f"by nbgrader: {left[0]}; by course_lib: {left[1]}\n{LIMITS}")
        if options.into:
            print(f"All of it is in {course}.")
    return 0


def hand_in(assignment: Assignment, course: Path) -> None:
    """Make the course's folder, with a class that has handed in."""
    name = assignment.name
    shutil.copytree(ROOT / "solutions" / name, course / "solutions" / name)
    shutil.copyfile(ROOT / "nbgrader_config.py", course / "nbgrader_config.py")
    function = next(iter(assignment.points))
    endless = f"def {function}(*args):\n    while True:\n        pass"
    submitted = {
        "worked": worked(name),
        "not_begun": not_begun(name),
        "wrong": wrong(name, *wrong_answers(assignment)[0]),
        "endless": wrong(name, function, endless),
        "copied": worked(name),
        "peeks": peeking(assignment, course),
    }
    check = f"{function}-check"
    (cell,) = [one for one in worked(name).cells if graded_as(one) == check]
    cell.id = "copied"
    submitted["copied"].cells.append(cell)
    for student, notebook in submitted.items():
        folder = course / "submitted" / student / name
        folder.mkdir(parents=True)
        (path,) = (ROOT / "exercises" / name).glob("*.ipynb")
        nbformat.write(notebook, folder / path.name)


def peeking(assignment: Assignment, course: Path) -> NotebookNode:
    """Answer with the course's own answers, and leave a file beside the gradebook."""
    notebook = not_begun(assignment.name)
    for function in assignment.points:
        source = f"open({str(course / LEFT_BEHIND)!r}, 'w').write('I was here')\n"
        source += "from course_lib.feedback.catalogue import find_task\n"
        source += f"{function} = find_task({function!r}).reference"
        changed(notebook, function, source)
    return notebook


def graded_by_nbgrader(name: str, course: Path) -> dict[str, float | None]:
    """Take the class through nbgrader; return the points that it exports.

    None stands for a student whom it gave up: in its table that is a 0 like others.
    """
    environment = os.environ | {
        # nbgrader calls alembic by its name
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
        "HOME": str(course),  # the settings of whoever runs this stay out
        "OMP_NUM_THREADS": "1",
    }
    for command in (
        ["generate_assignment", name, "--create"],
        ["autograde", name, f"--Execute.timeout={SECONDS}"],
        ["generate_feedback", name],
        ["export"],
    ):
        print("nbgrader", *command, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command, "--log-level=ERROR"],
            cwd=course,
            env=environment,
            capture_output=True,
            text=True,
        )
        if done.returncode and command[0] != "autograde":
            raise SystemExit(f"nbgrader {command[0]} failed\n{done.stderr}")
        for line in done.stderr.splitlines():
            if "] There was an error" in line and "for student" in line:
                print(" ", line)
    with (course / "grades.csv").open(newline="", encoding="utf-8") as file:
        scores = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
    graded = {path.name for path in course.glob("autograded/*")}
    return {
        student: float(score) if student in graded else None
        for student, score in scores.items()
    }


def graded_by_us(name: str, course: Path) -> dict[str, list[Mark]]:
    """Give the same notebooks to our grader, in its sandbox where there is one."""
    command = ["grade", name, "--submissions", "submitted", "--out", "results.jsonl"]
    try:
        choose("auto")
    except SandboxError as error:
        print(f"Without a sandbox, since all were made up here: {error}")
        command.append("--trust-submissions")
    print("python -m course_lib", *command, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "course_lib", *command, f"--seconds={SECONDS}"],
        cwd=course,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"course_lib grade failed\n{done.stderr}")
    return read_results(course / "results.jsonl")


def table(
    assignment: Assignment,
    theirs: dict[str, float | None],
    ours: dict[str, list[Mark]],
) -> list[str]:
    """Write a row a student: both grades, and what ours says besides."""
    lines = [
        f"{'student':11}{'nbgrader':>9}{'course_lib':>12}{'of':>5}  what ours says"
    ]
    for student, marks in ours.items():
        known = [mark.score * mark.points for mark in marks if mark.score is not None]
        points = f"{sum(known):.2f}" if known else "blank"
        other = "error" if theirs[student] is None else f"{theirs[student]:.2f}"
        said = dict.fromkeys(
            mark.mistake or mark.property or mark.status
            for mark in marks
            if mark.score != 1
        )
        most = f"{sum(assignment.points.values()):g}"
        row = f"{student:11}{other:>9}{points:>12}{most:>5}  "
        lines.append(row + (", ".join(said) or "all held"))
    return lines


def left_behind(course: Path) -> str:
    """Name what a notebook has left beside the gradebook, and take it away."""
    there = (course / LEFT_BEHIND).exists()
    (course / LEFT_BEHIND).unlink(missing_ok=True)
    return LEFT_BEHIND if there else "nothing"


if __name__ == "__main__":
    sys.exit(main())
