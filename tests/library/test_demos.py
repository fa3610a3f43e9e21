"""Demos: controls that allow only what can be drawn, and steps that begin at their look."""

import importlib
import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.demos import Demo, Plot, Step, choice, new_stage, slider, switch, words
from course_lib.figures import Still

TOPICS = sorted(
    path.stem
    for path in (Path(__file__).parents[2] / "notebooks" / "demos").glob("*.ipynb")
)
ANYTHING = st.one_of(st.none(), st.integers(), st.floats(), st.text(), st.booleans())


@given(ANYTHING)
def test_a_slider_only_stands_on_its_steps(wish):
    value = slider("Layer", 2, low=0, high=7).nearest(wish)
    assert value in range(8)
    assert isinstance(value, int)
    value = slider("Temperature", 1.0, low=0.1, high=2.0, step=0.1).nearest(wish)
    assert value in [round(0.1 * n, 6) for n in range(1, 21)]


@given(ANYTHING)
def test_other_controls_only_take_what_they_offer(wish):
    assert choice("Mask", ["causal", "none"]).nearest(wish) in ("causal", "none")
    assert switch("On").nearest(wish) in (True, False)
    assert len(words("Name", "Anna", longest=5).nearest(wish)) <= 5


def drawn(layer, name):
    if not name:
        raise ValueError("write a name: the field is empty")
    return Still(new_stage()[0], f"Layer {layer} alone.", f"{name} at layer {layer}.")


def plot():
    return Plot(
        drawn, layer=slider("Layer", 0, low=0, high=3), name=words("Name", "Anna")
    )


def test_a_plot_says_in_its_readout_what_is_drawn():
    shown = plot()
    assert shown.readout == "Anna at layer 0."
    shown.look(layer=17)
    assert shown.state == {"layer": 3, "name": "Anna"}
    assert shown.readout == "Anna at layer 3."
    assert 'alt="Layer 3 alone."' in shown.picture
    assert shown.figure(layer=1).caption == "Anna at layer 1."
    assert shown.readout == "Anna at layer 3."


def test_what_cannot_be_drawn_is_said_and_the_last_picture_stays():
    shown = plot()
    picture = shown.picture
    shown.look(name="")
    assert shown.readout == "write a name: the field is empty"
    assert shown.picture == picture
    shown.look(name="Ben")
    assert shown.readout == "Ben at layer 0."


def test_a_control_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no control named head.*layer, name"):
        plot().look(head=1)
    with pytest.raises(ValueError, match="no control named head"):
        plot().figure(head=1)


def test_the_page_moves_controls_and_hears_that_it_is_done():
    shown, sent = plot(), []
    shown.send = lambda content, *_: sent.append(content)
    shown._on_wish(shown, {"look": {"layer": 2, "picture": "<script>"}}, [])
    assert shown.state == {"layer": 2, "name": "Anna"}
    assert sent == [{"done": True}]


STEPS = [
    Step("Who?", "Anna."),
    Step("Where?", "At 2.", before={"layer": 1}, after={"layer": 2}),
    Step("And then?", "Ben.", after={"name": "Ben"}),
]


def test_each_step_begins_at_its_own_look_whatever_was_moved():
    demo = Demo("Names", plot(), STEPS)
    demo.view.look(layer=3, name="x")
    demo.at = 1
    assert demo.view.state == {"layer": 1, "name": "Anna"}
    demo.revealed = True
    assert demo.view.state == {"layer": 2, "name": "Anna"}
    demo.view.look(layer=3)
    demo.start_over()
    assert demo.view.state == {"layer": 2, "name": "Anna"}
    demo.at = 2
    assert (demo.revealed, demo.view.readout) == (False, "Anna at layer 0.")


@pytest.mark.parametrize(("wish", "at"), [(99, 2), (-5, 0)])
def test_there_is_nothing_behind_the_last_step_or_before_the_first(wish, at):
    demo = Demo("Names", plot(), STEPS)
    demo.at = wish
    assert demo.at == at


def test_the_size_of_the_bar_is_the_size_of_the_view():
    demo = Demo("Names", plot(), STEPS)
    demo.bar.font_scale = 2
    assert demo.view.font_scale == 2


def test_a_step_needs_no_kernel_and_moves_nothing_when_it_is_drawn():
    demo = Demo("Names", plot(), [*STEPS, Step("<b>?", "a < b", after={"layer": 3})])
    demo.view.look(layer=1)
    page = demo.still(1)._repr_mimebundle_()["text/html"]
    assert demo.view.state == {"layer": 1, "name": "Anna"}
    question, answer = page.split("<details>")
    assert "Layer 1 alone." in question
    assert "Layer 2 alone." in answer
    assert "At 2." not in question
    assert demo.still(0)._repr_mimebundle_()["text/html"].count("<img") == 1
    page = demo.still(3)._repr_mimebundle_()["text/html"]
    assert "<b>" not in page
    assert "a &lt; b" in page
    with pytest.raises(ValueError, match="no step 4: there are 4"):
        demo.still(4)


def test_a_demo_without_a_step_or_with_one_that_moves_nothing_known_is_refused():
    with pytest.raises(ValueError, match="a demo needs a step"):
        Demo("Names", plot(), [])
    with pytest.raises(ValueError, match="moves head"):
        Demo("Names", plot(), [Step("?", "!", after={"head": 1})])


@pytest.mark.slow
@pytest.mark.weights
@pytest.mark.parametrize("topic", TOPICS)
def test_a_wrong_click_does_no_harm(topic):
    """Every control at both ends, or at each choice, one at a time, at every step."""
    demo = importlib.import_module(f"course_lib.demos.{topic}").demo()
    assert 4 <= len(demo.steps) <= 6
    assert all(step.after for step in demo.steps[1:])
    for at, step in enumerate(demo.steps):
        assert len(step.ask) <= 130
        assert len(step.answer) <= 200
        look = demo.look_of(at, True)
        if isinstance(demo.view, Plot):
            still = demo.view.figure(**look)
            assert still.alt.strip()
            assert still.caption.strip()
            assert not re.search(
                r"\b(nan|inf)\b|None|tensor\(", still.caption + still.alt
            )
    if not isinstance(demo.view, Plot):
        return
    first = demo.look_of(0, False)
    for name, control in demo.view._controls.items():
        ends = {
            "slider": [control.low, control.high],
            "choice": control.options,
            "switch": [True, False],
            "words": ["", "<b>&", "x" * control.longest, "漢字 🙂"],
        }[control.kind]
        for value in ends:
            demo.view.look(**first | {name: value})
            assert demo.view.readout


def test_there_is_a_demo_for_every_topic():
    named = (
        "softmax masks attention positions cross_attention feed_forward sampling "
        "kv_cache training translation chat captions"
    )
    assert sorted(named.split()) == TOPICS
    assert all(a != b for a, b in itertools.pairwise(TOPICS))
