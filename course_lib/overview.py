"""How far a learner is: each lesson's quiz and exercises, and what comes next."""

from pathlib import Path

from course_lib.feedback.catalogue import find_task, task_names
from course_lib.progress import progress_path, read_progress
from course_lib.quiz import load_questions
from course_lib.quiz.data import FOLDER, Question

LESSONS = (
    "start softmax masks attention positions cross_attention feed_forward block decoder "
    "sampling kv_cache training translation chat captions scale"
).split()


def overview(path: Path | None = None) -> str:
    """Say in a table what was done, and in a sentence what comes next.

    Args:
        path: the progress file; None takes progress_path().

    Returns:
        Lines of text: one a lesson, then the next step and where this is kept.

    Raises:
        ProgressError: the file is damaged or may not be read.

    Lesson: notebooks/00_start.ipynb

    >>> print(overview(Path("no such file")).splitlines()[0])
    lesson              quiz  exercises
    """
    progress = read_progress(path)
    lines, step = [f"{'lesson':18}  quiz  exercises"], ""
    exercises = _exercises()
    for number, word in enumerate(LESSONS):
        lesson = f"{number:02}_{word}"
        answered = progress["quiz"].get(word, {})
        questions = [question.id for question in _questions(word)]
        right = sum(answered.get(id, {}).get("right", False) for id in questions)
        names = exercises.get(lesson, [])
        passed = [progress["checks"].get(n, {}).get("best", 0) == 1 for n in names]
        lines.append(
            f"{lesson:18} {_share(right, len(questions))}  {_share(sum(passed), len(names))}"
        )
        if not step and right < len(questions):
            step = f"notebooks/{lesson}.ipynb: its quiz"
        elif not step and not all(passed):
            step = (
                f'notebooks/{lesson}.ipynb: check("{names[passed.index(False)]}", ...)'
            )
    lines.append(f"next: {step or 'nothing is left: build something of your own'}")
    return "\n".join([*lines, f"kept in {path or progress_path()}"])


def _exercises() -> dict[str, list[str]]:
    """List the exercises' names by lesson."""
    found: dict[str, list[str]] = {}
    for name in task_names():
        found.setdefault(find_task(name).lesson, []).append(name)
    return found


def _questions(word: str) -> tuple[Question, ...]:
    return load_questions(word) if (FOLDER / f"{word}.toml").exists() else ()


def _share(done: int, total: int) -> str:
    return f"{done}/{total}".rjust(5) if total else "    -"
