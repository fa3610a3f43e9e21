"""The course's own commands: python -m course_lib progress."""

import argparse
import sys

from course_lib.progress import ProgressError, progress_path, read_progress
from course_lib.quiz import load_questions
from course_lib.quiz.data import FOLDER


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m course_lib", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("progress", help="show which quiz questions you answered")
    parser.parse_args(arguments)
    try:
        show_progress()
    except ProgressError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def show_progress() -> None:
    """Print how far each lesson's quiz is."""
    answers = read_progress()["quiz"]
    print(f"{'quiz':16} questions  right  at the first try")
    for lesson in sorted(path.stem for path in FOLDER.glob("*.toml")):
        questions = load_questions(lesson)
        known = [answers.get(lesson, {}).get(question.id, {}) for question in questions]
        right = sum(answer.get("right", False) for answer in known)
        first = sum(answer.get("first_right", False) for answer in known)
        print(f"{lesson:16} {len(questions):9}  {right:5}  {first:16}")
    print(f"kept in {progress_path()}")


if __name__ == "__main__":
    sys.exit(main())
