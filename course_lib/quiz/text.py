"""A quiz without a kernel: as plain text, and as html whose reasons unfold."""

import html
import re
from collections.abc import Sequence

from course_lib.quiz.data import LETTERS, Choice, Question


def plain_text(questions: Sequence[Question]) -> str:
    """Write the questions, and after all of them the reasons.

    Args:
        questions: of one lesson.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.quiz.data import load_questions
    >>> print(plain_text(load_questions("masks"))[:34])
    1. What is the causal mask for?
    """
    asked, answers = [], ["Reasons"]
    for number, question in enumerate(questions, start=1):
        asked.append(f"{number}. {question.text}")
        asked += [f"   ({a}) {choice.text}" for a, choice in _lettered(question)]
        asked.append("")
        for letter, choice in _lettered(question):
            answers.append(f"{number} ({letter}) {_verdict(choice)}: {choice.reason}")
    return "\n".join([*asked, *answers])


def html_text(questions: Sequence[Question]) -> str:
    """Write the questions with their reasons folded below each.

    Args:
        questions: of one lesson.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.quiz.data import load_questions
    >>> html_text(load_questions("masks")).count("<details>")
    5
    """
    parts = []
    for number, question in enumerate(questions, start=1):
        asked = f"<strong>{number}.</strong> {_marked(question.text)}"
        parts.append(f'<p style="margin-top: 1.2em">{asked}</p>')
        choices = [f"({a}) {_marked(c.text)}" for a, c in _lettered(question)]
        parts.append(_list(choices))
        reasons = [
            f"<strong>({a}) {_verdict(c)}.</strong> {_marked(c.reason)}"
            for a, c in _lettered(question)
        ]
        summary = f"<summary>Reasons for question {number}</summary>"
        parts.append(f"<details>{summary}{_list(reasons)}</details>")
    return "\n".join(parts)


def _lettered(question: Question) -> list[tuple[str, Choice]]:
    return list(zip(LETTERS, question.choices, strict=False))


def _verdict(choice: Choice) -> str:
    return "right" if choice.right else "wrong"


def _list(items: Sequence[str]) -> str:
    lines = "\n".join(f"<li>{item}</li>" for item in items)
    return f'<ul style="list-style: none">\n{lines}\n</ul>'


def _marked(text: str) -> str:
    """Escape html, and set what stands in backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
