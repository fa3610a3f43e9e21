"""What `check` tells a learner: the fault, the smallest input that shows it, a hint."""

import html
import os
from dataclasses import asdict, dataclass

MIME = "application/vnd.decoder-course.check+json"  # how a file's checks are read


@dataclass(frozen=True)
class Result:
    """The answer's state, as numbers and as text.

    passed: every visible check holds.
    score: from 0 to 1, the share of the checks that hold.
    mistake: id in the catalogue, or None.
    property: id of a violated property, or None.
    message: what a learner reads.
    points: what the exercise is worth; nbgrader reads score * points.

    Lesson: notebooks/02_masks.ipynb
    """

    name: str
    passed: bool
    score: float
    mistake: str | None
    property: str | None
    message: str
    points: float = 1.0

    def __repr__(self) -> str:
        # nbgrader gives partial credit for a number that a cell shows.
        if "NBGRADER_EXECUTION" in os.environ:
            return str(self.score * self.points)
        return self.message

    def _repr_mimebundle_(self, **kwargs) -> dict:
        return {MIME: asdict(self)}

    def _repr_html_(self) -> str | None:
        if "NBGRADER_EXECUTION" in os.environ:
            return None
        head, _, rest = html.escape(self.message).partition("\n")
        colour = "#1a7f37" if self.passed else "#b35900"
        body = f'<pre style="margin:0.5em 0 0;white-space:pre-wrap">{rest}</pre>'
        return (
            f'<div role="status" style="border-left:4px solid {colour};'
            f'padding:0.3em 0.8em"><strong>{head}</strong>{body if rest else ""}</div>'
        )
