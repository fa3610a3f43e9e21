"""Questions to a lesson: data, a widget, and plain text where there is no kernel.

The data are the files `questions/WORD.toml`; `load_questions` says what they may hold.
"""

from course_lib.quiz.data import Choice, Question, load_questions
from course_lib.quiz.text import html_text, plain_text


def show_quiz(lesson: str) -> None:
    """Ask the questions of a lesson, in a notebook as a widget, else as plain text.

    Args:
        lesson: its word, as in "softmax".

    Raises:
        ValueError: there is no such quiz.

    Lesson: notebooks/00_start.ipynb

    >>> show_quiz("masks")
    1. What is the causal mask for?
       (a) ...
    """
    from IPython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        print(plain_text(load_questions(lesson)))
        return
    from course_lib.quiz.widget import Quiz

    display(Quiz(lesson))


__all__ = [
    "Choice",
    "Question",
    "html_text",
    "load_questions",
    "plain_text",
    "show_quiz",
]
