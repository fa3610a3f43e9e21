"""The command `python -m course_lib grade ASSIGNMENT`."""

import argparse
import secrets
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from course_lib import hardware
from course_lib.grading.assignment import find_assignment
from course_lib.grading.batch import begun_seed, grade_class, read_results
from course_lib.grading.by_hand import add_by_hand
from course_lib.grading.report import write_reports
from course_lib.grading.sandbox import Limits, choose
from course_lib.grading.submissions import Submission, find_submissions


def run(arguments: Sequence[str]) -> int:
    """Grade a class; return 1 where the grader itself failed on somebody."""
    options = _parser().parse_args(arguments)
    kind = choose(options.sandbox, options.trust_submissions)
    if kind == "none":
        print("No sandbox: every notebook runs with your own rights.", file=sys.stderr)
    assignment = find_assignment(options.assignment)
    found = find_submissions(
        options.submissions, list(assignment.points), assignment.name
    )
    found += _absent(options.students, {one.student for one in found})
    seed = begun_seed(options.out) if options.resume else None
    if seed is None:
        seed = secrets.randbelow(2**31)
    seed = seed if options.seed is None else options.seed
    print(f"{len(found)} submissions, sandbox {kind}, seed {seed}", file=sys.stderr)
    try:
        with hardware.threads(1):
            failed = grade_class(
                found,
                assignment,
                options.out,
                seed,
                kind,
                replace(Limits(), seconds=options.seconds),
                options.jobs,
                options.resume,
                options.scheduler,
            )
    except KeyboardInterrupt:
        print(f"stopped; --resume goes on with {options.out}", file=sys.stderr)
        return 130
    results = read_results(options.out)
    if options.reports:
        if options.manual:
            results = add_by_hand(results, options.manual, assignment)
        write_reports(results, assignment.name, options.reports)
    statuses = Counter(mark.status for marks in results.values() for mark in marks)
    told = ", ".join(f"{n} {status}" for status, n in statuses.most_common())
    print(f"{options.out}: {told}")
    if failed:
        print(f"The grader failed on {', '.join(failed)}.", file=sys.stderr)
    return 1 if failed else 0


def _absent(roster: Path | None, there: set[str]) -> list[Submission]:
    """Add the students of a list who handed nothing in."""
    if roster is None:
        return []
    names = [
        line.strip() for line in roster.read_text(encoding="utf-8-sig").splitlines()
    ]
    return [
        Submission(name, (), "missing", "nothing was handed in")
        for name in dict.fromkeys(names)
        if name and name not in there
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m course_lib grade",
        description="Grade a class's notebooks in a sandbox, one line a student.",
    )
    parser.add_argument("assignment", metavar="NN_word", help="such as 02_masks")
    add = parser.add_argument
    add(
        "--submissions",
        type=Path,
        required=True,
        help="STUDENT/*.ipynb or STUDENT.ipynb",
    )
    add("--out", type=Path, required=True, metavar="results.jsonl")
    add("--jobs", type=int, default=1, help="how many at once (1)")
    add("--sandbox", choices=["auto", "bwrap", "docker"], default="auto")
    add(
        "--trust-submissions",
        action="store_true",
        help="no sandbox: you trust them all",
    )
    add("--seed", type=int, help="draws the inputs; without it one is drawn and kept")
    add("--seconds", type=float, default=60.0, help="wall time of one run (60)")
    add(
        "--students",
        type=Path,
        help="a list, one name a line: who else should be there",
    )
    add("--reports", type=Path, metavar="FOLDER", help="for students, class, table")
    add(
        "--manual",
        type=Path,
        metavar="FILE",
        help="CSV (student,question,points) or gradebook.db: for the reports",
    )
    add("--resume", action="store_true", help="go on with a file that is there")
    add("--scheduler", help="tcp://... of a Dask cluster that does the work")
    return parser
