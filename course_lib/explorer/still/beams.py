"""What a beam search kept: a tree, a column a step, the best beam on top."""

from course_lib.explorer.still.labels import counted, drawn, inches, label, said
from course_lib.explorer.still.paper import (
    ABOVE_LINES,
    EDGE,
    GAP,
    TITLE,
    WIDTH,
    Paper,
)
from course_lib.explorer.still.spot import Spot
from course_lib.figures.show import BLUE, INK

TALL = 0.5  # inches from a beam to the next
ROOM = 1.6  # at the right, for the scores
GREY = "#888888"


def draw_beams(paper: Paper, spot: Spot) -> list[str]:
    """Draw the tree of beams, its last steps where there is no room for all."""
    beams = spot.trace.beams
    names = [[_name(beam) for beam in kept] for kept in beams]
    start = EDGE + inches(f"{len(beams)} steps before") + 0.1
    wide = max(inches(name, 11) for kept in names for name in kept) + 0.3
    n_drawn = min(len(beams), max(1, int((WIDTH - ROOM - start) / wide)))
    first = len(beams) - n_drawn
    paper.y += GAP / 2
    paper.note("beams: what the search kept, a column a step, the best on top", **TITLE)
    top = paper.y + 0.36
    root = (start - 0.3, top)
    paper.write(
        EDGE, top - 0.16, f"{counted(first, 'step')} before" if first else "prompt"
    )
    paper.axes.plot(*root, "o", color=INK, markersize=5)
    places = {}
    for step, kept in enumerate(beams[first:], first):
        for rank, beam in enumerate(kept):
            x, y = start + wide * (step - first + 0.5), top + TALL * rank
            places[step, rank] = x, y
            before = grown_from(beams, step, beam)
            from_x, from_y = places.get((step - 1, before), root)
            look = {"color": GREY if rank else BLUE, "linewidth": 1 if rank else 2.6}
            paper.axes.plot([from_x, x], [from_y, y], zorder=1, **look)
            paper.axes.plot(x, y, "o", color=INK, markersize=5)
            style = ABOVE_LINES | ({} if rank else {"weight": "bold"})
            paper.write(x, y - 0.16, names[step][rank], ha="center", **style)
    for rank, beam in enumerate(beams[-1]):
        x, y = places[len(beams) - 1, rank]
        paper.write(x + 0.2, y, f"score {said(beam['score'])}")
    paper.y = top + TALL * (max(map(len, beams[first:])) - 1) + 0.2
    return [_words(beams)]


def grown_from(beams: list[list[dict]], step: int, beam: dict) -> int | None:
    """Find the beam of the step before that a beam continues, or is; None: the prompt."""
    earlier = beams[step - 1] if step else []
    parents = [beam["ids"], beam["ids"][:-1]]
    return next((i for i, one in enumerate(earlier) if one["ids"] in parents), None)


def _name(beam: dict) -> str:
    """Write a beam's last token, and whether it ends there."""
    return drawn(beam["strings"][-1], beam["ids"][-1]) + " ■" * beam["finished"]


def _words(beams: list[list[dict]]) -> str:
    """Say which beams are left at the end, with their tokens and scores."""
    told = "; ".join(
        f"'{' '.join(map(label, beam['strings']))}', score {said(beam['score'])}"
        + ", finished" * beam["finished"]
        for beam in beams[-1]
    )
    kept = counted(len(beams[-1]), "beam")
    return f"The search kept {kept} after {counted(len(beams), 'step')}, best first: {told}."
