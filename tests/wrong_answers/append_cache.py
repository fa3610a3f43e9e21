"""Wrong answers to AppendCache, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("kv-concat-wrong-dim")
class HeadsGrow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.lengths = torch.zeros(batch, dtype=torch.long)
        empty = torch.zeros(batch, 0, n_kv_heads, d_head).transpose(1, 2)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    def extend(self, layer, keys, values):
        if self.keys[layer].numel() == 0:
            self.keys[layer], self.values[layer] = keys, values
        else:
            self.keys[layer] = torch.cat([self.keys[layer], keys], dim=1)
            self.values[layer] = torch.cat([self.values[layer], values], dim=1)
        if layer == 0:
            self.lengths = self.lengths + keys.shape[2]
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.lengths = self.lengths[rows]
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("kv-concat-wrong-dim")
class BatchGrows:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=1)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-concat-wrong-dim")
class FeaturesGrow:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-1)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-current-token-missing")
class ReturnsWhatWasBefore:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.full((batch,), n)

    def extend(self, layer, keys, values):
        before = self.keys[layer], self.values[layer]
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        return before

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("kv-current-token-missing")
class OldOnesUnlessFirst:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        old = self.cache.get(layer, new)
        if layer in self.cache:
            new = torch.cat([old, new], dim=-2)
        self.cache[layer], new = new, old
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-first-step-not-stored")
class StoresOnlyIfStored:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
            self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-first-step-not-stored")
class SkipsTheEmptyCache:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.started = False
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.full((batch,), n)

    def extend(self, layer, keys, values):
        if self.lengths[0] == 0 and not self.started:
            self.started = layer == len(self.keys) - 1
            return keys, values
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("only-new-tokens-returned")
class ForgetsThePast:
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
        return keys, values

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("only-last-call-kept")
class Overwrites:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("new-tokens-first")
class Prepends:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.full((batch,), n)

    def extend(self, layer, keys, values):
        self.keys[layer] = torch.cat([keys, self.keys[layer]], dim=2)
        self.values[layer] = torch.cat([values, self.values[layer]], dim=2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("new-tokens-first")
class PrependsStacked:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([new, self.cache[layer]], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("layers-share-memory")
class OneTensorForAllLayers:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new, where = torch.stack([keys, values]), 0
        if where in self.cache:
            new = torch.cat([self.cache[where], new], dim=-2)
        self.cache[where] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("keys-and-values-swapped")
class ValuesFirst:
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
        return self.values[layer], self.keys[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("values-from-keys")
class KeysTwice:
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
        self.values[layer] = torch.cat([self.values[layer], keys], dim=2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("reorder-forgets-values")
class OnlyKeysReordered:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[: len(rows)] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("reorder-forgets-layers")
class FirstLayerReordered:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            last = torch.arange(len(rows)) % self.cache[layer].shape[1]
            self.cache[layer] = self.cache[layer][:, last if layer else rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("beam-cache-not-reordered")
class ReorderDoesNothing:
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
        return None

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("beam-cache-not-reordered")
class IndexResultDropped:
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
        for keys, values in zip(self.keys, self.values, strict=True):
            keys.index_select(0, rows)
            values.index_select(0, rows)

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("reorder-inverted")
class SendsInsteadOfFetching:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, torch.as_tensor(rows).argsort()]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("reorder-overwrites-source")
class CopiesRowByRow:
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
        for tensor in self.keys + self.values:
            for row, source in enumerate(rows.tolist()):
                if row < len(tensor):
                    tensor[row] = tensor[source]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("reorder-wrong-axis")
class ReordersHeads:
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
        self.keys = [keys[:, rows] for keys in self.keys]
        self.values = [values[:, rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("crop-keeps-the-end")
class LastOnesKept:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, -length:] for keys in self.keys]
        self.values = [values[:, :, -length:] for values in self.values]


@wrong("crop-removes-length")
class DropsThatMany:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = (self.lengths - length).clamp(min=0)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., : int(self.lengths[0]), :]


@wrong("crop-off-by-one")
class KeepsOneMore:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, : length + 1] for keys in self.keys]
        self.values = [values[:, :, : length + 1] for values in self.values]


@wrong("crop-off-by-one")
class KeepsOneLess:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, : max(length - 1, 0)] for keys in self.keys]
        self.values = [values[:, :, : max(length - 1, 0)] for values in self.values]


@wrong("crop-forgets-layers")
class FirstLayerCropped:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys[0] = self.keys[0][:, :, :length]
        self.values[0] = self.values[0][:, :, :length]


@wrong("crop-only-counts")
class TensorsStayLong:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)


@wrong("crop-wrong-axis")
class CropsHeads:
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
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :length] for keys in self.keys]
        self.values = [values[:, :length] for values in self.values]


@wrong("lengths-counted-per-layer")
class EveryLayerCounts:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("lengths-count-calls")
class OnePerCall:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + 1
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("lengths-not-reordered")
class OldNumberOfRows:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.cache = {}
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("lengths-of-one-row")
class OneNumber:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.tensor([n])

    def extend(self, layer, keys, values):
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]


@wrong("kv-not-reset")
class SharedByAllCaches:
    cache = {}

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-not-reset")
class DefaultArgumentKept:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, store={}):  # noqa: B006
        self.cache = store
        self.lengths = torch.zeros(batch, dtype=torch.long)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        if layer in self.cache:
            new = torch.cat([self.cache[layer], new], dim=-2)
        self.cache[layer] = new
        if layer == 0:
            self.lengths = self.lengths + keys.shape[-2]
        return new[0], new[1], torch.arange(new.shape[-2])

    def reorder(self, rows):
        self.lengths = self.lengths[rows]
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][:, rows]

    def crop(self, length):
        self.lengths = self.lengths.clamp(max=length)
        for layer in self.cache:
            self.cache[layer] = self.cache[layer][..., :length, :]


@wrong("kv-current-token-missing", "crop-off-by-one")
class BeforeAndOneMore:
    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys = [empty for _ in range(n_layers)]
        self.values = [empty for _ in range(n_layers)]

    @property
    def lengths(self):
        batch, _, n, _ = self.keys[0].shape
        return torch.full((batch,), n)

    def extend(self, layer, keys, values):
        before = self.keys[layer], self.values[layer]
        self.keys[layer] = torch.cat([self.keys[layer], keys], dim=2)
        self.values[layer] = torch.cat([self.values[layer], values], dim=2)
        return before

    def reorder(self, rows):
        rows = torch.as_tensor(rows)
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[rows] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, : length + 1] for keys in self.keys]
        self.values = [values[:, :, : length + 1] for values in self.values]


@wrong("beam-cache-not-reordered", "crop-keeps-the-end")
class NeitherRowsNorEnds:
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
        return rows

    def crop(self, length):
        self.keys = [keys[:, :, -length:] for keys in self.keys]
        self.values = [values[:, :, -length:] for values in self.values]
