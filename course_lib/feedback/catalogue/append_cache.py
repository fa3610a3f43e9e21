"""What goes wrong in AppendCache."""

import torch

from course_lib.feedback.adapters.caches import use_cache
from course_lib.feedback.families import caches
from course_lib.feedback.task import Draw, Task
from course_lib.kv_cache import AppendCache

task = Task(
    "AppendCache",
    asks="extend gives all keys and values of a layer so far, the new ones last; reorder, "
    "crop and lengths keep every layer and row in step.",
    lesson="10_kv_cache",
    reference=AppendCache,
    use=use_cache,
    read="3. Append",
)

GROWS = "Name the axes of this tensor: which one grows?"
ITSELF = "Can a token see itself?"
FIRST = "On the very first call, who creates the cache?"


@task.inputs
def probes(draw: Draw):
    yield from caches.cache_probes(draw)


task.property("one-more-token-one-more-key", GROWS)(caches.grows)
task.property("past-keys-stay", "Does an old key change when a new one comes?")(
    caches.past_stays
)


class Simple:
    """A right cache in few lines; the mistakes below change one of them."""

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.batch, self.n_layers, self.max_length = batch, n_layers, max_length
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.kept = [(empty, empty) for _ in range(n_layers)]

    def extend(self, layer, keys, values):
        """Add keys and values, return all."""
        old_keys, old_values = self.kept[layer]
        self.kept[layer] = self.join(old_keys, keys), self.join(old_values, values)
        return self.kept[layer]

    def join(self, old, new):
        """Put new tokens behind old ones."""
        return torch.cat((old, new), 2)

    def reorder(self, rows):
        """Make row i a copy of row rows[i]."""
        self.kept = [(keys[rows], values[rows]) for keys, values in self.kept]

    def crop(self, length):
        """Keep the first tokens."""
        self.kept = [
            (keys[:, :, :length], values[:, :, :length]) for keys, values in self.kept
        ]

    @property
    def lengths(self):
        """Tokens of each row."""
        keys = self.kept[0][0]
        return torch.full((len(keys),), keys.shape[2])


caches.enter(task, Simple, caches.FAULTS + caches.OF_ALL_TOKENS + caches.OF_KEPT)


@task.mistake("kv-concat-wrong-dim", GROWS)
class AlongTheHeads(Simple):
    def extend(self, layer, keys, values):
        if self.kept[layer][0].shape[2] == 0:
            self.kept[layer] = keys, values
        else:
            old_keys, old_values = self.kept[layer]
            self.kept[layer] = (
                torch.cat((old_keys, keys), 1),
                torch.cat((old_values, values), 1),
            )
        return self.kept[layer]


@task.mistake("kv-concat-wrong-dim", GROWS)
class AlongTheWidth(Simple):
    def join(self, old, new):
        return new if old.shape[2] == 0 else torch.cat((old, new), -1)


@task.mistake("kv-concat-wrong-dim", GROWS)
class AlongTheBatch(Simple):
    def join(self, old, new):
        return new if old.shape[2] == 0 else torch.cat((old, new))


@task.mistake("kv-current-token-missing", ITSELF)
class ReadsBeforeItAdds(Simple):
    def extend(self, layer, keys, values):
        before = self.kept[layer]
        super().extend(layer, keys, values)
        return before


@task.mistake("kv-current-token-missing", ITSELF)
class ReadsBeforeItAddsButForTheFirst(Simple):
    def extend(self, layer, keys, values):
        before = self.kept[layer]
        after = super().extend(layer, keys, values)
        return before if before[0].shape[2] else after


@task.mistake("kv-first-step-not-stored", FIRST)
class StoresOnlyIfThereIsSomething(Simple):
    def extend(self, layer, keys, values):
        if self.kept[layer][0].shape[2] == 0:
            return keys, values
        return super().extend(layer, keys, values)


@task.mistake("kv-first-step-not-stored", FIRST)
class FirstPassNotStored(Simple):
    def extend(self, layer, keys, values):
        self.started = getattr(self, "started", set())
        if layer in self.started:
            return super().extend(layer, keys, values)
        self.started.add(layer)
        return keys, values


@task.mistake("only-the-new-ones", caches.BESIDES)
class Replaces(Simple):
    def join(self, old, new):
        return new


@task.mistake("result-not-stored", "Where does the longer tensor go?")
class LosesWhatIsNew(Simple):
    def extend(self, layer, keys, values):
        self.first = getattr(self, "first", {})
        old = self.first.setdefault(layer, self.kept[layer])
        if old[0].shape[2] == 0:
            self.first[layer] = self.kept[layer] = keys, values
            return keys, values
        return self.join(old[0], keys), self.join(old[1], values)


@task.mistake("newest-first", "In which order do the keys stand?")
class NewestFirst(Simple):
    def join(self, old, new):
        return torch.cat((new, old), 2)


