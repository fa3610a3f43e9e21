"""Prompts: checked, put into one tensor, and read up to the scores of the next id."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.modes import mode


def prompt_ids_of(prompt: Sequence[int] | Tensor) -> list[int]:
    """Return a prompt as a list of ids, or raise a ValueError that says what is wrong."""
    try:
        ids = torch.as_tensor(prompt).tolist()
    except (TypeError, ValueError, RuntimeError):
        ids = None  # a str, say, or None
    if not isinstance(ids, list) or not ids or not all(type(i) is int for i in ids):
        raise ValueError(
            f"a prompt was {prompt!r}; pass a flat list of at least one id, for example the "
            f"start token"
        )
    return ids


def check_end(decoder, eos_id) -> None:
    """Refuse an end token that the vocabulary lacks."""
    most = decoder.config.vocab_size - 1
    if eos_id is None or not 0 <= eos_id <= most:
        raise ValueError(
            f"eos_id was {eos_id}; this vocabulary has ids 0 to {most}, and generate "
            f"with None never stops early"
        )


def check_room(decoder, cache, prompts, max_new_tokens) -> None:
    """Refuse what would run past the model or the cache before computing anything."""
    if cache is not None and cache.batch != len(prompts):
        raise ValueError(
            f"{len(prompts)} prompts were given and a cache of {cache.batch} rows; "
            f"make one with batch={len(prompts)}"
        )
    fed = [0] * len(prompts) if cache is None else cache.lengths.tolist()
    needed = (
        max(n + len(prompt) for n, prompt in zip(fed, prompts, strict=True))
        + max_new_tokens
    )
    limit = decoder.config.max_length
    if cache is not None:
        limit = min(limit, cache.max_length) if cache.bounded else limit
        if not cache.bounded and decoder.config.positions != "learned":
            return
    if needed > limit:
        raise ValueError(
            f"prompt and new tokens would make a row {needed} tokens long and there is room for "
            f"{limit}; shorten the prompt, lower max_new_tokens, or make the cache longer"
        )


def pad_rows(
    rows: Sequence[Sequence[int]], device: torch.device | None = None
) -> tuple[Tensor, list[int]]:
    """Put rows of ids into one tensor, zeros behind the shorter ones.

    Args:
        rows: lists of ids; an empty one becomes a row of zeros of length 0.
        device: where the tensor lies; None: the CPU.

    Returns:
        tokens: (batch, position) int, at least one position wide.
        lengths: real tokens of each row.

    Source: lesson 02: padding is recognised by its place, never by its id.
    Lesson: notebooks/12_translation.ipynb

    >>> pad_rows([[5, 7], [3]])
    (tensor([[5, 7],
            [3, 0]]), [2, 1])
    """
    lengths = [len(row) for row in rows]
    width = max([1, *lengths])
    padded = [[*row, *[0] * (width - len(row))] for row in rows]
    return torch.tensor(padded, dtype=torch.long, device=device), lengths


def pad(rows: list[list[int]], device: torch.device) -> tuple[Tensor, list[int] | None]:
    """Pad rows of ids; lengths only where they differ, since equal ones need no mask."""
    tokens, lengths = pad_rows(rows, device)
    return tokens, None if min(lengths) == max(lengths) else lengths


@torch.inference_mode()
def last_logits(decoder, tokens, lengths, cache, memory, memory_lengths) -> Tensor:
    """Score the token after the last real one of each row: (batch, vocab)."""
    # Around each call and not around a stream, whose consumer may train in between.
    with mode(decoder, training=False):
        logits = decoder(
            tokens,
            memory,
            lengths=lengths,
            memory_lengths=memory_lengths,
            cache=cache,
            only_last=True,
        )
    return logits[:, 0]
