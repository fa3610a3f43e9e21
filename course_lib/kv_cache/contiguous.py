"""Two caches whose slots are positions: one grows at each step, one never."""

import torch
from torch import Tensor

from course_lib.kv_cache.protocol import KeyValueCache
from course_lib.kv_cache.step import Step


class AppendCache(KeyValueCache):
    """Keep one tensor a layer and make a longer one at each step: an O(t) copy each.

    Its arguments are those of KeyValueCache.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    def _allocate(self, batch: int) -> None:
        self._keep_zeros(batch, n_slots=0)

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        old_keys, old_values = self._kept[layer]
        self._kept[layer] = (
            self._appended(old_keys, keys, step),
            self._appended(old_values, values, step),
        )
        return self._kept[layer]

    def _appended(self, old: Tensor, new: Tensor, step: Step) -> Tensor:
        if step.start is not None:
            return torch.cat((old, new), dim=2)
        shape = (self.batch, self.n_kv_heads, max(step.after), self.d_head)
        longer = new.new_zeros(shape)
        longer[:, :, : old.shape[2]] = old
        rows, slots, places = step.scatter
        longer[rows, :, slots] = new[rows, :, places]
        return longer

    def _reorder(self, index: Tensor) -> None:
        super()._reorder(index)
        self._after_crop()  # the longest row may be gone

    def _after_crop(self) -> None:
        # A row's count says how much of it is real, so only the common tail must go.
        self._kept = [
            (keys[:, :, : max(counts)], values[:, :, : max(counts)])
            for (keys, values), counts in zip(self._kept, self._counts, strict=True)
        ]


class PreallocatedCache(KeyValueCache):
    """Set memory for max_length aside once and write each step in place: O(1) a step.

    It is made for writing text: torch cannot differentiate through two steps that were
    written in place (AppendCache and PagedCache can be).

    Its arguments are those of KeyValueCache.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    def _allocate(self, batch: int) -> None:
        self._keep_zeros(batch, n_slots=self.max_length)

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        kept_keys, kept_values = self._kept[layer]
        if step.start is not None:
            kept_keys[:, :, step.start : step.after[0]] = keys
            kept_values[:, :, step.start : step.after[0]] = values
        else:
            rows, slots, places = step.scatter
            kept_keys[rows, :, slots] = keys[rows, :, places]
            kept_values[rows, :, slots] = values[rows, :, places]
        end = max(step.after)
        return kept_keys[:, :, :end], kept_values[:, :, :end]
