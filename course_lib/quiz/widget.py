"""A quiz in a notebook: choose, read the reason, and it is noted."""

from dataclasses import asdict
from pathlib import Path

import anywidget
import traitlets

from course_lib.progress import ProgressError, note_answer, read_progress
from course_lib.quiz.data import LETTERS, Question, load_questions
from course_lib.quiz.text import html_text, plain_text

HERE = Path(__file__).parent
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class Quiz(anywidget.AnyWidget):
    """The questions of a lesson as a widget; Python notes each answer.

    The page judges an answer and shows the reasons, so that it works on when the kernel
    is gone; a message tells Python, which judges anew, writes the progress file and
    replies in `note`.

    Args:
        lesson: its word, as in "softmax".

    Raises:
        ValueError: there is no such quiz.

    Lesson: notebooks/00_start.ipynb
    """

    _esm = HERE / "widget.js"
    _css = HERE / "widget.css"
    questions = traitlets.List().tag(sync=True)
    note = traitlets.Unicode().tag(sync=True)
    noted = traitlets.Int().tag(sync=True)  # how many answers were heard

    def __init__(self, lesson: str):
        self.lesson, self._loaded = lesson, load_questions(lesson)
        super().__init__(questions=[asdict(question) for question in self._loaded])
        self.note = earlier(lesson, self._loaded)
        self.on_msg(self._on_answer)

    def _on_answer(self, _widget, answer: dict, _buffers) -> None:
        """Judge and note what was chosen, and say where it was noted."""
        by_id = {question.id: question for question in self._loaded}
        question, chosen = by_id.get(answer.get("question")), answer.get("chosen")
        if question is None or not isinstance(chosen, str):
            return  # nothing that the page sends
        chosen = "".join(sorted(set(chosen)))
        if not chosen or not set(chosen) <= set(LETTERS[: len(question.choices)]):
            return
        try:
            note_answer(self.lesson, question.id, chosen, question.is_right(chosen))
        except ProgressError as error:
            self.note = f"Not noted. {error}"
        else:
            self.note = earlier(self.lesson, self._loaded)
        self.noted += 1

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        """Give the widget, and for pages without a kernel the same as html and text."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        words = {
            "text/plain": plain_text(self._loaded),
            "text/html": html_text(self._loaded),
        }
        return data | words, metadata


def earlier(lesson: str, questions: tuple[Question, ...]) -> str:
    """Say how the lesson's quiz stands in the progress file.

    Args:
        lesson: its word.
        questions: its questions; answers to others are left out.

    Lesson: notebooks/00_start.ipynb
    """
    try:
        answers = read_progress()["quiz"].get(lesson, {})
    except ProgressError as error:
        return str(error)
    known = [answers[q.id] for q in questions if q.id in answers]
    if not known:
        return ""
    right = sum(answer["right"] for answer in known)
    at_first = sum(answer["first_right"] for answer in known)
    return f"Your progress: {right} of {len(questions)} right, {at_first} at the first try."
