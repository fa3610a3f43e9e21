"""The feed-forward layer as strips: a row before, inside and behind it."""

from matplotlib.collections import PolyCollection
from torch import Tensor

from course_lib.explorer.still.labels import are, counted, not_numbers, said
from course_lib.explorer.still.panels import Grid, hatch
from course_lib.explorer.still.paper import BROKEN, EDGE, WIDTH, Paper, limit_of
from course_lib.explorer.still.spot import SUBLAYERS, Spot
from course_lib.figures.show import BLUE, INK, ORANGE

HIGH = 0.42  # a strip, up from its line and down from it


def draw_strips(paper: Paper, spot: Spot) -> tuple[str, str]:
    """Draw what the feed-forward layer does to a row; return caption and alt text."""
    config = spot.trace.config
    stream, hidden, added = _numbers(spot)
    pre_norm = config["pre_norm"]
    paper.headline(spot, f"layer {spot.layer}, {SUBLAYERS['feed_forward']}")
    limit, most = limit_of(stream), len(hidden)
    _draw_strip(paper, "stream before", stream[0], limit, most)
    _draw_arrow(paper, "norm, then wider" if pre_norm else "wider")
    inside = f"hidden, behind {config['activation']}"
    inside += ", gated" if config["gated"] else ""
    n_positive = f", {_n_positive(hidden)} of them > 0"
    _draw_strip(paper, inside, hidden, limit_of(hidden), most, n_positive)
    then = "added" if pre_norm else "added and normed"
    _draw_arrow(paper, f"narrower (length {said(added)}), then {then}")
    behind = "stream behind" if pre_norm else "stream behind, normed"
    _draw_strip(paper, behind, stream[1], limit, most)
    paper.note("up and orange: > 0; down and blue: < 0")
    return _words(spot)


def _numbers(spot: Spot) -> tuple[Tensor, Tensor, float]:
    """Return the stream (before, behind), the hidden numbers, the length of the output."""
    return (
        spot.array("residuals")[spot.layer, -2:, spot.row],
        spot.array("hidden")[spot.layer, spot.row],
        spot.array("output_norms")[spot.layer, -1, spot.row].item(),
    )


def _n_positive(hidden: Tensor) -> int:
    """Count the hidden numbers that are at work."""
    return int((hidden > 0).sum())


def _draw_strip(
    paper: Paper, name: str, numbers: Tensor, limit: float, most: int, more: str = ""
) -> None:
    """Draw numbers as bars up and down from a line; NaN is a hatched cross."""
    n = len(numbers)
    length = said(numbers.norm().item())
    words = f"{name}: {n} numbers{more}; length {length}; bars reach to ±{said(limit)}"
    paper.note(words, size=10.5)
    middle = paper.y + 0.06 + HIGH
    width = (WIDTH - 2 * EDGE) * max(n / max(most, n), 0.2) / n
    heights = numbers.nan_to_num(0, 0, 0) / limit * HIGH
    for sign, colour in ((1, ORANGE), (-1, BLUE)):
        bars = [
            _corners(EDGE + index * width, middle, width * 0.85, height)
            for index, height in enumerate(heights.tolist())
            if height * sign > 0
        ]
        paper.axes.add_collection(PolyCollection(bars, facecolor=colour))
    grid = Grid(EDGE, middle - HIGH, width, 2 * HIGH)
    hatch(paper, grid, ~numbers.isfinite()[None], BROKEN)
    paper.axes.plot([EDGE, EDGE + n * width], [middle, middle], color=INK, lw=0.8)
    paper.y = middle + HIGH + 0.1


def _corners(
    left: float, middle: float, width: float, height: float
) -> list[tuple[float, float]]:
    """Return the corners of a bar that stands on the line, or hangs from it."""
    top, right = middle - height, left + width
    return [(left, middle), (left, top), (right, top), (right, middle)]


def _draw_arrow(paper: Paper, words: str) -> None:
    """Draw how one strip becomes the next."""
    paper.arrow((EDGE + 0.3, paper.y), (EDGE + 0.3, paper.y + 0.34))
    paper.write(EDGE + 0.5, paper.y + 0.17, words)
    paper.y += 0.42


def _words(spot: Spot) -> tuple[str, str]:
    """Say what the feed-forward layer does to a row; caption and alt text."""
    stream, hidden, added = _numbers(spot)
    n_positive = _n_positive(hidden)
    before, behind = (said(part.norm().item()) for part in stream)
    caption = (
        f"Layer {spot.layer}, {SUBLAYERS['feed_forward']} in {spot.step_name}: row "
        f"{spot.token(spot.query)} has length {before} before it and {behind} behind it."
    )
    parts = [
        caption,
        f"{n_positive} of {counted(len(hidden), 'hidden number')} {are(n_positive)} > 0; "
        "the length of all is "
        f"{said(hidden.norm().item())}.",
        f"What is added has length {said(added)}.",
        f"The stream has {stream.shape[-1]} numbers.",
        *not_numbers({"numbers of the stream": stream, "hidden numbers": hidden}),
    ]
    return caption, " ".join(parts)
