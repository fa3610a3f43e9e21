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


def test_a_trace_of_another_model_is_refused():
    trace = Trace.record(decoder(), [1, 2])
    with pytest.raises(ValueError, match="the unmasked trace is of another model"):
        Explorer(trace, Trace.record(decoder(n_layers=2), [1, 2], masked=False))


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
