"""The memory that cross-attention reads: checked against the model and what its cache knows."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.kv_cache import KeyValueCache
from course_lib.masks import padding_mask


def memory_to_read(
    decoder: nn.Module,
    tokens: Tensor,
    memory: Tensor | None,
    memory_lengths: Tensor | Sequence[int] | None,
    cache: KeyValueCache | None,
) -> tuple[Tensor | None, Tensor | None]:
    """Return the memory that a decoder's pass reads, or refuse it; change nothing.

    Args:
        decoder: has a config and an embedding.
        tokens: (batch, position) int.
        memory: (batch, key, d_model), or None: there is none, or the cache has it.
        memory_lengths: (batch,) int, its real places; None: all, or what the cache
            remembers.
        cache: what may remember a memory.

    Returns:
        memory: (batch, key, d_model), or None.
        memory_allowed: (batch, 1, 1, key) bool, or None if all of it is real.

    Raises:
        ValueError: a memory that is missing, not wanted, of another shape or dtype, or
            not the one that the cache knows.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2.3.
    Lesson: notebooks/05_cross_attention.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> config = DecoderConfig(11, d_model=6, n_layers=1, n_heads=3, cross_attention=True)
    >>> memory, tokens = torch.zeros(2, 5, 6), torch.zeros(2, 3, dtype=torch.long)
    >>> _, allowed = memory_to_read(Decoder(config), tokens, memory, [5, 3], None)
    >>> allowed[1].tolist()
    [[[True, True, True, False, False]]]
    """
    if not decoder.config.cross_attention:
        if memory is not None:
            raise ValueError(
                "memory was given and this decoder has no cross-attention; leave it out, or "
                "build the model with cross_attention=True"
            )
        return None, None
    known = None if cache is None else cache.memory
    if memory is None and known is None:
        raise ValueError(
            "this decoder has cross-attention and got no memory; pass the encoder's "
            "output (with a cache: at the first call)"
        )
    if memory is not None:
        _check(decoder, tokens, memory)
    allowed = _allowed(known if memory is None else memory, memory_lengths)
    if known is None:
        return memory, allowed
    if not _remembers(cache, memory, allowed):
        raise ValueError(
            "this cache already reads another memory or other memory_lengths; pass "
            "memory=None to go on with what it has, or a new cache for a new source"
        )
    return known, cache.memory_allowed


def _check(decoder: nn.Module, tokens: Tensor, memory: Tensor) -> None:
    batch, d_model = tokens.shape[0], decoder.config.d_model
    fits = memory.ndim == 3 and (memory.shape[0], memory.shape[2]) == (batch, d_model)
    if not fits:
        raise ValueError(
            f"memory has shape {tuple(memory.shape)}; for tokens {tuple(tokens.shape)} it must "
            f"be (batch, key, d_model) = ({batch}, any, {d_model})"
        )
    dtype = decoder.embedding.weight.dtype
    if memory.dtype != dtype and not torch.is_autocast_enabled(memory.device.type):
        raise ValueError(
            f"memory has dtype {memory.dtype} and the weights {dtype}; convert it with "
            f"memory.to({dtype})"
        )


def _allowed(memory: Tensor, memory_lengths) -> Tensor | None:
    """Turn the real lengths of a memory into a mask (batch, 1, 1, key)."""
    if memory_lengths is None:
        return None
    lengths = torch.as_tensor(memory_lengths, device=memory.device)
    if lengths.shape != memory.shape[:1]:
        raise ValueError(
            f"memory_lengths has shape {tuple(lengths.shape)} and memory {memory.shape[0]} rows; "
            f"pass one a row"
        )
    return padding_mask(lengths, memory.shape[1])


def _remembers(
    cache: KeyValueCache, memory: Tensor | None, allowed: Tensor | None
) -> bool:
    """Whether what is given, if anything, is what the cache reads already."""
    known, known_allowed = cache.memory, cache.memory_allowed
    if memory is not None and memory is not known:
        # Padding may hold NaN, and NaN equals nothing by itself.
        same = known.shape == memory.shape and torch.allclose(
            known, memory, rtol=0, atol=0, equal_nan=True
        )
        if not same:
            return False
    if allowed is None:
        return True
    return bool((allowed == (True if known_allowed is None else known_allowed)).all())
