"""The decoder: embedding, stack, head; one class and one config for four families."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.block import Stack
from course_lib.config import DecoderConfig
from course_lib.embedding import TokenEmbedding
from course_lib.initial import initialise_weights
from course_lib.kv_cache import (
    AppendCache,
    KeyValueCache,
    PagedCache,
    PreallocatedCache,
    SlidingWindowCache,
    Step,
)
from course_lib.linear import Linear
from course_lib.masks import may_read
from course_lib.memory import memory_to_read

CACHES = {
    "append": AppendCache,
    "preallocated": PreallocatedCache,
    "sliding_window": SlidingWindowCache,
    "paged": PagedCache,
}


class Decoder(nn.Module):
    """Predict the next token at every position.

    Args:
        config: a DecoderConfig.
        generator: the source of the random initial weights; None: torch's own.
        initialise: False leaves the weights as they come, for a caller who loads some.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.
    Lesson: notebooks/08_decoder.ipynb

    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> tuple(decoder(torch.tensor([[1, 2, 3, 5, 7]])).shape)
    (1, 5, 11)
    """

    def __init__(
        self,
        config: DecoderConfig,
        generator: torch.Generator | None = None,
        initialise: bool = True,
    ):
        super().__init__()
        self.config = config
        with torch.device("meta"):  # shapes only: weights are drawn, or loaded, once
            self.embedding = TokenEmbedding(config)
            self.stack = Stack(config)
            self.head = Linear(config.d_model, config.vocab_size, bias=False)
        self.to_empty(device=torch.get_default_device())
        if config.tie_weights:
            self.head.weight = self.embedding.weight
        if initialise:
            initialise_weights(self, config, generator)

    def forward(
        self,
        tokens: Tensor,
        memory: Tensor | None = None,
        lengths: Tensor | Sequence[int] | None = None,
        memory_lengths: Tensor | Sequence[int] | None = None,
        cache: KeyValueCache | None = None,
        side: str = "right",
        record: dict | None = None,
        only_last: bool | int = False,
    ) -> Tensor:
        """Score every next token at every position.

        Args:
            tokens: (batch, position) int, ids; with a cache only those not yet fed.
            memory: (batch, key, d_model), what cross-attention reads; with a cache
                only at the first call.
            lengths: (batch,) int, real tokens of this call; None: all. 0 is allowed.
            memory_lengths: (batch,) int, real places of the memory; None: all, or what
                the cache remembers with its memory.
            cache: extended by this call; None computes everything anew.
            side: "right" or "left", where the padding of tokens stands.
            record: a dict that receives the attention weights (see Block.forward).
            only_last: score only after the last real token of each row; a number n:
                after the last n places, where lengths are None.

        Returns:
            logits: (batch, position, vocab), or (batch, only_last, vocab); those at
            padding mean nothing.

        Raises:
            ValueError: ids outside the vocabulary, a wrong shape or dtype, a row longer
                than max_length, lengths that do not fit, a cache that does not fit, a
                memory that is missing, not wanted, or not the one that the cache
                knows. Nothing is computed and the cache is unchanged.
        """
        memory, memory_allowed = self.check(tokens, memory, memory_lengths, cache)
        step = self._step(tokens, lengths, cache, side)
        cached = isinstance(step, Step)
        if cached:
            if memory is not None and memory is not cache.memory:
                # A copy: the caller may fill the same buffer with another source later.
                cache.memory = memory = memory.clone()
            cache.memory_allowed = memory_allowed
        positions = step.positions if cached else step
        residual = self.embedding(tokens, positions)
        reading = self._reading(step, positions)
        residual = self.stack(
            residual,
            positions,
            memory=memory,
            memory_allowed=memory_allowed,
            cache=step if cached else None,
            record=record,
            **reading,
        )
        if only_last > 1:
            residual = residual[:, -only_last:]
        elif only_last:
            residual = residual.gather(1, _last_places(tokens, lengths, side, residual))
        return self.head(residual)

    def check(
        self,
        tokens: Tensor,
        memory: Tensor | None = None,
        memory_lengths: Tensor | Sequence[int] | None = None,
        cache: KeyValueCache | None = None,
    ) -> tuple[Tensor | None, Tensor | None]:
        """Refuse ids, a memory or a cache that forward could not use; change nothing.

        Args:
            tokens: as in forward.
            memory: as in forward.
            memory_lengths: as in forward.
            cache: as in forward.

        Returns:
            memory: (batch, key, d_model) that forward would read, or None.
            memory_allowed: (batch, 1, 1, key) bool, or None if all of it is real.

        Raises:
            ValueError: as forward, except for the lengths of the rows.

        >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
        >>> decoder.check(torch.tensor([[1, 2, 3]]))
        (None, None)
        """
        self.embedding.check(tokens)
        if cache is not None:
            self._check_cache(tokens, cache)
        return memory_to_read(self, tokens, memory, memory_lengths, cache)

    def new_cache(
        self,
        batch: int = 1,
        kind: str = "preallocated",
        max_length: int | None = None,
        **options,
    ) -> KeyValueCache:
        """Make an empty cache that fits this decoder.

        Args:
            batch: rows.
            kind: "append", "preallocated", "sliding_window" or "paged".
            max_length: most tokens a row may hold; None: the config's.
            **options: block_size or pool for "paged".

        Returns:
            A cache in the dtype and on the device of the weights.

        Raises:
            ValueError: the kind is unknown, max_length exceeds the config's, or a
                sliding window is asked for and the config has no window.

        >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
        >>> cache = decoder.new_cache(max_length=7)
        >>> _ = decoder(torch.tensor([[1, 2, 3]]), cache=cache)
        >>> cache.lengths
        tensor([3])
        """
        config, weight = self.config, self.embedding.weight
        if not config.causal:
            raise ValueError(
                "a cache was asked for and config.causal is False; where later tokens change "
                "earlier ones nothing can be kept, use cache=False"
            )
        if kind not in CACHES:
            raise ValueError(f"kind was {kind!r}; choose one of {', '.join(CACHES)}")
        max_length = config.max_length if max_length is None else max_length
        if max_length > config.max_length:
            raise ValueError(
                f"a cache for {max_length} tokens was asked for; this model reads at most "
                f"{config.max_length}"
            )
        if kind == "sliding_window":
            if config.window is None:
                raise ValueError(
                    "a sliding-window cache was asked for and config.window is None; a model "
                    "that reads everything needs one of the other caches"
                )
            options = {"window": config.window, **options}
        return CACHES[kind](
            batch,
            config.n_layers,
            config.n_kv_heads,
            config.d_head,
            max_length,
            dtype=weight.dtype,
            device=weight.device,
            **options,
        )

    # -- the parts of forward ---------------------------------------------------------

    def _step(self, tokens, lengths, cache, side) -> Step | Tensor:
        """Place this call's tokens: a Step with a cache, else their positions."""
        if cache is None:
            return self.embedding.place(tokens, lengths, side)
        step = cache.step(tokens.shape[1], lengths, side)
        if cache.bounded or self.config.positions == "learned":
            self.embedding.check_length(max(step.after))
        if not cache.bounded:
            self._check_window(cache.window, max(step.after))
        return step

    def _check_cache(self, tokens: Tensor, cache: KeyValueCache) -> None:
        if cache.batch != len(tokens):
            raise ValueError(
                f"tokens have {len(tokens)} rows and the cache {cache.batch}; make a "
                f"cache with batch={len(tokens)}, or reorder it"
            )
        if not self.config.causal:
            raise ValueError(
                "a cache was given and this decoder reads the future (causal=False), so later "
                "tokens change what a cache would keep; leave the cache out"
            )
        dtype = self.embedding.weight.dtype
        if cache.dtype != dtype and not torch.is_autocast_enabled(cache.device.type):
            raise ValueError(
                f"the cache holds {cache.dtype} and the weights are {dtype}; make one with "
                f"new_cache"
            )
        given = (cache.n_layers, cache.n_kv_heads, cache.d_head)
        needed = (self.config.n_layers, self.config.n_kv_heads, self.config.d_head)
        if given != needed:
            raise ValueError(
                f"the cache was made for (n_layers, n_kv_heads, d_head) = {given} and this "
                f"decoder has {needed}; make one with new_cache"
            )

    def _check_window(self, kept: int, length: int) -> None:
        """Refuse a window cache that forgot what this model still reads."""
        read = length if self.config.window is None else self.config.window
        if kept < min(read, length):
            raise ValueError(
                f"the cache keeps a window of {kept} tokens and this model reads {read} of a row "
                f"of {length}; make one with new_cache"
            )

    def _reading(self, step: Step | Tensor, positions: Tensor) -> dict:
        """Say what self-attention may read, as cheaply as this call permits."""
        causal, window = self.config.causal, self.config.window
        if isinstance(step, Step):
            n_keys = step.key_positions.shape[-1]
            if step.reads_all and (window is None or n_keys <= window):
                return {}
            return {"allowed": may_read(positions, step.key_positions, causal, window)}
        if positions.ndim == 1 and window is None:
            return {"causal": causal}
        return {"allowed": may_read(positions, positions, causal, window)}


def _last_places(tokens: Tensor, lengths, side: str, residual: Tensor) -> Tensor:
    """Index (batch, 1, d_model) of each row's last real place, for gather."""
    batch, n = tokens.shape
    if lengths is None or side == "left":
        places = torch.full((batch,), n - 1, device=tokens.device)
    else:
        places = torch.as_tensor(lengths, device=tokens.device).long().clamp(min=1) - 1
    return places[:, None, None].expand(-1, 1, residual.shape[-1])
