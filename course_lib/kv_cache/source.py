"""What a cache keeps of the source: cross-attention's keys and values, computed once."""

import torch
from torch import Tensor


class SourceCache:
    """The half of a cache that does not grow: what cross-attention reads.

    Attributes:
        memory: (batch, key, d_model), the source that a decoder was given first.
        memory_allowed: (batch, 1, 1, key) bool, its real places; None: all.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    memory: Tensor | None
    memory_allowed: Tensor | None

    def cross(self, layer: int) -> tuple[Tensor, Tensor] | None:
        """Recall the cross-attention keys and values of a layer, None before the first call."""
        if layer not in self._cross:
            return None
        self._cross[layer] = tuple(usable(tensor) for tensor in self._cross[layer])
        return self._cross[layer]

    def knows(self, layer: int, memory: Tensor) -> bool:
        """Whether a layer's cross-attention already reads this memory."""
        source = self._sources.get(layer, self.memory)
        return source is memory or (source is not None and torch.equal(source, memory))

    def remember_cross(
        self, layer: int, keys: Tensor, values: Tensor, memory: Tensor | None = None
    ) -> None:
        """Keep a layer's cross-attention keys and values: (batch, kv_head, key, d_head)."""
        self._cross[layer] = (keys, values)
        if memory is not None and memory is not self.memory:
            self._sources[layer] = memory.clone()

    def _forget_source(self) -> None:
        self._cross: dict[int, tuple[Tensor, Tensor]] = {}
        self._sources: dict[int, Tensor] = {}  # of attentions used without a decoder
        self.memory = self.memory_allowed = None

    def _copy_source(self, other: "SourceCache") -> None:
        """Keep what another cache keeps, in dicts of its own."""
        self._cross, self._sources = dict(other._cross), dict(other._sources)
        self.memory, self.memory_allowed = other.memory, other.memory_allowed

    def _cross_tensors(self) -> list[Tensor]:
        return [tensor for pair in self._cross.values() for tensor in pair]

    def _reorder_cross(self, index: Tensor) -> None:
        self._cross = {
            layer: (keys[index], values[index])
            for layer, (keys, values) in self._cross.items()
        }
        self._sources = {
            layer: memory[index] for layer, memory in self._sources.items()
        }
        if self.memory is not None:
            self.memory = self.memory[index]
        if self.memory_allowed is not None and self.memory_allowed.shape[0] > 1:
            self.memory_allowed = self.memory_allowed[index]


def usable(tensor: Tensor) -> Tensor:
    """Copy a tensor made under inference_mode when autograd may need it now."""
    trapped = tensor.is_inference() and not torch.is_inference_mode_enabled()
    return tensor.clone() if trapped else tensor
