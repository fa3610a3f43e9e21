"""Curves and readings: told apart without colour, true to their numbers."""

import pytest
import torch
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from course_lib import figures
from course_lib.figures.curves import LOOKS

QUERY = torch.tensor([0.0, 2.0])
KEYS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
VALUES = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
LABELS = ["Anna", "letter", "it"]


def words(fig):
    """Give every piece of text that a picture shows."""
    fig.canvas.draw()  # ticks get their words when they are drawn
    return [text.get_text() for text in fig.findobj(Text) if text.get_text().strip()]


def every_figure():
    four = {name: [1.0, 3.0, 2.0] for name in "abcd"}
    six = {name: [1.0, place, 2.0] for place, name in enumerate("abcdef")}
    return [
        figures.draw_curves([1, 2, 5], four, "length", "seconds", log="xy"),
        figures.draw_curves([1, 2, 5], six, "length", "seconds"),
        figures.draw_reading(QUERY, KEYS, VALUES, LABELS),
    ]


def test_equal_pictures_give_equal_bytes_and_small_files():
    for first, second in zip(every_figure(), every_figure(), strict=True):
        assert figures.png_bytes(first) == figures.png_bytes(second)
        assert len(figures.png_bytes(first)) < 60_000


def test_no_word_is_smaller_than_ten_points():
    for fig in every_figure():
        sizes = {t.get_fontsize() for t in fig.findobj(Text) if t.get_text().strip()}
        assert min(sizes) >= 10


def test_curves_differ_in_marker_and_dashes_not_only_in_colour():
    lines = [bars[0] for bars in every_figure()[1].axes[0].containers]
    assert len({line.get_marker() for line in lines}) == len(lines) == 6
    for aspect in ("color", "marker", "linestyle"):
        assert len({look[aspect] for look in LOOKS}) == 6


def test_the_legend_of_many_curves_does_not_cover_them():
    fig = every_figure()[1]
    figures.png_bytes(fig)  # the layout is made when the picture is
    (legend,) = fig.legends
    assert [text.get_text() for text in legend.get_texts()] == list("abcdef")
    edge = fig.axes[0].get_window_extent().x1
    assert legend.get_window_extent().x0 >= edge


def test_curves_name_their_axes_their_points_and_themselves():
    fig = figures.draw_curves([128, 2048], {"ours": [1, 2]}, "positions", "seconds")
    assert {"positions", "seconds", "128", "2,048", "ours"} <= set(words(fig))


def test_repeats_become_a_mean_with_a_bar_from_least_to_greatest():
    repeats = torch.tensor([[1.0, 5.0], [3.0, 5.0], [8.0, 5.0]])
    fig = figures.draw_curves([2, 3], {"a": repeats}, "x", "y")
    line, _, (bars,) = fig.axes[0].containers[0]
    assert line.get_ydata().tolist() == [4.0, 5.0]
    reach = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert reach == [[1.0, 8.0], [5.0, 5.0]]


@pytest.mark.parametrize(
    ("log", "scales"), [("", ("linear",) * 2), ("x", ("log", "linear"))]
)
def test_axes_are_logarithmic_where_asked(log, scales):
    axes = figures.draw_curves([1, 2], {"a": [1, 2]}, "x", "y", log).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == scales


def test_curves_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"'a' has shape \(3,\).*needs \(2,\)"):
        figures.draw_curves([1, 2], {"a": [1, 2, 3]}, "x", "y")
    with pytest.raises(ValueError, match="0 curves"):
        figures.draw_curves([1, 2], {}, "x", "y")
    with pytest.raises(ValueError, match="7 curves"):
        figures.draw_curves([1], {name: [1] for name in "abcdefg"}, "x", "y")


def test_a_reading_shows_scores_weights_and_the_mean_of_the_values():
    """By hand: exp of 0, 2, 1 over their sum 11.107 is 0.09, 0.67, 0.24."""
    fig = figures.draw_reading(QUERY, KEYS, VALUES, LABELS)
    assert {"0.09", "0.67", "0.24", "(0.90, 6.65)", *LABELS} <= set(words(fig))
    widths = [bar.get_width() for bar in fig.axes[0].findobj(Rectangle)][:3]
    assert widths == pytest.approx([1.5 * w for w in (0.0900, 0.6652, 0.2447)], 1e-3)


def test_a_reading_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="2 labels do not fit"):
        figures.draw_reading(QUERY, KEYS, VALUES, LABELS[:2])
    with pytest.raises(ValueError, match=r"query \(3,\)"):
        figures.draw_reading(torch.ones(3), KEYS, VALUES, LABELS)
    with pytest.raises(ValueError, match=r"values \(2, 2\)"):
        figures.draw_reading(QUERY, KEYS, VALUES[:2], LABELS)
