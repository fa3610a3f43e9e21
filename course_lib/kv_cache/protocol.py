"""What all caches share: counting, checking, reordering, cutting."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.kv_cache.source import SourceCache, usable
from course_lib.kv_cache.step import Step, plan_step
from course_lib.masks import PADDING


class KeyValueCache(SourceCache):
    """What the four caches share: counting, checking, reordering, cutting.

    Args:
        batch: rows.
        n_layers: layers that attend to themselves.
        n_kv_heads: key/value heads of a layer.
        d_head: width of a head.
        max_length: most real tokens that a row may hold.
        dtype: dtype of keys and values.
        device: where they live; None: the CPU.

    Raises:
        ValueError: a size is smaller than 1.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    bounded = True  # past max_length there is an error; a window instead forgets

    def __init__(
        self,
        batch: int,
        n_layers: int,
        n_kv_heads: int,
        d_head: int,
        max_length: int,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str | None = None,
    ):
        sizes = dict(
            batch=batch,
            n_layers=n_layers,
            n_kv_heads=n_kv_heads,
            d_head=d_head,
            max_length=max_length,
        )
        for name, size in sizes.items():
            if size < 1:
                raise ValueError(
                    f"a cache was asked for with {name}={size}; it must be at least 1"
                )
        self.n_layers, self.n_kv_heads, self.d_head = n_layers, n_kv_heads, d_head
        self.max_length, self.dtype = max_length, dtype
        self.device = torch.device(device or "cpu")
        self._counts = [[0] * batch for _ in range(n_layers)]
        self._forget_source()
        self._allocate(batch)

    # -- the protocol ---------------------------------------------------------------

    @property
    def batch(self) -> int:
        """Rows of the cache."""
        return len(self._counts[0])

    @property
    def lengths(self) -> Tensor:
        """(batch,) int64: the real tokens each row has seen, those forgotten included."""
        return torch.tensor(self._counts[0])

    @property
    def bytes(self) -> int:
        """Bytes of all tensors kept, cross-attention included."""
        tensors = [*self._tensors(), *self._cross_tensors()]
        return sum(tensor.numel() * tensor.element_size() for tensor in tensors)

    def step(
        self,
        n_positions: int,
        lengths: Tensor | Sequence[int] | None = None,
        side: str = "right",
    ) -> Step:
        """Plan a pass that adds n_positions places to every row, before computing it.

        Args:
            n_positions: places of this call, padding included.
            lengths: (batch,) real tokens of this call per row; None: all are real.
            side: where the padding of this call stands.

        Returns:
            The Step whose `extend` every layer of the pass calls once.

        Raises:
            ValueError: a row would hold more than max_length tokens, lengths or side
                do not fit, or an earlier pass was interrupted between two layers.

        Lesson: notebooks/10_kv_cache.ipynb

        >>> from course_lib.kv_cache import AppendCache
        >>> cache = AppendCache(2, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
        >>> cache.step(3, lengths=[1, 3]).positions
        tensor([[ 0, -1, -1],
                [ 0,  1,  2]])
        """
        first = self._counts[0]
        if any(counts != first for counts in self._counts):
            raise ValueError(
                "the layers of this cache hold different numbers of tokens, so a pass was "
                "interrupted; call crop(length) with the length before that pass"
            )
        return self._plan(first, n_positions, lengths, side)

    def extend(
        self, layer: int, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Add the keys and values of the newest positions, then return all of them.

        Args:
            layer: index of the layer.
            keys: (batch, kv_head, position, d_head), all real tokens.
            values: the same shape.

        Returns:
            keys: (batch, kv_head, key, d_head), the new ones last.
            values: the same shape.
            key_positions: (key,) or (batch, key) int, -1 where a row has no token.

        Raises:
            ValueError: the shape, dtype or layer does not fit, or a row would hold
                more than max_length tokens.

        Lesson: notebooks/10_kv_cache.ipynb

        >>> from course_lib.kv_cache import AppendCache
        >>> cache = AppendCache(2, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
        >>> keys, values, positions = cache.extend(0, *torch.zeros(2, 2, 3, 4, 5))
        >>> tuple(keys.shape), positions.tolist()
        ((2, 3, 4, 5), [0, 1, 2, 3])
        """
        if not 0 <= layer < self.n_layers:
            raise ValueError(
                f"layer {layer} was given; this cache has layers 0 to {self.n_layers - 1}"
            )
        return self._extend(
            layer, keys, values, self._plan(self._counts[layer], keys.shape[-2])
        )

    def reorder(self, rows: Tensor | Sequence[int]) -> None:
        """Make row i a copy of what was row rows[i]: beams that continue other beams.

        Args:
            rows: (new batch,) int; rows may repeat, and their number may change.

        Raises:
            ValueError: rows is empty, not whole numbers, or names a row that does not
                exist.

        Lesson: notebooks/10_kv_cache.ipynb

        >>> from course_lib.kv_cache import AppendCache
        >>> cache = AppendCache(2, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
        >>> cache.reorder([1, 1, 0])
        >>> cache.batch
        3
        """
        chosen = torch.as_tensor(rows).tolist()
        fits = isinstance(chosen, list) and chosen
        if not fits or not all(type(r) is int and 0 <= r < self.batch for r in chosen):
            raise ValueError(
                f"reorder was given rows {chosen}; pass at least one row, each a whole number "
                f"from 0 to {self.batch - 1}"
            )
        index = torch.tensor(chosen, device=self.device)
        self._counts = [[counts[row] for row in chosen] for counts in self._counts]
        self._reorder(index)
        self._reorder_cross(index)

    def crop(self, length: int) -> None:
        """Forget, in every row, all but its first `length` tokens.

        What an interrupted pass left in some of the layers is forgotten too.

        Args:
            length: tokens to keep; a shorter row stays as it is.

        Raises:
            ValueError: length is negative, or (sliding window) what the next token
                must read was forgotten already.

        Lesson: notebooks/10_kv_cache.ipynb

        >>> from course_lib.kv_cache import AppendCache
        >>> cache = AppendCache(2, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
        >>> _ = cache.extend(0, *torch.zeros(2, 2, 3, 4, 5))
        >>> cache.crop(1)
        >>> cache.lengths
        tensor([1, 1])
        """
        if type(length) is not int or length < 0:
            raise ValueError(
                f"crop was given {length!r}; pass how many tokens to keep, 0 or more"
            )
        kept = [min(length, *counts) for counts in zip(*self._counts, strict=True)]
        self._before_crop(kept)
        self._counts = [list(kept) for _ in self._counts]
        self._after_crop()

    # -- what a kind of cache defines -------------------------------------------------

    def _allocate(self, batch: int) -> None:
        raise NotImplementedError

    def _write(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor]:
        raise NotImplementedError

    def _tensors(self) -> list[Tensor]:
        return [tensor for pair in self._kept for tensor in pair]

    def _reorder(self, index: Tensor) -> None:
        self._kept = [(keys[index], values[index]) for keys, values in self._kept]

    def _make_usable(self, layer: int) -> None:
        """Let autograd use what was kept under inference_mode."""
        self._kept[layer] = tuple(usable(tensor) for tensor in self._kept[layer])

    def _before_crop(self, kept: list[int]) -> None:
        """Check that each row can go back to `kept` tokens; only a window can say no."""

    def _after_crop(self) -> None:
        """Give memory back after a crop, where the kind of cache can."""

    def _keep_zeros(self, batch: int, n_slots: int) -> None:
        """Set aside keys and values for n_slots tokens of every row and layer."""
        # Zeros, not empty: a hidden slot gets a weight of 0, and 0 * NaN is NaN.
        shape = (batch, self.n_kv_heads, n_slots, self.d_head)
        self._kept = [
            tuple(
                torch.zeros(shape, dtype=self.dtype, device=self.device) for _ in "kv"
            )
            for _ in range(self.n_layers)
        ]

    # -- shared machinery -------------------------------------------------------------

    def _plan(
        self,
        before: list[int],
        n_positions: int,
        lengths: Tensor | Sequence[int] | None = None,
        side: str = "right",
    ) -> Step:
        return plan_step(self, before, n_positions, lengths, side)

    def _key_positions(
        self, before: list[int], after: list[int], positions: Tensor
    ) -> Tensor:
        """Positions of the keys that extend will return: slot = position, up to each row's end."""
        slots = torch.arange(max(after), device=self.device)
        if positions.ndim == 1:
            return slots
        ends = torch.tensor(after, device=self.device)[:, None]
        return torch.where(slots < ends, slots, PADDING)

    def _extend(
        self, layer: int, keys: Tensor, values: Tensor, step: Step
    ) -> tuple[Tensor, Tensor, Tensor]:
        expected = (self.batch, self.n_kv_heads, step.positions.shape[-1], self.d_head)
        if keys.shape != expected or values.shape != expected:
            raise ValueError(
                f"extend was given keys {tuple(keys.shape)} and values {tuple(values.shape)}; "
                f"this cache and step take (batch, kv_head, position, d_head) = {expected}"
            )
        if keys.dtype != self.dtype or values.dtype != self.dtype:
            raise ValueError(
                f"extend was given keys of {keys.dtype} and values of {values.dtype}; this cache "
                f"holds {self.dtype}, make it with dtype={keys.dtype}"
            )
        if self._counts[layer] != step.before:
            raise ValueError(
                f"layer {layer} holds {self._counts[layer]} tokens and the step was planned for "
                f"{step.before}; plan a step right before its pass, and use it once per layer"
            )
        self._make_usable(layer)
        keys, values = self._write(layer, keys, values, step)
        self._counts[layer] = step.after
        return keys, values, step.key_positions
