"""The explorer in a bare page: what stands on the screen is what Python computed."""

import math
import re

import pytest
import torch

from course_lib.explorer import Explorer, explore
from course_lib.explorer.answers import answer
from course_lib.sampling import Sampler
from course_lib.trace import Trace
from tests.library.small_models import numbers, scatter_weights, small_decoder

pytest.importorskip("selenium", reason="needs selenium: pip install -e '.[browser]'")
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select  # noqa: E402

from tests.browser.explorer_page import (  # noqa: E402
    DARK,
    LIGHT,
    Page,
    leave,
    wait_for_words,
)
from tests.browser.lab import until  # noqa: E402

WORDS = "the cat sat on a mat and then it slept in sun .".split()
PLACES = "die Katze saß auf der Matte .".split()
VIEWS = {
    "main": {"masked": True, "training_shown": False},
    "unmasked": {"masked": False, "training_shown": False},
    "training": {"masked": True, "training_shown": True},
}
MODES = ("global", "local", "dynamic", "static")


def make(kind="decoder", **settings):
    """Run a small decoder of some kind, and look at it."""
    changes = {
        "decoder": {},
        "rotary": dict(positions="rotary", norm="rms", gated=True, activation="silu"),
        "alibi": dict(positions="alibi", window=3, pre_norm=False),
        "memory": dict(cross_attention=True),
    }[kind]
    model = scatter_weights(small_decoder(**changes), 3, std=0.3)
    if kind == "memory":
        settings |= dict(memory=numbers(1, 7, 24, seed=5), memory_strings=PLACES)
        settings |= dict(n_beams=3, eos_id=12)
    given = dict(max_new_tokens=3, text=WORDS.__getitem__)
    sampler = Sampler(1.3, top_k=9, seed=5)
    return explore(model, [1, 7, 2, 5], **given, sampler=sampler, **settings)


@pytest.fixture
def open_page(browser, tmp_path):
    """Open a page with an explorer; at the end nothing may have gone wrong in it."""
    pages = []

    def opened(explorer, theme=LIGHT):
        leave(browser)
        pages.append(Page(browser, tmp_path, explorer, theme))
        return pages[-1]

    yield opened
    assert pages[-1].faults() == []


def value_of(text):
    """Read a number as the page writes it."""
    return float(text.replace(",", "").replace("−", "-"))


def same(text, value):
    """Whether the text is that number, to 1e-4, or rounded where it is large."""
    tolerance = 0.51 if abs(value) >= 10_000 else 1e-4
    return abs(value_of(text) - float(value)) <= tolerance


def every_number(text):
    return re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)


def shade(weight):
    """The colour of a weight: from white to dark blue."""
    share = min(max(weight, 0), 1) ** 0.7
    ends = zip((255, 255, 255), (8, 48, 107), strict=True)
    return [a + (b - a) * share for a, b in ends]


def signed_shade(value, most):
    """The colour of a signed number: blue below 0, orange above."""
    end = (0, 114, 178) if value < 0 else (213, 94, 0)
    share = abs(value) / most if most else 0
    return [a + (b - a) * share for a, b in zip((255, 255, 255), end, strict=True)]


def is_hatched(pixel):
    """The ground of a hidden cell, or its line."""
    return len(set(pixel)) == 1 and 100 < pixel[0] <= 238


def looks_like(pixel, colour):
    return all(abs(a - b) <= 2 for a, b in zip(pixel, colour, strict=True))


def shown(page, name, step, **traits):
    """Show a step of a trace; give its entry and the position that reads."""
    page.show(step=step, **VIEWS[name], **traits)
    trace = page.explorer.traces[name]
    entry = trace.steps[step]
    start, end = entry["start"], entry["start"] + entry["n_positions"]
    query = min(max(page.explorer.cell[0], start), end - 1)
    return trace, entry, start, query


def check_head(page, name, step, layer, head, kind, cell):
    """One head: the table, the sentence of the cell, the status, the picture."""
    trace, _, start, query = shown(
        page, name, step, mode="local", layer=layer, head=head, kind=kind, cell=cell
    )
    question = dict(about="attention", trace=name, step=step)
    plain, found = answer(
        page.explorer.traces, question | dict(layer=layer, head=head, kind=kind)
    )
    row = query - start
    labels = trace.memory_strings if kind == "cross" else trace.strings
    n_keys = found["weights"].shape[1]
    table = page.table("reads")
    assert len(table["rows"]) == n_keys
    assert table["heads"][2] == f"÷ √{found['queries'].shape[-1]}"
    word = trace.strings[query]
    assert table["caption"].startswith(f"What “{word}” (position {query}) reads")
    assert same(every_number(table["caption"])[-1], found["sums"][row])
    for key, cells in enumerate(table["rows"]):
        assert cells[0] == f"{labels[key]} {key}"
        wanted = [found["products"][row, key], found["scaled"][row, key]]
        if plain["biased"]:
            wanted.append(found["scores"][row, key] - found["scaled"][row, key])
        wanted.append(found["weights"][row, key])
        texts = [cells[1], cells[2], *cells[3:-2], cells[-1]]
        assert all(map(same, texts, wanted)), (texts, wanted)
        leak = bool(found["leaks"][row, key])
        read = "✓ leak" if leak else "✓"
        assert cells[-2] == (read if found["allowed"][row, key] else "▨ hidden")
    check_cell(page, plain, found, row, min(max(cell[1], 0), n_keys - 1))
    weights = found["weights"][row]
    best = int(weights.argmax())
    status = page.status
    assert f"Layer {layer}, head {head}, " in status
    assert f"“{word}” at position {query} reads most from “{labels[best]}”" in status
    assert same(re.search(rf"key {best}: (\S+)\.(?= |$)", status)[1], weights[best])
    n_hidden = int((~found["allowed"][row]).sum())
    verb = "is" if n_hidden == 1 else "are"
    assert (f"{n_hidden} of {n_keys} keys {verb} hidden" in status) == (n_hidden > 0)
    if name == "unmasked" and kind == "self":
        leaked = weights[query + 1 :].sum()
        assert same(re.search(r"mask (\S+) of its weight", status)[1], leaked)
    check_scales(page, found)
    check_pictures(page, found, (row, min(max(cell[1], 0), n_keys - 1)))


def check_scales(page, found):
    """Below each matrix stand the numbers of its darkest colours."""
    top = largest(found["scaled"], found["scores"])
    tops = {"products": largest(found["products"]), "scaled": top, "allowed": top}
    tops |= {"outputs": largest(found["outputs"])}
    for key, most in tops.items():
        low, high = page.scale(key)
        assert value_of(high) == -value_of(low) == pytest.approx(most, abs=0.006), key
    assert page.scale("weights") == ["0", "1"]


def largest(*tables):
    """The largest size of a finite number."""
    numbers = torch.cat([table.flatten() for table in tables]).abs()
    return float(numbers[numbers.isfinite()].max())


