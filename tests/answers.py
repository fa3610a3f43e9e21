"""Kept answers to the exercises: wrong ones with the mistake they make, and right ones."""

import importlib
import pkgutil
from collections.abc import Callable


def wrong(*mistakes: str) -> Callable:
    """Mark an answer as wrong and name its mistake, or its several mistakes."""

    def mark(answer):
        answer.mistakes = mistakes
        return answer

    return mark


def right(way: str) -> Callable:
    """Mark an answer as right and say how it is written."""

    def mark(answer):
        answer.way = way
        return answer

    return mark


def answers(folder: str, mark: str) -> list[tuple[str, Callable]]:
    """List (function asked for, answer) of every marked answer in tests/<folder>."""
    package = importlib.import_module(f"tests.{folder}")
    found = []
    for module in pkgutil.iter_modules(package.__path__):
        kept = importlib.import_module(f"{package.__name__}.{module.name}")
        found += [
            (module.name, answer)
            for answer in vars(kept).values()
            if hasattr(answer, mark) and answer.__module__ == kept.__name__
        ]
    return found
