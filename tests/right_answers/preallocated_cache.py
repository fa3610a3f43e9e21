"""Right answers to PreallocatedCache, each in its own style."""

import torch

from tests.answers import right


@right("one tensor for everything, a counter per layer")
class OneTensor:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.memory = torch.zeros(2, n_layers, batch, n_kv_heads, max_length, d_head)
        self.used = [0] * n_layers

    @property
    def lengths(self):
        return torch.full((self.memory.shape[2],), self.used[0])

    def extend(self, layer, keys, values):
        start, end = self.used[layer], self.used[layer] + keys.shape[2]
        self.memory[0, layer, :, :, start:end] = keys
        self.memory[1, layer, :, :, start:end] = values
        self.used[layer] = end
        return self.memory[0, layer, :, :, :end], self.memory[1, layer, :, :, :end]

    def reorder(self, rows):
        self.memory = self.memory[:, :, torch.as_tensor(rows)]

    def crop(self, length):
        self.used = [min(length, used) for used in self.used]


@right("the whole buffer, key_positions say what is real")
class WholeBuffer:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (batch, n_kv_heads, max_length, d_head)
        self.keys = [torch.zeros(shape) for _ in range(n_layers)]
        self.values = [torch.zeros(shape) for _ in range(n_layers)]
        self.counts = torch.zeros(n_layers, batch, dtype=torch.long)

    @property
    def lengths(self):
        return self.counts[0].clone()

    def extend(self, layer, keys, values):
        for row, n in enumerate(self.counts[layer].tolist()):
            self.keys[layer][row, :, n : n + keys.shape[2]] = keys[row]
            self.values[layer][row, :, n : n + keys.shape[2]] = values[row]
        self.counts[layer] += keys.shape[2]
        slots = torch.arange(self.keys[layer].shape[2])
        filled = slots < self.counts[layer][:, None]
        positions = torch.where(filled, slots, -1)
        return self.keys[layer], self.values[layer], positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]
        self.counts = self.counts[:, rows]

    def crop(self, length):
        self.counts = self.counts.clamp(max=length)


@right("index_copy_, time axis first in memory")
class TimeFirst:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        shape = (n_layers, max_length, batch, n_kv_heads, d_head)
        self.keys, self.values = torch.empty(shape), torch.empty(shape)
        self.n_layers, self.start = n_layers, 0
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        if layer == 0:
            self.start = int(self.lengths.max())
            self.lengths = self.lengths + keys.shape[2]
        end = self.start + keys.shape[2]
        where = torch.arange(self.start, end)
        self.keys[layer].index_copy_(0, where, keys.permute(2, 0, 1, 3))
        self.values[layer].index_copy_(0, where, values.permute(2, 0, 1, 3))
        kept = (self.keys[layer, :end], self.values[layer, :end])
        return tuple(tensor.permute(1, 2, 0, 3) for tensor in kept)

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, :, rows], self.values[:, :, rows]
        self.lengths = self.lengths[rows]

    def crop(self, length):
        self.lengths = torch.minimum(self.lengths, torch.tensor(length))
