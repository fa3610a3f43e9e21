"""The course's own commands.

python -m course_lib progress                   which quiz questions you answered
python -m course_lib translate "twenty-one"     number names and dates into German
python -m course_lib translate train FILE.tsv   a translator of your own pairs
python -m course_lib pronounce jupyter          phonemes of an English word
python -m course_lib chat                       speak with SmolLM2; --help lists options
"""

import os
import sys
from collections.abc import Callable, Sequence

from course_lib.pretrained import AssetError
from course_lib.progress import ProgressError, progress_path, read_progress
from course_lib.quiz import load_questions
from course_lib.quiz.data import FOLDER


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        asked_for_help = given[:1] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    try:
        COMMANDS[given[0]](given[1:])
    except (AssetError, ProgressError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"{error.filename or 'a file'}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    return 0


def show_progress(arguments: Sequence[str]) -> None:
    """Print how far each lesson's quiz is."""
    if arguments:
        raise ValueError(f"progress takes no arguments, got {' '.join(arguments)}")
    answers = read_progress()["quiz"]
    print(f"{'quiz':16} questions  right  at the first try")
    for lesson in sorted(path.stem for path in FOLDER.glob("*.toml")):
        questions = load_questions(lesson)
        known = [answers.get(lesson, {}).get(question.id, {}) for question in questions]
        right = sum(answer.get("right", False) for answer in known)
        first = sum(answer.get("first_right", False) for answer in known)
        print(f"{lesson:16} {len(questions):9}  {right:5}  {first:16}")
    print(f"kept in {progress_path()}")


def translate(arguments: Sequence[str]) -> None:
    """Translate texts, or train a translator."""
    from course_lib.apps.translate import command  # late: it needs torch

    command.translate(arguments)


def pronounce(arguments: Sequence[str]) -> None:
    """Say how words are pronounced."""
    from course_lib.apps.translate import command  # late: it needs torch

    command.pronounce(arguments)


def chat(arguments: Sequence[str]) -> None:
    """Speak with SmolLM2, or let it continue a text."""
    from course_lib.apps.chat import command  # late: it needs torch

    command.chat(arguments)


COMMANDS: dict[str, Callable[[Sequence[str]], None]] = {
    "progress": show_progress,
    "translate": translate,
    "pronounce": pronounce,
    "chat": chat,
}


if __name__ == "__main__":
    sys.exit(main())
