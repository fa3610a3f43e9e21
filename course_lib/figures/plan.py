"""A drawing of boxes and arrows: what pictures of a model are made of."""

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle
from torch import nn

from course_lib.figures.show import BLUE, INK, PAPER, new_figure, write


def count(module: nn.Module) -> str:
    """Write how many parameters a module has, as people say it.

    Args:
        module: any module.

    Returns:
        Three digits and a letter.

    Lesson: notebooks/00_start.ipynb

    >>> count(nn.Linear(1000, 1000)), count(nn.Linear(7, 3))
    ('1.00 M', '24')
    """
    number = sum(parameter.numel() for parameter in module.parameters())
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            scaled = number / size
            return (
                f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f} {letter}"
            )
    return str(number)


class Plan:
    """A drawing that grows upwards along the residual stream; units are inches."""

    LINE, LEFT, RIGHT, NUMBERS = 0.45, 1.0, 5.3, 5.65
    GAP, THIN, THICK = 0.24, 0.36, 0.56

    def __init__(self, width: float):
        self.fig, self.axes = new_figure(width, 1)
        self.width, self.y = width, 0.0

    def note(self, words: str, last: bool = False) -> None:
        """Name what flows here."""
        write(self.axes, self.LINE + 0.15, self.y + 0.2, words, ha="left", size=10.5)
        if not last:
            self.rise(0.4)

    def box(self, part: nn.Module, name: str, words: str, instead: str = "") -> None:
        """Put a part on the stream, with its parameter count beside it."""
        self._rectangle(0.1, name, words, instead or count(part))
        self.rise(self.GAP if name != "head" else 0.4)

    def sublayer(self, block: nn.Module, kind: str, words: str, pre_norm: bool) -> None:
        """Branch off the stream, through norm and sublayer, and add the result."""
        name = {"feed": "feed_forward"}.get(kind, f"{kind}_attention")
        norm, start, branch = f"{kind}_norm", self.y + 0.1, self.LEFT + 0.4
        self.line(self.LINE, start, branch, start)
        self.y = start
        for part, sizes in [(norm, ""), (name, words)] if pre_norm else [(name, words)]:
            self.rise(self.GAP, branch)
            self._rectangle(self.LEFT, part, sizes, count(getattr(block, part)))
        self.line(branch, self.y, branch, self.y + self.GAP)
        self.y += self.GAP
        self.arrow(branch, self.y, self.LINE + 0.12, self.y)
        self.line(self.LINE, start - 0.1, self.LINE, self.y + self.GAP)
        self.axes.plot(self.LINE, self.y, "o", ms=15, mfc=PAPER, mec=INK, zorder=3)
        write(self.axes, self.LINE, self.y - 0.01, "+", size=13, zorder=4)
        self.y += self.GAP
        if not pre_norm:
            self._rectangle(0.2, norm, "", count(getattr(block, norm)), width=1.7)
            self.line(self.LINE, self.y, self.LINE, self.y + 0.1)

    def frame(self, bottom: float, words: str) -> None:
        """Draw the block's border, and say how often it is repeated."""
        self.line(self.LINE, self.y, self.LINE, self.y + 0.1)
        self.y += 0.1
        style = {"facecolor": "#F4F4F4", "edgecolor": INK, "linestyle": "--"}
        shape = "round,pad=0,rounding_size=0.1"
        width, height = self.RIGHT, self.y - bottom
        self.axes.add_patch(
            FancyBboxPatch(
                (0.1, bottom), width, height, boxstyle=shape, zorder=-1, **style
            )
        )
        write(self.axes, 6.45, bottom + height / 2, words, ha="left")
        self.rise(self.GAP)

    def cell(
        self, x: float, y: float, width: float, words: str, dashed: bool = False
    ) -> None:
        """Draw a small box with a word in it."""
        style = {"facecolor": PAPER, "edgecolor": BLUE, "lw": 1.5}
        style["linestyle"] = "--" if dashed else "-"
        self.axes.add_patch(Rectangle((x, y), width, 0.36, **style))
        write(self.axes, x + width / 2, y + 0.18, words, size=10)

    def border(self, x: float, y: float, width: float, height: float) -> None:
        """Draw the dashed border of what belongs together."""
        frame = Rectangle((x, y), width, height, zorder=-1)
        frame.set(facecolor="#F4F4F4", edgecolor=INK, linestyle="--")
        self.axes.add_patch(frame)

    def rise(self, height: float, x: float = LINE) -> None:
        """Let the numbers flow upwards."""
        self.arrow(x, self.y, x, self.y + height)
        self.y += height

    def arrow(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw an arrow along which numbers flow."""
        style = {"arrowstyle": "-|>", "color": INK, "lw": 1.2, "shrinkA": 0}
        style["shrinkB"] = 0
        self.axes.annotate("", (to_x, to_y), (x, y), arrowprops=style)

    def line(self, x: float, y: float, to_x: float, to_y: float) -> None:
        """Draw a line along which numbers flow."""
        self.axes.plot([x, to_x], [y, to_y], color=INK, lw=1.2, zorder=0)

    def finish(self) -> Figure:
        """Fit the paper to the drawing."""
        self.axes.set(xlim=(0, self.width), ylim=(-0.05, self.y), aspect="equal")
        self.axes.axis("off")
        self.fig.set_size_inches(self.width, self.y + 0.05)
        return self.fig

    def _rectangle(
        self, x: float, name: str, words: str, number: str, width: float = 0
    ) -> None:
        """Draw a part: its name, its sizes, its parameter count in the column."""
        height = self.THICK if words else self.THIN
        width = width or self.RIGHT - x
        middle = self.y + height / 2
        self.axes.add_patch(
            Rectangle((x, self.y), width, height, fc=PAPER, ec=BLUE, lw=1.5)
        )
        place = {"ha": "left", "va": "center"}
        name_y = middle + (0.12 if words else 0)
        mono = place | {"family": "DejaVu Sans Mono"}
        write(self.axes, x + 0.1, name_y, name, **mono)
        write(self.axes, x + 0.1, middle - 0.13, words, **place, size=10)
        write(self.axes, self.NUMBERS, middle, number, **place)
        self.y += height