def check_cell(page, plain, found, row, key):
    """The sentence about the chosen pair."""
    text = page.part("cell").split("=", 1)[1]
    wanted = [found[name][row, key] for name in ("products", "scaled")]
    if plain["biased"]:
        score = found["scores"][row, key]
        wanted += [score - wanted[-1], score]
    wanted.append(found["weights"][row, key])
    texts = every_number(re.sub(r"√\d+", "", text))
    assert len(texts) == len(wanted), text
    assert all(map(same, texts, wanted)), (text, wanted)


def check_pictures(page, found, chosen):
    """Each cell of the weights and of the masked scores has the colour of its number."""
    shape = n_rows, n_columns = tuple(found["weights"].shape)
    near = 1 if n_columns > 20 else -1  # where cells are small, frames cover neighbours
    cells = [
        (row, column)
        for row in range(n_rows)
        for column in range(n_columns)
        if abs(row - chosen[0]) > near and abs(column - chosen[1]) > near
    ]
    most = largest(found["scaled"], found["scores"])
    weights = page.pixels("weights", cells, shape)
    masked = page.pixels("allowed", cells, shape)
    for cell, weight_pixel, score_pixel in zip(cells, weights, masked, strict=True):
        if not found["allowed"][cell]:
            assert is_hatched(weight_pixel), cell
            assert is_hatched(score_pixel), cell
            continue
        weight, score = float(found["weights"][cell]), float(found["scores"][cell])
        assert looks_like(weight_pixel, shade(weight)), cell
        assert looks_like(score_pixel, signed_shade(score, most)), cell


def check_feed(page, name, step, layer, at):
    """One position through a feed-forward layer."""
    trace, _, start, query = shown(
        page, name, step, mode="local", kind="feed_forward", layer=layer, cell=(at, 0)
    )
    question = dict(about="position", trace=name, step=step, layer=layer)
    plain, found = answer(page.explorer.traces, question | {"query": query - start})
    measures = plain["measures"]
    table = page.table("at position")
    rows = {cells[0]: cells[1:] for cells in table["rows"]}
    last = len(found["before_norm"]) - 1
    pre_norm = trace.config["pre_norm"]
    wanted = {
        "stream before": ("stream", last),
        "stream behind": ("stream", last + 1),
        f"hidden, {len(found['hidden'])} wide": ("hidden", None),
        "behind the norm" if pre_norm else "before the norm": (
            "behind_norm" if pre_norm else "before_norm",
            last,
        ),
    }
    assert rows.keys() == wanted.keys()
    for words, (strip, i) in wanted.items():
        numbers = [
            measures[strip][measure] if i is None else measures[strip][measure][i]
            for measure in ("length", "mean", "deviation")
        ]
        assert all(map(same, rows[words], numbers)), (words, numbers)
    n_positive = int((found["hidden"] > 0).sum())
    n_hidden = len(found["hidden"])
    assert f"{n_positive} of {n_hidden} hidden numbers are above 0" in page.status
    lengths = re.search(r"length (\S+) before and (\S+) behind", page.status)
    before, behind = found["stream"][last].norm(), found["stream"][last + 1].norm()
    assert same(lengths[1], before)
    assert same(lengths[2].rstrip(";"), behind)


def check_steps(page, name, step, layer, head):
    """One step of writing: cache, work, sampler, alignment, beams."""
    trace, entry, start, _ = shown(
        page, name, step, mode="dynamic", layer=layer, head=head
    )
    end, config = start + entry["n_positions"], trace.config
    chips = [chip.text.split()[0] for chip in page.every(".dx-chip")]
    assert chips == trace.strings[: end + ("chosen" in entry)]
    d_head, n_kv = config["d_model"] // config["n_heads"], config["n_kv_heads"]
    held = end * 2 * config["n_layers"] * n_kv * d_head
    cached = "cached" in entry["multiply_adds"]
    if cached:
        assert f"= {held:,}." in page.text('[aria-label="The cache fills"]')
    else:  # of a run without a cache nothing may be said of one
        assert not page.every('[aria-label="The cache fills"]')
    question = dict(about="attention", trace=name, step=step, layer=layer, head=head)
    _, found = answer(page.explorer.traces, question | {"kind": "self"})
    for array in ("keys", "values") if cached else ():
        check_columns(page, array, found[array])
    check_work(page, trace, step)
    if "chosen" in entry:
        assert f"Chosen: “{trace.strings[end]}”" in page.status
        check_sampler(page, trace, step)
    if trace.n_memory:
        _, found = answer(page.explorer.traces, question | {"kind": "cross"})
        check_ribbons(page, found["alignment"])
    if trace.beams:
        check_beams(page, trace.beams)


def check_columns(page, array, held):
    """A column for each position in the cache, each cell in the colour of its number."""
    cells = [
        (row, column) for row in range(held.shape[1]) for column in range(len(held))
    ]
    pixels = page.pixels(f"cache-{array}", cells, tuple(held.T.shape))
    most = float(held.abs().max())
    for (row, column), pixel in zip(cells, pixels, strict=True):
        assert looks_like(pixel, signed_shade(float(held[column, row]), most))


def check_work(page, trace, step):
    entries = trace.steps[: step + 1]
    rows = {cells[0]: cells[1:] for cells in page.table("Counted and timed")["rows"]}
    for words, of in (("multiply-adds", "multiply_adds"), ("milliseconds",) * 2):
        for i, how in enumerate(("cached", "uncached")):
            if how not in entries[-1][of]:
                continue
            tolerance = 0.5 if of == "multiply_adds" else 0.006
            now, total = entries[-1][of][how], sum(entry[of][how] for entry in entries)
            assert abs(value_of(rows[words][i]) - now) <= tolerance
            so_far = rows[f"{words}, all steps so far"][i]
            assert abs(value_of(so_far) - total) <= tolerance
    if "difference" in entries[-1]:
        for text in (page.part("difference"), page.status):
            found = value_of(every_number(text)[-1])
            assert found == pytest.approx(entries[-1]["difference"], abs=1e-7)


def check_sampler(page, trace, step):
    settings = {
        name: getattr(page.explorer, name)
        for name in ("temperature", "top_k", "top_p", "min_p")
    }
    question = dict(about="sampler", trace="main", step=step, **settings)
    plain, found = answer(page.explorer.traces, question)
    *rows, kept, left = page.table("Probability behind each filter")["rows"]
    chosen = trace.steps[step]["chosen"]
    candidates = trace.steps[step]["candidates"]
    for i, (candidate, cells) in enumerate(zip(candidates, rows, strict=True)):
        mark = " ← chosen in the run" if candidate["id"] == chosen else ""
        assert cells[0] == candidate["string"] + mark
        wanted = [found["logits"][i], *found["shares"][:, i]]
        assert all(map(same, cells[1:6], wanted)), (cells, wanted)
    assert [int(text) for text in kept[2:6]] == plain["n_kept"]
    assert all(map(same, left[2:6], plain["left"]))
    dropped = every_number(page.part("dropped"))[0]
    assert same(dropped, max(0, 1 - plain["left"][-1]))


