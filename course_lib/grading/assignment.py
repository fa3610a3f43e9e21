"""What an assignment asks: the names and points of a released exercise."""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat

from course_lib.feedback.files import EXERCISES

CALL = re.compile(r"""^check\(\s*["'](\w+)["'](?:.*points=([\d.]+))?""", re.MULTILINE)


@dataclass(frozen=True)
class Assignment:
    """One exercise notebook, as it was given out.

    name: such as "02_masks".
    points: of each function that a check asks for, in order.
    manual: points of each answer in words, by the id of its cell.
    """

    name: str
    points: dict[str, float]
    manual: dict[str, float]


def find_assignment(name: str, folder: Path = EXERCISES) -> Assignment:
    """Read what an assignment asks, from our own copy of it.

    Args:
        name: its folder in exercises/, such as "02_masks".
        folder: where the released exercises are.

    Raises:
        ValueError: there is none of that name; the message lists them.

    >>> find_assignment("02_masks").points["packed_mask"]
    2.0
    """
    found = sorted((folder / name).glob("*.ipynb")) if name else []
    if not found or Path(name).name != name:
        names = sorted(path.parent.name for path in folder.glob("*/*.ipynb"))
        raise ValueError(
            f"there is no assignment {name!r}; there is {', '.join(names) or 'none'}"
        )
    points, manual = {}, {}
    for cell in nbformat.read(found[0], as_version=4).cells:
        if cell.cell_type == "code":
            for task, worth in CALL.findall(cell.source):
                points[task] = float(worth or 1)
        else:
            graded = cell.metadata.get("nbgrader", {})
            if graded.get("grade"):
                manual[graded["grade_id"]] = float(graded["points"])
    return Assignment(name, points, manual)
