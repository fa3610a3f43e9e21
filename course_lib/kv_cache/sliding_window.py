"""A cache that keeps only what the next query may read."""

import torch
from torch import Tensor

from course_lib.kv_cache.protocol import KeyValueCache
from course_lib.kv_cache.step import Step
from course_lib.masks import PADDING


class SlidingWindowCache(KeyValueCache):
    """Keep only the last `window` tokens of each row, in a ring: bounded memory.

    Position p lies in slot p mod window, so a new token overwrites the one that no
    later query may read.

    Args:
        batch, n_layers, n_kv_heads, d_head, max_length, dtype, device: as KeyValueCache;
            max_length does not bound a row here.
        window: tokens a query reads, itself included; None: max_length.

    Raises:
        ValueError: a size is smaller than 1.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    bounded = False

    def __init__(
        self,
        batch,
        n_layers,
        n_kv_heads,
        d_head,
        max_length,
        dtype=torch.float32,
        device=None,
        window: int | None = None,
    ):
        self.window = max_length if window is None else window
        if self.window < 1:
            raise ValueError(
                f"window was {window}; it counts the query itself, pass at least 1"
            )
        super().__init__(batch, n_layers, n_kv_heads, d_head, max_length, dtype, device)

    def _allocate(self, batch: int) -> None:
        self._keep_zeros(batch, n_slots=self.window)
        # Per layer and row: positions below this one were overwritten. A crop does not
        # bring them back, so the counts alone cannot tell.
        self._forgotten = [[0] * batch for _ in range(self.n_layers)]

    def _ring_positions(self, counts: list[int], n_slots: int) -> Tensor:
        """(batch, slot): the newest position that fell into each slot, -1 if none did."""
        newest = torch.tensor(counts, device=self.device)[:, None] - 1
        slots = torch.arange(n_slots, device=self.device)
        positions = newest - (newest - slots) % self.window
        return torch.where(positions >= 0, positions, PADDING)

    def _in_place(self, before: list[int], positions: Tensor) -> bool:
        return positions.ndim == 1 and len(positions) == 1

    def _key_positions(
        self, before: list[int], after: list[int], positions: Tensor
    ) -> Tensor:
        if self._in_place(before, positions):
            return self._ring_positions(after[:1], min(after[0], self.window))[0]
        kept = self._ring_positions(before, min(max(before), self.window))
        if positions.ndim == 1:
            return torch.cat((kept[0], positions))
        return torch.cat((kept, positions), dim=1)

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        ring_keys, ring_values = self._kept[layer]
        self._forgotten[layer] = [
            max(forgotten, count - self.window)
            for forgotten, count in zip(self._forgotten[layer], step.after, strict=True)
        ]
        if self._in_place(step.before, step.positions):
            slot = step.start % self.window
            ring_keys[:, :, slot] = keys[:, :, 0]
            ring_values[:, :, slot] = values[:, :, 0]
            end = min(step.after[0], self.window)
            return ring_keys[:, :, :end], ring_values[:, :, :end]
        # The chunk's first queries still read keys that its last tokens overwrite.
        end = min(max(step.before), self.window)
        all_keys = torch.cat((ring_keys[:, :, :end], keys), dim=2)
        all_values = torch.cat((ring_values[:, :, :end], values), dim=2)
        rows, positions, places = self._newest(step)
        ring_keys[rows, :, positions % self.window] = keys[rows, :, places]
        ring_values[rows, :, positions % self.window] = values[rows, :, places]
        return all_keys, all_values

    def _newest(self, step: Step) -> tuple[Tensor, Tensor, Tensor]:
        """Row, position and place of the new tokens that are still within the window."""
        positions = step.positions.expand(self.batch, -1)
        ends = torch.tensor(step.after, device=self.device)[:, None]
        kept = (positions >= 0) & (positions >= ends - self.window)
        rows, places = kept.nonzero(as_tuple=True)
        return rows, positions[rows, places], places

    def _reorder(self, index: Tensor) -> None:
        super()._reorder(index)
        rows = index.tolist()
        self._forgotten = [[layer[row] for row in rows] for layer in self._forgotten]

    def _before_crop(self, kept: list[int]) -> None:
        for counts, forgotten in zip(self._counts, self._forgotten, strict=True):
            for count, lost, length in zip(counts, forgotten, kept, strict=True):
                oldest_read = max(0, length - self.window + 1)  # by the next token
                if oldest_read < min(lost, length):
                    raise ValueError(
                        f"crop was asked to go back from {count} to {length} tokens; a window of "
                        f"{self.window} has forgotten what the next token must read, start again "
                        f"with crop(0)"
                    )

    def _after_crop(self) -> None:
        self._forgotten = [
            [min(lost, count) for lost, count in zip(forgotten, counts, strict=True)]
            for forgotten, counts in zip(self._forgotten, self._counts, strict=True)
        ]
