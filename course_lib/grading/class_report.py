"""How a class did: counted once, for the text, the page and the notebook."""

from collections import Counter
from dataclasses import dataclass

from course_lib.feedback.catalogue import find_task
from course_lib.grading.grader import Mark

MOST_MISTAKES = 5  # of one exercise, in the text


@dataclass(frozen=True)
class Exercise:
    """How a class did in one exercise.

    name: the function or question that was asked.
    statuses: how many have each status, most first.
    scores: shares of the points, 0 to 1, of those who have a mark.
    mistakes: how often each mistake, or violated property, was made, most first.
    sections: where those mistakes are explained, and how many made one; most first.
    """

    name: str
    statuses: dict[str, int]
    scores: tuple[float, ...]
    mistakes: dict[str, int]
    sections: dict[str, int]

    def parts(self) -> dict[str, int]:
        """Count who has none of the points, up to half of them, more, and all."""
        counts = dict.fromkeys(("none", "to half", "to all", "all"), 0)
        for score in self.scores:
            part = "to half" if score <= 0.5 else "to all"
            counts["none" if score == 0 else "all" if score > 0.999 else part] += 1
        return counts


def how_it_went(marks: dict[str, list[Mark]]) -> list[Exercise]:
    """Count a class's marks, exercise by exercise.

    Args:
        marks: {student: marks}, as batch.read_results gives them.

    >>> (one,) = how_it_went({"ada": [Mark("ada", "reach", "graded", 0.5, 2.0)]})
    >>> one.parts()
    {'none': 0, 'to half': 1, 'to all': 0, 'all': 0}
    """
    given: dict[str, list[Mark]] = {}
    for mark in (mark for one in marks.values() for mark in one):
        given.setdefault(mark.exercise, []).append(mark)
    return [_counted(name, of_it) for name, of_it in given.items()]


def teach_again(exercises: list[Exercise]) -> dict[str, int]:
    """Count how many answers have a mistake that a section explains, most first.

    Args:
        exercises: as how_it_went gives them.
    """
    counts = sum((Counter(one.sections) for one in exercises), Counter())
    return dict(counts.most_common())


def class_lines(marks: dict[str, list[Mark]]) -> list[str]:
    """Say for each exercise how it went, which mistakes were made, what to read again.

    Args:
        marks: {student: marks}.
    """
    lines = [f"{len(marks)} students"]
    for one in how_it_went(marks):
        told = ", ".join(f"{n} {status}" for status, n in one.statuses.items())
        lines += ["", one.name, f"  {told}"]
        for part, n in one.parts().items():
            bar = "#" * round(40 * n / max(1, len(one.scores)))
            lines.append(f"  {part:8}{n:4} {bar}")
        most = list(one.mistakes.items())[:MOST_MISTAKES]
        lines += [f"  {n:3} x {mistake}" for mistake, n in most]
        lines += [f"  teach again: {section}" for section in list(one.sections)[:1]]
    return lines


def _counted(name: str, marks: list[Mark]) -> Exercise:
    found = (mark.mistake or mark.property for mark in marks)
    return Exercise(
        name=name,
        statuses=_most_first(mark.status for mark in marks),
        scores=tuple(mark.score for mark in marks if mark.score is not None),
        mistakes=_most_first(one for one in found if one),
        sections=_most_first(_section(mark) for mark in marks if mark.mistake),
    )


def _most_first(things) -> dict[str, int]:
    return dict(Counter(things).most_common())


def _section(mark: Mark) -> str:
    task = find_task(mark.exercise)
    read = next(one.read for one in task.mistakes if one.id == mark.mistake)
    return f"notebooks/{task.lesson}.ipynb, section {read}"
