"""Caches of keys and values: what they are tried with, and mistakes of any of them.

A mistake is the part of a class that is wrong: put before a right cache, it changes it.
"""

import torch

from course_lib.feedback.families.faults import Fault
from course_lib.feedback.task import Draw, Probe, Task


def cache_probes(draw: Draw):
    """Yield what every cache that keeps all tokens is tried with.

    Lengths are asked for by themselves: who returns wrong keys may count well.
    """
    yield Probe(
        "two tokens, then one", sizes(1, 1, 1, 2, 5), *fed(draw, (1, 1, 2), 2, 1)
    )
    yield Probe("the very first token", sizes(1, 1, 2, 3, 4), *fed(draw, (1, 2, 3), 1))
    rows = sizes(2, 1, 3, 5, 7)
    yield Probe("one at a time", rows, *fed(draw, (2, 3, 5), 1, 1, 1))
    yield Probe("three chunks, full", rows, *fed(draw, (2, 3, 5), 1, 4, 2))
    two, shape = sizes(2, 2, 3, 2, 9), (2, 3, 2)
    yield Probe("two layers", two, *fed(draw, shape, 2, 1, 3, layers=2))
    three = sizes(3, 2, 2, 3, 9)
    before = fed(draw, (3, 2, 3), 2, layers=2)
    after = fed(draw, (3, 2, 3), 1, layers=2)
    yield Probe("rows 2, 0 and 1 go on", three, *before, ["reorder", [2, 0, 1]], *after)
    after = fed(draw, (2, 2, 3), 1, layers=2)
    yield Probe("row 1 goes on twice", three, *before, ["reorder", [1, 1]], *after)
    before = fed(draw, shape, 4, layers=2)
    for label, length in (("2", 2), ("0", 0), ("more than there is", 6)):
        after = fed(draw, shape, 3, layers=2)
        yield Probe(f"cropped to {label}", two, *before, ["crop", length], *after)
    again = fed(draw, shape, 1, layers=2)
    yield Probe("a second cache", two, *before, ["another"], *again)
    yield from length_probes(draw)


def length_probes(draw: Draw, **options):
    """Yield what the lengths of a cache are tried with."""
    two, shape, lengths = sizes(2, 2, 2, 3, 9), (2, 2, 3), ["lengths"]
    first, second = (fed(draw, shape, n, layers=2, step="feed") for n in (2, 1))
    yield Probe(
        "lengths after two tokens and after one more, two layers",
        *(two, *first, lengths, *second, lengths),
        **options,
    )
    yield Probe(
        "lengths after two tokens, cropped to 1, and one more",
        *(two, *first, ["crop", 1], lengths, *second, lengths),
        **options,
    )
    three = fed(draw, (3, 2, 3), 2, layers=2, step="feed")
    yield Probe(
        "lengths when row 1 goes on twice",
        *(sizes(3, 2, 2, 3, 9), *three, ["reorder", [1, 1]], lengths),
        **options,
    )


def sizes(batch, n_layers, n_kv_heads, d_head, max_length) -> dict:
    """Name the sizes of a cache."""
    return dict(
        batch=batch,
        n_layers=n_layers,
        n_kv_heads=n_kv_heads,
        d_head=d_head,
        max_length=max_length,
    )


def fed(draw: Draw, shape, *chunks: int, layers: int = 1, step="extend") -> list:
    """Make steps that extend each layer by chunks of so many tokens."""
    batch, n_kv_heads, d_head = shape
    return [
        [step, layer, *draw.normal(2, batch, n_kv_heads, n, d_head)]
        for n in chunks
        for layer in range(layers)
    ]


def grows(values) -> bool:
    """Tell whether one more token gives one more key."""
    return [step["keys"].shape[2] for step in values["one at a time"][:3]] == [1, 2, 3]


def past_stays(values) -> bool:
    """Tell whether the old keys are where they were."""
    first, second = values["two tokens, then one"]
    return bool(torch.equal(second["keys"][:, :, :2], first["keys"]))


class ReturnsTheNew:
    def extend(self, layer, keys, values):
        super().extend(layer, keys, values)
        return keys, values


