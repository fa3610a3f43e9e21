"""Demo: attention cannot tell an order; turned by position, it sees distances."""

import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.attention import attention, attention_scores
from course_lib.demos.control import choice, slider
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, INK, ORANGE, PAPER, SKY, write
from course_lib.positions import Positions, RotaryPositions, SinusoidalPositions

NONE, TURNED, ADDED = "none", "turned (rotary)", "added (waves)"
SCHEMES = {
    NONE: Positions(),
    TURNED: RotaryPositions(d_head=2),
    ADDED: SinusoidalPositions(d_model=2),
}
LOWEST, HIGHEST = -5, 8.5  # of the score's axis, whatever is shown: looks compare
PLANE, BARS = (
    (0.05, 0.19, 0.31, 0.76),
    (0.51, 0.19, 0.48, 0.7),
)  # the axes stay in place
VECTORS = {"Anna": (2, 0), "thanked": (1, -0.5), "Ben": (0, 2), "tick": (2, 0)}
AS_WRITTEN, SWAPPED, SAME = "Anna thanked Ben", "Ben thanked Anna", "tick, six times"
ROWS = {AS_WRITTEN: AS_WRITTEN.split(), SWAPPED: SWAPPED.split(), SAME: ["tick"] * 6}


def demo() -> Demo:
    """Make the demo: a head of two numbers, so that queries and keys can be drawn.

    Lesson: notebooks/04_positions.ipynb

    >>> demo().view.readout
    '“thanked” at 1 scores 1.41, 0.88, −0.71.'
    """
    view = Plot(
        _picture,
        positions=choice("Positions", list(SCHEMES)),
        row=choice("Words", list(ROWS)),
        start=slider("First position", 0, low=0, high=40),
    )
    steps = [
        Step(
            "“thanked” reads the three words. We swap Anna and Ben: what happens to its scores "
            "and its output?",
            "Each score goes along with its word, and the output is the same: who thanked whom "
            "is lost.",
            after={"row": SWAPPED},
        ),
        Step(
            "Now one word stands at six positions, and the last of them reads. Do its six scores "
            "differ?",
            "No. Without positions, equal words have equal keys, wherever they stand.",
            after={"row": SAME},
        ),
        Step(
            "Each position now turns its query and key 1 radian further. Which key will get the "
            "best score?",
            "The last one, at the query's own position: angle 0. One position before it the score "
            "is cos 1 = 0.54 times that.",
            before={"row": SAME},
            after={"positions": TURNED},
        ),
        Step(
            "All six move 40 positions on, so every vector turns by 40 radians. What do the "
            "scores do?",
            "Nothing. All turn alike, so the angles between them stay: a score sees only how "
            "far before or after the query the key stands.",
            before={"row": SAME, "positions": TURNED},
            after={"start": 40},
        ),
        Step(
            "Now a wave vector of its position is added to the word, nothing turns. The same move "
            "by 40: do the scores stay?",
            "No: they change, though no distance did. Now they depend on where query and key "
            "stand.",
            before={"row": SAME, "positions": ADDED},
            after={"start": 40},
        ),
        Step(
            "The first question again, now with turns. We swap Anna and Ben: is the output the "
            "same?",
            "No: (1.57, −0.12) becomes (0.82, 0.56). Seen from the query, a word before it and "
            "one after it are turned opposite ways.",
            before={"positions": TURNED},
            after={"row": SWAPPED},
        ),
    ]
    return Demo("Positions: how order enters", view, steps)


def _read(row: list[str], positions: str, start: int) -> tuple[Tensor, Tensor, Tensor]:
    """Give the keys, what the reader scores them, its output; the reader is a key too."""
    places, scheme = torch.arange(start, start + len(row)), SCHEMES[positions]
    x = torch.tensor([VECTORS[word] for word in row], dtype=torch.float)
    added = scheme.embed(places)
    x = (x if added is None else x + added)[None, None]
    keys = scheme.turn(x, scheme.prepare(places))
    query = keys[:, :, _reader(row), None]
    outputs, _ = attention(query, keys, x, need_weights=True)
    return keys[0, 0], attention_scores(query, keys)[0, 0, 0], outputs[0, 0, 0]


def _reader(row: list[str]) -> int:
    return row.index("thanked") if "thanked" in row else len(row) - 1


def _picture(positions: str, row: str, start: int) -> Still:
    """Draw the keys and the query in the plane, and the scores as bars."""
    words, reader = ROWS[row], _reader(ROWS[row])
    keys, scores, output = _read(words, positions, start)
    names = [f"{start + i} {word}" for i, word in enumerate(words)]
    fig, (left, right) = new_stage([1, 1.25])
    fig.set_layout_engine("none")
    left.set_position(PLANE)
    right.set_position(BARS)
    _plane(left, keys, keys[reader], [str(start + i) for i in range(len(words))])
    colours = [ORANGE if i == reader else BLUE for i in range(len(words))]
    bars = right.barh(range(len(words)), scores, color=colours)
    right.bar_label(bars, [_number(x) for x in scores.tolist()], padding=4)
    right.set_yticks(range(len(words)), names)
    right.invert_yaxis()
    right.set(xlim=(LOWEST, HIGHEST), xticks=range(-4, 9, 2))
    right.axvline(0, color=INK, linewidth=1)
    right.set_xlabel("score: query · key / √2")
    at = f"({_number(output[0])}, {_number(output[1])})"
    right.set_title(f"output {at}")
    told = ", ".join(map(_number, scores.tolist()))
    caption = f"“{words[reader]}” at {start + reader} scores {told}."
    places = [
        f"{name} ({_number(a, 1)}, {_number(b, 1)})"
        for name, (a, b) in zip(names, keys.tolist(), strict=True)
    ]
    alt = (
        f"Left, lines in the plane from the origin. Keys: {', '.join(places)}; the query is "
        f"the key of {names[reader]}. Right, bars of the scores: {told}. Output {at}."
    )
    return Still(fig, alt, caption)


def _number(x: float, n_decimals: int = 2) -> str:
    """Write it with a minus sign, as the axes do."""
    return f"{x:.{n_decimals}f}".replace("-", "−")


def _plane(axes: Axes, keys: Tensor, query: Tensor, names: list[str]) -> None:
    """Draw a line from the origin to each key, and a thick one for the query."""
    for key in keys:
        axes.plot(*zip((0, 0), key, strict=True), color=SKY, linewidth=1)
    axes.plot(*zip((0, 0), query, strict=True), color=ORANGE, linewidth=5)
    axes.plot(*keys.T, "o", color=BLUE, markersize=9)
    apart = keys[:, None] - keys
    pushes = (apart / apart.square().sum(-1, keepdim=True).clamp(min=0.01)).sum(1)
    if apart.abs().max() < 0.01:  # equal keys share one label
        keys, pushes = keys[:1], torch.tensor([[0.0, 1.0]])
        names = [f"{names[0]} to {names[-1]}"]
    for name, key, push in zip(names, keys, pushes, strict=True):
        x, y = key + 0.85 * push / push.norm().clamp(min=0.01)  # away from the others
        write(axes, x, y, name, bbox={"color": PAPER, "pad": 0}, zorder=3)
    axes.set(xticks=[-2, 0, 2], yticks=[-2, 0, 2], aspect="equal")
    axes.set(xlim=(-4.1, 5.3), ylim=(-4.1, 4.1))
    axes.set_xlabel("keys by position; thick: query")
