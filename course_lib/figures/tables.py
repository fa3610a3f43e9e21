"""Tables of (query, key) cells, and bars."""

from collections.abc import Mapping, Sequence

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.figures.show import BLUE, INK, PAPER, STYLE, new_figure, write

MOST_NUMBERED_KEYS = 14
QUERY_NAME, KEY_NAME = "query: reads", "key: is read"


def draw_weights(
    weights: Tensor,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    allowed: Tensor | None = None,
    query_name: str = QUERY_NAME,
    key_name: str = KEY_NAME,
) -> Figure:
    """Draw who reads whom, and how much: one row a query, one column a key.

    Args:
        weights: (query, key) float, each in 0..1.
        query_labels: one word a query.
        key_labels: one word a key.
        allowed: (query, key) bool; True where the query may read the key. The
            rest is hatched. None: nothing is hatched.
        query_name: what a row is.
        key_name: what a column is.

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: the labels or `allowed` do not fit the weights.

    Lesson: notebooks/03_attention.ipynb

    >>> weights = torch.tensor([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0]])
    >>> fig = draw_weights(weights, ["a", "b"], ["a", "b", "c"], weights > 0)
    """
    _check_table("weights", weights, query_labels, key_labels)
    if allowed is not None and allowed.shape != weights.shape:
        raise ValueError(
            f"allowed has shape {tuple(allowed.shape)}, weights have "
            f"{tuple(weights.shape)}: both are (query, key)"
        )
    with matplotlib.rc_context(STYLE):
        fig, axes = _table_axes(query_labels, key_labels, extra_width=1.2)
        axes.set(xlabel=key_name, ylabel=query_name)
        image = axes.imshow(
            weights.detach().cpu().numpy(), cmap="cividis", vmin=0, vmax=1
        )
        bar = fig.colorbar(image, ax=axes, shrink=0.9, aspect=30)
        bar.set_label("weight (a row sums to 1)")
        for query, row in enumerate(weights.tolist()):
            for key, weight in enumerate(row):
                if allowed is not None and not allowed[query, key]:
                    _hatch(axes, query, key)
                elif len(key_labels) <= MOST_NUMBERED_KEYS:
                    colour = PAPER if weight < 0.55 else INK
                    write(axes, key, query, f"{weight:.2f}", color=colour, size=10)
    return fig


def draw_mask(
    allowed: Tensor,
    query_labels: Sequence[str] | None = None,
    key_labels: Sequence[str] | None = None,
) -> Figure:
    """Draw a mask: a dot where the query may read the key, hatching where not.

    Args:
        allowed: (query, key) bool; True where the query may read the key.
        query_labels: one word a query; None writes the positions 0, 1, 2 …
        key_labels: one word a key; None writes the positions 0, 1, 2 …

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: `allowed` is not bool, or the labels do not fit it.

    Lesson: notebooks/02_masks.ipynb

    >>> fig = draw_mask(torch.ones(2, 3, dtype=torch.bool).tril())
    """
    if allowed.dtype != torch.bool:
        raise ValueError(
            f"allowed has dtype {allowed.dtype}, expected torch.bool with True = "
            "may read: compare first, for instance allowed = bias == 0"
        )
    query_labels = query_labels or [str(i) for i in range(allowed.shape[0])]
    key_labels = key_labels or [str(j) for j in range(allowed.shape[-1])]
    _check_table("allowed", allowed, query_labels, key_labels)
    with matplotlib.rc_context(STYLE):
        fig, axes = _table_axes(query_labels, key_labels)
        axes.set(xlim=(-0.55, len(key_labels) - 0.45))
        axes.set(ylim=(len(query_labels) - 0.45, -0.55))
        _draw_allowed(axes, allowed, markersize=10)
    return fig


