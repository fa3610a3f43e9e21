"""Pictures carry words, can be read without colour, and are the same each time."""

import re

import pytest
import torch
from matplotlib import pyplot
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from course_lib import figures
from course_lib.decoder import Decoder, DecoderConfig

WEIGHTS = torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0]])
ALLOWED = torch.tensor([[True, False, False], [True, True, False]])


def words(fig):
    """Give every piece of text that a picture shows."""
    return [text.get_text() for text in fig.findobj(Text) if text.get_text().strip()]


def hatched(fig):
    """Count the hatched cells of a picture."""
    return sum(bool(patch.get_hatch()) for patch in fig.findobj(Rectangle))


def decoder(**changes):
    """Make a small decoder whose sizes are pairwise different."""
    sizes = {"vocab_size": 23, "d_model": 6, "n_layers": 2, "n_heads": 3, "d_ff": 7}
    sizes["max_length"] = 11
    return Decoder(DecoderConfig(**sizes | changes))


def every_figure():
    """Draw one picture of each kind."""
    return [
        figures.draw_weights(WEIGHTS, ["a", "b"], ["a", "b", "long word"], ALLOWED),
        figures.draw_mask(ALLOWED),
        figures.draw_probabilities(["yes", "no"], torch.tensor([0.8, 0.2])),
        figures.draw_stack(decoder()),
        figures.draw_step(["Once", "upon"], ["a", "the"], torch.tensor([0.9, 0.05]), 3),
    ]


def test_the_page_has_alt_text_and_caption_with_special_signs_escaped():
    fig = figures.draw_mask(ALLOWED)
    page = figures.figure_html(fig, 'row "0" < row 1', "A & B.")
    assert re.fullmatch(
        r'<figure><img alt="row &quot;0&quot; &lt; row 1" '
        r'src="data:image/png;base64,[A-Za-z0-9+/=]+">'
        r"<figcaption>A &amp; B\.</figcaption></figure>",
        page,
    )


@pytest.mark.parametrize(("alt", "caption"), [("", "words"), ("words", " \n")])
def test_a_picture_without_words_is_refused(alt, caption):
    name = "alt" if not alt else "caption"
    with pytest.raises(ValueError, match=f"{name} is empty"):
        figures.show_figure(figures.draw_mask(ALLOWED), alt, caption)


def test_showing_gives_html_and_plain_words_and_closes_the_figure(monkeypatch):
    bundles = []
    monkeypatch.setattr(
        "IPython.display.display", lambda bundle, raw: bundles.append((bundle, raw))
    )
    fig = pyplot.figure()
    figures.show_figure(fig, "nothing", "An empty paper.")
    ((bundle, raw),) = bundles
    assert raw
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == "Figure: An empty paper. [nothing]"
    assert not pyplot.fignum_exists(fig.number)


def test_equal_pictures_give_equal_bytes_and_small_files():
    for first, second in zip(every_figure(), every_figure(), strict=True):
        assert figures.png_bytes(first) == figures.png_bytes(second)
        assert len(figures.png_bytes(first)) < 60_000


def test_no_word_is_smaller_than_ten_points():
    for fig in every_figure():
        sizes = {t.get_fontsize() for t in fig.findobj(Text) if t.get_text().strip()}
        assert min(sizes) >= 10


def test_the_paper_is_white_whatever_the_theme():
    pyplot.style.use("dark_background")
    try:
        fig = figures.draw_probabilities(["yes"], torch.tensor([1.0]))
    finally:
        pyplot.style.use("default")
    assert fig.get_facecolor() == (1, 1, 1, 1)
    assert {t.get_color() for t in fig.findobj(Text) if t.get_text()} == {"#222222"}


def test_weights_are_numbers_and_hidden_cells_are_hatched():
    fig = figures.draw_weights(WEIGHTS, ["a", "b"], ["a", "b", "c"], ALLOWED)
    assert [w for w in words(fig) if re.fullmatch(r"\d\.\d\d", w)] == [
        "1.00",
        "0.25",
        "0.75",
    ]
    assert hatched(fig) == 3
    assert {"query: reads", "key: is read"} <= set(words(fig))


def test_a_mask_shows_a_dot_where_the_query_may_read():
    fig = figures.draw_mask(ALLOWED)
    assert len(fig.axes[0].lines) == 3
    assert hatched(fig) == 3


def test_a_stack_is_drawn_from_the_modules_that_are_there():
    plain = words(figures.draw_stack(decoder()))
    crossed = words(figures.draw_stack(decoder(cross_attention=True)))
    assert "cross_attention" not in plain
    assert {"cross_attention", "cross_norm"} <= set(crossed)
    assert "23 × 6, plus learned positions" in plain
    assert "3 heads of width 2" in plain
    assert any("2 times" in each for each in plain)


@pytest.mark.parametrize("changes", [{"pre_norm": False}, {"tie_weights": False}])
def test_a_stack_without_final_norm_or_with_its_own_head_says_so(changes):
    model = decoder(**changes)
    shown_words = words(figures.draw_stack(model))
    assert ("final_norm" in shown_words) == model.config.pre_norm
    tied = "none: uses the embedding's" in shown_words
    assert tied == model.config.tie_weights


def test_the_counts_beside_the_parts_are_the_real_ones():
    model = decoder()
    block = model.stack.blocks[0]
    found = words(figures.draw_stack(model))
    for part in (model.embedding, block.self_attention, block.feed_forward):
        assert str(sum(p.numel() for p in part.parameters())) in found


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (7, "7"),
        (999, "999"),
        (1_000, "1.00 k"),
        (134_515_008, "135 M"),
        (28e6, "28.0 M"),
    ],
)
def test_counts_have_three_digits(number, said):
    layer = torch.nn.Linear(int(number), 1, bias=False, device="meta")
    assert figures.count(layer) == said


def test_a_step_names_its_parts_and_the_choice():
    fig = figures.draw_step(
        ["Once", "upon"], ["a", "the"], torch.tensor([0.9, 0.05]), n_layers=3
    )
    assert {"Once", "upon", "a", "the", "0.90", "0.05"} <= set(words(fig))


def test_labels_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"weights has shape \(2, 3\)"):
        figures.draw_weights(WEIGHTS, ["a"], ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"allowed has shape \(3, 2\)"):
        figures.draw_weights(WEIGHTS, ["a", "b"], ["a", "b", "c"], ALLOWED.T)
    with pytest.raises(ValueError, match=r"dtype torch\.float32, expected torch\.bool"):
        figures.draw_mask(WEIGHTS)
    with pytest.raises(ValueError, match="1 labels for probabilities"):
        figures.draw_probabilities(["a"], torch.tensor([0.5, 0.5]))
    with pytest.raises(ValueError, match="2 choices and probabilities"):
        figures.draw_step(["Once"], ["a", "the"], torch.tensor([1.0]), n_layers=3)
