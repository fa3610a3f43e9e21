"""What goes wrong in SlidingWindowCache."""

import torch

from course_lib.feedback.adapters.caches import use_cache
from course_lib.feedback.families import caches, rings
from course_lib.feedback.families.caches import fed, sizes
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.kv_cache import SlidingWindowCache

task = Task(
    "SlidingWindowCache",
    asks="extend gives the last window - 1 tokens before the call, then the new ones; in "
    "another order if key_positions say so.",
    lesson="10_kv_cache",
    reference=SlidingWindowCache,
    use=use_cache,
    read="6. A ring for a window",
)

WIDE = "A window of 3: how many keys may a query read, counting itself?"
CHUNK = "Which keys does the first token of a chunk read, and which the last?"
SEEN = "Are the lengths what is kept, or what was seen?"


@task.inputs
def probes(draw: Draw):
    one = (1, 1, 2)
    steps = fed(draw, one, 1, 1, 1, 1)
    yield Probe("a window of 2, one at a time", sizes(1, 1, 1, 2, 9), *steps, window=2)
    rows, shape = sizes(2, 1, 3, 5, 11), (2, 3, 5)
    steps = fed(draw, shape, 1, 1, 1, 1, 1, 1, 1, 1)
    yield Probe("a window of 3, eight steps", rows, *steps, window=3)
    yield Probe(
        "a chunk as wide as the window", rows, *fed(draw, shape, 3, 1), window=3
    )
    steps = fed(draw, shape, 5, 1, 1)
    yield Probe("a chunk longer than the window", rows, *steps, window=3)
    steps = fed(draw, shape, 2, 3, 4, 1)
    yield Probe("chunks on a full window", rows, *steps, window=4)
    yield Probe("a window of 1", rows, *fed(draw, shape, 1, 2, 1), window=1)
    yield Probe(
        "a window that is never full", rows, *fed(draw, shape, 2, 3, 1), window=9
    )
    two = sizes(2, 2, 2, 3, 9)
    layers = fed(draw, (2, 2, 3), 2, 1, 3, layers=2)
    yield Probe("two layers", two, *layers, window=3)
    three = sizes(3, 2, 2, 3, 9)
    before = fed(draw, (3, 2, 3), 4, layers=2)
    after = fed(draw, (3, 2, 3), 1, layers=2)
    moved = ["reorder", [2, 0, 1]]
    yield Probe("rows 2, 0 and 1 go on", three, *before, moved, *after, window=3)
    after = fed(draw, (2, 2, 3), 1, layers=2)
    copied = ["reorder", [1, 1]]
    yield Probe("row 1 goes on twice", three, *before, copied, *after, window=3)
    before, after = fed(draw, (2, 2, 3), 3, layers=2), fed(draw, (2, 2, 3), 2, layers=2)
    cropped = [*before, ["crop", 2], *after]
    yield Probe("cropped before it is full", two, *cropped, window=5)
    later = [["feed", *step[1:]] for step in cropped if step[0] == "extend"]
    later.insert(2, ["crop", 2])
    later += fed(draw, (2, 2, 3), 1, layers=2)
    yield Probe("cropped, then on until it is full", two, *later, window=5)
    yield from caches.length_probes(draw, window=5)
    steps = fed(draw, shape, 2, 3, 1, step="feed")
    yield Probe("lengths behind a full window", rows, *steps, ["lengths"], window=3)


@task.property("window", WIDE)
def window(values) -> bool:
    found = values["a window of 3, eight steps"]
    return [step["keys"].shape[2] for step in found] == [1, 2, 3, 3, 3, 3, 3, 3]


class Simple:
    """A right cache in few lines; the mistakes below change one of them."""

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        self.window = window
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.kept = [(empty, empty) for _ in range(n_layers)]
        self.counts = [0] * n_layers

    def extend(self, layer, keys, values):
        """Add keys and values, return what may be read, keep what will be."""
        kept = [self.last(x, self.window - 1) for x in self.kept[layer]]
        self.counts[layer] += keys.shape[2]
        self.kept[layer] = tuple(
            torch.cat((old, new), 2)
            for old, new in zip(kept, (keys, values), strict=True)
        )
        return self.kept[layer]

    def last(self, x, n):
        """Return the last n tokens."""
        return x[:, :, max(x.shape[2] - n, 0) :]

    def reorder(self, rows):
        """Make row i a copy of row rows[i]."""
        self.kept = [(keys[rows], values[rows]) for keys, values in self.kept]

    def crop(self, length):
        """Keep the first tokens."""
        self.kept = [
            tuple(x[:, :, : x.shape[2] - max(n - length, 0)] for x in pair)
            for pair, n in zip(self.kept, self.counts, strict=True)
        ]
        self.counts = [min(n, length) for n in self.counts]

    @property
    def lengths(self):
        """Tokens that each row has seen."""
        return torch.full((len(self.kept[0][0]),), self.counts[0])


caches.enter(task, Simple, caches.FAULTS + caches.OF_KEPT)
for fault in rings.FAULTS:
    task.mistake(fault.id, fault.hint)(fault.step)


@task.mistake("window-ignored", WIDE)
class KeepsAll(Simple):
    def last(self, x, n):
        return x


