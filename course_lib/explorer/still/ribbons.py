"""Alignment: which place of the memory each token so far read, as ribbons."""

from dataclasses import replace

from matplotlib.collections import PathCollection
from matplotlib.path import Path
from torch import Tensor

from course_lib.explorer.still.head import key_labels, reads
from course_lib.explorer.still.labels import said
from course_lib.explorer.still.panels import Grid, label_height, write_columns
from course_lib.explorer.still.paper import EDGE, GAP, TITLE, WIDTH, Paper
from course_lib.explorer.still.spot import Spot
from course_lib.figures.curves import VERMILION
from course_lib.figures.show import BLUE

MOST_ROWS = 64
LEAST = 0.05  # of a weight that is drawn
HIGH, THICK = 1.2, 9  # inches; points of a ribbon that is the whole weight
COLUMN = 0.9  # inches, the widest


def draw_ribbons(paper: Paper, spot: Spot) -> list[str]:
    """Draw what the head's cross-attention read so far; return sentences for the alt."""
    spot = replace(spot, kind="cross")
    weights = spot.attention("cross")[1]["alignment"]
    first = max(0, len(weights) - MOST_ROWS)
    weights = weights[first:]
    tokens = [spot.drawn(first + row) for row in range(len(weights))]
    places = key_labels(spot, weights.shape[-1])
    paper.y += GAP / 2
    paper.note(
        f"alignment, layer {spot.layer}, head {spot.head}: what each token below read of "
        f"the memory above; weights from {said(LEAST)} on, the newest orange",
        **TITLE,
    )
    above, below = (_grid(labels) for labels in (places, tokens))
    above = replace(above, y=paper.y + label_height(places, above.width) + 0.05)
    below = replace(below, y=above.y + HIGH)
    write_columns(paper, above, places)
    write_columns(paper, below, tokens, len(tokens) - 1, below=True)
    _draw_paths(paper, above, below, weights)
    paper.y = below.y + label_height(tokens, below.width) + 0.12
    told = [
        f"{spot.token(first + row)} {reads(spot, weights[row])}"
        for row in range(len(weights))
    ]
    part = f"cross-attention of layer {spot.layer}, head {spot.head}"
    return [f"In the {part}, {'; '.join(told)}."]


def _grid(labels: list[str]) -> Grid:
    """Spread labels over the page, as far as they need."""
    return Grid(EDGE, 0, min((WIDTH - 2 * EDGE) / len(labels), COLUMN), HIGH)


def _draw_paths(paper: Paper, above: Grid, below: Grid, weights: Tensor) -> None:
    """Draw a ribbon for each weight, those of the newest token last."""
    pairs = (weights >= LEAST).nonzero().tolist()
    newest = len(weights) - 1
    curve = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    paths = []
    for row, place in pairs:
        (x, top), (start, bottom) = above.at(0, place + 0.5), below.at(0, row + 0.5)
        middle = (top + bottom) / 2
        points = [(start, bottom), (start, middle), (x, middle), (x, top)]
        paths.append(Path(points, curve))
    style = {"facecolors": "none", "capstyle": "butt"}
    style["linewidths"] = [weights[row, place].item() * THICK for row, place in pairs]
    style["edgecolors"] = [VERMILION if row == newest else BLUE for row, _ in pairs]
    style["alpha"] = [0.95 if row == newest else 0.4 for row, _ in pairs]
    paper.axes.add_collection(PathCollection(paths, **style))
