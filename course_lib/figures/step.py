"""One step of writing as an annotated picture."""

from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.figures.plan import Plan
from course_lib.figures.show import BLUE, INK, PAPER, SKY, STYLE, write

READS = """each reads itself and its
left, knowing how far it
is (02-04), then is
reworked alone (06, 07)"""
STATIONS = (  # height of each station, and its words
    (0.28, "tokens: pieces of text"),
    (0.98, "each becomes a\nvector (08)"),
    (2.05, READS),
    (3.18, "all are scored; writing\nuses the last (08)"),
    (4.3, "scores become\nprobabilities (01)"),
    (5.13, "one is chosen (09)"),
)
BADGE = {
    "color": PAPER,
    "weight": "bold",
    "bbox": {"boxstyle": "circle,pad=0.2", "facecolor": BLUE, "edgecolor": BLUE},
}
FIRST_CHIP = 2.6  # inches from the left


def draw_step(
    tokens: Sequence[str],
    choices: Sequence[str],
    probabilities: Tensor,
    n_layers: int,
) -> Figure:
    """Draw one step of writing, with a number and a lesson at each station.

    Args:
        tokens: the prefix, a word a position; at most 8.
        choices: the likeliest next tokens, best first.
        probabilities: (choice,) float, in 0..1.
        n_layers: how many blocks the tokens pass.

    Returns:
        The figure, to be shown with `show_figure`. Read it from the bottom up.

    Raises:
        ValueError: there are too many tokens, or the choices do not fit.

    Lesson: notebooks/00_start.ipynb

    >>> fig = draw_step(["Once"], ["upon", "more"], torch.tensor([0.9, 0.1]), 2)
    """
    if not 1 <= len(tokens) <= 8 or probabilities.shape != (len(choices),):
        raise ValueError(
            f"draw_step was given {len(tokens)} tokens, {len(choices)} choices and "
            f"probabilities {tuple(probabilities.shape)}: expected 1 to 8 tokens and "
            "one probability a choice"
        )
    with matplotlib.rc_context(STYLE):
        chip = 0.083 * max(len(token) for token in (*tokens, choices[0])) + 0.1
        n_columns = max(len(tokens), 5)
        plan = Plan(FIRST_CHIP + chip * (n_columns + 1) + 0.5)
        _draw_prefix(plan, tokens, chip, f"{n_layers} blocks")
        frame = FIRST_CHIP - 0.1, chip * n_columns + 0.2
        _draw_choices(plan, choices, probabilities.tolist(), frame)
        _draw_way_back(plan, choices[0], FIRST_CHIP + chip * len(tokens), chip)
        for number, (y, words) in enumerate(STATIONS, start=1):
            write(plan.axes, 0.15, y, str(number), **BADGE)
            write(plan.axes, 0.38, y, words, ha="left", linespacing=1.25)
        plan.y = 5.4
        return plan.finish()


def _draw_prefix(plan: Plan, tokens: Sequence[str], chip: float, words: str) -> None:
    """Draw the tokens, a column for each, and how the last one reads the others."""
    middles = [FIRST_CHIP + chip * (i + 0.5) for i in range(len(tokens))]
    last = middles[-1]
    for middle, token in zip(middles, tokens, strict=True):
        plan.cell(middle - chip / 2, 0.1, chip, token)
        plan.arrow(middle, 0.46, middle, 1.5)
        plan.axes.plot(middle, 0.98, "s", ms=9, mfc=SKY, mec=INK, zorder=3)
        if middle != last:
            bend = {"arrowstyle": "-|>", "color": INK, "lw": 1.0}
            bend["connectionstyle"] = "arc3,rad=-0.25"
            plan.axes.annotate("", (last, 1.72), (middle, 1.72), arrowprops=bend)
    plan.border(FIRST_CHIP - 0.1, 1.5, last + chip / 2 + 0.2 - FIRST_CHIP, 1.1)
    write(plan.axes, FIRST_CHIP, 2.42, words, ha="left", size=10)
    plan.arrow(last, 2.6, last, 3.0)
    plan.cell(last - 0.35, 3.0, 0.7, "head")
    plan.arrow(last, 3.36, last, 3.75)


def _draw_choices(
    plan: Plan,
    choices: Sequence[str],
    values: Sequence[float],
    frame: tuple[float, float],
) -> None:
    """Draw the likeliest next tokens as bars in a frame (left, width)."""
    left, width = frame
    plan.border(left, 3.75, width, 1.12)
    for row, (choice, value) in enumerate(zip(choices, values, strict=True)):
        y = 4.7 - 0.26 * row
        write(plan.axes, left + 1.0, y, choice, ha="right", size=10.5)
        bar = Rectangle((left + 1.1, y - 0.09), (width - 1.8) * value, 0.18)
        bar.set(facecolor=BLUE)
        plan.axes.add_patch(bar)
        end = left + 1.17 + (width - 1.8) * value
        write(plan.axes, end, y, f"{value:.2f}", ha="left", size=10.5)


def _draw_way_back(plan: Plan, choice: str, next_chip: float, chip: float) -> None:
    """Draw how the chosen token becomes the next one of the prefix."""
    right = plan.width - 0.25
    middle = next_chip + chip / 2 + 0.05
    write(plan.axes, FIRST_CHIP + 0.9, 5.13, choice, ha="right", weight="bold")
    plan.line(FIRST_CHIP + 1.0, 5.13, right, 5.13)
    plan.line(right, 5.13, right, 0.28)
    plan.arrow(right, 0.28, middle + chip / 2, 0.28)
    plan.cell(middle - chip / 2, 0.1, chip, choice, dashed=True)
    words = "appended, and again (09)"
    write(plan.axes, right - 0.17, 2.6, words, rotation=90)
    write(plan.axes, right - 0.17, 1.35, "7", **BADGE)
