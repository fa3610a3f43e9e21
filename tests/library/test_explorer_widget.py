"""The explorer's Python side: what it refuses, how it stands without a page, its snapshots."""

import json
import re

import pytest
import torch

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.explorer import Explorer, explore
from course_lib.sampling import Sampler
from course_lib.trace import Trace


def decoder(**settings):
    sizes = dict(vocab_size=50, d_model=12, n_layers=3, n_heads=2, max_length=20)
    generator = torch.Generator().manual_seed(0)
    return Decoder(DecoderConfig(**sizes | settings), generator)


@pytest.fixture(scope="module")
def explorer():
    return explore(decoder(), [1, 2, 3, 4], max_new_tokens=3)


def kept(page):
    """What a snapshot holds: its state and the answers by question."""
    return json.loads(re.search(r'<script id="kept"[^>]*>(.*?)</script>', page)[1])


def test_a_setting_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="unknown settings max_new_token"):
        explore(decoder(), [1, 2], max_new_token=6)


@pytest.mark.parametrize("changes", [{"n_layers": 2}, {"n_heads": 3}, {"norm": "rms"}])
def test_a_trace_of_another_model_is_refused(changes):
    trace = Trace.record(decoder(), [1, 2])
    (setting,) = changes
    sentence = f"the unmasked trace is of another model: its {setting} is "
    with pytest.raises(ValueError, match=sentence):
        Explorer(trace, Trace.record(decoder(**changes), [1, 2], masked=False))


def test_a_trace_of_another_memory_is_refused():
    model = decoder(cross_attention=True)
    one, other = (Trace.record(model, [1], torch.zeros(1, n, 12)) for n in (5, 7))
    with pytest.raises(
        ValueError, match="read a memory of 7 places, the main trace one of 5"
    ):
        Explorer(one, other)


def test_traces_of_other_tokens_are_refused():
    model = decoder()
    main = Trace.record(model, [1, 2, 3], max_new_tokens=2)
    unmasked = Trace.record(model, [1, 2, 4], masked=False)
    with pytest.raises(
        ValueError, match=r"unmasked trace is of other tokens.*\[1, 2, 4\]"
    ):
        Explorer(main, unmasked)
    training = Trace.record(model, [1, 5, 3], targets=[5, 3, 7])
    with pytest.raises(ValueError, match="training trace is of other tokens"):
        Explorer(main, training=training)


def test_a_training_row_begins_as_the_prompt_and_may_go_on_in_its_own_way():
    model = decoder()
    main = Trace.record(model, [1, 2], max_new_tokens=3)
    other = (main.tokens[2] + 1) % 50
    rows = ([1], [1, 2], [1, 2, other], main.tokens[:-1])
    for row in rows:
        taught = Trace.record(model, row, targets=[7] * len(row))
        assert Explorer(main, training=taught).traces["training"] is taught
    Explorer(main, Trace.record(model, main.tokens[:3], masked=False))


def test_the_sampler_starts_at_the_settings_of_the_run():
    sampler = Sampler(0.7, top_k=4, min_p=0.1, seed=1)
    found = explore(decoder(), [1, 2], max_new_tokens=2, sampler=sampler)
    names = ("temperature", "top_k", "top_p", "min_p")
    assert [getattr(found, name) for name in names] == [0.7, 4, 1, 0.1]
    given = dict(max_new_tokens=2, sampler=sampler, top_k=9, min_p=0.0)
    found = explore(decoder(), [1, 2], **given)
    assert [getattr(found, name) for name in names] == [0.7, 9, 1, 0]


@pytest.mark.parametrize("settings", [{}, {"max_new_tokens": 2}])
def test_a_greedy_run_shows_what_the_model_weighed(settings):
    found = explore(decoder(), [1, 2], **settings)
    assert (found.temperature, found.top_k, found.top_p, found.min_p) == (1, 0, 1, 0)


def test_a_look_is_one_message_to_the_page(monkeypatch):
    explorer, sent = explore(decoder(), [1, 2, 3]), []
    monkeypatch.setattr(
        type(explorer), "send_state", lambda self, key: sent.append(set(key))
    )
    explorer.look(mode="local", layer=2, head=1, cell=(1, 0))
    assert sent == [{"mode", "layer", "head", "cell"}]
    shown = (explorer.mode, explorer.layer, explorer.head, explorer.cell)
    assert shown == ("local", 2, 1, (1, 0))


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"laier": 1}, "unknown settings laier; see Explorer and explore"),
        ({"layer": 1, "mode": "lokal"}, "not the str 'lokal'; see the attributes of"),
        ({"mode": "local", "top_p": 2}, "'top_p'.* should not be greater than 1"),
        ({"head": "1"}, "'head' trait .* expected an int, not the str '1'"),
    ],
)
def test_a_look_at_what_is_not_there_is_refused_and_changes_nothing(
    explorer, state, words
):
    before = {name: getattr(explorer, name) for name in ("mode", "layer", "head")}
    with pytest.raises(ValueError, match=words):
        explorer.look(**state)
    assert {name: getattr(explorer, name) for name in before} == before
    with pytest.raises(ValueError, match=words):
        explore(decoder(), [1, 2], **state)


