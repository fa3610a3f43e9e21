"""Wrong answers to SlidingWindowCache, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("window-off-by-one")
class OneTooMany:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - self.window)
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


@wrong("window-off-by-one")
class OneTooFew:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - max(self.window - 2, 0))
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


@wrong("window-off-by-one")
class QueryCountedTwice:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window + 1, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("window-ignored")
class KeepsAll:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        self.kept[layer] = both
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("window-ignored")
class MaxLengthIsTheWindow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, max_length

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


@wrong("window-cuts-the-chunk")
class CutBeforeReturning:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - (self.window - 1))
        self.kept[layer] = both[:, :, :, first:]
        both = both[:, :, :, -self.window :]
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("window-cuts-the-chunk")
class WritesFirstThenReads:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return self.keys[layer], self.values[layer], self.at[layer].clone()

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("chunk-not-remembered")
class LastTokenOnlyKept:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        kept = torch.cat([self.kept[layer], both[:, :, :, -1:]], dim=3)
        n = self.window - 1
        self.kept[layer] = kept[:, :, :, max(0, kept.shape[3] - n) :]
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("oldest-kept")
class FirstOnesOfTheRow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        self.kept[layer] = both[:, :, :, : self.window - 1]
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("oldest-kept")
class FullRingIsFrozen:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = min(start + i, self.window - 1)
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("window-one-keeps-all")
class MinusZeroSlice:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        self.kept[layer] = both[:, :, :, -(self.window - 1) :]
        return both[0], both[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("static-cache-zeros-attended")
class EmptySlotsReturned:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("static-cache-zeros-attended")
class EmptySlotsAtZero:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.zeros(n_layers, window, dtype=torch.long)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("ring-positions-are-slots")
class SlotsAsPositions:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        n_old = len(old)
        positions = torch.arange(n_old + n)
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("ring-positions-are-slots")
class PositionsModuloWindow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n) % self.window])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("kv-current-token-missing")
class ReturnsWhatWasBefore:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - (self.window - 1))
        self.kept[layer] = both[:, :, :, first:]
        n = both.shape[3] - keys.shape[2]
        return both[0, :, :, :n], both[1, :, :, :n]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("kv-current-token-missing")
class RingBeforeWriting:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.full((n,), -1)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("kv-first-step-not-stored")
class EmptyStaysEmpty:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - (self.window - 1))
        if self.counts[layer] > keys.shape[2]:
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


@wrong("kv-concat-wrong-dim")
class HeadsGrow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both, old = torch.stack([keys, values]), self.kept[layer]
        if old.shape[3] == both.shape[3]:
            both = torch.cat([old, both], dim=2)
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


@wrong("layers-share-memory")
class LayerZeroForAll:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[0], keys], dim=2)
        all_values = torch.cat([self.values[0], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[0, :, :, slot] = keys[:, :, i]
            self.values[0, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("keys-and-values-swapped")
class ValuesFirst:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - (self.window - 1))
        self.kept[layer] = both[:, :, :, first:]
        return both[1], both[0]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("beam-cache-not-reordered")
class ReorderDoesNothing:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
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
        return rows

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("beam-cache-not-reordered")
class ResultDropped:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys.index_select(1, rows)
        self.values.index_select(1, rows)

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("reorder-forgets-values")
class OnlyKeysReordered:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows.sort()[0]]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("reorder-overwrites-source")
class CopiesRowByRow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        for tensor in (self.keys, self.values):
            for row, source in enumerate(rows.tolist()[: tensor.shape[1]]):
                tensor[:, row] = tensor[:, source]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("reorder-inverted")
class SendsInsteadOfFetching:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
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
        self.kept = [kept[:, torch.as_tensor(rows).argsort()] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("lengths-stop-at-window")
class LengthOfWhatIsKept:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), min(self.counts[0], self.window))

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


@wrong("lengths-counted-per-layer")
class EveryLayerCounts:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), sum(self.counts))

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts = [min(length, count) for count in self.counts]


@wrong("crop-forgets-count")
class TensorsOnly:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
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


@wrong("crop-forgets-layers")
class FirstLayerCropped:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.at[self.at >= length] = -1
        self.counts[0] = min(length, self.counts[0])


@wrong("crop-keeps-ring-positions")
class OldPositionsStay:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        shape = (n_layers, batch, n_kv_heads, window, d_head)
        self.keys, self.values = torch.zeros(shape), torch.zeros(shape)
        self.at = torch.full((n_layers, window), -1)
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.keys.shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        start, n = self.counts[layer], keys.shape[2]
        all_keys = torch.cat([self.keys[layer], keys], dim=2)
        all_values = torch.cat([self.values[layer], values], dim=2)
        old = torch.where(self.at[layer] > start - self.window, self.at[layer], -1)
        positions = torch.cat([old, torch.arange(start, start + n)])
        for i in range(n):
            slot = (start + i) % self.window
            self.keys[layer, :, :, slot] = keys[:, :, i]
            self.values[layer, :, :, slot] = values[:, :, i]
            self.at[layer, slot] = start + i
        self.counts[layer] = start + n
        return all_keys, all_values, positions

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]

    def crop(self, length):
        self.counts = [min(length, count) for count in self.counts]


@wrong("kv-not-reset")
class SharedByAllCaches:
    kept = {}

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        for layer in range(n_layers):
            self.kept.setdefault(layer, empty)
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
        for layer, kept in self.kept.items():
            self.kept[layer] = kept[:, torch.as_tensor(rows)]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("window-off-by-one", "beam-cache-not-reordered")
class OneTooManyInOrder:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        first = max(0, both.shape[3] - self.window)
        self.kept[layer] = both[:, :, :, first:]
        return both[0], both[1]

    def reorder(self, rows):
        return rows

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop


@wrong("window-ignored", "kv-current-token-missing")
class AllTheOldOnes:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        empty = torch.zeros(2, batch, n_kv_heads, 0, d_head)
        self.kept = [empty for _ in range(n_layers)]
        self.counts, self.window = [0] * n_layers, window

    @property
    def lengths(self):
        return torch.full((self.kept[0].shape[1],), self.counts[0])

    def extend(self, layer, keys, values):
        both = torch.cat([self.kept[layer], torch.stack([keys, values])], dim=3)
        self.counts[layer] += keys.shape[2]
        old, self.kept[layer] = self.kept[layer], both
        return old[0], old[1]

    def reorder(self, rows):
        self.kept = [kept[:, torch.as_tensor(rows)] for kept in self.kept]

    def crop(self, length):
        for layer, count in enumerate(self.counts):
            drop = max(0, count - length)
            left = max(0, self.kept[layer].shape[3] - drop)
            self.kept[layer] = self.kept[layer][:, :, :, :left]
            self.counts[layer] = count - drop