def draw_masks(
    masks: Mapping[str, tuple[Tensor, Sequence[str], Sequence[str]]],
    query_name: str = QUERY_NAME,
    key_name: str = KEY_NAME,
) -> Figure:
    """Draw several masks side by side, in the signs of draw_mask.

    Args:
        masks: by title, (allowed, query_labels, key_labels) as in draw_mask; at most 5.
        query_name: what a row is.
        key_name: what a column is.

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: there are more than 5 masks, or the labels do not fit one.

    Lesson: notebooks/02_masks.ipynb

    >>> allowed = torch.ones(2, 3, dtype=torch.bool).tril()
    >>> fig = draw_masks({"two after one": (allowed, ["1", "2"], ["0", "1", "2"])})
    """
    if not 1 <= len(masks) <= 5:
        raise ValueError(f"{len(masks)} masks were given: a page has room for 1 to 5")
    most_queries = max(len(queries) for _, queries, _ in masks.values())
    with matplotlib.rc_context(STYLE):
        widths = [max(len(keys), 4) for _, _, keys in masks.values()]
        size = (0.6 + 0.4 * sum(widths), 0.7 + 0.36 * most_queries)
        fig = Figure(figsize=size, layout="constrained")
        grid = {"width_ratios": widths}
        all_axes = fig.subplots(1, len(masks), squeeze=False, gridspec_kw=grid)[0]
        for axes, (title, table) in zip(all_axes, masks.items(), strict=True):
            allowed, query_labels, key_labels = table
            _check_table(title, allowed, query_labels, key_labels)
            axes.set_title(title, fontsize=10)
            axes.set_xticks(range(len(key_labels)), key_labels)
            axes.set_yticks(range(len(query_labels)), query_labels)
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            axes.set(xlim=(-0.55, len(key_labels) - 0.45))
            axes.set(ylim=(most_queries - 0.45, -0.55), anchor="N")
            axes.xaxis.tick_top()
            _draw_allowed(axes, allowed, markersize=7)
        fig.supxlabel(key_name, fontsize=10)
        fig.supylabel(query_name, fontsize=10)
    return fig


def draw_probabilities(
    labels: Sequence[str], probabilities: Tensor, name: str = "choice"
) -> Figure:
    """Draw a distribution as bars, each with its number.

    Args:
        labels: one word a choice.
        probabilities: (choice,) float, each in 0..1.
        name: what a choice is, for instance "next token".

    Returns:
        The figure, to be shown with `show_figure`.

    Raises:
        ValueError: there are not as many labels as probabilities.

    Lesson: notebooks/01_softmax.ipynb

    >>> fig = draw_probabilities(["yes", "no"], torch.tensor([0.8, 0.2]))
    """
    if probabilities.shape != (len(labels),):
        raise ValueError(
            f"{len(labels)} labels for probabilities of shape "
            f"{tuple(probabilities.shape)}: give one label a probability"
        )
    with matplotlib.rc_context(STYLE):
        fig, axes = new_figure(6.5, 0.8 + 0.36 * len(labels))
        bars = axes.barh(range(len(labels)), probabilities.tolist(), color=BLUE)
        axes.bar_label(bars, fmt="%.2f", padding=4)
        axes.set_yticks(range(len(labels)), labels)
        axes.set(xlim=(0, 1.08), xlabel="probability", ylabel=name)
        axes.invert_yaxis()
        axes.spines[["top", "right"]].set_visible(False)
    return fig


def _check_table(
    name: str, table: Tensor, query_labels: Sequence[str], key_labels: Sequence[str]
) -> None:
    """Raise ValueError unless the table is (query, key) with a label for each."""
    if table.shape != (len(query_labels), len(key_labels)):
        raise ValueError(
            f"{name} has shape {tuple(table.shape)}, expected (query, key) = "
            f"({len(query_labels)}, {len(key_labels)}) from the labels: pick one "
            "batch row and one head, and give one label a row and a column"
        )


def _table_axes(
    query_labels: Sequence[str], key_labels: Sequence[str], extra_width: float = 0
) -> tuple[Figure, Axes]:
    """Make axes for a (query, key) table, with the axis words on them."""
    longest = max(len(label) for label in (*query_labels, *key_labels))
    margin = 0.7 + 0.1 * longest
    numbered = len(key_labels) <= MOST_NUMBERED_KEYS
    side = 0.46 if numbered else 0.3
    fig, axes = new_figure(
        margin + extra_width + side * max(len(key_labels), 5),
        margin + 0.2 + side * max(len(query_labels), 4),
    )
    turned = {"rotation": 90} if longest > 3 else {}
    axes.set_xticks(range(len(key_labels)), key_labels, **turned)
    axes.set_yticks(range(len(query_labels)), query_labels)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel=KEY_NAME, ylabel=QUERY_NAME)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return fig, axes


def _draw_allowed(axes: Axes, allowed: Tensor, markersize: float) -> None:
    """Draw the cells of a mask: a dot where it may be read, hatching where not."""
    axes.set_aspect("equal")
    for query, row in enumerate(allowed.tolist()):
        for key, may_read in enumerate(row):
            if may_read:
                axes.add_patch(_cell(query, key, facecolor=PAPER))
                axes.plot(key, query, marker="o", color=BLUE, markersize=markersize)
            else:
                _hatch(axes, query, key)


def _cell(query: int, key: int, **style: object) -> Rectangle:
    """Make the square of one (query, key) pair."""
    style = {"edgecolor": "#888888", "linewidth": 0.8} | style
    return Rectangle((key - 0.5, query - 0.5), 1, 1, **style)


def _hatch(axes: Axes, query: int, key: int) -> None:
    """Hatch a cell that may not be read."""
    axes.add_patch(_cell(query, key, facecolor="#EEEEEE", hatch="////"))
