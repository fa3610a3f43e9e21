"""Panels: tables of one head, with a colour, a number or a sign in each cell."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from matplotlib.colors import Colormap
from torch import Tensor

from course_lib.explorer.still.labels import inches, said
from course_lib.explorer.still.paper import BROKEN, LINE, OUTLINE, Paper, least
from course_lib.figures.curves import VERMILION
from course_lib.figures.show import BLUE, INK, PAPER, SKY

CELL, ROW = 0.46, 0.36  # inches, where there is room
NUMBERED = 0.38, 0.2  # width and height of a cell that a number needs
MOST_NUMBERED = 8  # keys, and numbers of a head
MOST_PIXELS = 300  # columns of a table, and rows
SPREAD = 3.4  # of a table with many keys or queries
THIN = 0.17  # between two labels
HIDDEN = {"facecolor": "#EEEEEE", "edgecolor": "#888888", "hatch": "////"}


@dataclass
class Panel:
    """A table of a head: one row a query, one column a key or a number of the head."""

    title: str
    table: Tensor
    columns: Sequence[str]
    colours: Colormap | None = None  # None: a mask
    limit: float = 1.0
    hidden: Tensor | None = None
    leaks: Tensor | None = None
    marked: int | None = None  # the column that is spoken of
    most: float = SPREAD  # its greatest height

    def cell(self, room: float) -> tuple[float, float]:
        """Width and height of a cell, in inches."""
        n_rows, n_columns = self.table.shape
        return min(CELL, room / n_columns), min(ROW, self.most / n_rows)


@dataclass(frozen=True)
class Grid:
    """Where the cells of a panel stand: the first one's corner, and a cell's size."""

    x: float
    y: float
    width: float
    height: float

    def at(self, row: float, column: float) -> tuple[float, float]:
        """Return the corner of a cell; with half a cell more, its middle."""
        return self.x + column * self.width, self.y + row * self.height


def draw_panel(
    paper: Paper,
    x: float,
    panel: Panel,
    room: float,
    rows: Sequence[str] = (),
    row: int | None = None,
) -> float:
    """Draw a panel, its rows' labels and one row's outline; return the height of all."""
    n_rows, n_columns = panel.table.shape
    width, height = panel.cell(room)
    paper.write(x, paper.y + LINE / 2, panel.title, weight="bold", size=11)
    above = LINE + label_height(panel.columns, width) + 0.08
    grid = Grid(x, paper.y + above, width, height)
    write_columns(paper, grid, panel.columns, panel.marked)
    for index in _spaced(len(rows), height, row):
        style = {"weight": "bold"} if index == row else {}
        y = grid.at(index + 0.5, 0)[1]
        paper.write(x - 0.08, y, rows[index], ha="right", **style)
    _draw_cells(paper, grid, panel)
    frame = {"fill": False, "edgecolor": INK}
    paper.box(x, grid.y, n_columns * width, n_rows * height, **frame)
    if row is not None:
        paper.box(*grid.at(row, 0), n_columns * width, height, **OUTLINE)
    return above + n_rows * height


def label_height(labels: Sequence[str], width: float) -> float:
    """Return the room that labels of columns need; too wide ones are turned."""
    longest = max(inches(word) for word in labels)
    return longest * 1.1 if longest > width - 0.04 else LINE * (longest > 0)


def write_columns(
    paper: Paper,
    grid: Grid,
    labels: Sequence[str],
    marked: int | None = None,
    below: bool = False,
) -> None:
    """Write labels above the columns of a grid, or below; the marked one bold."""
    turned = max(inches(word) for word in labels) > grid.width - 0.04
    place = {"ha": "center", "va": "top" if below else "bottom"}
    place |= {"rotation": 90} if turned else {}
    for column in _spaced(len(labels), grid.width, marked):
        style = place | ({"weight": "bold"} if column == marked else {})
        x, y = grid.at(0, column + 0.5)
        paper.write(x, y + (0.05 if below else -0.05), labels[column], **style)


def _spaced(n: int, size: float, marked: int | None) -> Iterator[int]:
    """Choose which labels stand far enough from each other; the marked one stays."""
    each = max(1, math.ceil(THIN / size))
    for index in range(n):
        near = marked is not None and 0 < abs(index - marked) < each
        if index == marked or (index % each == 0 and not near):
            yield index


def _draw_cells(paper: Paper, grid: Grid, panel: Panel) -> None:
    """Draw the cells: colours, hatching, numbers where they can be read, signs."""
    table = panel.table
    if panel.colours is None:
        _draw_allowed(paper, grid, table)
        return
    right, bottom = grid.at(*table.shape)
    start = least(panel.colours, panel.limit)
    shade = {"cmap": panel.colours, "vmin": start, "vmax": panel.limit}
    shade |= {"extent": (grid.x, right, bottom, grid.y), "origin": "upper"}
    pixels = _peaks(_peaks(table).T).T.numpy()
    paper.axes.imshow(pixels, interpolation="nearest", **shade)
    broken = ~table.isfinite()
    hidden = torch.zeros_like(broken) if panel.hidden is None else panel.hidden
    hatch(paper, grid, hidden & ~broken, HIDDEN)
    hatch(paper, grid, broken, BROKEN)
    few = table.shape[1] <= MOST_NUMBERED and len(table) <= 2 * MOST_NUMBERED
    if few and grid.width >= NUMBERED[0] and grid.height >= NUMBERED[1]:
        _write_numbers(paper, grid, panel, ~hidden | broken)
    if panel.leaks is not None and panel.leaks.any():
        _draw_leaks(paper, grid, panel.leaks)


def _peaks(table: Tensor) -> Tensor:
    """Keep of too many columns the largest ones: no peak falls between two pixels."""
    if table.shape[1] <= MOST_PIXELS:
        return table
    parts = table.tensor_split(MOST_PIXELS, dim=1)
    return torch.cat([p.gather(1, p.abs().argmax(1, keepdim=True)) for p in parts], 1)


def _write_numbers(paper: Paper, grid: Grid, panel: Panel, shown: Tensor) -> None:
    """Write numbers into cells, NaN and the infinite ones bold."""
    start = least(panel.colours, panel.limit)
    for row, column in shown.nonzero().tolist():
        number = panel.table[row, column].item()
        share = (number - start) / (panel.limit - start)
        style = {"color": _ink_on(panel.colours, share), "ha": "center"}
        style |= {} if math.isfinite(number) else {"weight": "bold"}
        paper.write(*grid.at(row + 0.5, column + 0.5), said(number), **style)


def _ink_on(colours: Colormap, share: float) -> str:
    """Choose the ink that stands out more from a colour (WCAG's luminance)."""
    if not math.isfinite(share):
        return INK
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 for part in colours(share)[:3])
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.2 else PAPER


