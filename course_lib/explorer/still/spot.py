"""The spot of a trace that a still speaks of."""

from dataclasses import dataclass

from torch import Tensor

from course_lib.explorer.answers import answer
from course_lib.explorer.still.labels import drawn, label
from course_lib.trace import Trace

MODES = ("global", "local", "dynamic")
SUBLAYERS = {  # by kind
    "self": "self-attention",
    "cross": "cross-attention",
    "feed_forward": "feed-forward",
}


@dataclass(frozen=True)
class Spot:
    """What a still speaks of: one pass of a trace, one head, one row (from 0)."""

    trace: Trace
    step: int
    layer: int
    head: int
    kind: str
    query: int

    @property
    def entry(self) -> dict:
        """The pass."""
        return self.trace.steps[self.step]

    @property
    def step_name(self) -> str:
        """The pass and its phase, in words."""
        return f"step {self.step} ({self.entry['phase']})"

    @property
    def row(self) -> int:
        """Where the row stands among those that were fed."""
        return self.query - self.entry["start"]

    @property
    def end(self) -> int:
        """How many tokens the pass knows."""
        return self.entry["start"] + self.entry["n_positions"]

    @property
    def n_sharing(self) -> int:
        """How many heads share one kv_head."""
        return self.trace.config["n_heads"] // self.trace.config["n_kv_heads"]

    @property
    def kv_head(self) -> int:
        """Whose keys and values the head reads."""
        return self.head // self.n_sharing

    def array(self, name: str) -> Tensor:
        """Return what the pass recorded, or say that it did not."""
        if (name, self.step) not in self.trace.arrays:
            raise ValueError(
                f"step {self.step} of the trace holds no {name!r}; record it anew with "
                "Trace.record"
            )
        return self.trace.arrays[name, self.step].float()

    def attention(self, kind: str) -> tuple[dict, dict[str, Tensor]]:
        """Ask for all that the head computed, as the page asks."""
        asked = {"about": "attention", "trace": "it", "step": self.step}
        asked |= {"layer": self.layer, "head": self.head, "kind": kind}
        plain, arrays = answer({"it": self.trace}, asked)
        masks = ("allowed", "leaks")  # floats in a trace that was stored
        return plain, {
            name: array.bool() if name in masks else array.float()
            for name, array in arrays.items()
        }

    def drawn(self, position: int) -> str:
        """Label a token in a picture."""
        return drawn(self.trace.strings[position], self.trace.tokens[position])

    def token(self, position: int) -> str:
        """Name a token and its place."""
        return f"'{label(self.trace.strings[position])}' (position {position})"

    def key(self, place: int) -> str:
        """Name what a key stands for: a token, or a place of the memory."""
        if self.kind != "cross":
            return self.token(place)
        if not self.trace.memory_strings:
            return f"place {place} of the memory"
        name = label(self.trace.memory_strings[place])
        return f"'{name}' (place {place} of the memory)"


def spot_of(
    trace: Trace,
    mode: str,
    step: int,
    layer: int,
    head: int,
    kind: str,
    query: int | None,
) -> Spot:
    """Check the arguments of draw_still against the trace."""
    if not trace.steps:
        raise ValueError(
            "the trace is empty: record it with Trace.record(model, tokens)"
        )
    for name, word, known in (("mode", mode, MODES), ("kind", kind, SUBLAYERS)):
        if word not in known:
            raise ValueError(f"{name} was {word!r}; choose one of {', '.join(known)}")
    if kind == "cross" and mode == "local" and not trace.n_memory:
        raise ValueError(
            "kind was 'cross' and this trace has no memory; record one with memory=…, or "
            "choose 'self' or 'feed_forward'"
        )
    _check_within("step", step, 0, len(trace.steps))
    _check_within("layer", layer, 0, trace.config["n_layers"])
    _check_within("head", head, 0, trace.config["n_heads"])
    start = trace.steps[step]["start"]
    end = start + trace.steps[step]["n_positions"]
    query = end - 1 if query is None else query
    _check_within("query", query, start, end)
    return Spot(trace, step, layer, head, kind, query)


def _check_within(name: str, number: object, first: int, end: int) -> None:
    """Refuse what is no whole number from first to before end."""
    if type(number) is not int or not first <= number < end:
        raise ValueError(
            f"{name} was {number!r}; this trace has {name} {first} to {end - 1} there"
        )
