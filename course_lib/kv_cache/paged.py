"""A cache whose memory follows the rows' real lengths."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from course_lib.kv_cache.pool import BlockPool
from course_lib.kv_cache.protocol import KeyValueCache
from course_lib.kv_cache.step import Step


class PagedCache(KeyValueCache):
    """Keep blocks of a few tokens in a pool; each row lists the blocks it holds.

    Memory follows the rows' real lengths: a row holds at most block_size - 1 slots
    more than it has tokens, and blocks that a row gives up serve another. Rows that
    begin alike (after `reorder` or `fork`) hold the same blocks until one must write.

    Args:
        batch, n_layers, n_kv_heads, d_head, max_length, dtype, device: as KeyValueCache.
        block_size: tokens in a block; a given pool has its own.
        pool: a pool to share with other caches; None: one for this cache.

    Raises:
        ValueError: a size is smaller than 1, or the pool was made for other sizes.

    Source: Kwon et al. (2023), PagedAttention, arXiv:2309.06180, section 4.
    Lesson: notebooks/10_kv_cache.ipynb
    """

    def __init__(
        self,
        batch,
        n_layers,
        n_kv_heads,
        d_head,
        max_length,
        dtype=torch.float32,
        device=None,
        block_size: int = 16,
        pool: BlockPool | None = None,
    ):
        sizes = n_layers, n_kv_heads, d_head
        if pool is None:
            pool = BlockPool(*sizes, block_size, dtype=dtype, device=device)
        _, layers, _, heads, _, width = pool.slots.shape
        if ((layers, heads, width), pool.slots.dtype) != (sizes, dtype):
            raise ValueError(
                f"the pool holds {pool.slots.dtype} for (n_layers, n_kv_heads, d_head) = "
                f"{(layers, heads, width)} and this cache needs {dtype} for {sizes}; make "
                f"one pool per model"
            )
        self.pool, self.block_size = pool, pool.block_size
        super().__init__(batch, *sizes, max_length, dtype, device)

    def fork(self, length: int) -> PagedCache:
        """Return a cache that begins as this one does, in the same blocks.

        Args:
            length: tokens of every row that the new cache has too.

        Raises:
            ValueError: a row has fewer, or length is negative.

        Source: Kwon et al. (2023), arXiv:2309.06180, section 4.4 (shared prefix).
        Lesson: notebooks/13_chat.ipynb

        >>> cache = PagedCache(1, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
        >>> _ = cache.extend(0, *torch.zeros(2, 1, 3, 4, 5))
        >>> twin = cache.fork(2)
        >>> twin.lengths, twin.blocks == cache.blocks
        (tensor([2]), True)
        """
        shortest = min(min(counts) for counts in self._counts)
        if not 0 <= length <= shortest:
            raise ValueError(
                f"fork was given length {length}; the shortest row has {shortest} tokens"
            )
        twin = copy.copy(self)
        n_blocks = -(-length // self.block_size)
        twin.blocks = [[*map(self.pool.share, row[:n_blocks])] for row in self.blocks]
        twin._counts = [[length] * self.batch for _ in range(self.n_layers)]
        twin._copy_source(self)
        return twin

    @staticmethod
    @contextmanager
    def together(caches: Sequence[PagedCache]) -> Iterator[PagedCache]:
        """Feed the rows of several caches in one pass, as one batch.

        Args:
            caches: caches of one pool, each at most once; they are extended.

        Yields:
            a cache of all their rows, in order. Pass it to the decoder, and to nothing
            else: it is of no use afterwards.

        Raises:
            ValueError: there is no cache, one is given twice, their pools differ, or
                one keeps a memory for cross-attention.

        Source: Yu et al. (2022), Orca, OSDI, section 3.1 (iteration-level scheduling).
        Lesson: notebooks/13_chat.ipynb

        >>> pool = BlockPool(n_layers=1, n_kv_heads=3, d_head=5)
        >>> caches = [PagedCache(1, 1, 3, 5, max_length=7, pool=pool) for _ in range(2)]
        >>> with PagedCache.together(caches) as batch:
        ...     _ = batch.step(2, lengths=[2, 1]).extend(0, *torch.zeros(2, 2, 3, 2, 5))
        >>> [cache.lengths.item() for cache in caches]
        [2, 1]
        """
        _check_together(caches)
        batch = copy.copy(caches[0])
        batch._forget_source()
        batch.max_length = min(cache.max_length for cache in caches)
        batch.blocks = [row for cache in caches for row in cache.blocks]
        batch._counts = [
            [count for cache in caches for count in cache._counts[layer]]
            for layer in range(batch.n_layers)
        ]
        try:
            yield batch
        finally:  # an interrupted pass leaves each of them as it would leave it alone
            start = 0
            for cache in caches:
                end = start + cache.batch
                cache._counts = [counts[start:end] for counts in batch._counts]
                start = end

    # -- what KeyValueCache asks of a kind ------------------------------------------------

    def _allocate(self, batch: int) -> None:
        self.blocks: list[list[int]] = [[] for _ in range(batch)]

    def _tensors(self) -> list[Tensor]:
        used = sorted({block for row in self.blocks for block in row})
        return [self.pool.slots[block] for block in used]

    def _make_usable(self, layer: int) -> None:
        self.pool.make_usable()

    def _plan(self, before, n_positions, lengths=None, side="right") -> Step:
        step = super()._plan(before, n_positions, lengths, side)
        self.pool.check_room(self._n_new_blocks(step))
        return step

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        self._make_room(step)
        end = max(step.after)
        table = self._table(end)
        rows, slots, places = step.scatter or self._all_places(step)
        block, inside = table[rows, slots // self.block_size], slots % self.block_size
        self.pool.slots[block, layer, 0, :, inside] = keys[rows, :, places]
        self.pool.slots[block, layer, 1, :, inside] = values[rows, :, places]
        gathered = self.pool.read(table, layer)[:, :, :, :end]
        # Blocks are handed on uncleaned, and a short row borrows block 0: hide both as zeros.
        ends = torch.tensor(step.after, device=self.device)[:, None, None, None]
        real = torch.arange(end, device=self.device)[:, None] < ends
        gathered = gathered.masked_fill(~real, 0.0)
        return gathered[0], gathered[1]

    def _make_room(self, step: Step) -> None:
        """Give each row the blocks of this step, those that it writes for itself alone."""
        for row, before, after in zip(
            self.blocks, step.before, step.after, strict=True
        ):
            first = before // self.block_size
            if after > before and first < len(row):
                row[first] = self.pool.own(row[first])
            while len(row) * self.block_size < after:
                row.append(self.pool.take())

    def _n_new_blocks(self, step: Step) -> int:
        """How many blocks _make_room will take."""
        n_new, copied = 0, {}
        for row, before, after in zip(
            self.blocks, step.before, step.after, strict=True
        ):
            n_new += max(0, -(-after // self.block_size) - len(row))
            first = before // self.block_size
            if after > before and first < len(row):
                copied[row[first]] = copied.get(row[first], 0) + 1
        # The last holder of a block writes into it; every other one needs a copy.
        return n_new + sum(
            min(n_rows, self.pool.holders(block) - 1)
            for block, n_rows in copied.items()
        )

    def _all_places(self, step: Step) -> tuple[Tensor, Tensor, Tensor]:
        n = len(step.positions)
        rows = torch.arange(self.batch, device=self.device).repeat_interleave(n)
        places = torch.arange(n, device=self.device).repeat(self.batch)
        return rows, step.positions.repeat(self.batch), places

    def _table(self, length: int) -> Tensor:
        n_blocks = -(-length // self.block_size)
        padded = [(row + [0] * n_blocks)[:n_blocks] for row in self.blocks]
        return torch.tensor(padded, device=self.device, dtype=torch.long).reshape(
            self.batch, n_blocks
        )

    def _reorder(self, index: Tensor) -> None:
        old = self.blocks
        self.blocks = [[*map(self.pool.share, old[row])] for row in index.tolist()]
        self._give(block for row in old for block in row)

    def _after_crop(self) -> None:
        for row, blocks in enumerate(self.blocks):
            needed = -(-max(counts[row] for counts in self._counts) // self.block_size)
            self._give(blocks[needed:])
            del blocks[needed:]

    def _give(self, blocks) -> None:
        for block in blocks:
            self.pool.give(block)


def _check_together(caches: Sequence[PagedCache]) -> None:
    if not caches or len({id(cache) for cache in caches}) < len(caches):
        raise ValueError(
            f"together was given {len(caches)} caches; pass at least one, each once"
        )
    if any(cache.pool is not caches[0].pool for cache in caches):
        raise ValueError("together was given caches of several pools; pass one's")
    if any(cache.memory is not None or cache._cross for cache in caches):
        raise ValueError(
            "together was given a cache with a memory for cross-attention; only caches "
            "of decoders without one can be fed together"
        )
