"""The paper that demos are drawn on: wide and low, with words for the last row."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.figures.show import STYLE

# Shown some 1,200 pixels wide, 14 points are 25 pixels.
STAGE_STYLE = STYLE | {"font.size": 14}
WIDTH_INCHES, HEIGHT_INCHES = 9, 3.4


def new_stage(widths: Sequence[float] = (1,)) -> tuple[Figure, list[Axes]]:
    """Make panels side by side, in the style that Plot draws in.

    Args:
        widths: one number a panel, how wide it is beside the others.

    Returns:
        The figure and its axes, from left to right.

    Lesson: notebooks/00_start.ipynb

    >>> fig, axes = new_stage([1, 2])
    >>> len(axes)
    2
    """
    fig = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES), layout="constrained")
    axes = fig.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
    return fig, list(axes)
