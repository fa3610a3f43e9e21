"""Curves: how one number changes with another."""

from collections.abc import Mapping, Sequence

import matplotlib
import torch
from matplotlib.figure import Figure
from torch import Tensor

from course_lib.figures.show import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    STYLE,
    new_figure,
)

VERMILION = "#D55E00"  # Okabe and Ito's, as the others
# One row a curve: told apart by marker and dashes as well as by colour.
LOOKS = (
    {"color": BLUE, "marker": "o", "linestyle": "-"},
    {"color": ORANGE, "marker": "s", "linestyle": "--"},
    {"color": GREEN, "marker": "^", "linestyle": ":"},
    {"color": PURPLE, "marker": "D", "linestyle": "-."},
    {"color": VERMILION, "marker": "v", "linestyle": (0, (6, 1, 1, 1, 1, 1))},
    {"color": INK, "marker": "X", "linestyle": (0, (9, 3))},
)
MOST_IN_THE_AXES = 4  # with more curves the legend stands beside them


def draw_curves(
    x: Sequence[float],
    curves: Mapping[str, Sequence[float] | Tensor],
    x_label: str,
    y_label: str,
    log: str = "",
) -> Figure:
    """Draw how numbers change along x, one curve a name, with their spread.

    Args:
        x: (point,) numbers; each gets a tick.
        curves: for each name (point,) numbers, or (repeat, point): then the curve is
            the mean, and a bar reaches from the least to the greatest repeat.
        x_label: what x counts, with its unit.
        y_label: what the curves count, with its unit.
        log: axes that are logarithmic: "", "x", "y" or "xy".

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: no curve or more than six, or a curve does not fit x.

    Lesson: notebooks/03_attention.ipynb

    >>> fig = draw_curves([1, 2], {"cost": [3.0, 5.0]}, "length", "seconds")
    """
    if not 1 <= len(curves) <= len(LOOKS):
        raise ValueError(
            f"{len(curves)} curves: draw 1 to {len(LOOKS)}, so that they can be told "
            "apart; give the others a figure of their own"
        )
    with matplotlib.rc_context(STYLE):
        fig, axes = new_figure(6.5, 3.4)
        for look, (name, numbers) in zip(LOOKS, curves.items(), strict=False):
            middle, spread = _middle_and_spread(name, numbers, len(x))
            axes.errorbar(x, middle, spread, label=name, capsize=4, **look)
        axes.set_xscale("log" if "x" in log else "linear")
        axes.set_yscale("log" if "y" in log else "linear")
        axes.set_xticks(list(x), [f"{number:,g}" for number in x])
        axes.minorticks_off()
        axes.set(xlabel=x_label, ylabel=y_label)
        axes.grid(axis="y", color="#DDDDDD")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        if len(curves) > MOST_IN_THE_AXES:
            fig.legend(frameon=False, loc="outside right center")
        else:
            axes.legend(frameon=False)
    return fig


def _middle_and_spread(
    name: str, numbers: Sequence[float] | Tensor, n_points: int
) -> tuple[list[float], list[list[float]] | None]:
    """Give the mean of the repeats, and how far they reach below and above it."""
    table = torch.as_tensor(numbers, dtype=torch.float64).detach().cpu()
    if table.ndim not in (1, 2) or table.shape[-1] != n_points:
        raise ValueError(
            f"the curve {name!r} has shape {tuple(table.shape)}; it needs ({n_points},) "
            f"or (repeat, {n_points}), one number for each x"
        )
    if table.ndim == 1:
        return table.tolist(), None
    middle = table.mean(0)
    below, above = middle - table.amin(0), table.amax(0) - middle
    return middle.tolist(), [below.clamp(min=0).tolist(), above.clamp(min=0).tolist()]
