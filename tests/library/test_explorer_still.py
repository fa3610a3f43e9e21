"""A still says in numbers what the trace holds, and nothing on it overlaps or is cut."""

import copy
import html
import re
import warnings

import pytest
import torch
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.explorer.still import draw_still
from course_lib.explorer.still.labels import label, said
from course_lib.figures import png_bytes
from course_lib.generation import beam_search
from course_lib.sampling import Sampler
from course_lib.trace import Trace

SIZES = dict(vocab_size=13, d_model=15, n_layers=2, n_heads=3, max_length=80)
WORDS = "<eos> Once| upon| a| time| there| was| cat|incomprehensibility|\n|.| sat| mat"
WORDS = WORDS.replace("<eos> ", "<eos>|").split("|")
HOSTILE = ["<script>", "x" * 10_000, "مرحبا", "👩\u200d🚀", "\n", "$a$ $b", "", "日本"]
HOSTILE += ["\ud800\u202e", "W" * 30, "\x00\x1b", "a\u0301", "\\frac{1}{2"]
IDS = [1, 2, 3, 4, 5, 6]


def decoder(**changes):
    model = Decoder(DecoderConfig(**{**SIZES, **changes})).eval()
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        if parameter.ndim > 1:
            parameter.data = torch.randn(parameter.shape, generator=generator) * 0.4
    return model


def memory(n_places=7):
    return torch.randn(1, n_places, 15, generator=torch.Generator().manual_seed(2))


def record(model, ids=IDS, *arguments, **settings):
    return Trace.record(model, ids, *arguments, text=WORDS.__getitem__, **settings)


def written(**changes):
    sampler = Sampler(temperature=1, seed=1, top_k=5)
    return record(decoder(**changes), max_new_tokens=3, sampler=sampler)


def crossed(**settings):
    return record(decoder(cross_attention=True), IDS, memory(), **settings)


def with_nan():
    model = decoder()
    model.stack.blocks[0].self_attention.to_keys.weight.data[:] = float("nan")
    return record(model)


GROUPED = {"d_model": 24, "n_heads": 6, "n_kv_heads": 3, "positions": "rotary"}
GROUPED |= {"norm": "rms", "gated": True, "bias": False, "activation": "silu"}
MAKERS = {
    "decoder-only": written,
    "encoder-decoder": lambda: crossed(max_new_tokens=2),
    "named memory": lambda: crossed(
        memory_strings="das ist ein Hund und so 日".split()
    ),
    "beams": lambda: crossed(
        max_new_tokens=4,
        eos_id=0,
        n_beams=3,
        memory_strings="das ist ein Hund und so 日".split(),
    ),
    "long beams": lambda: record(
        decoder(), [1, 2], max_new_tokens=30, eos_id=0, n_beams=2
    ),
    "grouped": lambda: written(**GROUPED),
    "window": lambda: written(positions="alibi", window=3, pre_norm=False),
    "without a cache": lambda: record(decoder(), max_new_tokens=2, use_cache=False),
    "unmasked": lambda: record(decoder(), masked=False),
    "training": lambda: record(decoder(), targets=[2, 3, -100, 5, 6, 7]),
    "nothing counted": lambda: record(decoder(), targets=[-100] * 6),
    "one token": lambda: record(decoder(), [1]),
    "one token trained": lambda: record(decoder(), [1], targets=[2]),
    "NaN": with_nan,
    "hostile": lambda: Trace.record(
        decoder(), range(12), max_new_tokens=1, text=HOSTILE.__getitem__
    ),
    "hostile, unmasked": lambda: Trace.record(
        decoder(), range(10), masked=False, text=HOSTILE.__getitem__
    ),
    "hostile, trained": lambda: Trace.record(
        decoder(), [1, 9], targets=[9, 7], text=HOSTILE.__getitem__
    ),
}
LOOKS = {
    "stack": ("global", "self"),
    "step": ("dynamic", "self"),
    "head": ("local", "self"),
    "cross": ("local", "cross"),
    "strips": ("local", "feed_forward"),
}
# each look at each trace that changes what it draws
DRAWN = {
    "decoder-only": "stack step head strips",
    "encoder-decoder": "stack step cross",
    "named memory": "step cross",
    "beams": "step",
    "long beams": "step",
    "grouped": "step head strips",
    "window": "stack head strips",
    "without a cache": "step",
    "unmasked": "head",
    "training": "step",
    "nothing counted": "step",
    "one token": "stack step head strips",
    "one token trained": "step",
    "NaN": "stack step head strips",
    "hostile": "step head",
    "hostile, unmasked": "head",
    "hostile, trained": "step",
}


