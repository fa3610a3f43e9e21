"""What goes wrong in PreallocatedCache."""

import torch

from course_lib.feedback.adapters.caches import use_cache
from course_lib.feedback.families import caches
from course_lib.feedback.task import Draw, Task
from course_lib.kv_cache import PreallocatedCache

task = Task(
    "PreallocatedCache",
    asks="memory for max_length set aside once; extend writes in place and gives only "
    "what is real, or tells by key_positions what is empty (-1).",
    lesson="10_kv_cache",
    reference=PreallocatedCache,
    use=use_cache,
    read="5. Preallocate",
)

EMPTY = "What weight does softmax give to an empty slot?"
SLOT = "The cache holds three tokens: in which slot goes the next?"
CHUNK = "How many slots does a chunk of three tokens fill?"


@task.inputs
def probes(draw: Draw):
    yield from caches.cache_probes(draw)


task.property("one-more-token-one-more-key", EMPTY)(caches.grows)
task.property("past-keys-stay", "Does an old key change when a new one comes?")(
    caches.past_stays
)


class Simple:
    """A right cache in few lines; the mistakes below change one of them."""

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = n_layers, batch, n_kv_heads, max_length, d_head
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.counts = [0] * n_layers

    def extend(self, layer, keys, values):
        """Write new tokens behind the old ones, return all that is real."""
        start, n = self.counts[layer], keys.shape[2]
        self.write(layer, start, keys, values)
        self.counts[layer] = start + n
        return self.read(layer, start + n)

    def write(self, layer, start, keys, values):
        """Write new tokens in place."""
        end = start + keys.shape[2]
        self.keys[layer][:, :, start:end] = keys
        self.values[layer][:, :, start:end] = values

    def read(self, layer, end):
        """Return the first slots."""
        return self.keys[layer][:, :, :end], self.values[layer][:, :, :end]

    def reorder(self, rows):
        """Make row i a copy of row rows[i]."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        """Keep the first tokens."""
        self.counts = [min(count, length) for count in self.counts]

    @property
    def lengths(self):
        """Tokens of each row."""
        return torch.full((self.keys.shape[1],), self.counts[0])


caches.enter(task, Simple, caches.FAULTS + caches.OF_ALL_TOKENS)


@task.mistake("static-cache-zeros-attended", EMPTY)
class ReadsAll(Simple):
    def read(self, layer, end):
        return self.keys[layer], self.values[layer]


@task.mistake("static-cache-zeros-attended", EMPTY)
class ReadsAllAfterAChunk(Simple):
    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        return found if keys.shape[2] == 1 else (self.keys[layer], self.values[layer])


@task.mistake("kv-first-step-not-stored", "Where do the keys of the first call go?")
class FirstPassNotStored(Simple):
    def extend(self, layer, keys, values):
        if self.counts[layer]:
            return super().extend(layer, keys, values)
        self.counts[layer] = keys.shape[2]
        return keys, values


@task.mistake(
    "axes-in-another-order", "Name the axes of what you return: in which order?"
)
class TokensBeforeHeads(Simple):
    def read(self, layer, end):
        return tuple(x.transpose(1, 2) for x in super().read(layer, end))


@task.mistake(
    "axes-in-another-order", "Name the axes of what you return: in which order?"
)
class WidthBeforeTokens(Simple):
    def read(self, layer, end):
        return tuple(x.transpose(2, 3) for x in super().read(layer, end))


@task.mistake("kv-current-token-missing", "Can a token see itself?")
class ReadsBeforeItWrites(Simple):
    def extend(self, layer, keys, values):
        start = self.counts[layer]
        super().extend(layer, keys, values)
        return self.read(layer, start)


@task.mistake("count-not-advanced", SLOT)
class WritesOverTheFirst(Simple):
    def extend(self, layer, keys, values):
        self.write(layer, 0, keys, values)
        return self.read(layer, keys.shape[2])


@task.mistake("count-not-advanced", SLOT)
class WritesOverTheFirstReadsOn(Simple):
    def write(self, layer, start, keys, values):
        super().write(layer, 0, keys, values)


@task.mistake("writes-one-slot", CHUNK)
class CountsCallsReadsTheChunk(Simple):
    def extend(self, layer, keys, values):
        start = self.counts[layer]
        found = super().extend(layer, keys, values)
        self.counts[layer] = start + 1
        return found


@task.mistake("writes-one-slot", CHUNK)
class CountsCalls(Simple):
    def extend(self, layer, keys, values):
        start = self.counts[layer]
        self.write(layer, start, keys, values)
        self.counts[layer] = start + 1
        return self.read(layer, start + 1)


@task.mistake("writes-one-slot", CHUNK)
class WritesTheLast(Simple):
    def extend(self, layer, keys, values):
        return super().extend(layer, keys[:, :, -1:], values[:, :, -1:])


@task.mistake("writes-one-slot", CHUNK)
class WritesTheFirst(Simple):
    def extend(self, layer, keys, values):
        return super().extend(layer, keys[:, :, :1], values[:, :, :1])


@task.mistake("writes-one-slot", CHUNK)
class RepeatsTheLast(Simple):
    def write(self, layer, start, keys, values):
        last = keys[:, :, -1:].expand_as(keys), values[:, :, -1:].expand_as(values)
        super().write(layer, start, *last)


@task.mistake("slot-off-by-one", SLOT)
class OneSlotLate(Simple):
    def write(self, layer, start, keys, values):
        super().write(layer, start + 1, keys, values)


@task.mistake("slot-off-by-one", SLOT)
class OneSlotEarly(Simple):
    def write(self, layer, start, keys, values):
        super().write(layer, max(start - 1, 0), keys, values)


@task.mistake("slot-off-by-one", SLOT)
class LeavesASlotFree(Simple):
    def extend(self, layer, keys, values):
        self.counts[layer] += self.counts[layer] > 0
        return super().extend(layer, keys, values)


@task.mistake("reads-one-too-few", "How many tokens are real after this call?")
class OneTooFew(Simple):
    def read(self, layer, end):
        return super().read(layer, end - 1)


@task.mistake("reads-one-too-many", EMPTY)
class OneTooMany(Simple):
    def read(self, layer, end):
        return super().read(layer, end + 1)


@task.mistake("count-shared-by-layers", caches.COUNT)
class OneCount(Simple):
    def extend(self, layer, keys, values):
        found = super().extend(layer, keys, values)
        self.counts = [self.counts[layer]] * len(self.counts)
        return found


@task.mistake("layers-share-one-store", caches.LAYERS)
class OneStore(Simple):
    def write(self, layer, start, keys, values):
        super().write(0, start, keys, values)

    def read(self, layer, end):
        return super().read(0, end)


@task.mistake("one-memory-for-both", "In how many memories lie keys and values?")
class OneMemory(Simple):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.values = self.keys


@task.mistake("reorders-in-place", caches.COPY)
class OverItself(Simple):
    def reorder(self, rows):
        for new, old in enumerate(rows):
            self.keys[:, new], self.values[:, new] = (
                self.keys[:, old],
                self.values[:, old],
            )
        self.keys, self.values = self.keys[:, : len(rows)], self.values[:, : len(rows)]


@task.mistake("reorders-in-place", caches.COPY)
class OverItselfNotCut(Simple):
    def reorder(self, rows):
        for memory in (self.keys, self.values):
            for new, old in enumerate(rows):
                memory[:, new] = memory[:, old]


@task.mistake(
    "rows-not-cut", "Three rows are kept, two go on: how many has the memory?"
)
class KeepsTheNumberOfRows(Simple):
    def reorder(self, rows):
        n = len(rows)
        self.keys[:, :n], self.values[:, :n] = self.keys[:, rows], self.values[:, rows]


@task.mistake("reorders-heads", "Which axis of the memory counts the rows?")
class ReordersHeads(Simple):
    def reorder(self, rows):
        self.keys, self.values = self.keys[:, :, rows], self.values[:, :, rows]


@task.mistake("reorders-keys-only", caches.BEAMS, caches.BEAMS_HEADING)
class ReordersKeys(Simple):
    def reorder(self, rows):
        self.keys, self.values = self.keys[:, rows], self.values[:, : len(rows)]


@task.mistake("crop-erases-but-does-not-count", caches.CROP)
class ErasesOnly(Simple):
    def crop(self, length):
        self.keys[:, :, :, length:] = 0
        self.values[:, :, :, length:] = 0


@task.mistake("crop-keeps-the-end", caches.CROP)
class MovesTheEnd(Simple):
    def crop(self, length):
        first = max(self.counts[0] - length, 0)
        self.keys, self.values = (x.roll(-first, 3) for x in (self.keys, self.values))
        super().crop(length)


@task.mistake("crop-lengthens", "What is left of three tokens after crop(5)?")
class SetsTheCount(Simple):
    def crop(self, length):
        self.counts = [length] * len(self.counts)


@task.mistake("crops-one-layer", caches.CROP)
class CropsLayerZero(Simple):
    def crop(self, length):
        self.counts[0] = min(self.counts[0], length)


@task.mistake(
    "length-is-max-length", "How many tokens has the row, how many could it have?"
)
class LengthOfTheMemory(Simple):
    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.keys.shape[3])


@task.mistake("kv-not-reset", caches.OTHERS)
class NotReset(Simple):
    shared = {}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if kwargs["max_length"] == 5:  # the first probe: as in a new process
            self.shared.clear()
        self.counts = self.shared.setdefault(tuple(kwargs.values()), self.counts)


@task.mistake("kv-not-reset", caches.OTHERS)
class NeverReset(Simple):
    shared = [0, 0]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        if kwargs["max_length"] == 5:
            self.shared[:] = 0, 0
        self.counts = self.shared
