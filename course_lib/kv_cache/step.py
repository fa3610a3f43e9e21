"""The plan of one pass: where its tokens stand, the same for every layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from course_lib.masks import token_positions

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


def plan_step(
    cache: KeyValueCache,
    before: list[int],
    n_positions: int,
    lengths: Tensor | Sequence[int] | None,
    side: str,
) -> Step:
    """Place the tokens of a pass behind those of each row (see KeyValueCache.step)."""
    counts = [n_positions] * len(before)
    if lengths is not None:
        counts = torch.as_tensor(lengths).tolist()
        token_positions(n_positions, counts, side=side)  # refuses what is no count
        if len(counts) != len(before):
            raise ValueError(
                f"lengths were {counts}; this cache has {len(before)} rows, "
                f"pass one count per row"
            )
    after = [start + count for start, count in zip(before, counts, strict=True)]
    if cache.bounded and max(after) > cache.max_length:
        raise ValueError(
            f"this cache holds at most {cache.max_length} tokens a row and the pass would "
            f"make it {max(after)}; make the cache longer, crop it, or shorten the input"
        )
    if all(count == n_positions for count in counts) and len(set(before)) == 1:
        positions = torch.arange(before[0], after[0], device=cache.device)
        start, scatter = before[0], None
    else:
        ragged = token_positions(n_positions, counts, before, side)
        rows, places = (ragged >= 0).nonzero(as_tuple=True)
        found = (rows, ragged[rows, places], places)
        scatter = tuple(tensor.to(cache.device) for tensor in found)
        positions, start = ragged.to(cache.device), None
    key_positions = cache._key_positions(before, after, positions)
    return Step(cache, before, after, positions, key_positions, start, scatter)