@pytest.fixture(scope="module")
def traces():
    return {name: make() for name, make in MAKERS.items()}


def texts(still):
    return [t for t in still.figure.findobj(Text) if t.get_text().strip()]


def shown(still):
    return [text.get_text() for text in texts(still)]


def hatches(still):
    return [patch.get_hatch() for patch in still.figure.findobj(Rectangle)]


def boxes(still):
    """Draw it, and say where each text stands, in pixels."""
    canvas = FigureCanvasAgg(still.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    return [(t.get_text(), t.get_window_extent(renderer)) for t in texts(still)]


def assert_well_drawn(still):
    """Nothing is cut, nothing overlaps, all can be read, and there is no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        places = boxes(still)
    width, height = still.figure.get_size_inches() * still.figure.dpi
    for words, box in places:
        assert -1 <= box.x0 <= box.x1 <= width + 1, words
        assert -1 <= box.y0 <= box.y1 <= height + 1, words
    for index, (words, box) in enumerate(places):
        for other, box_2 in places[index + 1 :]:
            apart = min(box.x1, box_2.x1) - max(box.x0, box_2.x0) < 1.5
            apart |= min(box.y1, box_2.y1) - max(box.y0, box_2.y0) < 4.5
            assert apart, (words, other)
    assert min(text.get_fontsize() for text in texts(still)) >= 10
    assert width / still.figure.dpi <= 12
    assert still.figure.get_facecolor() == (1, 1, 1, 1)
    assert still.alt.endswith(".")
    assert still.caption.endswith(".")
    assert len(still.alt) < 12_000


@pytest.mark.parametrize(
    ("name", "look"),
    [(name, look) for name, looks in DRAWN.items() for look in looks.split()],
)
def test_a_look_at_a_trace_is_well_drawn(traces, name, look):
    trace, (mode, kind) = traces[name], LOOKS[look]
    layer, head = trace.config["n_layers"] - 1, trace.config["n_heads"] - 1
    step = len(trace.steps) - 1
    assert_well_drawn(draw_still(trace, mode, step, layer, head, kind))


@pytest.mark.parametrize("look", ["step", "head", "cross"])
def test_the_first_pass_is_well_drawn(traces, look):
    mode, kind = LOOKS[look]
    assert_well_drawn(draw_still(traces["encoder-decoder"], mode, 0, kind=kind))


def test_a_head_says_the_numbers_of_the_trace(traces):
    trace = traces["decoder-only"]
    still = draw_still(trace, layer=1, head=2, query=3)
    queries, keys = (trace.arrays[name, 0][1, 2] for name in ("queries", "keys"))
    products = [
        sum(a * b for a, b in zip(queries[3], key, strict=True)) for key in keys
    ]
    scaled = torch.tensor([product / 5**0.5 for product in products])
    weights = (scaled[:4].exp() / scaled[:4].exp().sum()).tolist()
    most = weights.index(max(weights))
    read = sum(w * trace.arrays["values", 0][1, 2, k] for k, w in enumerate(weights))
    name = f"'{trace.strings[most].replace(' ', '␣')}' (position {most})"
    assert still.alt == (
        "Layer 1, head 2, self-attention in step 0 (prefill). Row '␣time' (position 3) "
        f"reads most from {name}: {weights[most]:.2f}. 2 of 6 keys are masked. There "
        f"query · key is {said(products[most].item())}, and "
        f"{said(scaled[most].item())} divided by √5. What it reads has 5 numbers and the "
        f"length {said((read**2).sum().item() ** 0.5)}."
    )
    assert still.caption.endswith(f"reads most from {name}: {weights[most]:.2f}.")


def test_the_cells_hold_the_numbers_of_the_trace(traces):
    trace = traces["decoder-only"]
    still = draw_still(trace, layer=1, head=2)
    words = shown(still)
    weights = trace.arrays["self_weights", 0][1, 2]
    scores = trace.arrays["self_scores", 0][1, 2]
    for row in range(6):
        for key in range(6):
            assert said(scores[row, key].item()) in words
            assert key > row or said(weights[row, key].item()) in words
    pictures = still.figure.findobj(AxesImage)
    drawn = [p.get_array() for p in pictures if p.get_array().shape == (6, 6)]
    assert torch.equal(torch.tensor(drawn[2]), weights)
    assert hatches(still).count("////") == 2 * 5  # one run a row, in mask and weights


def test_a_step_with_a_cache_reads_the_keys_of_the_steps_before(traces):
    trace = traces["decoder-only"]
    still = draw_still(trace, step=2, head=1)
    whole = record(decoder(), trace.tokens[:8])
    products = whole.arrays["queries", 0][0, 1, 7] @ whole.arrays["keys", 0][0, 1].T
    drawn = [p.get_array() for p in still.figure.findobj(AxesImage)]
    first = torch.tensor(next(table for table in drawn if table.shape == (1, 8)))
    torch.testing.assert_close(first[0], products, rtol=1e-4, atol=1e-4)


def test_grouped_heads_read_the_keys_that_they_share(traces):
    trace = traces["grouped"]
    still = draw_still(trace, head=3)
    scores = trace.arrays["queries", 0][0, 3] @ trace.arrays["keys", 0][0, 1].T
    drawn = [p.get_array() for p in still.figure.findobj(AxesImage)]
    first = torch.tensor(next(table for table in drawn if table.shape == (6, 6)))
    torch.testing.assert_close(first, scores)
    assert "Heads 2 to 3 share the keys and values of kv_head 1." in still.alt


def test_a_window_and_a_position_bias_are_said(traces):
    trace = traces["window"]
    still = draw_still(trace, layer=1, query=4)
    assert "3 of 6 keys are masked." in still.alt
    most = int(trace.arrays["self_weights", 0][1, 0, 4].argmax())
    score = trace.arrays["self_scores", 0][1, 0, 4, most].item()
    assert f"{said(score)} with the position bias." in still.alt
    assert any("position bias" in words for words in shown(still))


def test_without_a_mask_every_leak_has_a_sign(traces):
    trace = traces["unmasked"]
    still = draw_still(trace, query=1)
    (signs,) = [line for line in still.figure.axes[0].lines if line.get_marker() == "^"]
    assert len(signs.get_xdata()) == 6 * 5 / 2
    leaked = trace.arrays["self_weights", 0][0, 0, 1, 2:].sum().item()
    assert f"4 of the row's 6 weights, {said(leaked)} together, lie on" in still.alt
    assert "The whole head has 15." in still.alt
    masked = draw_still(traces["decoder-only"]).figure.axes[0].lines
    assert not [line for line in masked if line.get_marker() == "^"]


def test_cross_attention_names_the_places_of_the_memory(traces):
    trace = traces["named memory"]
    still = draw_still(trace, kind="cross", layer=1, head=2, query=2)
    weights = trace.arrays["cross_weights", 0][1, 2, 2].tolist()
    most = weights.index(max(weights))
    name = trace.memory_strings[most]
    assert (
        f"Row '␣a' (position 2) reads most from '{name}' (place {most} of the memory): "
        f"{weights[most]:.2f}. None of 7 keys is masked."
    ) in still.alt
    assert "#6" in shown(still)  # the font has no 日
    plain = draw_still(traces["encoder-decoder"], kind="cross", step=1)
    assert re.search(r"reads most from place \d of the memory: 0\.\d\d", plain.alt)


def test_feed_forward_says_the_lengths_and_counts_what_is_positive(traces):
    trace = traces["decoder-only"]
    still = draw_still(trace, kind="feed_forward", layer=1, query=2)
    stream = trace.arrays["residuals", 0][1, :, 2].tolist()
    hidden = trace.arrays["hidden", 0][1, 2].tolist()
    before, behind = (sum(x * x for x in row) ** 0.5 for row in stream[-2:])
    n_positive = sum(number > 0 for number in hidden)
    assert f"has length {said(before)} before it and {said(behind)} behind" in still.alt
    assert f"{n_positive} of 60 hidden numbers are > 0" in still.alt
    assert f"length of all is {said(sum(x * x for x in hidden) ** 0.5)}." in still.alt
    added = sum((b - a) ** 2 for a, b in zip(*stream[-2:], strict=True)) ** 0.5
    assert f"What is added has length {said(added)}." in still.alt


def test_the_stack_says_each_layers_lengths(traces):
    trace = traces["encoder-decoder"]
    still = draw_still(trace, "global", query=4)
    stream, words = trace.arrays["residuals", 0][:, :, 4], shown(still)
    for layer in range(2):
        before, after_self, after_cross, behind = stream[layer]
        parts = [(p**2).sum().item() ** 0.5 for p in (before, behind)]
        steps = (after_self - before, after_cross - after_self, behind - after_cross)
        given = [said((step**2).sum().item() ** 0.5) for step in steps]
        assert (
            f"Layer {layer}: stream {said(parts[0])}, self-attention {given[0]}, "
            f"cross-attention {given[1]}, feed-forward {given[2]}, stream behind it "
            f"{said(parts[1])}."
        ) in still.alt
        assert {*given, said(parts[0]), said(parts[1])} <= set(words)
    total = sum(p.numel() for p in decoder(cross_attention=True).parameters())
    assert f"{total:,} parameters in all. " in still.alt
    assert "A memory of 7 places stands beside it." in still.alt
    assert "memory: 7 places × 15 numbers" in words
    assert any(word.startswith("embedding 13 × 15: ") for word in words)


def test_more_than_thirty_layers_leave_out_the_middle():
    trace = record(decoder(n_layers=33), [1, 2])
    still = draw_still(trace, "global")
    assert sum(word.startswith("layer ") for word in shown(still)) == 30
    assert "… 3 layers that are not drawn …" in shown(still)
    assert "Layer 32: " in still.alt
    assert "Layer 16: " not in still.alt


def test_a_step_says_its_work_and_its_choice(traces):
    trace = traces["decoder-only"]
    still = draw_still(trace, "dynamic", step=1)
    step = trace.steps[1]
    logits = trace.arrays["logits", 1].double()
    shares = (logits.exp() / logits.exp().sum()).tolist()
    chosen = step["chosen"]
    assert still.caption == (
        "Step 1 (decode): 6 of 7 tokens are in the cache, 1 is fed now; "
        f"'{label(WORDS[chosen])}' is chosen, probability {said(shares[chosen])}."
    )
    work, times = step["multiply_adds"], step["milliseconds"]
    assert (
        f"It takes {work['cached']:,} multiply-adds in {times['cached']:.2f} ms, and "
        f"{work['uncached']:,} multiply-adds in {times['uncached']:.2f} ms without a cache."
    ) in still.alt
    assert f"differ by at most {step['difference']:.1e}." in still.alt
    best = sorted(range(13), key=lambda i: -shares[i])[:12]
    told = ", ".join(f"'{label(WORDS[i])}' {said(shares[i])}" for i in best)
    assert f"Candidates by probability: {told}." in still.alt
    assert "5 ids could be drawn." in still.alt
    assert f"{said(shares[chosen])}  ◀ chosen" in shown(still)


def test_ribbons_are_as_wide_as_the_weights_that_a_forward_pass_gives(traces):
    trace, model, kept = traces["beams"], decoder(cross_attention=True), {}
    still = draw_still(trace, "dynamic", step=2, layer=1, head=2)
    n_read = len(IDS) + 2
    with torch.no_grad():
        model(torch.tensor([trace.tokens[:n_read]]), memory(), record=kept)
    weights = kept["cross", 1][0, 2]
    (ribbons,) = still.figure.findobj(PathCollection)
    wanted = [9 * w for w in weights.flatten().tolist() if w >= 0.05]
    assert list(ribbons.get_linewidths()) == pytest.approx(wanted, rel=1e-3)
    for position, row in enumerate(weights.tolist()):
        most = row.index(max(row))
        token = f"'{label(trace.strings[position])}' (position {position})"
        place = f"'{trace.memory_strings[most]}' (place {most} of the memory)"
        assert f"{token} reads most from {place}: {said(row[most])}" in still.alt
    assert "In the cross-attention of layer 1, head 2, 'Once'" in still.alt


def test_the_tree_holds_every_beam_that_the_search_kept(traces):
    trace = traces["beams"]
    still = draw_still(trace, "dynamic", step=1)
    last = [line for line in still.alt.split(". ") if "search kept" in line]
    assert last[0].startswith("The search kept 3 beams after 4 steps, best first: '")
    found = beam_search(*(decoder(cross_attention=True), IDS, 3, 4, 0), memory=memory())
    told = [
        f"'{' '.join(label(WORDS[i]) for i in ids)}', score {said(score)}"
        for ids, score in found
    ]
    assert "; ".join(told) in still.alt.replace(", finished", "")
    dots = [line for line in still.figure.axes[0].lines if line.get_marker() == "o"]
    assert len(dots) == 1 + sum(map(len, trace.beams))
    for _, score in found:
        assert f"score {said(score)}" in shown(still)
    assert "prompt" in shown(still)


def test_of_a_long_search_the_last_steps_are_drawn(traces):
    still = draw_still(traces["long beams"], "dynamic")
    n_steps = len(traces["long beams"].beams)
    (words,) = [word for word in shown(still) if word.endswith("before")]
    n_drawn = n_steps - int(words.split()[0])
    dots = [line for line in still.figure.axes[0].lines if line.get_marker() == "o"]
    assert 1 < n_drawn < n_steps
    assert len(dots) == 1 + sum(map(len, traces["long beams"].beams[-n_drawn:]))


def test_one_of_a_thing_is_said_in_the_singular(traces):
    alone = traces["one token"]
    words = draw_still(alone).alt
    assert "Its one key is allowed." in words
    assert "1 keys" not in words
    assert draw_still(alone, "dynamic").caption == (
        "Step 0 (prefill): the cache was empty, 1 is fed now."
    )
    trained = draw_still(traces["one token trained"], "dynamic").caption
    assert "over 1 position at once" in trained
    assert "over 1 target." in trained
    two = record(decoder(n_layers=1), [1, 2], max_new_tokens=1)
    assert "1 of 2 keys is masked." in draw_still(two, query=0).alt
    assert "The stack of 1 layer in" in draw_still(two, "global").caption
    unmasked = record(decoder(), [1, 2], masked=False)
    assert re.search(
        r"1 of the row's 2 weights, 0\.\d\d, lies on keys behind it: a leak\.",
        draw_still(unmasked, query=0).alt,
    )


def test_a_trace_without_candidates_is_drawn_without_them(traces):
    trace = copy.deepcopy(traces["decoder-only"])
    trace.steps[1].pop("candidates")
    still = draw_still(trace, "dynamic", step=1)
    assert_well_drawn(still)
    assert still.alt.count("'") < draw_still(trace, "dynamic").alt.count("'")


def test_without_a_cache_nothing_is_said_of_one(traces):
    still = draw_still(traces["without a cache"], "dynamic", step=1)
    assert still.caption.startswith("Step 1 (decode): no cache, 7 are fed now;")
    assert "without" not in still.alt


def test_a_training_pass_says_each_loss_and_the_mean(traces):
    trace = traces["training"]
    still = draw_still(trace, "dynamic")
    logits = decoder()(torch.tensor([IDS]))[0].double()
    targets = {0: 2, 1: 3, 3: 5, 4: 6, 5: 7}
    losses = {
        place: (logits[place].exp().sum().log() - logits[place, target]).item()
        for place, target in targets.items()
    }
    mean = sum(losses.values()) / 5
    assert f"over 6 positions at once: mean loss {said(mean)} nats over 5" in still.alt
    for place, target in targets.items():
        assert (
            f"(position {place}) has to predict '{label(WORDS[target])}': "
            f"{said(losses[place])}."
        ) in still.alt
        assert said(losses[place]) in shown(still)
    assert "'␣a' (position 2) is not counted." in still.alt
    assert f"mean {said(mean)}" in shown(still)


def test_nan_is_crossed_and_said(traces):
    still = draw_still(traces["NaN"])
    assert "has weights that are NaN" in still.caption
    assert "36 of 36 weights are NaN." in still.alt
    assert "xx" in hatches(still)
    assert "NaN" in shown(still)
    lengths = draw_still(traces["NaN"], "global")
    assert "9 of 10 lengths are NaN." in lengths.alt


def test_equal_weights_are_said_to_be_equal(traces):
    trace = copy.deepcopy(traces["decoder-only"])
    trace.arrays["self_weights", 0][0, 0, 3] = torch.tensor([0.25] * 4 + [0.0] * 2)
    still = draw_still(trace, query=3)
    assert "reads most from 'Once' (position 0) and 3 others, each: 0.25." in still.alt
    trace.arrays["self_weights", 0][0, 0, 3] = 0.0
    assert "Row '␣time' (position 3) reads nothing." in draw_still(trace, query=3).alt


@pytest.mark.slow
def test_a_long_run_of_a_high_stack_is_well_drawn():
    ids = [place % 13 for place in range(64)]
    trace = record(decoder(n_layers=30), ids, max_new_tokens=1)
    for mode in ("global", "dynamic", "local"):
        assert_well_drawn(draw_still(trace, mode, layer=29, query=31))


@pytest.mark.slow
def test_a_long_memory_and_long_training_rows_are_well_drawn():
    trace = record(decoder(cross_attention=True, n_layers=1), IDS, memory(1500))
    still = draw_still(trace, kind="cross")
    assert_well_drawn(still)
    drawn = [p.get_array() for p in still.figure.findobj(AxesImage)]
    weights = trace.arrays["cross_weights", 0][0, 0]
    peaks = [table.max() for table in drawn if table.shape == (6, 300)]
    assert peaks[-1] == weights.max()  # not lost between two pixels
    ids = [place % 13 for place in range(70)]
    still = draw_still(
        record(decoder(n_layers=1), ids, targets=ids), "dynamic", query=2
    )
    assert_well_drawn(still)
    assert "positions 0 to 63 of 70" in shown(still)


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("decoder-only", "stack step head strips"),
        ("window", "head"),
        ("unmasked", "head"),
        ("training", "step"),
    ],
)
def test_a_trace_that_was_stored_gives_the_same_words(traces, name, looks):
    again = Trace.from_buffer(*traces[name].to_buffer())
    for mode, kind in (LOOKS[look] for look in looks.split()):
        first, second = (draw_still(t, mode, kind=kind) for t in (traces[name], again))
        assert first.alt == second.alt


@pytest.mark.parametrize("look", ["stack", "head"])
def test_equal_traces_give_equal_pictures(traces, look):
    mode, kind = LOOKS[look]
    first, second = (
        png_bytes(draw_still(traces["decoder-only"], mode, kind=kind).figure)
        for _ in range(2)
    )
    assert first == second
    assert len(first) < 120_000


def test_a_still_shows_itself_with_its_words_escaped():
    trace = Trace.record(decoder(), [0, 0], text=HOSTILE.__getitem__)
    still = draw_still(trace)
    bundle = still._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"] == f"Figure: {still.caption} [{still.alt}]"
    assert "<script>" not in bundle["text/html"]
    alt = re.search(r'<img alt="([^"]*)"', bundle["text/html"]).group(1)
    assert html.unescape(alt) == still.alt


@pytest.mark.parametrize(
    ("string", "expected"),
    [
        (" the", "␣the"),
        ("  two", "␣␣two"),
        ("line\n", "line⏎"),
        ("a\tb", "a⇥b"),
        ("\x00", "\\x00"),
        ("\u202eevil", "\\u202eevil"),
        ("\ud800", "\\ud800"),
        ("", "(nothing)"),
        ("twelve chars", "twelve chars"),
        ("thirteen char", "thirteen ch…"),
        ("x" * 10_000, "x" * 11 + "…"),
        ("مرحبا", "مرحبا"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("<script>", "<script>"),
    ],
)
def test_labels_show_what_is_there_in_twelve_characters(string, expected):
    assert label(string) == expected


def test_signs_that_the_font_lacks_become_ids_in_the_picture_only(traces):
    still = draw_still(traces["hostile"], query=3)
    assert "#3" in shown(still)
    assert "مرحبا" in shown(still)
    assert "Row '👩\u200d🚀' (position 3)" in still.alt


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0.625, "0.62"), (-0.004, "0.00"), (9.996, "10.00"), (12.34, "12.3")]
    + [(-9999.4, "-9999"), (12345.0, "1e4"), (float("inf"), "inf")],
)
def test_numbers_fit_a_cell(number, expected):
    assert said(number) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mode": "static"}, "mode was 'static'; choose one of global, local, dynamic"),
        ({"kind": "norm"}, "kind was 'norm'; choose one of self, cross, feed_forward"),
        ({"step": 3}, "step was 3; this trace has step 0 to 2 there"),
        ({"step": -1}, "step was -1"),
        ({"step": 1.0}, "step was 1.0"),
        ({"layer": 2}, "layer was 2; this trace has layer 0 to 1 there"),
        ({"head": True}, "head was True; this trace has head 0 to 2 there"),
        ({"query": 6}, "query was 6; this trace has query 0 to 5 there"),
        ({"step": 1, "query": 5}, "query was 5; this trace has query 6 to 6 there"),
        ({"kind": "cross"}, "kind was 'cross' and this trace has no memory"),
    ],
)
def test_wrong_arguments_are_named(traces, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        draw_still(traces["decoder-only"], **arguments)


def test_an_empty_trace_is_refused(traces):
    trace = copy.copy(traces["decoder-only"])
    trace.steps = []
    with pytest.raises(ValueError, match="the trace is empty: record it with"):
        draw_still(trace)
    trace = copy.copy(traces["decoder-only"])
    trace.arrays = {}
    with pytest.raises(ValueError, match="step 0 of the trace holds no 'residuals'"):
        draw_still(trace, "global")