def check_ribbons(page, weights):
    """A ribbon for each weight from 0.05 on, as wide as its weight."""
    widths = page.browser.execute_script(
        "return [...document.querySelectorAll('.dx path')]"
        ".map((path) => Number(path.getAttribute('stroke-width')))"
    )
    wanted = [9 * weight for weight in weights.flatten().tolist() if weight >= 0.05]
    assert widths == pytest.approx(wanted, abs=1e-4)


def check_beams(page, beams):
    rows = page.table("What the search kept")["rows"]
    wanted = [(i, kept, beam) for i, kept in enumerate(beams) for beam in kept]
    for (i, kept, beam), cells in zip(wanted, rows, strict=True):
        rank = kept.index(beam)
        assert cells[0] == f"step {i}, place {rank + 1}"
        assert cells[2].split() == beam["strings"]
        assert same(cells[3], beam["total"])
        assert same(cells[4], beam["score"])
        assert cells[5] == ("yes" if beam["finished"] else "no")
        if i:
            parent = beams[i - 1][int(cells[1].removeprefix("place ")) - 1]["ids"]
            assert parent in (beam["ids"], beam["ids"][:-1])
        else:
            assert cells[1] == "the prompt"


def check_training(page):
    trace, entry, *_ = shown(page, "training", 0, mode="dynamic")
    losses = trace.arrays["losses", 0].tolist()
    rows = page.table("Loss per position")["rows"]
    for i, cells in enumerate(rows):
        assert cells[0] == f"{trace.strings[i]} {i}"
        assert cells[1] == trace.target_strings[i]
        assert cells[2] == entry["predicted"][i]["string"]
        assert same(cells[3], losses[i])
        assert same(cells[4], math.exp(-losses[i]))
    assert len(rows) == len(losses)
    for text in (page.part("training"), page.status):
        assert same(every_number(text)[-1].rstrip("."), sum(losses) / len(losses))


def check_whole(page, name, step):
    """The stack: what each sublayer adds at a position, and the stream behind it."""
    trace, _, start, query = shown(page, name, step, mode="global")
    _, found = answer(page.explorer.traces, dict(about="stream", trace=name, step=step))
    kinds = (
        ["self", "cross", "feed_forward"]
        if trace.n_memory
        else ["self", "feed_forward"]
    )
    parts = {part["name"]: part for part in trace.tree}
    largest = found["added"][:, :, query - start].max()
    for layer in range(trace.config["n_layers"]):
        for i, kind in enumerate(kinds):
            text = page.text(f'[data-key="layer-{layer}-{kind}"]')
            assert same(text.split("adds ")[1], found["added"][layer, i, query - start])
            block, of = (
                f"stack.blocks.{layer}.",
                {"feed_forward": "feed"}.get(kind, kind),
            )
            module = "feed_forward" if kind == "feed_forward" else f"{kind}_attention"
            size = sum(
                parts[block + part]["n_parameters"] for part in (module, f"{of}_norm")
            )
            assert f"{size:,}" in text
    streams = [stream.text.split()[-1] for stream in page.every(".dx-stream")]
    wanted = found["stream"][:, -1, query - start]
    assert all(map(same, streams, wanted))
    assert len(streams) == len(wanted)
    assert f"Shown is position {query}, “{trace.strings[query]}”" in page.status
    assert same(page.status.rstrip(".").rsplit(": ", 1)[1], largest)
    assert f"{trace.tree[0]['n_parameters']:,} parameters" in page.status


@pytest.mark.parametrize("kind", ["decoder", "rotary", "alibi", "memory"])
def test_every_number_on_the_screen_is_pythons(open_page, kind):
    page = open_page(make(kind))
    explorer = page.explorer
    steps = [(n, s) for n, t in explorer.traces.items() for s in range(len(t.steps))]
    sublayers = ["self", "cross"] if kind == "memory" else ["self"]
    for i, (name, step) in enumerate(steps):
        check_whole(page, name, step)
        for j, sublayer in enumerate(sublayers):
            cell = (i + 1, i + j)
            check_head(page, name, step, i % 2, (3 * i + j) % 6, sublayer, cell)
        check_feed(page, name, step, (i + 1) % 2, i)
        if name != "training":
            check_steps(page, name, step, i % 2, (2 * i + 1) % 6)
    check_training(page)


def test_the_samplers_fields_change_the_table_as_python_does(open_page):
    page = open_page(make())
    fields = [
        ("temperature", "0.5"),
        ("top_k", "4"),
        ("top_p", "0.6"),
        ("min_p", "0.2"),
    ]
    page.show(mode="dynamic", step=1)
    trace = page.explorer.traces["main"]
    for name, text in fields:
        page.control(name).send_keys(Keys.CONTROL, "a")
        page.control(name).send_keys(text, Keys.ENTER)
        page.settle()
        assert getattr(page.explorer, name) == float(text)
        assert page.focus() == name
        check_sampler(page, trace, 1)
    page.control("top_p").send_keys(Keys.CONTROL, "a")
    page.control("top_p").send_keys("7", Keys.ENTER)  # out of its range: not taken
    page.settle()
    assert page.explorer.top_p == 0.6
    check_sampler(page, trace, 1)


def test_the_samplers_fields_start_at_the_settings_of_the_run(open_page):
    page = open_page(make())
    page.show(mode="dynamic")
    fields = {"temperature": 1.3, "top_k": 9, "top_p": 1, "min_p": 0}
    for name, value in fields.items():
        assert float(page.control(name).get_attribute("value")) == value
    assert "In the run 9 tokens could be drawn" in page.part("run")
    plain, _ = answer(
        page.explorer.traces,
        {"about": "sampler", "trace": "main"} | fields | {"step": 0},
    )
    assert plain["n_kept"][-1] == page.explorer.traces["main"].steps[0]["n_kept"]
    page = open_page(explore(small_decoder(), [1, 2], max_new_tokens=1))
    page.show(mode="dynamic")
    assert float(page.control("temperature").get_attribute("value")) == 1
    assert "greedy (temperature 0)" in page.part("run")


def test_the_still_is_the_one_that_python_draws(open_page):
    page = open_page(make("memory"))
    page.show(mode="static", step=1, layer=1, head=2, kind="cross", cell=(4, 2))
    assert page.status == page.explorer.figure().alt
    assert page.find(".dx-still img").get_attribute("alt") == page.status
    page.show(training_shown=True, kind="self")
    assert page.status == page.explorer.figure(mode="dynamic").alt


def test_the_description_is_a_trait_and_follows_the_status(open_page):
    page = open_page(make())
    seen = set()
    for mode in MODES:
        page.show(mode=mode, step=1)
        assert page.explorer.description == page.status != ""
        seen.add(page.status)
    assert len(seen) == 4
    assert page.find(".dx-status").get_attribute("role") == "status"