class Swapped:
    def extend(self, layer, keys, values):
        keys, values, *positions = super().extend(layer, keys, values)
        return values, keys, *positions


class OneStore:
    def extend(self, layer, keys, values):
        return super().extend(0, keys, values)


class NotReordered:
    def reorder(self, rows):
        pass


class OnlyTheNumberOfRows:
    def reorder(self, rows):
        super().reorder(list(range(len(rows))))


class TheOtherWay:
    def reorder(self, rows):
        inverse = list(range(len(rows)))
        for new, old in enumerate(rows):
            inverse[old] = new
        super().reorder(inverse)


class DoesNotCrop:
    def crop(self, length):
        pass


class CountsEveryLayer:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.n_layers = kwargs["n_layers"]

    @property
    def lengths(self):
        return super().lengths * self.n_layers


class OldNumberOfRows:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.batch = kwargs["batch"]

    @property
    def lengths(self):
        return super().lengths[:1].expand(self.batch)


BESIDES = "What may the new token read besides itself?"
LAYERS = "Whose keys does layer 1 read?"
BEAMS = "Beam 0 now continues old beam 2: whose memory does it hold?"
BEAMS_HEADING = "9. Beams and a source"
ORIGIN = "Is rows[i] where row i comes from, or goes to?"
COPY = "What is left of row 0 when row 1 becomes its copy?"
CROP = "Which tokens stay, in which layers, and what do the lengths say then?"
COUNT = "A pass goes through two layers: by how much does a row grow?"
ROWS = "How many rows are left, and how many lengths?"
OTHERS = "What does your cache remember of the last conversation?"
FAULTS = (
    Fault("only-the-new-ones", BESIDES, ReturnsTheNew),
    Fault("keys-and-values-swapped", "Which of the two results is the keys?", Swapped),
    Fault("layers-share-one-store", LAYERS, OneStore),
    Fault("beam-cache-not-reordered", BEAMS, NotReordered),
    Fault("beam-cache-not-reordered", BEAMS, OnlyTheNumberOfRows),
    Fault("reordered-the-other-way", ORIGIN, TheOtherWay),
    Fault("crop-does-nothing", CROP, DoesNotCrop),
    Fault("length-counted-per-layer", COUNT, CountsEveryLayer),
    Fault("lengths-not-reordered", ROWS, OldNumberOfRows),
)


class KeepsKeysTwice:
    def extend(self, layer, keys, values):
        return super().extend(layer, keys, keys)


class RemovesSoMany:
    def crop(self, length):
        super().crop(max(int(self.lengths[0]) - length, 0))


class KeepsOneMore:
    def crop(self, length):
        super().crop(length + 1)


class KeepsOneLess:
    def crop(self, length):
        super().crop(max(length - 1, 0))


OF_ALL_TOKENS = (  # where the cache keeps them all
    Fault("values-not-kept", "Are values kept as keys are?", KeepsKeysTwice),
    Fault("crop-removes-so-many", CROP, RemovesSoMany),
    Fault("crop-off-by-one", CROP, KeepsOneMore),
    Fault("crop-off-by-one", CROP, KeepsOneLess),
)


class OverItself:
    def reorder(self, rows):
        for pair in self.kept:
            for kept in pair:
                for new, old in enumerate(rows):
                    kept[new] = kept[old]


class ReordersKeys:
    def reorder(self, rows):
        self.kept = [(keys[rows], values[: len(rows)]) for keys, values in self.kept]


OF_KEPT = (  # where `kept` holds (keys, values) of each layer
    Fault("reorders-in-place", COPY, OverItself),
    Fault("reorders-keys-only", BEAMS, ReordersKeys),
)


def enter(task: Task, right: type, faults: tuple[Fault, ...]) -> None:
    """Add to a task what each fault makes of a right cache."""
    for fault in faults:
        wrong = type(fault.step.__name__, (fault.step, right), {})
        read = BEAMS_HEADING if fault.hint == BEAMS else None
        task.mistake(fault.id, fault.hint, read)(wrong)
