"""What a learner has done so far: one JSON file on their own computer."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock


class ProgressError(Exception):
    """The progress file cannot be read or written; the message says how to mend it.

    Lesson: notebooks/00_start.ipynb
    """


def progress_path(environ: Mapping[str, str] | None = None) -> Path:
    """Return the file that progress is kept in; it need not exist yet.

    Args:
        environ: environment variables; None takes those of this process.
            COURSE_PROGRESS names the file itself and wins over the platform's place.

    Raises:
        ProgressError: COURSE_PROGRESS begins with the home of an unknown user.

    Source: XDG Base Directory Specification 0.8; the Windows and macOS equivalents.
    Lesson: notebooks/00_start.ipynb

    >>> progress_path({"COURSE_PROGRESS": "/data/mine.json"}).name
    'mine.json'
    >>> progress_path({}).parent.name
    'decoder-course'
    """
    environ = os.environ if environ is None else environ
    if chosen := environ.get("COURSE_PROGRESS"):
        try:
            return Path(chosen).expanduser().absolute()
        except RuntimeError as error:
            raise ProgressError(f"COURSE_PROGRESS is {chosen!r}: {error}") from error
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Application Support"
    else:
        base = environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "decoder-course" / "progress.json"


def read_progress(path: Path | None = None) -> dict[str, Any]:
    """Read what was done: {"quiz": {lesson: {question: answers}}, "checks": {name: tries}}.

    Args:
        path: the file; None takes progress_path().

    Returns:
        For each question that was answered: "first" and "last" (the letters chosen),
        "first_right" and "right" (of the last answer), "tries" and "when" (ISO 8601,
        UTC). For each exercise that was checked: "best" and "last" (scores, 0 to 1),
        "tries" and "when". Empty where there is no file.

    Raises:
        ProgressError: the file is damaged or may not be read.

    Lesson: notebooks/00_start.ipynb

    >>> read_progress(Path("no such file"))
    {'quiz': {}, 'checks': {}}
    """
    path = path or progress_path()
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {"quiz": {}, "checks": {}}
    except OSError as error:
        raise ProgressError(
            f"The progress file {path} cannot be read ({error.strerror}). Give yourself "
            "the right to read it, or set COURSE_PROGRESS to a file of your own."
        ) from error
    except ValueError:
        found = None
    if not _is_progress(found):
        raise ProgressError(
            f"The progress file {path} is damaged. Nothing was changed: move it away, "
            "and a new one begins with your next answer."
        )
    return {"quiz": {}, "checks": {}} | found


def _is_progress(found: object) -> bool:
    """Tell whether this has the form that read_progress promises."""
    if not isinstance(found, dict):
        return False
    lessons, checks = found.get("quiz", {}), found.get("checks", {})
    if not isinstance(lessons, dict) or not isinstance(checks, dict):
        return False
    return all(_has(check, CHECK) for check in checks.values()) and all(
        isinstance(questions, dict)
        and all(_has(answer, ANSWER) for answer in questions.values())
        for questions in lessons.values()
    )


ANSWER = {"first": list, "last": list, "first_right": bool, "right": bool}
ANSWER |= {"tries": int, "when": str}
CHECK = {"best": int | float, "last": int | float, "tries": int, "when": str}


def _has(found: object, kinds: dict) -> bool:
    return isinstance(found, dict) and all(
        isinstance(found.get(name), kind) for name, kind in kinds.items()
    )


def note_answer(
    lesson: str,
    question: str,
    chosen: Sequence[str],
    right: bool,
    path: Path | None = None,
) -> dict[str, Any]:
    """Write down one answer to a quiz question; several notebooks may do so at once.

    Args:
        lesson: its word, as in "softmax".
        question: its id.
        chosen: letters of the choices.
        right: whether exactly the right ones were chosen.
        path: the file; None takes progress_path().

    Returns:
        The question's answers, as in read_progress.

    Raises:
        ProgressError: the file is damaged, or its folder may not be written.

    Lesson: notebooks/00_start.ipynb

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "progress.json"
    >>> _ = note_answer("masks", "purpose", ["a"], False, file)
    >>> note_answer("masks", "purpose", ["b"], True, file)["tries"]
    2
    """
    with _progress_to_change(path) as progress:
        questions = progress["quiz"].setdefault(lesson, {})
        former = questions.get(question, {})
        questions[question] = former | {
            "first": former.get("first", list(chosen)),
            "first_right": former.get("first_right", right),
            "last": list(chosen),
            "right": right,
            **_tried_again(former),
        }
    return questions[question]


def note_check(name: str, score: float, path: Path | None = None) -> dict[str, Any]:
    """Write down one check of an exercise; the best score stays.

    Args:
        name: what was asked for, as in "causal_mask".
        score: from 0 to 1.
        path: the file; None takes progress_path().

    Returns:
        The exercise's tries, as in read_progress.

    Raises:
        ProgressError: as note_answer.

    Lesson: notebooks/00_start.ipynb

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = Path(folder.name) / "progress.json"
    >>> _ = note_check("causal_mask", 1.0, file)
    >>> note_check("causal_mask", 0.5, file)["best"]
    1.0
    """
    with _progress_to_change(path) as progress:
        former = progress["checks"].get(name, {})
        progress["checks"][name] = {
            "best": max(score, former.get("best", 0.0)),
            "last": score,
            **_tried_again(former),
        }
    return progress["checks"][name]


def reset_progress(path: Path | None = None) -> Path | None:
    """Begin anew: the file is kept beside its place, with ".old" added to its name.

    Args:
        path: the file; None takes progress_path().

    Returns:
        Where the old file is now; None where there was none.

    Raises:
        ProgressError: it may not be moved.

    Lesson: notebooks/00_start.ipynb

    >>> reset_progress(Path("no such folder") / "no such file") is None
    True
    """
    path = (path or progress_path()).resolve()
    old = path.with_name(path.name + ".old")
    try:
        os.replace(path, old)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ProgressError(
            f"The progress file {path} cannot be moved ({error.strerror})."
        ) from error
    return old


def _tried_again(former: dict[str, Any]) -> dict[str, Any]:
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return {"tries": former.get("tries", 0) + 1, "when": when}


@contextmanager
def _progress_to_change(path: Path | None) -> Iterator[dict[str, Any]]:
    """Give the progress to one writer at a time, and write what became of it."""
    path = (path or progress_path()).resolve()  # a link stays one
    if path.is_dir():
        raise ProgressError(
            f"The progress file {path} is a folder. Set COURSE_PROGRESS to a file."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(path.name + ".lock"), timeout=10):
            progress = read_progress(path)
            yield progress
            _replace(path, json.dumps(progress, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:  # a lock that is not given in time is one too
        raise ProgressError(
            f"The progress file {path} cannot be written ({error.strerror or error}). "
            "Set COURSE_PROGRESS to a file of your own."
        ) from error


def _replace(path: Path, text: str) -> None:
    """Write the whole file or leave the old one: a crash keeps what was there."""
    if path.exists():
        path.open("a").close()  # a file that is write-protected stays as it is
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)
