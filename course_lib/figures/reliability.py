"""Reliability: is a model as often right as it says?"""

from collections.abc import Mapping

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from course_lib.figures.show import BLUE, INK, ORANGE, PAPER, SKY, STYLE
from course_lib.softmax import Calibration

GAP = {"facecolor": "none", "edgecolor": ORANGE, "hatch": "////"}
RIGHT = {"color": INK, "linewidth": 2.5}
HONEST = {"color": INK, "linestyle": "--", "linewidth": 1}


def draw_reliability(calibrations: Mapping[str, Calibration]) -> Figure:
    """Draw how often predictions are right against how sure they were, a panel a name.

    A bar with a thick top is the share of right predictions in a bin. The hatched piece
    reaches from that top to the mean confidence of the bin, upwards where the model was
    too sure. The strip below counts the predictions.

    Args:
        calibrations: by title, what `course_lib.softmax.calibration` returned; at
            most 3.

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: there is no calibration, or more than 3.

    Lesson: notebooks/01_softmax.ipynb

    >>> from course_lib.softmax import calibration
    >>> logits = torch.tensor([[0.9, 0.1], [0.7, 0.3]]).log()
    >>> found = calibration(logits, torch.tensor([0, 1]), n_bins=5)
    >>> fig = draw_reliability({"two predictions": found})
    """
    if not 1 <= len(calibrations) <= 3:
        raise ValueError(
            f"{len(calibrations)} calibrations were given: a page has room for 1 to 3"
        )
    with matplotlib.rc_context(STYLE):
        fig = Figure(figsize=(0.9 + 2.6 * len(calibrations), 4), layout="constrained")
        grid = {"height_ratios": [4, 1]}
        rows = fig.subplots(
            2,
            len(calibrations),
            squeeze=False,
            sharex=True,
            sharey="row",
            gridspec_kw=grid,
        )
        for above, below, (title, found) in zip(
            *rows, calibrations.items(), strict=True
        ):
            above.set_title(f"{title}\nerror {found.error.item():.3f}", fontsize=11)
            _draw_bins(above, below, found)
        rows[0, 0].set(ylabel="share that was right", xlim=(0, 1), ylim=(0, 1))
        rows[1, 0].set(ylabel="count")
        fig.supxlabel("confidence: how sure the model was", fontsize=11)
        signs = [Line2D([], [], **RIGHT), Patch(**GAP), Line2D([], [], **HONEST)]
        words = ["share right", "gap to the confidence", "as sure as right"]
        fig.legend(signs, words, loc="outside upper center", ncols=3, frameon=False)
    return fig


def _draw_bins(above: Axes, below: Axes, found: Calibration) -> None:
    """Draw the bars of one panel, and the strip of counts below it."""
    n_bins = len(found.counts)
    table = zip(found.confidences, found.accuracies, found.counts, strict=True)
    for place, (sure, right, count) in enumerate(table):
        if count == 0:
            continue
        left, style = place / n_bins, {"width": 1 / n_bins, "align": "edge"}
        sides, gap = (left, left + 1 / n_bins), (sure - right).item()
        above.bar(left, right.item(), color=BLUE, edgecolor=PAPER, **style)
        above.bar(left, gap, bottom=right.item(), zorder=2.5, **style, **GAP)
        above.hlines(right.item(), *sides, zorder=4, **RIGHT)
        below.bar(left, count.item(), color=SKY, edgecolor=PAPER, **style)
    above.plot([0, 1], [0, 1], zorder=3, **HONEST)
    below.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    for axes in (above, below):
        axes.spines[["top", "right"]].set_visible(False)