def test_a_click_is_read_in_python(open_page):
    page = open_page(make("memory"))
    page.control("mode-local").click()
    page.settle()
    assert page.explorer.mode == "local"
    for key, row, column in (("weights", 2, 1), ("products", 3, 0), ("allowed", 0, 2)):
        click(page, key, row, column)
        assert page.explorer.cell == (row, column)
        marked = page.find("tr.dx-chosen").get_attribute("data-column")
        assert marked == str(column)
    page.control("mode-global").click()
    page.settle()
    page.control("layer-1-cross").click()
    page.settle()
    explorer = page.explorer
    assert (explorer.mode, explorer.layer, explorer.kind) == ("local", 1, "cross")
    page.control("next").click()
    page.settle()
    assert explorer.step == 1
    click(page, "weights", 0, 6)
    assert explorer.cell == (4, 6), "a cached step's only row is position 4"
    for name in ("predict", "masked", "training_shown"):
        page.control(name).click()
    Select(page.control("kind")).select_by_value("feed_forward")
    Select(page.control("font_scale")).select_by_value("2")
    page.settle()
    assert (explorer.kind, explorer.font_scale) == ("feed_forward", 2)
    assert (explorer.masked, explorer.training_shown, explorer.predict) == (
        *(False, True, True),
    )


def place_of(page, key, row, column):
    """Where a cell lies from the middle of its canvas, as a mouse is moved there."""
    canvas = page.control(key)
    left, top, cell = (
        float(canvas.get_attribute(f"data-{name}")) for name in ("left", "top", "cell")
    )
    x, y = left + (column + 0.5) * cell, top + (row + 0.5) * cell
    size = canvas.size
    return canvas, round(x - size["width"] / 2), round(y - size["height"] / 2)


def hover(page, key, row, column):
    canvas, x, y = place_of(page, key, row, column)
    moves = ActionChains(page.browser, duration=0)
    moves.move_to_element_with_offset(canvas, x, y).perform()
    page.settle()


def click(page, key, row, column):
    canvas, x, y = place_of(page, key, row, column)
    page.browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center'})", canvas
    )
    moves = ActionChains(page.browser, duration=0)
    moves.move_to_element_with_offset(canvas, x, y).click().perform()
    page.settle()


def test_a_hand_that_trembles_still_clicks_and_a_resting_pointer_draws_nothing(
    open_page,
):
    page = open_page(make())
    page.show(mode="local", cell=(3, 0))
    canvas, x, y = place_of(page, "weights", 2, 1)
    moves = ActionChains(page.browser, duration=0)
    moves.move_to_element_with_offset(canvas, x, y).perform()
    page.settle()
    assert "“a” (position 2)" not in page.status
    assert page.table("reads")["caption"].startswith(f"What “{WORDS[2]}” (position 2)")
    assert page.explorer.cell == (3, 0), "to look is not to choose"
    before = page.browser.execute_script("return window.draws")
    ActionChains(page.browser).pause(0.3).perform()
    assert page.browser.execute_script("return window.draws") == before
    moves = ActionChains(page.browser, duration=0).click_and_hold()
    moves.pause(0.1).move_by_offset(1, 1).pause(0.1).release().perform()
    page.settle()
    assert page.explorer.cell == (2, 1)


def test_the_keyboard_wins_over_a_pointer_that_rests_on_the_matrix(open_page):
    page = open_page(make())
    page.show(mode="local", cell=(3, 0))
    click(page, "weights", 2, 1)
    page.browser.execute_script("arguments[0].focus()", page.control("weights"))
    page.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    ActionChains(page.browser).pause(0.3).perform()
    page.settle()
    assert page.explorer.cell == (1, 0)
    check_head(page, "main", 0, 0, 0, "self", (1, 0))


@pytest.mark.parametrize("mode", MODES)
def test_the_tab_key_reaches_every_control_in_order(open_page, mode):
    page = open_page(make("memory"))
    page.show(mode=mode, step=1)
    n = page.browser.execute_script(
        "window.stops = [...document.querySelectorAll("
        "'.dx button, .dx input, .dx select, .dx [tabindex=\"0\"]')].filter("
        "(one) => one.checkVisibility() && !one.disabled);"
        "return window.stops.length"
    )
    visited = []
    body = page.find("body")
    page.browser.execute_script("document.activeElement.blur()")
    ActionChains(page.browser).click(page.find("h1")).perform()
    for _ in range(n):
        ActionChains(page.browser).send_keys(Keys.TAB).perform()
        script = "return window.stops.indexOf(document.activeElement)"
        visited.append(page.browser.execute_script(script))
    assert visited == list(range(n)), body.text[:100]
    ring = "return getComputedStyle(document.activeElement).outlineStyle"
    assert page.browser.execute_script(ring) == "solid"


def test_arrows_walk_the_matrix_and_no_key_reaches_the_notebook(open_page):
    page = open_page(make())
    page.show(mode="local", cell=(1, 1))
    page.browser.execute_script("arguments[0].focus()", page.control("weights"))
    walk = [
        (Keys.ARROW_DOWN, (2, 1)),
        (Keys.ARROW_RIGHT, (2, 2)),
        (Keys.ARROW_UP, (1, 2)),
        (Keys.ARROW_LEFT, (1, 1)),
        (Keys.END, (1, 3)),
        (Keys.ARROW_RIGHT, (1, 3)),
        (Keys.HOME, (1, 0)),
        (Keys.ARROW_LEFT, (1, 0)),
        ("x", (1, 0)),
        ("d", (1, 0)),
        (Keys.ENTER, (1, 0)),
    ]
    for key, cell in walk:
        before = page.status, page.part("cell")
        moved = page.explorer.cell != cell
        page.press(key)
        assert page.explorer.cell == cell
        assert page.focus() == "weights"
        assert ((page.status, page.part("cell")) != before) == moved
    assert page.browser.execute_script("return window.keys") == []
    page.press(Keys.ESCAPE, Keys.TAB)
    assert page.browser.execute_script("return window.keys") == ["Escape", "Tab"]


