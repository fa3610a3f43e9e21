"""The course's own commands.

python -m course_lib progress                   how far you are, and what comes next
python -m course_lib check FILE.ipynb           which of an exercise's checks pass
python -m course_lib grade NN_word --help       mark a class's notebooks, in a sandbox
python -m course_lib translate "twenty-one"     number names and dates into German
python -m course_lib translate train FILE.tsv   a translator of your own pairs
python -m course_lib pronounce jupyter          phonemes of an English word
python -m course_lib chat                       speak with SmolLM2; --help lists options
python -m course_lib captions talk.wav          what a recording says; --live, --srt, --vtt
"""

import os
import sys
from collections.abc import Callable, Sequence

from course_lib.pretrained import AssetError
from course_lib.progress import ProgressError, reset_progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        asked_for_help = given[:1] in (["-h"], ["--help"])
        print(__doc__, file=sys.stdout if asked_for_help else sys.stderr)
        return 0 if asked_for_help else 2
    try:
        return COMMANDS[given[0]](given[1:]) or 0
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


def show_progress(arguments: Sequence[str]) -> None:
    """Print how far each lesson is, or begin anew."""
    if list(arguments) == ["--reset"]:
        old = reset_progress()
        print(f"begun anew; the old file is {old}" if old else "there was nothing yet")
    elif arguments:
        raise ValueError(
            f"progress takes --reset or nothing, got {' '.join(arguments)}"
        )
    else:
        from course_lib.overview import overview  # late: it needs torch

        print(overview())


def check(arguments: Sequence[str]) -> int:
    """Run an exercise's notebook and say which of its checks pass."""
    from course_lib.feedback import command  # late: it needs torch

    return command.run(arguments)


def grade(arguments: Sequence[str]) -> int:
    """Mark a class's notebooks."""
    try:
        from course_lib.grading import command  # late: it needs torch
    except ModuleNotFoundError as error:
        raise ValueError(
            f"grading needs {error.name}: run make env-grade, once"
        ) from error

    return command.run(arguments)


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


def captions(arguments: Sequence[str]) -> None:
    """Write down what a recording says."""
    from course_lib.apps.captions import command  # late: it needs torch

    command.captions(arguments)


COMMANDS: dict[str, Callable[[Sequence[str]], int | None]] = {
    "progress": show_progress,
    "check": check,
    "grade": grade,
    "translate": translate,
    "pronounce": pronounce,
    "chat": chat,
    "captions": captions,
}


if __name__ == "__main__":
    sys.exit(main())
