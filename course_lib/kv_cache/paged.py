"""A cache whose memory follows the rows' real lengths."""

import torch
from torch import Tensor

from course_lib.kv_cache.protocol import KeyValueCache, usable
from course_lib.kv_cache.step import Step


class PagedCache(KeyValueCache):
    """Keep blocks of a few tokens in one pool; each row lists the blocks it owns.

    Memory follows the rows' real lengths: a row holds at most block_size - 1 slots
    more than it has tokens, and blocks that a row gives up serve another.

    Args:
        batch, n_layers, n_kv_heads, d_head, max_length, dtype, device: as KeyValueCache.
        block_size: tokens in a block.

    Raises:
        ValueError: a size is smaller than 1.

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
    ):
        if block_size < 1:
            raise ValueError(
                f"block_size was {block_size}; a block holds at least 1 token"
            )
        self.block_size = block_size
        super().__init__(batch, n_layers, n_kv_heads, d_head, max_length, dtype, device)

    def _allocate(self, batch: int) -> None:
        self._pool = torch.zeros(
            0,
            self.n_layers,
            2,
            self.n_kv_heads,
            self.block_size,
            self.d_head,
            dtype=self.dtype,
            device=self.device,
        )
        self._free: list[int] = []
        self.blocks: list[list[int]] = [[] for _ in range(batch)]

    def _tensors(self) -> list[Tensor]:
        used = sorted({block for row in self.blocks for block in row})
        return [self._pool[block] for block in used]

    def _make_usable(self, layer: int) -> None:
        self._pool = usable(self._pool)

    def _take_block(self) -> int:
        """Take a free block, doubling the pool when none is left."""
        if not self._free:
            n_old = self._pool.shape[0]
            grown = max(4, n_old)
            more = self._pool.new_zeros(grown, *self._pool.shape[1:])
            self._pool = torch.cat((self._pool, more))
            self._free = list(range(n_old + grown - 1, n_old - 1, -1))
        return self._free.pop()

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        for row, count in enumerate(step.after):
            while len(self.blocks[row]) * self.block_size < count:
                self.blocks[row].append(self._take_block())
        table = self._table(max(step.after))
        rows, slots, places = step.scatter or self._all_places(step)
        block, inside = table[rows, slots // self.block_size], slots % self.block_size
        self._pool[block, layer, 0, :, inside] = keys[rows, :, places]
        self._pool[block, layer, 1, :, inside] = values[rows, :, places]
        end = max(step.after)
        gathered = self._pool[table, layer]  # (batch, block, 2, kv_head, slot, d_head)
        gathered = gathered.permute(2, 0, 3, 1, 4, 5).flatten(3, 4)[:, :, :, :end]
        # Blocks are handed on uncleaned, and a short row borrows block 0: hide both as zeros.
        ends = torch.tensor(step.after, device=self.device)[:, None, None, None]
        real = torch.arange(end, device=self.device)[:, None] < ends
        gathered = gathered.masked_fill(~real, 0.0)
        return gathered[0], gathered[1]

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
        # Blocks belong to one row each, so a repeated row gets copies of its blocks.
        self._pool = usable(self._pool)
        old, self.blocks, owned = self.blocks, [], set()
        for row in set(range(len(old))) - set(index.tolist()):
            self._free.extend(old[row])
        for row in index.tolist():
            if row not in owned:
                owned.add(row)
                self.blocks.append(old[row])
            else:
                copies = [self._take_block() for _ in old[row]]
                self._pool[copies] = self._pool[old[row]]
                self.blocks.append(copies)

    def _after_crop(self) -> None:
        for row in range(self.batch):
            needed = -(-max(counts[row] for counts in self._counts) // self.block_size)
            self._free.extend(self.blocks[row][needed:])
            del self.blocks[row][needed:]