def test_each_control_works_by_keyboard_and_keeps_the_focus(open_page):
    page = open_page(make("memory"))
    explorer = page.explorer
    page.show(mode="local", cell=(3, 0))
    presses = [
        ("layer", Keys.ARROW_RIGHT, lambda: explorer.layer == 1),
        ("head", Keys.ARROW_RIGHT, lambda: explorer.head == 1),
        ("query", Keys.ARROW_LEFT, lambda: explorer.cell == (2, 0)),
        ("key", Keys.ARROW_RIGHT, lambda: explorer.cell == (2, 1)),
        ("kind", Keys.ARROW_DOWN, lambda: explorer.kind == "cross"),
        ("masked", Keys.SPACE, lambda: not explorer.masked),
        ("masked", Keys.SPACE, lambda: explorer.masked),
        ("step", Keys.ARROW_RIGHT, lambda: explorer.step == 1),
        ("next", Keys.ENTER, lambda: explorer.step == 2),
        ("prev", Keys.SPACE, lambda: explorer.step == 1),
        ("prev", Keys.SPACE, lambda: explorer.step == 0),
        ("predict", Keys.SPACE, lambda: explorer.predict),
        ("predict", Keys.SPACE, lambda: not explorer.predict),
        ("training_shown", Keys.SPACE, lambda: explorer.training_shown),
        ("training_shown", Keys.SPACE, lambda: not explorer.training_shown),
        ("font_scale", Keys.ARROW_DOWN, lambda: explorer.font_scale == 1.5),
        ("mode-dynamic", Keys.ENTER, lambda: explorer.mode == "dynamic"),
        ("mode-global", Keys.SPACE, lambda: explorer.mode == "global"),
    ]
    for key, pressed, came in presses:
        page.browser.execute_script("arguments[0].focus()", page.control(key))
        before = page.text(".dx-status") + page.text(".dx-view")
        page.press(pressed)
        assert came(), key
        assert page.focus() == key
        if key != "font_scale":
            assert page.text(".dx-status") + page.text(".dx-view") != before, key
    assert page.browser.execute_script("return window.keys") == []


def test_a_control_that_goes_away_leaves_the_focus_in_the_explorer(open_page):
    page = open_page(make("memory"))
    inside = "return document.querySelector('.dx').contains(document.activeElement)"
    page.control("layer-1-self").send_keys(Keys.ENTER)  # leads to another mode
    page.settle()
    assert page.explorer.mode == "local"
    assert page.browser.execute_script(inside)
    page.show(predict=True)
    page.control("look").send_keys(Keys.ENTER)
    page.settle()
    assert page.browser.execute_script(inside)
    page.show(predict=False, mode="dynamic", step=1)
    page.control("next").send_keys(Keys.ENTER)  # the last step
    page.settle()
    page.browser.execute_async_script("setTimeout(arguments[0], 100)")
    assert page.browser.execute_script(inside)
    page.press("x", Keys.ARROW_DOWN)
    assert page.browser.execute_script("return window.keys") == []


def test_predicting_hides_the_key_that_is_read_until_one_looks(open_page):
    page = open_page(make("memory"))
    for kind, n_keys in (("self", 4), ("cross", 7)):
        page.show(mode="local", step=0, kind=kind, cell=(3, 1), predict=True, head=1)
        question = dict(about="attention", trace="main", step=0, layer=0, head=1)
        _, found = answer(page.explorer.traces, question | {"kind": kind})
        weights = found["weights"][3].tolist()
        best = weights.index(max(weights))
        assert [row[-1] for row in page.table("reads")["rows"]] == ["?"] * n_keys
        assert page.table("reads")["caption"].endswith("sum to ?")
        assert page.part("cell").endswith("weight ?")
        assert "reads most" not in page.status
        assert page.status == page.explorer.description
        assert every_number(re.sub(r"√\d", "", page.part("cell"))) == []
        shape = tuple(found["weights"].shape)
        matrices = {"products", "scaled", "allowed", "weights"}
        for row, key in ((row, key) for row in range(4) for key in matrices):
            cells = [(row, column) for column in range(n_keys)]
            for cell, pixel in zip(cells, page.pixels(key, cells, shape), strict=True):
                masked = not found["allowed"][cell] and key in ("allowed", "weights")
                assert is_hatched(pixel) if masked else pixel == (255, 255, 255)
        assert page.scale("products") == page.scale("outputs") == ["−", "+"]
        assert not page.every(".dx path"), "no ribbons"
        text = page.text(".dx-view")
        stages = ("products", "scaled", "scores", "weights", "outputs")
        numbers = torch.cat([found[stage].flatten() for stage in stages]).tolist()
        secrets = [f"{number:.4f}" for number in numbers if 0.001 < abs(number)]
        assert not [secret for secret in secrets if secret in text]
        Select(page.control("prediction")).select_by_index((best + 1) % n_keys)
        page.control("look").click()
        page.settle()
        assert f"({best}) most" in page.text(".dx-predict")
        told = page.pixels("weights", [(3, best), (2, 0)], shape)
        assert looks_like(told[0], shade(weights[best]))
        assert told[1] == (255, 255, 255), "the other rows are still to be asked"
        assert page.table("reads")["rows"][best][-1] == f"{weights[best]:.4f}"
        hover(page, "weights", 2, 0)
        assert "position 3" in page.table("reads")["caption"], "and not looked at"
        page.show(predict=False)
        check_head(page, "main", 0, 0, 1, kind, (3, 1))


def test_the_beams_stay_away_until_every_step_is_predicted(open_page):
    page = open_page(make("memory"))
    page.show(mode="dynamic", predict=True)
    for step in range(len(page.explorer.traces["main"].steps)):
        page.show(step=step)
        assert not page.every("[data-beam]")
        page.every("[data-key^=guess-]")[0].click()
        page.control("look").click()
        page.settle()
    check_beams(page, page.explorer.traces["main"].beams)


def test_a_prediction_outlives_a_redraw_and_a_pointer_on_its_way(open_page):
    page = open_page(make("memory"))
    page.show(mode="local", step=0, kind="self", cell=(3, 1), predict=True, head=1)
    Select(page.control("prediction")).select_by_index(2)
    canvas, x, y = place_of(page, "products", 0, 0)
    moves = ActionChains(page.browser, duration=0)
    moves.move_to_element_with_offset(canvas, x, y).perform()
    page.settle()
    assert "position 3" in page.table("reads")["caption"], "the question keeps its row"
    page.show(font_scale=1.5)
    assert Select(page.control("prediction")).first_selected_option.text.endswith("(2)")
    page.show(mode="dynamic")
    page.every("[data-key^=guess-]")[1].click()
    page.show(font_scale=1)
    assert page.every("[data-key^=guess-]")[1].is_selected()


def test_a_sampler_field_takes_any_number_and_takes_back_what_is_none(open_page):
    page = open_page(make())
    page.show(mode="dynamic", step=0)
    for name, given, taken in (
        ("temperature", "0.755", 0.755),
        ("top_p", "0.955", 0.955),
        ("min_p", "0.005", 0.005),
        ("top_k", "2.5", 9),
        ("top_k", "-1", 9),
        ("temperature", "-1", 0.755),
    ):
        page.control(name).send_keys(Keys.CONTROL, "a")
        page.control(name).send_keys(given, Keys.TAB)
        page.settle()
        assert getattr(page.explorer, name) == taken
        assert float(page.control(name).get_attribute("value")) == taken