@task.mistake("values-not-kept", "Are values kept as keys are?")
class KeepsKeysOnly(Simple):
    def extend(self, layer, keys, values):
        return super().extend(layer, keys, values)[0], values


@task.mistake("reorders-in-place", caches.COPY)
class OverItselfThenCut(caches.OverItself, Simple):
    def reorder(self, rows):
        super().reorder(rows)
        self.kept = [tuple(kept[: len(rows)] for kept in pair) for pair in self.kept]


@task.mistake("reorders-heads", "Which axis of the keys counts the rows?")
class ReordersHeads(Simple):
    def reorder(self, rows):
        self.kept = [tuple(kept[:, rows] for kept in pair) for pair in self.kept]


@task.mistake("reorders-one-layer", caches.BEAMS, caches.BEAMS_HEADING)
class CutsTheOtherLayers(Simple):
    def reorder(self, rows):
        first = tuple(kept[rows] for kept in self.kept[0])
        others = [tuple(x[: len(rows)] for x in pair) for pair in self.kept[1:]]
        self.kept = [first, *others]


@task.mistake("reorders-one-layer", caches.BEAMS, caches.BEAMS_HEADING)
class ReordersLayerZero(Simple):
    def reorder(self, rows):
        self.kept[0] = tuple(kept[rows] for kept in self.kept[0])


@task.mistake("crop-keeps-the-end", caches.CROP)
class KeepsTheEnd(Simple):
    def crop(self, length):
        start = self.kept[0][0].shape[2] - length
        self.kept = [
            (keys[:, :, start:], values[:, :, start:]) for keys, values in self.kept
        ]


@task.mistake("crop-keeps-the-end", caches.CROP)
class KeepsTheEndBySlicing(Simple):
    def crop(self, length):  # -0 is the beginning
        self.kept = [tuple(kept[:, :, -length:] for kept in x) for x in self.kept]


@task.mistake("crops-one-layer", caches.CROP)
class CropsLayerZero(Simple):
    def crop(self, length):
        self.kept[0] = tuple(kept[:, :, :length] for kept in self.kept[0])


@task.mistake("crop-along-the-wrong-axis", "Which axis of the keys counts the tokens?")
class CropsHeads(Simple):
    def crop(self, length):
        self.kept = [tuple(kept[:, :length] for kept in pair) for pair in self.kept]


@task.mistake("length-counted-per-layer", caches.COUNT)
class CountsEveryLayer(Simple):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.count = 0

    def extend(self, layer, keys, values):
        self.count += keys.shape[2]
        return super().extend(layer, keys, values)

    def crop(self, length):
        self.count = min(self.count, length)
        super().crop(length)

    @property
    def lengths(self):
        return torch.full((len(self.kept[0][0]),), self.count)


@task.mistake("length-of-the-last-chunk", caches.COUNT)
class LengthOfTheChunk(Simple):
    def extend(self, layer, keys, values):
        self.count = keys.shape[2]
        return super().extend(layer, keys, values)

    @property
    def lengths(self):
        return torch.full((len(self.kept[0][0]),), self.count)


@task.mistake("length-counts-calls", caches.COUNT)
class CountsCalls(Simple):
    count = 0

    def extend(self, layer, keys, values):
        self.count += layer == 0
        return super().extend(layer, keys, values)

    def crop(self, length):
        self.count = min(self.count, length)
        super().crop(length)

    @property
    def lengths(self):
        return torch.full((len(self.kept[0][0]),), self.count)


@task.mistake("length-not-cropped", caches.CROP)
class LengthNotCropped(CountsEveryLayer):
    def extend(self, layer, keys, values):
        self.count += keys.shape[2] * (layer == 0)
        return Simple.extend(self, layer, keys, values)

    def crop(self, length):
        Simple.crop(self, length)


@task.mistake("crop-only-counts", caches.CROP)
class CropsTheCount(LengthNotCropped):
    def crop(self, length):
        self.count = min(self.count, length)


@task.mistake("length-of-one-row", "How many rows has the batch, how many lengths?")
class LengthOfOneRow(Simple):
    @property
    def lengths(self):
        return torch.tensor([self.kept[0][0].shape[2]])


@task.mistake("kv-not-reset", caches.OTHERS)
class NotReset(Simple):
    shared = {}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if kwargs["max_length"] == 5:  # the first probe: as in a new process
            self.shared.clear()
        self.kept = self.shared.setdefault(tuple(kwargs.values()), self.kept)


@task.mistake("kv-not-reset", caches.OTHERS)
class NeverReset(Simple):
    shared = {}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if kwargs["max_length"] == 5:
            self.shared.clear()
        empty, self.kept = self.kept, self.shared
        for layer, pair in enumerate(empty):
            self.kept.setdefault(layer, pair)

    def reorder(self, rows):
        for layer, pair in self.kept.items():
            self.kept[layer] = tuple(kept[rows] for kept in pair)

    def crop(self, length):
        for layer, pair in self.kept.items():
            self.kept[layer] = tuple(kept[:, :, :length] for kept in pair)
