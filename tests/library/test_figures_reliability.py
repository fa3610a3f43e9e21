"""Reliability: bars as high as predictions are right, gaps up to how sure they were."""

import pytest
import torch
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from course_lib import figures
from course_lib.softmax import Calibration, calibration

# Two bins of five are empty; the third is too modest, the last too sure.
FOUND = Calibration(
    torch.tensor([torch.nan, 0.3, 0.5, torch.nan, 0.9]),
    torch.tensor([torch.nan, 0.3, 0.8, torch.nan, 0.6]),
    torch.tensor([0, 10, 5, 0, 25]),
    torch.tensor(0.225),
)


def words(fig):
    fig.canvas.draw()  # ticks get their words when they are drawn
    return [text.get_text() for text in fig.findobj(Text) if text.get_text().strip()]


def bars(axes):
    """(left, bottom, height) of each bar."""
    found = [part for part in axes.patches if isinstance(part, Rectangle)]
    return [(round(b.get_x(), 6), b.get_y(), b.get_height()) for b in found]


def test_a_bar_is_what_was_right_and_the_gap_reaches_to_the_confidence():
    fig = figures.draw_reliability({"model": FOUND})
    expected = [0.2, 0.0, 0.3], [0.4, 0.0, 0.8], [0.8, 0.0, 0.6]
    gaps = [0.2, 0.3, 0.0], [0.4, 0.8, -0.3], [0.8, 0.6, 0.3]
    drawn = bars(fig.axes[0])
    for found, wanted in zip(drawn[::2], expected, strict=True):
        assert found == pytest.approx(wanted)
    for found, wanted in zip(drawn[1::2], gaps, strict=True):
        assert found == pytest.approx(wanted, abs=1e-6)


def test_the_top_of_a_bar_is_marked_though_the_gap_may_lie_inside_it():
    axes = figures.draw_reliability({"model": FOUND}).axes[0]
    tops = [part.get_segments()[0][:, 1].tolist() for part in axes.collections]
    for found, wanted in zip(tops, (0.3, 0.8, 0.6), strict=True):
        assert found == pytest.approx([wanted, wanted])


def test_gaps_are_hatched_and_the_diagonal_is_dashed():
    axes = figures.draw_reliability({"model": FOUND}).axes[0]
    assert [bool(bar.get_hatch()) for bar in axes.patches] == [False, True] * 3
    (line,) = axes.lines
    assert line.get_linestyle() == "--"
    assert list(line.get_xdata()) == list(line.get_ydata()) == [0, 1]


def test_the_strip_counts_every_bin_that_holds_something():
    axes = figures.draw_reliability({"model": FOUND}).axes[1]
    assert [height for _, _, height in bars(axes)] == [10, 5, 25]


def test_panels_stand_side_by_side_on_one_scale_with_name_and_error():
    fig = figures.draw_reliability({"before": FOUND, "after": FOUND})
    assert {"before\nerror 0.225", "after\nerror 0.225"} <= set(words(fig))
    left, right, *strips = fig.axes
    assert left.get_ylim() == right.get_ylim() == (0, 1)
    assert strips[0].get_ylim() == strips[1].get_ylim()


def test_axes_are_named_and_no_word_is_smaller_than_ten_points():
    fig = figures.draw_reliability({"model": FOUND})
    expected = {"share that was right", "count", "confidence: how sure the model was"}
    assert expected <= set(words(fig))
    sizes = {t.get_fontsize() for t in fig.findobj(Text) if t.get_text().strip()}
    assert min(sizes) >= 10


def test_equal_pictures_give_equal_bytes_and_small_files():
    first, second = (figures.draw_reliability({"model": FOUND}) for _ in range(2))
    assert figures.png_bytes(first) == figures.png_bytes(second)
    assert len(figures.png_bytes(first)) < 60_000


def test_what_the_library_measures_can_be_drawn():
    found = calibration(torch.zeros(2, 3), torch.tensor([0, 1]), n_bins=7)
    fig = figures.draw_reliability({"uniform": found})
    assert bars(fig.axes[0])[0] == pytest.approx((2 / 7, 0.0, 0.5), abs=1e-5)


@pytest.mark.parametrize("n_panels", [0, 4])
def test_no_panel_or_too_many_are_refused(n_panels):
    with pytest.raises(ValueError, match=f"{n_panels} calibrations.*1 to 3"):
        figures.draw_reliability({str(i): FOUND for i in range(n_panels)})