def test_predicting_hides_the_chosen_token_until_one_looks(open_page):
    page = open_page(make("memory"))
    trace = page.explorer.traces["main"]
    for step, right in ((0, False), (1, True)):
        page.show(mode="dynamic", step=step, predict=True)
        entry = trace.steps[step]
        end = entry["start"] + entry["n_positions"]
        assert [c.text.split()[0] for c in page.every(".dx-chip")] == trace.strings[
            :end
        ]
        assert "Chosen" not in page.status
        assert "chosen" not in page.text(".dx-view")
        captions = [table["caption"] for table in page.tables()]
        assert not [c for c in captions if "Probability" in c or "search" in c]
        guesses = page.every("[data-key^=guess-]")
        assert len(guesses) == 4
        named = [
            one for one in guesses if one.get_attribute("value") == str(entry["chosen"])
        ]
        others = [one for one in guesses if one not in named]
        page.control("look").click()
        page.settle()
        assert "Chosen" not in page.status, "nothing was said yet"
        (named if right else others)[0].click()
        page.control("look").click()
        page.settle()
        said = "As you predicted" if right else "You said"
        assert page.text("p.dx-predict").startswith(said)
        assert f"Chosen: “{trace.strings[end]}”" in page.status
        check_sampler(page, trace, step)
    page.show(mode="global", step=2)
    assert "next token" not in page.text(".dx-view"), "the whole does not tell either"


def test_a_font_twice_as_large_is_twice_as_large_where_it_is_read(open_page):
    page = open_page(make("memory"))
    sizes = {}
    for scale in (1, 2):
        page.show(mode="local", font_scale=scale, cell=(3, 0))
        found = page.browser.execute_script(
            "return ['.dx-status', '.dx-table td', '.dx button'].map((one) =>"
            " parseFloat(getComputedStyle(document.querySelector(one)).fontSize))"
        )
        cell = float(page.control("weights").get_attribute("data-cell"))
        sizes[scale] = {"words": found[:2], "control": found[2], "cell": cell}
    # the sentence above a picture grows only as far as the picture is still seen
    assert sizes[1]["words"] == [16, 16]
    assert sizes[2]["words"][0] > 20
    assert sizes[2]["words"][1] == 32
    assert sizes[2]["cell"] > sizes[1]["cell"]
    assert 16 <= sizes[1]["control"] <= sizes[2]["control"]
    assert size_shown(page) == "2 ×"
    check_head(page, "main", 0, 0, 1, "self", (3, 1))


def size_shown(page):
    box = Select(page.control("font_scale"))
    return box.first_selected_option.get_attribute("textContent")


def test_the_size_box_shows_any_size_that_python_asks_for(open_page):
    page = open_page(make())
    for scale in (1.25, 3, 1):
        page.show(font_scale=scale)
        assert size_shown(page) == f"{scale} ×"
    Select(page.control("font_scale")).select_by_value("2")
    page.settle()
    assert page.explorer.font_scale == 2


@pytest.fixture
def projector(browser):
    """A screen of 1280 × 720; beyond it one would have to scroll."""
    screen = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


EIGHT = [1, 7, 2, 5, 0, 3, 4, 6]
BOTTOM = """
const top = document.querySelector(".dx").getBoundingClientRect().top;
const found = [...document.querySelectorAll(arguments[0])];
return Math.max(...found.map((one) => one.getBoundingClientRect().bottom - top));
"""
PROJECTED = {
    "global": (dict(mode="global"), ".dx-layers"),
    "one head": (dict(mode="local"), ".dx-stages"),
    "cross-attention": (dict(mode="local", kind="cross"), ".dx-stages"),
    "a question": (dict(mode="local", predict=True), ".dx-predict"),
    "feed-forward": (dict(mode="local", kind="feed_forward"), ".dx-strip"),
    "a step": (dict(mode="dynamic"), '.dx-chips, [aria-label="The cache fills"]'),
    "training": (dict(mode="dynamic", training_shown=True), ".dx-table"),
    "a still": (dict(mode="static"), ".dx-status"),
}
# The sizes of all letters that can be seen, in pixels: of words, on pictures, on canvases.
LETTERS = """
const own = ({ childNodes }) => [...childNodes].some(({ nodeType }) => nodeType === 3);
const seen = [...document.querySelectorAll(".dx *")].filter(
  (one) => own(one) && one.checkVisibility());
return [...window.drawn, ...seen.map((one) => parseFloat(getComputedStyle(one).fontSize))];
"""
DRAWN = """
window.drawn = [];
const { fillText } = CanvasRenderingContext2D.prototype;
CanvasRenderingContext2D.prototype.fillText = function (...words) {
  window.drawn.push(parseFloat(this.font));
  return fillText.apply(this, words);
};
"""


@pytest.mark.parametrize("what", PROJECTED)
def test_on_a_projector_the_picture_is_seen_without_scrolling(
    open_page, projector, what
):
    look, part = PROJECTED[what]
    model = scatter_weights(small_decoder(cross_attention=True), 3, std=0.3)
    given = dict(max_new_tokens=1, text=WORDS.__getitem__, memory_strings=PLACES)
    page = open_page(explore(model, EIGHT, numbers(1, 7, 24, seed=5), **given))
    page.browser.execute_script(DRAWN)
    for scale in (1.5, 2):
        page.browser.execute_script("window.drawn = []")
        page.show(font_scale=scale, **look)
        assert page.browser.execute_script(BOTTOM, part) <= 720
        assert page.find(".dx-controls").size["height"] < 50
        assert min(page.browser.execute_script(LETTERS)) >= 16
        width = "return document.documentElement.scrollWidth"
        assert page.browser.execute_script(width) <= 1280


def test_a_head_of_64_numbers_stands_in_one_line_with_its_scores(open_page, projector):
    sizes = dict(d_model=192, n_heads=3, n_kv_heads=3)
    model = scatter_weights(small_decoder(**sizes), 3, std=0.1)
    page = open_page(explore(model, EIGHT, text=WORDS.__getitem__))
    for scale in (1, 1.5, 2):
        page.show(mode="local", font_scale=scale)
        bottoms = page.browser.execute_script(
            "return [...document.querySelectorAll('.dx-stages canvas')].map("
            "(one) => Math.round(one.getBoundingClientRect().bottom))"
        )
        assert len(bottoms) == 5
        assert len(set(bottoms)) == 1
        check_head(page, "main", 0, 1, 2, "self", (7, 3))
        _, found = answer(
            page.explorer.traces,
            dict(about="attention", trace="main", step=0, layer=1, head=2, kind="self"),
        )
        outputs, cells = found["outputs"], [(2, 0), (2, 33), (4, 63)]
        colours = page.pixels("outputs", cells, (8, 64))
        for cell, colour in zip(cells, colours, strict=True):
            assert looks_like(colour, signed_shade(outputs[cell], largest(outputs)))


def test_of_a_large_font_more_controls_come_when_asked_for(open_page):
    page = open_page(make())
    assert not page.control("more").is_displayed()
    page.show(font_scale=2, mode="local")
    for key, always in (("mode-global", True), ("next", True), ("predict", False)):
        assert page.control(key).is_displayed() == always
    page.control("more").send_keys(Keys.ENTER)
    assert page.control("more").get_attribute("aria-expanded") == "true"
    page.control("predict").click()
    page.settle()
    assert page.explorer.predict
    page.control("more").click()
    assert not page.control("predict").is_displayed()