def test_a_number_outside_of_the_trace_shows_the_nearest_one(explorer):
    low, high = dict(step=-1, layer=-1, head=-3), dict(step=99, layer=99, head=99)
    before = explorer.mode
    for state, nearest in ((low, (0, 0, 0)), (high, (2, 2, 1))):
        explorer.look(mode="local", **state)
        step, layer, head = nearest
        words = f"Layer {layer}, head {head}, self-attention in step {step}"
        assert explorer.figure().alt.startswith(words)
    explorer.look(mode=before, step=0, layer=0, head=0)
    assert (
        explore(decoder(), [1], layer=-1).figure(mode="local").alt.startswith("Layer 0")
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"text": lambda i: None},
            "text gave None for the id 1; it must turn an id into",
        ),
        ({"text": lambda i: i}, "text gave 1 for the id 1; it must turn an id into"),
        ({"text": "words"}, "text was 'words'; pass a function that turns an id into"),
        (
            {"tokens": ["a", "b"]},
            r"tokens were \['a', 'b'\]; pass the ids of one prompt",
        ),
        ({"tokens": "abc"}, "tokens were 'abc'; pass the ids of one prompt"),
        (
            {"tokens": [[1, 2]]},
            r"tokens were torch.int64 \(1, 2\); pass the ids of one",
        ),
        ({"tokens": [0.5]}, r"tokens were torch.float32 \(1,\); pass the ids of one"),
        ({"tokens": [True]}, r"tokens were torch.bool \(1,\); pass the ids of one"),
        ({"tokens": []}, "tokens were empty; pass at least one id"),
        (
            {"max_new_tokens": -1},
            "max_new_tokens was -1; pass how many, a whole number",
        ),
        (
            {"max_new_tokens": 1.5},
            "max_new_tokens was 1.5; pass how many, a whole number",
        ),
        (
            {"model": torch.nn.Linear(2, 2)},
            r"model was a Linear, which has no config.*pass a",
        ),
        ({"model": None}, "model was a NoneType, which has no config"),
    ],
)
def test_what_cannot_be_run_is_refused_with_a_sentence(changes, words):
    given = {"model": decoder(), "tokens": [1, 2], "max_new_tokens": 1} | changes
    with pytest.raises(ValueError, match=words):
        explore(**given)


def test_memory_strings_are_strings():
    model, memory = decoder(cross_attention=True), torch.zeros(1, 2, 12)
    with pytest.raises(
        ValueError, match="memory_strings held 3 at place 1; pass strings"
    ):
        explore(model, [1], memory, memory_strings=["a", 3])


def test_a_trace_without_an_array_is_still_displayed_and_says_what_is_missing():
    trace = Trace.record(decoder(), [1, 2, 3])
    del trace.arrays["self_scores", 0]
    data, _ = Explorer(trace, mode="local")._repr_mimebundle_()
    assert data["text/plain"] == "step 0 of this trace holds no self_scores"
    assert "application/vnd.jupyter.widget-view+json" in data


def test_the_newest_row_of_a_step_is_shown_first(explorer):
    assert explorer.cell == (6, 0)
    assert explorer.figure(mode="local").alt.count("(position 3)") >= 1


def test_a_still_of_the_still_is_that_of_one_head(explorer):
    assert explorer.figure(mode="static").alt == explorer.figure(mode="local").alt


def test_a_question_about_no_trace_is_answered_by_a_sentence(explorer):
    with pytest.raises(ValueError, match="there is no trace named 'other'"):
        explorer.reply({"about": "still", "trace": "other"})


def test_a_chosen_token_is_a_candidate_however_unlikely_it_was():
    unlikely = Sampler(temperature=5.0, seed=3)
    trace = Trace.record(decoder(), [1, 2], max_new_tokens=8, sampler=unlikely)
    named = [[one["id"] for one in step["candidates"]] for step in trace.steps]
    assert any(len(ids) == 13 for ids in named), "none was outside of the likeliest 12"
    assert all(
        step["chosen"] in ids for step, ids in zip(trace.steps, named, strict=True)
    )


def test_a_prefill_counts_what_it_computes_of_the_memory():
    model, memory = decoder(cross_attention=True), torch.randn(1, 7, 12)
    first = Trace.record(model, [1, 2, 3], memory, max_new_tokens=1).steps[0]
    assert first["multiply_adds"]["cached"] == first["multiply_adds"]["uncached"]


def test_a_snapshot_opens_at_something_that_it_keeps(explorer):
    state = kept(explorer.to_html(layers=[2], steps=[1], heads=[1]))["state"]
    assert (state["layer"], state["step"], state["head"]) == (2, 1, 1)


def test_a_snapshot_of_some_steps_keeps_the_run_without_a_mask(explorer):
    asked = map(json.loads, kept(explorer.to_html(layers=[0], steps=[2]))["answers"])
    found = {
        (one["trace"], one["step"]) for one in asked if one["about"] == "attention"
    }
    assert found == {("main", 2), ("unmasked", 0), ("training", 0)}


def test_a_snapshot_takes_what_can_be_read_once(explorer):
    lists = explorer.to_html(layers=[1], steps=[0, 1])
    once = explorer.to_html(layers=iter([1]), steps=(step for step in (0, 1)))
    assert kept(once)["answers"].keys() == kept(lists)["answers"].keys()


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"steps": [9]}, r"steps were \[9\]; this trace has 0 to 2"),
        ({"steps": []}, r"steps were \[\]"),
        ({"layers": [3]}, "layer was 3; there is 0 to 2"),
        ({"heads": [-1]}, "head was -1; there is 0 to 1"),
    ],
)
def test_a_snapshot_of_what_is_not_there_is_refused(explorer, choice, words):
    with pytest.raises(ValueError, match=words):
        explorer.to_html(**choice)


def test_a_snapshot_that_would_be_too_large_says_what_to_choose():
    wide = decoder(d_model=192, n_layers=6, max_length=64)
    with pytest.raises(ValueError, match="choose fewer layers, steps or heads"):
        explore(wide, list(range(48))).to_html()
