"""Right answers to SlidingWindowCache, each in its own style."""

import torch

from tests.answers import right


@right("the last window - 1 tokens, cut after each call")
class LastOnes:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        self.kept = [torch.zeros(2, batch, n_kv_heads, 0, d_head)] * n_layers
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - (self.window - 1))
        self.kept[layer] = both[:, :, :, first:]
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@right("everything kept, the end returned with its positions")
class KeepsAll:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys, self.values = [empty] * n_layers, [empty] * n_layers
        self.window = window

    @property
    def lengths(self):
        return torch.tensor([self.keys[0].shape[2]] * self.keys[0].shape[0])

    def extend(self, layer, keys, values):
        before = self.keys[layer].shape[2]
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        positions = torch.arange(self.keys[layer].shape[2])
        read = positions > before - self.window
        return (
            self.keys[layer][:, :, read],
            self.values[layer][:, :, read],
            positions[read],
        )

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@right("a ring of window slots, keys in the order of slots")
class Ring:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        self.ring = torch.zeros(n_layers, 2, batch, n_kv_heads, window, d_head)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.ring.shape[2],), self.counts[0])

    def extend(self, layer, keys, values):
        start = self.counts[layer]
        new = torch.arange(start, start + keys.shape[2])
        old = self.at[layer].masked_fill(self.at[layer] <= start - self.window, -1)
        both = torch.stack([keys, values])
        returned = torch.cat([self.ring[layer], both], dim=-2)
        for i, position in enumerate(new.tolist()):
            self.ring[layer, :, :, :, position % self.window] = both[..., i, :]
            self.at[layer, position % self.window] = position
        self.counts[layer] += len(new)
        return returned[0], returned[1], torch.cat([old, new])

    def reorder(self, rows):
        self.ring = self.ring[:, :, torch.as_tensor(rows)]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]