def test_a_size_chosen_by_hand_keeps_the_focus(open_page):
    page = open_page(make())
    page.browser.execute_script("arguments[0].focus()", page.control("font_scale"))
    page.press(Keys.ARROW_DOWN)
    assert page.explorer.font_scale == 1.5
    assert page.focus() == "font_scale"
    assert page.control("font_scale").is_displayed()


def test_play_walks_and_stops_and_is_gone_where_motion_is_not_wanted(open_page):
    page = open_page(make())
    page.show(mode="dynamic", step=0)
    page.control("play").click()
    assert page.control("play").text == "Stop"
    until(page.browser, lambda: page.settle() or page.explorer.step == 1)
    page.control("play").click()
    assert page.control("play").text == "Play"
    page.browser.execute_async_script("setTimeout(arguments[0], 900)")
    page.settle()
    assert page.explorer.step == 1
    page.control("play").click()
    until(page.browser, lambda: page.control("play").text == "Play")
    page.settle()
    assert page.explorer.step == 2, "it ends at the last step"
    still = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", still)
    try:
        page = open_page(make())
        page.show(mode="dynamic", step=0)
        assert not page.control("play").is_displayed()
        assert page.control("next").is_displayed()
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_present_fills_the_screen_with_the_explorer(open_page):
    page = open_page(make())
    page.control("present").click()
    script = "return document.fullscreenElement?.className"
    slim = "dx dx-slim"  # one row of controls
    until(page.browser, lambda: page.browser.execute_script(script) == slim)
    page.browser.execute_async_script("document.exitFullscreen().then(arguments[0])")
    root = "return document.querySelector('.dx').className"
    until(page.browser, lambda: page.browser.execute_script(root) == "dx")


def test_axe_finds_nothing_in_any_mode(open_page, axe):
    page = open_page(make("memory"))
    looks = [
        dict(mode="global"),
        dict(mode="local", predict=True),
        dict(kind="cross", masked=False, predict=False),
        dict(kind="feed_forward"),
        dict(mode="dynamic", masked=True, step=1, font_scale=2),
        dict(predict=True, step=2, font_scale=1),
        dict(training_shown=True),
        dict(mode="static"),
    ]
    for look in looks:
        page.show(**look)
        assert axe(".dx") == [], look


@pytest.mark.parametrize("theme", [DARK, ""], ids=["dark", "without a theme"])
def test_axe_finds_nothing_in_another_theme(open_page, axe, theme):
    page = open_page(make("memory"), theme)
    for look in (
        dict(mode="global"),
        dict(mode="local", masked=False),
        dict(mode="dynamic", masked=True, predict=True),
    ):
        page.show(**look)
        assert axe(".dx") == [], look


def test_every_control_has_a_name_and_no_two_have_the_same(open_page):
    page = open_page(make("memory"))
    for mode in MODES:
        page.show(mode=mode)
        controls = page.every(".dx button, .dx input, .dx select, .dx [tabindex='0']")
        names = [one.accessible_name for one in controls if one.is_displayed()]
        assert all(names)
        assert len(set(names)) == len(names), names


HOSTILE = [
    "مرحبا",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "<script>document.title='x'</script>",
    "<img src=x onerror=\"document.title='x'\">",
    "m" * 10_000,
    "",
    "\n",
    "‮x",
    "\u0000\u2028",
    "a b",
    '"',
    "&amp;",
    " ",
]


def test_hostile_tokens_are_text_and_nothing_else(open_page, axe):
    model = scatter_weights(small_decoder(cross_attention=True), 3, std=0.3)
    explorer = explore(
        *(model, list(range(8)), numbers(1, 13, 24)),
        **dict(max_new_tokens=3, text=HOSTILE.__getitem__, n_beams=2, eos_id=12),
        memory_strings=HOSTILE,
    )
    page = open_page(explorer)
    looks = [("local", kind) for kind in ("self", "cross", "feed_forward")]
    looks += [("global", "self"), ("dynamic", "self"), ("static", "cross")]
    for i, (mode, kind) in enumerate(looks):
        for predict in (True, False)[: 1 + (mode in ("local", "dynamic"))]:
            page.show(mode=mode, kind=kind, predict=predict, cell=(i, 4), step=0)
            assert page.browser.title == "ready"
            assert page.find(".dx").size["width"] <= 1280
            assert page.every(".dx-view > *")
    assert not page.every(".dx script, .dx img[src=x]")
    page.show(mode="local", kind="self", predict=False, cell=(7, 0))
    rows = [cells[0] for cells in page.table("reads")["rows"]]
    assert rows == [
        "مرحبا 0",
        "👩‍👩‍👧‍👦🏳️‍🌈 1",
        "<script>doc… 2",
        "<img src=x … 3",
        "mmmmmmmmmmm… 4",
        "∅ 5",
        "⏎ 6",
        "‮x 7",
    ]
    assert "👩‍👩‍👧‍👦🏳️‍🌈" in page.text(".dx-table")
    assert axe(".dx") == []


def test_one_token_is_enough(open_page):
    model = scatter_weights(small_decoder(), 3)
    page = open_page(explore(model, [4], text=WORDS.__getitem__))
    assert set(page.explorer.traces) == {"main", "unmasked"}
    assert not page.control("training_shown").is_displayed()
    check_whole(page, "main", 0)
    check_head(page, "main", 0, 1, 5, "self", (0, 0))
    check_feed(page, "main", 0, 1, 0)
    page.show(mode="dynamic", masked=True)
    assert ". Its one position is fed." in page.status
    page.show(mode="static")
    assert page.find(".dx-still img").get_attribute("alt")


def test_one_of_a_thing_is_said_in_the_singular(open_page):
    sizes = dict(n_layers=1, n_heads=1, n_kv_heads=1, cross_attention=True)
    model = scatter_weights(small_decoder(**sizes), 3)
    given = dict(memory=numbers(1, 1, 24), max_new_tokens=1, text=WORDS.__getitem__)
    page = open_page(explore(model, [4], **given))
    said = []
    looks = [dict(mode=mode) for mode in MODES]
    looks += [dict(mode="local", kind="cross"), dict(mode="local", kind="feed_forward")]
    looks += [dict(mode="dynamic", training_shown=True)]
    for look in looks:
        page.show(**look)
        said += [page.status, page.text(".dx-view")]
        for picture in page.every(".dx-still img"):
            said.append(picture.get_attribute("alt"))
    assert "1 layer, 1 head of width 24" in said[0]
    for plural in re.findall(r"(?<![\d.,√])\b1 [a-z]+(?: [a-z]+)?s\b", " ".join(said)):
        assert plural.split()[1] in ("of", "is"), plural


