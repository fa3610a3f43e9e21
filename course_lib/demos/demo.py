"""A demo: a view, and the steps of a talk that it is taken through."""

import html
from dataclasses import dataclass, field
from typing import Protocol

import anywidget
import traitlets
from ipywidgets import VBox

from course_lib.demos.plot import PAGE, page_source
from course_lib.figures import Still


@dataclass(frozen=True)
class Step:
    """One step of a talk: what is asked, what is then shown, what the answer is.

    Attributes:
        ask: the question that the audience answers first.
        answer: what can then be seen, in a sentence or two.
        before: the look while they think, where it differs from the demo's first.
        after: what the reveal changes in it.

    Lesson: notebooks/00_start.ipynb
    """

    ask: str
    answer: str
    before: dict = field(default_factory=dict)
    after: dict = field(default_factory=dict)


class View(Protocol):
    """What a demo shows: a Plot or an Explorer."""

    font_scale: float
    state: dict

    def look(self, **state) -> None:
        """Change what is shown."""

    def figure(self) -> Still:
        """Draw what is shown."""


class StepBar(anywidget.AnyWidget):
    """The question of a step, its answer when it is asked for, and the way on."""

    _esm = page_source("steps")
    _css = PAGE / "demo.css"
    title = traitlets.Unicode().tag(sync=True)
    steps = traitlets.List().tag(sync=True)
    at = traitlets.Int(0).tag(sync=True)
    revealed = traitlets.Bool(False).tag(sync=True)
    font_scale = traitlets.Float(1.0, min=0.5, max=3).tag(sync=True)


class Demo(VBox):
    """A view with the steps of a talk: ask, let them predict, reveal, go on.

    Every step begins at its own look, whatever was moved before: a wrong click is
    mended by Start over, or by the next step.

    Args:
        title: what it is about.
        view: a Plot or an Explorer, at the look that all steps start from.
        steps: in the order of the talk.

    Attributes:
        at: the step that is shown, from 0; it can be set.
        revealed: whether its answer is.

    Raises:
        ValueError: there is no step, or a step moves what the view does not have.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.demos.control import slider
    >>> from course_lib.demos.plot import Plot
    >>> from course_lib.figures import new_figure
    >>> def draw(layer):
    ...     return Still(new_figure(2, 1)[0], "Nothing.", f"Layer {layer}.")
    >>> plot = Plot(draw, layer=slider("Layer", 0, low=0, high=3))
    >>> demo = Demo("Layers", plot, [Step("What is next?", "Layer 1.", after={"layer": 1})])
    >>> demo.revealed = True
    >>> plot.readout
    'Layer 1.'
    """

    def __init__(self, title: str, view: View, steps: list[Step]):
        if not steps:
            raise ValueError(
                "a demo needs a step: Demo(title, view, [Step(ask, answer)])"
            )
        self._first = view.state
        for step in steps:
            if unknown := (step.before | step.after).keys() - self._first.keys():
                raise ValueError(
                    f"the step {step.ask!r} moves {', '.join(sorted(unknown))}: the view "
                    f"has {', '.join(self._first)}"
                )
        self.view, self.steps = view, steps
        shown = [{"ask": step.ask, "answer": step.answer} for step in steps]
        self.bar = StepBar(title=title, steps=shown)
        self._looked = (0, False)
        super().__init__([self.bar, view])
        self.add_class("demo-stage")
        self.bar.observe(self._follow, ["at", "revealed"])
        self.bar.observe(self._scale, "font_scale")
        self.bar.on_msg(lambda *_: self.start_over())
        self.start_over()

    @property
    def at(self) -> int:
        """The step that is shown, from 0."""
        return self.bar.at

    @at.setter
    def at(self, at: int) -> None:
        with self.bar.hold_trait_notifications():
            self.bar.at, self.bar.revealed = at, False

    @property
    def revealed(self) -> bool:
        """Whether the step's answer is shown."""
        return self.bar.revealed

    @revealed.setter
    def revealed(self, revealed: bool) -> None:
        self.bar.revealed = revealed

    def start_over(self) -> None:
        """Put the view back to where the step has it."""
        try:
            self.view.look(**self.look_of(self.bar.at, self.bar.revealed))
        finally:  # or the page would say that nobody answers
            self.bar.send({"done": True})

    def look_of(self, at: int, revealed: bool) -> dict:
        """Give the whole look of a step, before or after its reveal.

        Raises:
            ValueError: there is no such step.

        Lesson: notebooks/00_start.ipynb
        """
        if not 0 <= at < len(self.steps):
            raise ValueError(
                f"there is no step {at}: there are {len(self.steps)}, from 0"
            )
        step = self.steps[at]
        return self._first | step.before | (step.after if revealed else {})

    def still(self, at: int) -> "StepStill":
        """Give a step as pictures that need no kernel, for when the live demo fails.

        Raises:
            ValueError: there is no such step.

        Lesson: notebooks/00_start.ipynb
        """
        before, after = self.look_of(at, False), self.look_of(at, True)
        stands, step = self.view.state, self.steps[at]
        try:
            pictures = [self._pictured(before)]
            pictures += [self._pictured(after)] if after != before else []
        finally:
            self.view.look(**stands)
        return StepStill(f"{at + 1}. {step.ask}", step.answer, pictures)

    def _pictured(self, look: dict) -> Still:
        self.view.look(**look)
        return self.view.figure()

    def _follow(self, _change) -> None:
        """Show the step that the page went to; both traits may change at once."""
        at = min(max(self.bar.at, 0), len(self.steps) - 1)
        if at != self.bar.at:
            self.bar.at = at
        elif (at, self.bar.revealed) != self._looked:
            self._looked = (at, self.bar.revealed)
            self.start_over()
        else:  # the other trait of the same change
            self.bar.send({"done": True})

    def _scale(self, change) -> None:
        self.view.font_scale = change["new"]

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict] | dict:
        """Give the widget, and for pages without a kernel the first step's still."""
        bundle = super()._repr_mimebundle_(**kwargs)
        still = self.still(0)._repr_mimebundle_()
        if isinstance(bundle, tuple):
            return bundle[0] | still, bundle[1]
        return bundle | still


@dataclass(frozen=True)
class StepStill:
    """A step without a kernel: the question, the picture, and what a click reveals."""

    ask: str
    answer: str
    pictures: list[Still]

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        """Give the html, and the words alone."""
        pictures = [one._repr_mimebundle_() for one in self.pictures]
        page = (
            f'<div class="demo-still"><p><strong>{html.escape(self.ask)}</strong></p>'
            f"{pictures[0]['text/html']}"
            f"<details><summary>Reveal</summary><p>{html.escape(self.answer)}</p>"
            f"{''.join(one['text/html'] for one in pictures[1:])}</details></div>"
        )
        said = [self.ask, *(one["text/plain"] for one in pictures), self.answer]
        return {"text/html": page, "text/plain": "\n".join(said)}
