"""Right answers to AppendCache, each in its own style."""

import torch

from tests.answers import right


@right("one pair of tensors per layer, torch.cat")
class TensorPerLayer:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.full((batch,), n)

    def extend(self, layer, keys, values):
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys.index_select(0, rows) for keys in self.keys]
        self.values = [values.index_select(0, rows) for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@right("chunks in lists, joined when read")
class ChunksInLists:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.chunks = {layer: [] for layer in range(n_layers)}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        self.chunks[layer].append(torch.stack([keys, values]).clone())
        if layer == 0:
            self.lengths = self.lengths + keys.shape[2]
        keys, values = torch.cat(self.chunks[layer], dim=3)
        return keys, values, torch.arange(keys.shape[2])

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.lengths = self.lengths[rows]
        for layer, chunks in self.chunks.items():
            self.chunks[layer] = [chunk[:, rows] for chunk in chunks]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer, chunks in self.chunks.items():
            if chunks:
                self.chunks[layer] = [torch.cat(chunks, dim=3)[:, :, :, :length]]


@right("a dict that the first call fills, lengths counted after the last layer")
class LazyDict:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.n_layers, self.kept = n_layers, {}
        self.lengths = torch.zeros(batch, dtype=torch.int64)

    def extend(self, layer, keys, values):
        old = self.kept.get(layer)
        if old is None:
            self.kept[layer] = (keys.clone(), values.clone())
        else:
            self.kept[layer] = (
                torch.cat((old[0], keys), -2),
                torch.cat((old[1], values), -2),
            )
        if layer == self.n_layers - 1:
            self.lengths += keys.shape[-2]
        return self.kept[layer]

    def reorder(self, rows):
        self.kept = {
            layer: (keys[rows], values[rows])
            for layer, (keys, values) in self.kept.items()
        }
        self.lengths = self.lengths[rows]

    def crop(self, length):
        for layer, (keys, values) in self.kept.items():
            self.kept[layer] = (keys[..., :length, :], values[..., :length, :])
        self.lengths = torch.clamp(self.lengths, max=length)


@right("every row a list of tokens")
class RowsOfTokens:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.rows = [[[] for _ in range(n_layers)] for _ in range(batch)]

    @property
    def lengths(self):
        return torch.tensor([len(layers[0]) for layers in self.rows])

    def extend(self, layer, keys, values):
        for row, k, v in zip(self.rows, keys, values, strict=True):
            row[layer] += [torch.stack((k[:, i], v[:, i])) for i in range(k.shape[1])]
        both = torch.stack([torch.stack(row[layer], dim=2) for row in self.rows])
        return both[:, 0], both[:, 1]

    def reorder(self, rows):
        self.rows = [[list(layer) for layer in self.rows[int(r)]] for r in rows]

    def crop(self, length):
        self.rows = [[layer[:length] for layer in row] for row in self.rows]
