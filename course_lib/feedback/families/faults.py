"""A mistake in one step, entered by each exercise that has the step."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A mistake of a family; an exercise builds its wrong answer from it.

    id: its name in the catalogue.
    hint: a question that leads to the fault.
    step: the step, or the part of a class, that is wrong.
    """

    id: str
    hint: str
    step: Callable


def named(answer: Callable, id: str) -> Callable:
    """Give an answer that was built from a fault a name that tests can show."""
    answer.__name__ = id.replace("-", "_")
    return answer
