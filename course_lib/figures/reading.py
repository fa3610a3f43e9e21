"""One reading: a query compares, shares out its weight, and mixes the values."""

from collections.abc import Sequence

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.figures.show import BLUE, INK, STYLE, new_figure, write
from course_lib.softmax import softmax

KEY, SCORE, WEIGHT, VALUE = 1.9, 4.0, 5.4, 8.4  # where each column stands
BAR_WIDTH = 1.5


def draw_reading(
    query: Tensor, keys: Tensor, values: Tensor, labels: Sequence[str]
) -> Figure:
    """Draw how one query reads: scores, weights and the mean of the values.

    The scores are plain dot products, as a hand would reckon them: no mask, no scale.

    Args:
        query: (d_head,) float.
        keys: (key, d_head) float.
        values: (key, d_head) float.
        labels: one word a key.

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: query, keys, values and labels do not fit each other.

    Lesson: notebooks/03_attention.ipynb

    >>> eye = torch.eye(2)
    >>> fig = draw_reading(eye[0], eye, eye, ["a", "b"])
    """
    if keys.shape != (len(labels), *query.shape) or len(values) != len(labels):
        raise ValueError(
            f"query {tuple(query.shape)}, keys {tuple(keys.shape)}, values "
            f"{tuple(values.shape)} and {len(labels)} labels do not fit: give "
            "(d_head,), (key, d_head), (key, d_head) and one label a key"
        )
    scores = keys @ query
    weights = softmax(scores)
    with matplotlib.rc_context(STYLE):
        fig, axes = new_figure(8, 1.7 + 0.45 * len(labels))
        axes.set(xlim=(-0.1, 10), ylim=(-1.7 - len(labels), 1.6))
        axes.axis("off")
        write(
            axes, 0, 1.1, f"query (reads): {_numbers(query)}", ha="left", weight="bold"
        )
        heads = (
            "key\n(is read)",
            "1 compare:\nquery · key",
            "2 softmax:\nweight",
            "3 mix:\nvalue",
        )
        for x, head in zip((KEY, SCORE, WEIGHT + 0.7, VALUE), heads, strict=True):
            write(axes, x, 0, head)
        for row, label in enumerate(labels):
            y = -1.2 - row
            write(axes, 0, y, label, ha="left", weight="bold")
            write(axes, KEY, y, _numbers(keys[row]))
            write(axes, SCORE, y, f"{scores[row]:g}")
            width = BAR_WIDTH * weights[row].item()
            axes.add_patch(Rectangle((WEIGHT, y - 0.28), width, 0.56, facecolor=BLUE))
            write(axes, WEIGHT + width + 0.12, y, f"{weights[row]:.2f}", ha="left")
            write(axes, VALUE, y, _numbers(values[row]))
        bottom = -1.1 - len(labels)
        axes.plot((WEIGHT, VALUE + 1), (bottom + 0.35,) * 2, color=INK, linewidth=0.8)
        output = _numbers(weights @ values, ".2f")
        write(axes, VALUE, bottom - 0.2, output, weight="bold")
        words = "output = sum of weight × value"
        write(axes, VALUE - 1, bottom - 0.2, words, ha="right", weight="bold")
    return fig


def _numbers(vector: Tensor, form: str = "g") -> str:
    """Write a vector in brackets."""
    return f"({', '.join(format(number, form) for number in vector.tolist())})"
