"""The plan of one pass: where its tokens stand, the same for every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

if TYPE_CHECKING:  # a step is made by its cache
    from course_lib.kv_cache.protocol import KeyValueCache


@dataclass(frozen=True)
class Step:
    """What one forward pass adds to a cache: the same for each of its layers.

    A Step stands in for its cache inside the pass: attention calls `extend` on either.

    Attributes:
        cache: the cache that is extended.
        before, after: per row, the real tokens before and after this pass.
        positions: (query,) int, or (batch, query) with -1 for padding.
        key_positions: (key,) or (batch, key) int, of all keys that extend returns.
        start: the common first position if every row is alike and all real, else None.
        scatter: row, slot and place of each real token where rows differ, else None.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    cache: KeyValueCache
    before: list[int]
    after: list[int]
    positions: Tensor
    key_positions: Tensor
    start: int | None
    scatter: tuple[Tensor, Tensor, Tensor] | None

    @property
    def reads_all(self) -> bool:
        """Whether one new token per row reads every key, so that no mask is needed."""
        return self.start is not None and len(self.positions) == 1

    def extend(
        self, layer: int, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Extend the cache at one layer by this step (see KeyValueCache.extend)."""
        return self.cache._extend(layer, keys, values, self)

    def cross(self, layer: int) -> tuple[Tensor, Tensor] | None:
        """Recall the cross-attention keys and values of a layer, if they are kept."""
        return self.cache.cross(layer)

    def knows(self, layer: int, memory: Tensor) -> bool:
        """Whether a layer's cross-attention already reads this memory."""
        return self.cache.knows(layer, memory)

    def remember_cross(
        self, layer: int, keys: Tensor, values: Tensor, memory: Tensor | None = None
    ) -> None:
        """Keep the cross-attention keys and values of a layer."""
        self.cache.remember_cross(layer, keys, values, memory)
