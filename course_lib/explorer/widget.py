"""The explorer as a widget: Python keeps the numbers, the page draws them."""

from collections.abc import Iterator
from contextlib import contextmanager

import anywidget
import traitlets

from course_lib.explorer.answers import answer, header
from course_lib.explorer.fits import check_fits, settings_of
from course_lib.explorer.source import PAGE, page_source
from course_lib.explorer.still import draw_still
from course_lib.figures import Still
from course_lib.trace import Trace
from course_lib.trace.buffer import packed

MODES = ("global", "local", "dynamic", "static")
KINDS = ("self", "cross", "feed_forward")
# what look() moves, and state gives
STATE = (
    *("mode", "step", "layer", "head", "kind", "cell", "masked", "training_shown"),
    *("temperature", "top_k", "top_p", "min_p", "predict"),
)


class Explorer(anywidget.AnyWidget):
    """Look at a run of a decoder in four ways: whole, one head, step by step, a still.

    What is shown are traits, so a lecture can be scripted (`explorer.step = 3`, or
    several at once with `look`) and a click be read (`explorer.cell`). A step, layer,
    head or cell outside of the trace shows the nearest one that is there.

    Args:
        trace: what is looked at.
        unmasked: the same tokens through the same model without its causal mask.
        training: the same model at a training pass over the same prompt.
        **state: first values of the traits below.

    Attributes:
        mode: "global", "local", "dynamic" or "static".
        step, layer, head: what is shown, from 0.
        kind: the sublayer: "self", "cross" or "feed_forward".
        cell: the position that reads, and the key that it reads.
        masked: False shows `unmasked`.
        training_shown: True shows `training`.
        temperature, top_k, top_p, min_p: the sampler's; 0, 1 and 0 switch the last off.
            They start at the settings of the run. A greedy run starts at temperature 1
            with all filters off: at 0 one token would hold all the probability, and
            nothing could be seen of what the model weighed.
        predict: True asks before it shows.
        font_scale: 1 to 3, for a projector.
        description: what is shown, in words; the page writes it.

    Raises:
        ValueError: the trace has no step; the traces are not of one model, or not of
            the same tokens; the state has an unknown name or a value that does not fit.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> from course_lib.explorer import explore
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> explorer = explore(decoder, [1, 2, 3], max_new_tokens=2, mode="local")
    >>> explorer.look(step=1, layer=1, head=2)
    >>> sorted(explorer.traces)
    ['main', 'training', 'unmasked']
    """

    _esm = page_source()
    _css = PAGE / "explorer.css"
    header = traitlets.Dict().tag(sync=True)
    mode = traitlets.Enum(MODES, "global").tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    layer = traitlets.Int(0).tag(sync=True)
    head = traitlets.Int(0).tag(sync=True)
    kind = traitlets.Enum(KINDS, "self").tag(sync=True)
    cell = traitlets.Tuple(traitlets.Int(), traitlets.Int(), default_value=(0, 0)).tag(
        sync=True
    )
    masked = traitlets.Bool(True).tag(sync=True)
    training_shown = traitlets.Bool(False).tag(sync=True)
    temperature = traitlets.Float(1.0, min=0).tag(sync=True)
    top_k = traitlets.Int(0, min=0).tag(sync=True)
    top_p = traitlets.Float(1.0, min=0.0001, max=1).tag(sync=True)
    min_p = traitlets.Float(0.0, min=0, max=1).tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    font_scale = traitlets.Float(1.0, min=0.5, max=3).tag(sync=True)
    description = traitlets.Unicode().tag(sync=True)

    def __init__(
        self,
        trace: Trace,
        unmasked: Trace | None = None,
        training: Trace | None = None,
        **state,
    ):
        given = {"main": trace, "unmasked": unmasked, "training": training}
        self.traces = {name: one for name, one in given.items() if one is not None}
        for name, one in self.traces.items():
            check_fits(name, one, trace)
        self._check_names(state)
        # the newest row of each step, where nobody says which
        newest = {"cell": (len(trace.tokens) - 1, 0)}
        start = newest | settings_of(trace) | state
        with _sentences():
            super().__init__(header=header(self.traces), **start)
        self.on_msg(self._on_question)

    def look(self, **state) -> None:
        """Show something else: set several traits at once, drawn as one change.

        Args:
            **state: new values of the traits; all others stay.

        Raises:
            ValueError: there is no trait of that name, or a value does not fit; then
                nothing changes.

        Lesson: notebooks/00_start.ipynb

        >>> from course_lib.decoder import Decoder, DecoderConfig
        >>> from course_lib.explorer import explore
        >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
        >>> explorer = explore(decoder, [1, 2, 3])
        >>> explorer.look(mode="local", layer=1, head=2)
        >>> explorer.mode, explorer.layer, explorer.head
        ('local', 1, 2)
        """
        self._check_names(state)
        # one message to the page; and if a value is refused, the others are taken back
        with _sentences(), self.hold_sync(), self.hold_trait_notifications():
            for name, value in state.items():
                setattr(self, name, value)

    @property
    def state(self) -> dict:
        """What is shown, as look() takes it; without font_scale and description."""
        return {name: getattr(self, name) for name in STATE}

    def _check_names(self, state: dict) -> None:
        """Refuse names that are no traits of the explorer's own."""
        if unknown := state.keys() - set(self.trait_names()):
            raise ValueError(
                f"unknown settings {', '.join(sorted(unknown))}; see Explorer and explore"
            )

    def figure(self, **state) -> Still:
        """Return a still of what is shown, with alt text and caption.

        Args:
            **state: mode, step, layer, head, kind or query that differ from what is
                shown.

        Raises:
            ValueError: they do not fit the trace.

        Lesson: notebooks/00_start.ipynb
        """
        asked = self._shown() | state
        if asked["mode"] == "static":
            asked["mode"] = "local"
        return draw_still(self.traces[self._view()], **asked)

    def to_html(self, **choice) -> str:
        """Return a page that works without a kernel; see snapshot.snapshot()."""
        from course_lib.explorer.snapshot import snapshot  # which imports this module

        return snapshot(self, **choice)

    def _view(self) -> str:
        """Name the trace that is looked at."""
        if self.training_shown and "training" in self.traces:
            return "training"
        return "unmasked" if not self.masked and "unmasked" in self.traces else "main"

    def _shown(self) -> dict:
        """Give the state as draw_still takes it, moved into the trace where it is not."""
        trace = self.traces[self._view()]
        step = _nearest(self.step, len(trace.steps))
        entry = trace.steps[step]
        start, end = entry["start"], entry["start"] + entry["n_positions"]
        kind = self.kind if trace.n_memory or self.kind != "cross" else "self"
        return {
            "mode": "local" if self.mode == "static" else self.mode,
            "step": step,
            "layer": _nearest(self.layer, trace.config["n_layers"]),
            "head": _nearest(self.head, trace.config["n_heads"]),
            "kind": kind,
            "query": min(max(self.cell[0], start), end - 1),
        }

    def _on_question(self, _widget, question: dict, _buffers) -> None:
        """Answer a question of the page, or say in a sentence why not."""
        asked = {key: value for key, value in question.items() if key != "id"}
        try:
            content, buffer = self.reply(asked)
        except ValueError as error:
            content, buffer = {"error": str(error)}, b""
        self.send({"id": question.get("id"), **content}, [buffer])

    def reply(self, question: dict) -> tuple[dict, bytes]:
        """Answer a question as the page hears it: plain values with an index, a buffer.

        Args:
            question: as in answers.answer(), or about a "still" with its state.

        Raises:
            ValueError: the question does not fit.

        Lesson: notebooks/00_start.ipynb
        """
        if question.get("about") == "still":
            if question.get("trace") not in self.traces:
                raise ValueError(f"there is no trace named {question.get('trace')!r}")
            state = {k: v for k, v in question.items() if k not in ("about", "trace")}
            still = draw_still(self.traces[question["trace"]], **state)
            return {"html": still._repr_mimebundle_()["text/html"]}, b""
        plain, arrays = answer(self.traces, question)
        index, buffer = packed(arrays)
        return {**plain, "index": index}, buffer

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        """Give the widget, and for pages without a kernel the still that it shows."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        try:
            return data | self.figure()._repr_mimebundle_(), metadata
        except ValueError as error:  # the page says it, too, and shows what is there
            return data | {"text/plain": str(error)}, metadata


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn what traitlets says of a wrong value into a ValueError."""
    try:
        yield
    except traitlets.TraitError as error:
        words = str(error).rstrip(".")
        raise ValueError(f"{words}; see the attributes of Explorer") from None


def _nearest(number: int, count: int) -> int:
    """Return the nearest number from 0 to below a count."""
    return max(0, min(number, count - 1))
