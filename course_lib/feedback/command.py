"""The command `python -m course_lib check FILE`."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from course_lib.feedback.files import FileReport, check_file


def run(arguments: Sequence[str]) -> int:
    """Print what a file's checks gave; return 0 only if all of them pass."""
    parser = argparse.ArgumentParser(
        prog="python -m course_lib check",
        description="Run an exercise's notebook and say which of its checks pass.",
    )
    parser.add_argument("file", type=Path, metavar="FILE.ipynb")
    parser.add_argument("--json", action="store_true", help="for programs")
    options = parser.parse_args(arguments)
    report = check_file(options.file)
    print(_as_json(report) if options.json else _as_text(report))
    return 0 if report.passed else 1


def _as_json(report: FileReport) -> str:
    results = {
        name: asdict(result) if result else None
        for name, result in report.results.items()
    }
    whole = {"passed": report.passed, "checks": results, "faults": report.faults}
    return json.dumps(whole, indent=1, ensure_ascii=False)


def _as_text(report: FileReport) -> str:
    blocks = [
        result.message if result else f"{name}: no check of it ran in this file"
        for name, result in report.results.items()
    ]
    results = [result for result in report.results.values() if result]
    passed = sum(result.passed for result in results)
    points = sum(result.score * result.points for result in results)
    last = (
        f"{passed} of {len(report.results)} exercises pass their visible checks, "
        f"{points:g} points"
    )
    return "\n\n".join([*blocks, *report.faults, last])
