"""Blocks of key and value slots that the rows of many caches share."""

import torch
from torch import Tensor

from course_lib.kv_cache.source import usable

SMALLEST_GROWTH = 4  # blocks


class BlockPool:
    """Hand out blocks of a few slots, count who holds each, take them back.

    A block that several rows hold, because they begin alike, is read by all and
    written by none: a row that must write asks `own` for a block of its own.

    Args:
        n_layers: layers that attend to themselves.
        n_kv_heads: key/value heads of a layer.
        d_head: width of a head.
        block_size: slots (tokens) of a block, each with all layers' keys and values.
        max_blocks: most blocks there may be; None: the pool grows as needed.
        dtype: dtype of keys and values.
        device: where they live; None: the CPU.

    Raises:
        ValueError: block_size or max_blocks is smaller than 1.

    Source: Kwon et al. (2023), PagedAttention, arXiv:2309.06180, section 4.2 (blocks,
        reference counts, copy on write).
    Lesson: notebooks/13_chat.ipynb

    >>> pool = BlockPool(n_layers=2, n_kv_heads=3, d_head=5, block_size=4)
    >>> block = pool.take()
    >>> pool.share(block), pool.own(block), pool.n_used
    (0, 1, 2)
    """

    def __init__(
        self,
        n_layers: int,
        n_kv_heads: int,
        d_head: int,
        block_size: int = 16,
        max_blocks: int | None = None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        if block_size < 1:
            raise ValueError(
                f"block_size was {block_size}; a block holds at least 1 token"
            )
        if max_blocks is not None and max_blocks < 1:
            raise ValueError(
                f"max_blocks was {max_blocks}; a pool needs at least 1 block, or None to "
                f"grow as needed"
            )
        self.block_size, self.max_blocks = block_size, max_blocks
        shape = (0, n_layers, 2, n_kv_heads, block_size, d_head)
        self.slots = torch.zeros(shape, dtype=dtype, device=device)
        self._free: list[int] = []
        self._holders: list[int] = []  # of each block

    @property
    def n_used(self) -> int:
        """Blocks that some row holds."""
        return len(self._holders) - len(self._free)

    @property
    def n_left(self) -> float:
        """Blocks that can still be taken; infinite where there is no max_blocks."""
        most = float("inf") if self.max_blocks is None else self.max_blocks
        return most - self.n_used

    def holders(self, block: int) -> int:
        """How many rows hold a block."""
        return self._holders[block]

    def check_room(self, n_blocks: int) -> None:
        """Refuse what the pool cannot give.

        Args:
            n_blocks: blocks that are about to be taken.

        Raises:
            ValueError: fewer are left.
        """
        if n_blocks > self.n_left:
            raise ValueError(
                f"{n_blocks} more blocks are needed and {self.n_left} of this pool's "
                f"{self.max_blocks} are left; let a row go, or make max_blocks larger"
            )

    def take(self) -> int:
        """Take a block that nobody holds; the pool doubles when none is left.

        Raises:
            ValueError: all max_blocks are held.
        """
        if not self._free:
            self.check_room(1)
            self._grow()
        block = self._free.pop()
        self._holders[block] = 1
        return block

    def share(self, block: int) -> int:
        """Let one more row hold a block; return it."""
        self._holders[block] += 1
        return block

    def give(self, block: int) -> None:
        """Let a row's block go; it is free when no other row holds it."""
        self._holders[block] -= 1
        if not self._holders[block]:
            self._free.append(block)

    def own(self, block: int) -> int:
        """Return the block if its row alone holds it, else a copy for that row.

        Raises:
            ValueError: a copy is needed and all max_blocks are held.
        """
        if self._holders[block] == 1:
            return block
        copy = self.take()
        self.slots[copy] = self.slots[block]
        self.give(block)
        return copy

    def make_usable(self) -> None:
        """Let autograd use what was kept under inference_mode."""
        self.slots = usable(self.slots)

    def read(self, table: Tensor, layer: int) -> Tensor:
        """Gather a layer's keys and values.

        Args:
            table: (batch, block) int, the blocks of each row in order.
            layer: index of the layer.

        Returns:
            (2, batch, kv_head, slot, d_head), keys first.
        """
        found = self.slots[table, layer]  # (batch, block, 2, kv_head, slot, d_head)
        return found.permute(2, 0, 3, 1, 4, 5).flatten(3, 4)

    def _grow(self) -> None:
        n_old = len(self._holders)
        n_new = max(SMALLEST_GROWTH, n_old)
        if self.max_blocks is not None:
            n_new = min(n_new, self.max_blocks - n_old)
        more = self.slots.new_zeros(n_new, *self.slots.shape[1:])
        self.slots = torch.cat((self.slots, more))
        self._holders += [0] * n_new
        self._free = list(range(n_old + n_new - 1, n_old - 1, -1))