def test_an_empty_trace_is_refused_with_a_sentence():
    trace = Trace.record(small_decoder(), [1, 2])
    trace.steps.clear()
    with pytest.raises(
        ValueError, match="the main trace is empty: record it with Trace"
    ):
        Explorer(trace)


def test_a_trace_of_another_model_is_refused_with_a_sentence():
    one, other = (Trace.record(small_decoder(n_layers=n), [1, 2]) for n in (2, 3))
    with pytest.raises(ValueError, match="the unmasked trace is of another model"):
        Explorer(one, other)


def test_nan_is_said_and_crossed_out_not_hidden(open_page):
    model = scatter_weights(small_decoder(), 3)
    with torch.no_grad():
        model.stack.blocks[1].self_attention.to_keys.weight[0, 0] = math.nan
    page = open_page(explore(model, [1, 7, 2, 5], text=WORDS.__getitem__))
    page.show(mode="local", layer=1, head=0, cell=(3, 1))
    assert {cells[-1] for cells in page.table("reads")["rows"]} == {"NaN"}
    assert "NaN" in page.status
    pixels = page.pixels("weights", [(3, 0), (3, 3)], (4, 4))
    assert set(pixels) == {(251, 227, 240)}
    for i, mode in enumerate(("local", "global", "dynamic", "static")):
        for name in list(VIEWS)[i // 3 * 2 :]:  # one still will do
            shown(page, name, 0, mode=mode, kind="feed_forward")
            assert page.every(".dx-view > *")
    shown(page, "training", 0, mode="dynamic")
    assert [cells[3] for cells in page.table("Loss")["rows"]] == ["nan"] * 3
    assert "nan" in page.status.lower()


@pytest.mark.parametrize(
    ("name", "mode", "kind"),
    [
        ("queries", "local", "self"),
        ("self_weights", "dynamic", "self"),
        ("self_scores", "static", "self"),
        ("hidden", "local", "feed_forward"),
        ("output_norms", "global", "self"),
        ("residuals", "global", "self"),
        ("logits", "dynamic", "self"),
    ],
)
def test_an_array_that_the_trace_lacks_is_named_in_the_page(
    open_page, name, mode, kind
):
    explorer = make()
    del explorer.traces["main"].arrays[name, 0]
    page = open_page(explorer)
    page.show(mode=mode, kind=kind, step=0)
    named = "no self attention" if name == "self_weights" else name
    assert named in page.text(".dx")


def test_a_kernel_that_never_answers_is_said_after_four_seconds(open_page):
    page = open_page(make())
    page.browser.execute_script("model.set('mode', 'local')")
    assert wait_for_words(page, "Asking Python …", 1)
    assert wait_for_words(page, "No answer from Python: the kernel is busy or gone.")
    n_sent = page.browser.execute_script("return window.sent.length")
    assert n_sent <= 2
    page.settle()  # it was only busy
    assert "reads most from" in page.status
    page.browser.execute_script(
        "model.send = () => { throw Error('comm is closed') };"
        "model.set('masked', false)"  # neighbours were asked for ahead
    )
    assert wait_for_words(page, "No answer from Python: the kernel is busy or gone.", 1)
    page.browser.execute_script("window.clean()")
    left = page.browser.execute_script(
        "return Object.values(window.heard).flat().length"
    )
    assert left == 0


def test_sixty_four_tokens_and_thirty_layers_are_all_shown(open_page):
    model = scatter_weights(
        small_decoder(n_layers=30, max_length=70, positions="rotary"), 3, std=0.15
    )
    trace = Trace.record(model, [i % 13 for i in range(64)], text=WORDS.__getitem__)
    page = open_page(Explorer(trace))
    page.show(mode="global", cell=(63, 0))
    assert len(page.every(".dx-layer")) == 30
    check_whole(page, "main", 0)
    check_head(page, "main", 0, 29, 5, "self", (63, 60))
    page.show(mode="dynamic")
    assert len(page.every(".dx-chip")) == 64
    page.show(mode="static")
    assert page.find(".dx-still img").get_attribute("alt")


def open_snapshot(browser, tmp_path, html):
    (tmp_path / "snapshot.html").write_text(html, encoding="utf-8")
    leave(browser)
    browser.get((tmp_path / "snapshot.html").as_uri())
    page = Page.__new__(Page)
    page.browser = browser
    page.settle = lambda: browser.execute_async_script(
        "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
    )
    until(browser, lambda: page.text(".dx-status"))
    browser.execute_script("window.faults = []")
    return page


def test_a_snapshot_works_alone_and_says_what_it_does_not_keep(browser, tmp_path, axe):
    explorer = make("memory")
    explorer.layer, explorer.step, explorer.mode = 1, 0, "local"
    html = explorer.to_html(layers=[1])
    page = open_snapshot(browser, tmp_path, html)
    _, found = answer(
        explorer.traces,
        dict(about="attention", trace="main", step=0, layer=1, head=0, kind="self"),
    )
    query = explorer.cell[0] if explorer.cell[0] < 4 else 3
    shown = [row[-1] for row in page.table("reads")["rows"]]
    assert all(map(same, shown, found["weights"][query]))
    for mode in MODES:
        page.control(f"mode-{mode}").click()
        page.settle()
        assert page.status
        assert "does not keep" not in page.text(".dx")
        assert "keeps only" not in page.text(".dx")
    for mode in ("dynamic", "local"):
        page.control(f"mode-{mode}").click()
        page.settle()
        assert axe("html") == []
    page.control("mode-dynamic").click()
    page.settle()
    assert not page.control("temperature").is_enabled()
    page.control("next").click()
    page.settle()
    assert "Step 1" in page.status
    page.control("layer").send_keys(Keys.ARROW_LEFT)
    page.settle()
    assert "This page keeps only layers [1]." in page.text(".dx")
    assert page.faults() == []
    requests = [
        one for one in browser.get_log("performance") if '"http' in one["message"]
    ]
    assert not [
        one for one in requests if "Network.requestWillBeSent" in one["message"]
    ]


def test_a_snapshot_of_hostile_tokens_is_only_text(browser, tmp_path):
    model = scatter_weights(small_decoder(), 3, std=0.3)
    strings = ["</script><script>document.title='x'</script>", "<!--", "{}", "]]>"]
    explorer = explore(model, [0, 1, 2, 3], text=lambda i: strings[i % 4])
    page = open_snapshot(browser, tmp_path, explorer.to_html())
    for mode in MODES:
        page.control(f"mode-{mode}").click()
        page.settle()
        assert browser.title == "Decoder explorer"
    assert page.faults() == []


def test_a_snapshot_that_would_be_too_large_is_refused():
    model = small_decoder(n_layers=30, max_length=70)
    explorer = Explorer(Trace.record(model, [1] * 64))
    with pytest.raises(
        ValueError, match="would hold more than 8 MB of numbers; choose"
    ):
        explorer.to_html()
    assert len(explorer.to_html(layers=[0], heads=[0])) < 3_000_000