def _draw_leaks(paper: Paper, grid: Grid, leaks: Tensor) -> None:
    """Mark weights on keys behind their row, so that they need no colour to be seen."""
    rows, columns = leaks.numpy().nonzero()
    side = min(grid.width, grid.height)
    # in a corner, or over all of a cell that holds no number
    off, share = (0.14, 0.26) if side > THIN else (0.5, 0.7)
    x, y = grid.at(rows, columns + 1)
    size = max(side * 72 * share, 1)
    style = {"color": VERMILION, "markersize": size, "markeredgewidth": 0}
    paper.axes.plot(x - side * off, y + side * off, "^", **style)


def _draw_allowed(paper: Paper, grid: Grid, allowed: Tensor) -> None:
    """Draw a mask as draw_mask does: a dot where it may be read, hatching where not."""
    hatch(paper, grid, ~allowed, HIDDEN)
    size = 72 * min(grid.width, grid.height) * 0.5
    if size < 1:  # no dot could be seen
        hatch(paper, grid, allowed, {"facecolor": SKY})
        return
    rows, columns = allowed.numpy().nonzero()
    style = {"color": BLUE, "markersize": min(size, 9), "markeredgewidth": 0}
    paper.axes.plot(*grid.at(rows + 0.5, columns + 0.5), "o", **style)


def hatch(paper: Paper, grid: Grid, cells: Tensor, style: dict) -> None:
    """Fill the cells that are True, neighbours of a row together."""
    for row, first, end in _runs(cells):
        paper.box(
            *grid.at(row, first), (end - first) * grid.width, grid.height, **style
        )


def _runs(cells: Tensor) -> Iterator[tuple[int, int, int]]:
    """Join neighbours of a row that are True: row, first column, end."""
    ends = torch.zeros(len(cells), 1, dtype=torch.int8)
    change = torch.cat([ends, cells.to(torch.int8), ends], 1).diff(dim=1)
    starts, stops = (change == 1).nonzero(), (change == -1).nonzero()
    for (row, first), (_, end) in zip(starts.tolist(), stops.tolist(), strict=True):
        yield row, first, end
