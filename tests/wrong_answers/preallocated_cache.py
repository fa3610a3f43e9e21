"""Wrong answers to PreallocatedCache, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("static-cache-zeros-attended")
class WholeBuffer:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("static-cache-zeros-attended")
class EmptySlotsHavePositions:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape) for _ in range(n_layers)]
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = slots
        return self.memory[layer][0], self.memory[layer][1], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.memory = [memory[:, rows] for memory in self.memory]
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("static-cache-zeros-attended")
class WholeBufferAfterPrefill:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        if keys.shape[2] > 1:
            end = self.keys.shape[3]
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("kv-concat-wrong-dim")
class WrittenAlongFeatures:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, d_head, max_length)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, :, start:end] = keys.transpose(2, 3)
        self.values[layer, :, :, :, start:end] = values.transpose(2, 3)
        self.used[layer] = end
        return self.keys[layer, ..., :end], self.values[layer, ..., :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("kv-concat-wrong-dim")
class HeadsAndTimeSwapped:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, max_length, n_kv_heads, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, start:end] = keys.transpose(1, 2)
        self.values[layer, :, start:end] = values.transpose(1, 2)
        self.used[layer] = end
        return self.keys[layer, :, :end], self.values[layer, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("kv-current-token-missing")
class ReturnsUpToStart:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :start], self.values[layer, :, :, :start]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("kv-current-token-missing")
class CountsAfterReturning:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape) for _ in range(n_layers)]
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = torch.where(slots < self.start, slots, -1)
        return self.memory[layer][0], self.memory[layer][1], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.memory = [memory[:, rows] for memory in self.memory]
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("kv-first-step-not-stored")
class FirstCallPassesThrough:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        if start == 0:
            self.used[layer] = end
            return keys, values
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("writes-always-at-start")
class OverwritesFromZero:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        n = keys.shape[2]
        self.keys[layer, :, :, :n] = keys
        self.values[layer, :, :, :n] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("writes-always-at-start")
class PointerNeverMoves:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used, self.count = [0] * n_layers, 0

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.count)

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.count = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("pointer-moves-once-per-layer")
class OnePointer:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = 0

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used)

    def extend(self, layer, keys, values):
        start = self.used
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = min(length, self.used)


@wrong("pointer-moves-by-one")
class OneTokenPerCall:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = start + 1
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("off-by-one-slot")
class SlotZeroLeftFree:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer] + 1 if self.used[layer] else 0
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("off-by-one-slot")
class LastOneNotReturned:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, : end - 1], self.values[layer, :, :, : end - 1]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("layers-share-memory")
class SameTensorNTimes:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape)] * n_layers
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = torch.where(slots < end, slots, -1)
        return self.memory[layer][0], self.memory[layer][1], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.memory = [memory[:, rows] for memory in self.memory]
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("layers-share-memory")
class LayerIndexForgotten:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[0, :, :, start:end] = keys
        self.values[0, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[0, :, :, :end], self.values[0, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("values-from-keys")
class OneBufferForBoth:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = self.keys
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("keys-and-values-swapped")
class ValuesFirst:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape) for _ in range(n_layers)]
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = torch.where(slots < end, slots, -1)
        return self.memory[layer][1], self.memory[layer][0], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.memory = [memory[:, rows] for memory in self.memory]
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("beam-cache-not-reordered")
class ReorderDoesNothing:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        return rows

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("beam-cache-not-reordered")
class OnlyLengthsReordered:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape) for _ in range(n_layers)]
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = torch.where(slots < end, slots, -1)
        return self.memory[layer][0], self.memory[layer][1], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("reorder-forgets-values")
class OnlyKeysReordered:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, torch.arange(len(rows)) % self.values.shape[1]]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("reorder-overwrites-source")
class CopiesRowByRow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        batch = self.keys.shape[1]
        for row, source in enumerate(rows.tolist()[:batch]):
            self.keys[:, row] = self.keys[:, source]
            self.values[:, row] = self.values[:, source]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("reorder-keeps-batch-size")
class NumberOfRowsFixed:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys[:, : len(rows)] = self.keys[:, rows[: self.keys.shape[1]]]
        self.values[:, : len(rows)] = self.values[:, rows[: self.keys.shape[1]]]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("reorder-inverted")
class SendsInsteadOfFetching:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows).argsort()
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("reorder-wrong-axis")
class ReordersHeads:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, :, rows]
        self.values = self.values[:, :, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("crop-forgets-layers")
class FirstLayerCropped:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used[0] = min(length, self.used[0])


@wrong("crop-only-clears")
class ZeroesButKeepsCount:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.keys[:, :, :, length:] = 0
        self.values[:, :, :, length:] = 0


@wrong("crop-lengthens")
class SetsTheLength:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [length for _ in self.used]


@wrong("crop-removes-length")
class DropsThatMany:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [max(used - length, 0) for used in self.used]


@wrong("crop-keeps-the-end")
class MovesTheEndToTheFront:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        for tensor in (self.keys, self.values):
            end = self.used[0]
            kept = tensor[:, :, :, max(end - length, 0) : end].clone()
            tensor[:, :, :, : kept.shape[3]] = kept
        self.used = [min(length, used) for used in self.used]


@wrong("lengths-counted-per-layer")
class EveryLayerCounts:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), sum(self.used))

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("lengths-are-max-length")
class SizeOfTheBuffer:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.keys.shape[3])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("lengths-not-reordered")
class OldNumberOfRows:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (2, batch, n_kv_heads, max_length, d_head)
        self.memory = [torch.zeros(shape) for _ in range(n_layers)]
        self.lengths = torch.zeros(batch, dtype=torch.long)
        self.start = 0

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths[0])
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        self.memory[layer][0, :, :, self.start : end] = keys
        self.memory[layer][1, :, :, self.start : end] = values
        slots = torch.arange(self.memory[layer].shape[3])
        positions = torch.where(slots < end, slots, -1)
        return self.memory[layer][0], self.memory[layer][1], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.memory = [memory[:, rows] for memory in self.memory]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("kv-not-reset")
class SharedByAllCaches:
    used = [0] * 64

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("max-length-one-too-short")
class RingAtTheEnd:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        most = self.keys.shape[3] - 1
        start = self.used[layer]
        end = min(start + keys.shape[2], most)
        keys, values = keys[:, :, : end - start], values[:, :, : end - start]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer, :, :, :end], self.values[layer, :, :, :end]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@wrong("static-cache-zeros-attended", "crop-forgets-layers")
class WholeBufferHalfCropped:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[layer, :, :, start:end] = keys
        self.values[layer, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = self.keys[:, rows]
        self.values = self.values[:, rows]

    def crop(self, length):
        self.used[0] = min(length, self.used[0])


@wrong("layers-share-memory", "beam-cache-not-reordered")
class SharedAndInOrder:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, batch, n_kv_heads, max_length, d_head)
        self.keys = torch.zeros(shape)
        self.values = torch.zeros(shape)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.used[0])

    def extend(self, layer, keys, values):
        start = self.used[layer]
        end = start + keys.shape[2]
        self.keys[0, :, :, start:end] = keys
        self.values[0, :, :, start:end] = values
        self.used[layer] = end
        return self.keys[0, :, :, :end], self.values[0, :, :, :end]

    def reorder(self, rows):
        return rows

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]
