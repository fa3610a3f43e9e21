"""The training pass: a row a position, with its target and its loss."""

import math

import torch
from torch import Tensor

from course_lib.explorer.still.labels import counted, drawn, label, not_numbers, said
from course_lib.explorer.still.paper import EDGE, LINE, OUTLINE, WIDTH, Paper, limit_of
from course_lib.explorer.still.spot import Spot
from course_lib.figures.show import BLUE, INK

MOST_ROWS = 64
HEADS = {"position": EDGE, "input": 1.2, "has to predict": 3.2, "loss (nats)": 5.2}
INPUT, TARGET, LOSS = list(HEADS.values())[1:]
ROOM = 5.6  # for the bar of a loss


def draw_training(paper: Paper, spot: Spot) -> tuple[str, str]:
    """Draw a training pass; return caption and alt text."""
    losses = _counted_losses(spot)
    limit, mean = limit_of(losses), losses.mean().item()
    paper.headline(spot, "all positions at once")
    for name, x in HEADS.items():
        paper.write(x, paper.y + LINE / 2, name, weight="bold")
    paper.y += LINE + 0.04
    top, rows = paper.y, _rows(spot)
    for position in rows:
        _draw_loss(paper, spot, position, limit)
    if math.isfinite(mean):
        x = LOSS + mean / limit * ROOM
        line = {"color": INK, "linestyle": "--", "linewidth": 1.2}
        paper.axes.plot([x, x], [top, paper.y], **line)
        paper.write(x, paper.y + LINE / 2, f"mean {said(mean)}", ha="center")
    if len(rows) < spot.end:
        words = f"positions {rows[0]} to {rows[-1]} of {spot.end}"
        paper.write(EDGE, paper.y + LINE / 2, words)
    paper.y += LINE
    return _words(spot)


def _counted_losses(spot: Spot) -> Tensor:
    """Return the losses of the positions that have a target."""
    return spot.array("losses")[torch.tensor(spot.trace.targets) >= 0]


def _rows(spot: Spot) -> range:
    """Return the positions that a picture has room for."""
    last = max(spot.query + 1, min(spot.end, MOST_ROWS))
    return range(max(0, last - MOST_ROWS), last)


def _draw_loss(paper: Paper, spot: Spot, position: int, limit: float) -> None:
    """Draw a position: its input, its target, its loss."""
    trace, y = spot.trace, paper.y + LINE / 2
    paper.write(INPUT - 0.3, y, str(position), ha="right")
    paper.write(INPUT, y, spot.drawn(position))
    if trace.targets[position] >= 0:
        loss = spot.array("losses")[position].item()
        target = drawn(trace.target_strings[position], trace.targets[position])
        paper.write(TARGET, y, target)
        paper.bar(LOSS, y, loss / limit, ROOM, said(loss), BLUE)
    else:
        paper.write(TARGET, y, "– not counted")
    if position == spot.query:
        paper.box(EDGE - 0.08, paper.y, WIDTH - 2 * EDGE + 0.16, LINE, **OUTLINE)
    paper.y += LINE


def _words(spot: Spot) -> tuple[str, str]:
    """Say the loss of each position; caption and alt text."""
    losses = _counted_losses(spot)
    mean = said(losses.mean().item()) if len(losses) else "none"
    caption = (
        f"A training pass over {counted(spot.end, 'position')} at once: mean loss {mean} "
        f"nats over {counted(len(losses), 'target')}."
    )
    parts = [caption, *not_numbers({"losses": losses})]
    return caption, " ".join(parts + [_row_words(spot, row) for row in _rows(spot)])


def _row_words(spot: Spot, position: int) -> str:
    """Say what a position had to predict, and its loss."""
    if spot.trace.targets[position] < 0:
        return f"{spot.token(position)} is not counted."
    target = label(spot.trace.target_strings[position])
    loss = said(spot.array("losses")[position].item())
    return f"{spot.token(position)} has to predict '{target}': {loss}."
