"""The page that a still is drawn on: words, boxes, bars, and what colours mean."""

import math

import torch
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.explorer.still.labels import said
from course_lib.explorer.still.spot import Spot
from course_lib.figures import new_figure
from course_lib.figures.show import BLUE, INK, ORANGE, PAPER, SKY, write

SIGNED = LinearSegmentedColormap.from_list("signed", [BLUE, PAPER, ORANGE])
SHARES = LinearSegmentedColormap.from_list("shares", [PAPER, SKY, BLUE, "#00304B"])
WIDTH, EDGE, GAP = 12.0, 0.2, 0.3  # inches
LINE = 0.26  # a row of words
BROKEN = {"facecolor": "#F4F4F4", "edgecolor": INK, "hatch": "xx", "linewidth": 0}
OUTLINE = {"facecolor": "none", "edgecolor": INK, "linewidth": 2.2, "zorder": 5}
ABOVE_LINES = {"bbox": {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}}
TITLE = {"weight": "bold", "size": 10.5}


class Paper:
    """A white page; inches from the left and from the top."""

    def __init__(self) -> None:
        self.fig, self.axes = new_figure(WIDTH, 1)
        self.fig.set_layout_engine("none")
        self.axes.set_position((0, 0, 1, 1))
        self.axes.axis("off")
        self.y = EDGE

    def write(self, x: float, y: float, words: str, **style: object) -> None:
        """Write words as they are; a "$" in a token is no formula."""
        style = {"size": 10, "ha": "left", "parse_math": False} | style
        write(self.axes, x, y, words, **style)

    def note(self, words: str, x: float = EDGE, **style: object) -> None:
        """Write a line of words, and go on below it."""
        self.write(x, self.y + LINE / 2, words, **style)
        self.y += LINE

    def headline(self, spot: Spot, words: str) -> None:
        """Write what comes below: the pass, the part, the row."""
        unmasked = "" if spot.trace.masked else "; no causal mask"
        row = f"row {spot.drawn(spot.query)} (position {spot.query})"
        self.note(f"{spot.step_name}, {words}; {row}{unmasked}", **TITLE)
        self.y += 0.08

    def box(self, x: float, y: float, width: float, height: float, **style) -> None:
        """Draw a rectangle."""
        self.axes.add_patch(Rectangle((x, y), width, height, **style))

    def arrow(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Draw where numbers go."""
        style = {"arrowstyle": "-|>", "color": INK, "shrinkA": 0, "shrinkB": 0}
        self.axes.annotate("", end, start, arrowprops=style)

    def bar(
        self, x: float, y: float, share: float, room: float, words: str, colour: str
    ) -> None:
        """Draw a bar of a share of the room, with its number; NaN is a hatched cross."""
        broken = not math.isfinite(share)
        width = 0.3 if broken else share * room
        self.box(
            x, y - 0.09, width, 0.18, **BROKEN if broken else {"facecolor": colour}
        )
        self.write(x + width + 0.06, y, words, **ABOVE_LINES)

    def ramp(self, x: float, y: float, colours: Colormap, limit: float) -> None:
        """Draw which colour means which number."""
        shades = torch.linspace(0, 1, 64)[None].numpy()
        place = {"extent": (x, x + 1.2, y + 0.09, y - 0.09), "origin": "upper"}
        self.axes.imshow(shades, cmap=colours, **place)
        self.box(x, y - 0.09, 1.2, 0.18, fill=False, edgecolor="#888888")
        self.write(x - 0.06, y, said(least(colours, limit)), ha="right")
        self.write(x + 1.26, y, said(limit))

    def finish(self) -> Figure:
        """Cut the paper to what stands on it."""
        self.axes.set(xlim=(0, WIDTH), ylim=(self.y + EDGE, 0), aspect="auto")
        self.fig.set_size_inches(WIDTH, self.y + EDGE)
        return self.fig


def limit_of(*tables: Tensor) -> float:
    """Return the largest size of a finite number, 1 where there is none but 0."""
    sizes = torch.cat([table.flatten() for table in tables]).abs()
    sizes = sizes[sizes.isfinite()]
    return float(sizes.max()) or 1.0 if len(sizes) else 1.0


def least(colours: Colormap, limit: float) -> float:
    """Return the number of the first colour: shares begin with 0."""
    return -limit if colours is SIGNED else 0.0
