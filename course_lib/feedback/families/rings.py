"""A cache for a window as a ring of slots, and what goes wrong in one."""

import torch

from course_lib.feedback.families.caches import CROP, LAYERS
from course_lib.feedback.families.faults import Fault


class Ring:
    """A right cache of `window` slots; the mistakes below change one of its parts."""

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length, window):
        self.window, self.counts = window, [0] * n_layers
        self.slots = torch.zeros(2, n_layers, batch, n_kv_heads, window, d_head)
        self.places = torch.full((n_layers, window), -1)

    def extend(self, layer, keys, values):
        """Return what the slots held and the new ones, then write those."""
        start, n = self.counts[layer], keys.shape[2]
        new = torch.stack((keys, values))
        found = torch.cat((self.slots[:, layer], new), 3)
        old = self.places[layer].clone()
        old[old <= start - self.window] = -1
        places = torch.arange(start, start + n)
        for i, place in enumerate(places.tolist()):
            slot = self.slot(place)
            self.slots[:, layer, :, :, slot] = new[..., i, :]
            self.places[layer, slot] = place
        self.counts[layer] = start + n
        return *found, self.told(old, places)

    def slot(self, place):
        """Choose the slot of a token."""
        return place % self.window

    def told(self, old, new):
        """Say where the returned keys stand, -1 = empty."""
        return torch.cat((old, new))

    def reorder(self, rows):
        """Make row i a copy of row rows[i]."""
        self.slots = self.slots[:, :, rows]

    def crop(self, length):
        """Keep the first tokens."""
        self.places[self.places >= length] = -1
        self.counts = [min(n, length) for n in self.counts]

    @property
    def lengths(self):
        """Tokens that each row has seen."""
        return torch.full((self.slots.shape[2],), self.counts[0])


class FullRingIsFrozen(Ring):
    def slot(self, place):
        return min(place, self.window - 1)


class RingWithEmptySlots(Ring):
    def extend(self, layer, keys, values):
        return super().extend(layer, keys, values)[:2]


class EmptySlotsAreTheFirstToken(Ring):
    def told(self, old, new):
        empty = torch.arange(len(old)) >= int(new[0])
        return super().told(old.masked_fill(empty, 0), new)


class SlotsAreCalledPlaces(Ring):
    def told(self, old, new):
        return torch.arange(len(old) + len(new))


class NewPlacesAreSlots(Ring):
    def told(self, old, new):
        return super().told(old, new % self.window)


class OneRing(Ring):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.slots = self.slots[:, :1].expand_as(self.slots)


class RingCropsTheCount(Ring):
    def crop(self, length):
        self.counts = [min(n, length) for n in self.counts]


class RingCropsOneCount(Ring):
    def crop(self, length):
        self.places[self.places >= length] = -1
        self.counts[0] = min(self.counts[0], length)


RING = "The ring is full: which slot holds the oldest token, and do you tell?"
EMPTY = "What weight does softmax give to an empty slot?"
FAULTS = (
    Fault("keeps-the-oldest", "Which tokens does a window forget?", FullRingIsFrozen),
    Fault("static-cache-zeros-attended", EMPTY, RingWithEmptySlots),
    Fault("static-cache-zeros-attended", EMPTY, EmptySlotsAreTheFirstToken),
    Fault("ring-order-not-told", RING, SlotsAreCalledPlaces),
    Fault("ring-order-not-told", RING, NewPlacesAreSlots),
    Fault("layers-share-one-store", LAYERS, OneRing),
    Fault("crop-only-counts", CROP, RingCropsTheCount),
    Fault("crops-one-layer", CROP, RingCropsOneCount),
)