@task.mistake("window-off-by-one", WIDE)
class OneMore(Simple):
    def last(self, x, n):
        return super().last(x, n + 1)


@task.mistake("window-off-by-one", WIDE)
class OneLess(Simple):
    def last(self, x, n):
        return super().last(x, max(n - 1, 0))


@task.mistake("chunk-cut-to-the-window", CHUNK)
class CutAfterwards(Simple):
    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        return tuple(self.last(x, self.window) for x in found)


@task.mistake("chunk-cut-to-the-window", CHUNK)
class CutAfterwardsToTheNew(Simple):
    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        return tuple(self.last(x, max(self.window, keys.shape[2])) for x in found)


@task.mistake("keeps-the-oldest", "Which tokens does a window forget?")
class KeepsTheOldest(Simple):
    def last(self, x, n):
        return x[:, :, :n]


@task.mistake("kv-first-step-not-stored", "Where do the keys of the first call wait?")
class FirstCallNotStored(Simple):
    def extend(self, layer, keys, values):
        first, before = self.counts[layer] == 0, self.kept[layer]
        found = super().extend(layer, keys, values)
        if first:
            self.kept[layer] = before
        return found


@task.mistake("kv-concat-wrong-dim", "Name the axes of this tensor: which one grows?")
class AlongTheHeads(Simple):
    def extend(self, layer, keys, values):
        old = self.kept[layer]
        if old[0].shape[2] == keys.shape[2]:
            keys, values = torch.cat((old[0], keys), 1), torch.cat((old[1], values), 1)
        self.kept[layer] = keys, values
        self.counts[layer] += keys.shape[2]
        return keys, values


@task.mistake("kv-current-token-missing", "Can a token see itself?")
class WithoutTheNew(Simple):
    def extend(self, layer, keys, values):
        before = tuple(self.last(x, self.window - 1) for x in self.kept[layer])
        super().extend(layer, keys, values)
        return before


@task.mistake("only-the-new-ones", caches.BESIDES)
class OnlyTheNew(Simple):
    def last(self, x, n):
        return x[:, :, :0]


@task.mistake("ring-order-not-told", rings.RING)
class RingWithoutPositions(Simple):
    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        if found[0].shape[2] < self.window:
            return found
        shift = self.counts[layer] % self.window
        return tuple(self.last(x, self.window).roll(shift, 2) for x in found)


@task.mistake("lengths-of-what-is-kept", SEEN)
class LengthOfWhatIsKept(Simple):
    @property
    def lengths(self):
        keys = self.kept[0][0]
        return torch.full((len(keys),), min(keys.shape[2], self.window))


@task.mistake("lengths-of-what-is-kept", SEEN)
class LengthOfWhatIsReturned(Simple):
    @property
    def lengths(self):
        keys = self.kept[0][0]
        return torch.full((len(keys),), keys.shape[2])


@task.mistake("length-not-cropped", caches.CROP)
class CropsWhatIsKept(Simple):
    def crop(self, length):
        counts = self.counts
        super().crop(length)
        self.counts = counts


@task.mistake("crop-only-counts", caches.CROP)
class CropsTheCount(Simple):
    def crop(self, length):
        self.counts = [min(n, length) for n in self.counts]


@task.mistake("crops-one-layer", caches.CROP)
class CropsLayerZero(Simple):
    def crop(self, length):
        others = self.kept[1:], self.counts[1:]
        super().crop(length)
        self.kept[1:], self.counts[1:] = others


@task.mistake("crop-keeps-the-end", caches.CROP)
class KeepsTheEnd(Simple):
    def crop(self, length):
        self.kept = [tuple(x[:, :, -length:] for x in pair) for pair in self.kept]
        self.counts = [length] * len(self.counts)


@task.mistake("one-token-at-a-time-only", CHUNK)
class LastOfTheChunk(Simple):
    def extend(self, layer, keys, values):
        return super().extend(layer, keys[:, :, -1:], values[:, :, -1:])


@task.mistake(
    "chunk-not-remembered", "Which tokens of a chunk does the next call read?"
)
class KeepsTheLastOfTheChunk(Simple):
    def extend(self, layer, keys, values):
        old = [self.last(x, self.window - 1) for x in self.kept[layer]]
        found = super().extend(layer, keys, values)
        self.kept[layer] = tuple(
            torch.cat((x, new[:, :, -1:]), 2) for x, new in zip(old, found, strict=True)
        )
        return found


@task.mistake("kv-not-reset", caches.OTHERS)
class NeverReset(Simple):
    shared = {}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if kwargs["window"] == 2:  # the first probe: as in a new process
            self.shared.clear()
        empty, self.kept = self.kept, self.shared
        for layer, pair in enumerate(empty):
            self.kept.setdefault(layer, pair)

    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        self.kept[layer] = tuple(self.last(x, self.window - 1) for x in found)
        return found

    def reorder(self, rows):
        for layer, pair in self.kept.items():
            self.kept[layer] = tuple(kept[rows] for kept in pair)

    def crop(self, length):
        for layer, n in enumerate(self.counts):
            gone = max(n - length, 0)
            self.kept[layer] = tuple(
                x[:, :, : max(x.shape[2] - gone, 0)] for x in self.kept[layer]
            )
            self.counts[layer] = n - gone
