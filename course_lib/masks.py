"""Who may read whom: every mask is one question about two absolute positions.

May the query at position i read the key at position j? A mask is a bool tensor
`allowed`; True means "may read". Positions count the real tokens of a row from 0;
padding has position -1 and is never read.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

PADDING = -1


def may_read(
    query_positions: Tensor,
    key_positions: Tensor,
    causal: bool = True,
    window: int | None = None,
) -> Tensor:
    """Answer the one question behind all masks from absolute positions.

    A key at position j may be read by a query at position i where j is real
    (j >= 0), not later (j <= i, if causal) and not too old (j > i - window, if any).
    A padding query (i = -1) reads nothing.

    Args:
        query_positions: (query,) or (batch, query) int; -1 marks padding.
        key_positions: (key,) or (batch, key) int; -1 marks padding.
        causal: hide keys that come after the query.
        window: how many keys a query reads at most looking back, itself included;
            None: all. It does not limit what comes after.

    Returns:
        allowed: (query, key) bool, or (batch, 1, query, key) if either has a batch
        axis; the 1 stands for the heads.

    Raises:
        ValueError: window is smaller than 1.

    Lesson: notebooks/02_masks.ipynb

    >>> may_read(torch.tensor([2, 3]), torch.arange(4)).int()
    tensor([[1, 1, 1, 0],
            [1, 1, 1, 1]], dtype=torch.int32)
    """
    if window is not None and window < 1:
        raise ValueError(
            f"window was {window}; it counts the query itself, so pass at least 1, "
            f"or None for no window"
        )
    batched = query_positions.ndim == 2 or key_positions.ndim == 2
    queries, keys = query_positions[..., :, None], key_positions[..., None, :]
    allowed = (keys >= 0) & (queries >= 0)
    if causal:
        allowed = allowed & (keys <= queries)
    if window is not None:
        allowed = allowed & (keys > queries - window)
    return allowed[:, None] if batched else allowed


def causal_mask(
    n_queries: int,
    n_keys: int | None = None,
    offset: int | None = None,
    device: torch.device | None = None,
) -> Tensor:
    """Let each query read itself and what came before it.

    Args:
        n_queries: queries, the newest positions.
        n_keys: keys; None means n_queries (plus offset, if that is given).
        offset: how many keys come before the first query; None means
            n_keys - n_queries, which puts the last query at the last key.
        device: where the mask is made; None: the CPU.

    Returns:
        allowed: (query, key) bool, True where the query may read the key.

    Raises:
        ValueError: a count is negative.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2.3.
    Lesson: notebooks/02_masks.ipynb

    >>> causal_mask(2, 5).int()
    tensor([[1, 1, 1, 1, 0],
            [1, 1, 1, 1, 1]], dtype=torch.int32)
    """
    return may_read(*_positions_of(n_queries, n_keys, offset, device))


def window_mask(
    n_queries: int,
    window: int,
    n_keys: int | None = None,
    offset: int | None = None,
    device: torch.device | None = None,
) -> Tensor:
    """Let each query read the last `window` keys up to itself, itself included.

    Args:
        n_queries: queries, the newest positions.
        window: keys that a query reads at most; 1 lets it read only itself.
        n_keys: as in causal_mask.
        offset: as in causal_mask.
        device: where the mask is made; None: the CPU.

    Returns:
        allowed: (query, key) bool, True where the query may read the key.

    Raises:
        ValueError: window is smaller than 1, or a count is negative.

    Source: Beltagy et al. (2020), Longformer, arXiv:2004.05150, section 3.1.
    Lesson: notebooks/02_masks.ipynb

    >>> window_mask(3, window=2).int()
    tensor([[1, 0, 0],
            [1, 1, 0],
            [0, 1, 1]], dtype=torch.int32)
    """
    return may_read(*_positions_of(n_queries, n_keys, offset, device), window=window)


def padding_mask(
    lengths: Tensor | Sequence[int], n_keys: int, side: str = "right"
) -> Tensor:
    """Hide the keys that only fill a short row up to the length of the longest.

    Args:
        lengths: (batch,) int, the real keys of each row.
        n_keys: keys of the padded row.
        side: "right" if the padding follows the real keys, "left" if it precedes.

    Returns:
        allowed: (batch, 1, 1, key) bool; the two 1s stand for heads and queries.

    Raises:
        ValueError: a length is negative or above n_keys, or side is unknown.

    Lesson: notebooks/02_masks.ipynb

    >>> padding_mask([1, 3], n_keys=3)[:, 0, 0].int()
    tensor([[1, 0, 0],
            [1, 1, 1]], dtype=torch.int32)
    """
    return (token_positions(n_keys, lengths, side=side) >= 0)[:, None, None, :]


def combine(*masks: Tensor | None) -> Tensor | None:
    """Allow what every mask allows; None among them allows everything.

    Args:
        *masks: bool tensors whose shapes broadcast, or None.

    Returns:
        allowed: the broadcast shape, bool; None if every mask is None.

    Raises:
        ValueError: a mask is not bool.

    Lesson: notebooks/02_masks.ipynb

    >>> tuple(combine(causal_mask(3), padding_mask([1, 2], 3), None).shape)
    (2, 1, 3, 3)
    """
    combined = None
    for mask in masks:
        if mask is None:
            continue
        if mask.dtype != torch.bool:
            raise ValueError(
                f"combine was given a mask of dtype {mask.dtype}; masks here are bool, "
                f"True = may read (for a 0/1 mask: mask == 1)"
            )
        combined = mask if combined is None else combined & mask
    return combined


def token_positions(
    n_positions: int,
    lengths: Tensor | Sequence[int],
    starts: Sequence[int] | None = None,
    side: str = "right",
) -> Tensor:
    """Number the real tokens of each row from its start; padding gets -1.

    Args:
        n_positions: places in the padded row.
        lengths: (batch,) int, real tokens of each row; 0 is allowed.
        starts: the position of each row's first real token; None: all 0.
        side: "right" or "left", where the padding stands.

    Returns:
        positions: (batch, position) int64.

    Raises:
        ValueError: a length is negative or above n_positions, or side is unknown.

    Lesson: notebooks/02_masks.ipynb

    >>> token_positions(3, [2, 3], starts=[5, 0], side="left")
    tensor([[-1,  5,  6],
            [ 0,  1,  2]])
    """
    if side not in ("right", "left"):
        raise ValueError(
            f"side was {side!r}; padding stands on the 'right' or the 'left'"
        )
    lengths = torch.as_tensor(lengths)
    if lengths.ndim != 1 or lengths.is_floating_point():
        raise ValueError(
            f"lengths had shape {tuple(lengths.shape)} and dtype {lengths.dtype}; pass one "
            f"whole number per row, the count of its real tokens"
        )
    if (
        lengths.numel()
        and not 0 <= int(lengths.min()) <= int(lengths.max()) <= n_positions
    ):
        raise ValueError(
            f"lengths were {lengths.tolist()}; each must lie between 0 and the "
            f"{n_positions} places of a row"
        )
    lengths = lengths[:, None]
    starts_column = (
        0 if starts is None else torch.as_tensor(starts, device=lengths.device)[:, None]
    )
    place = torch.arange(n_positions, device=lengths.device)[None]
    index = place if side == "right" else place - (n_positions - lengths)
    real = (index >= 0) & (index < lengths)
    return torch.where(real, index + starts_column, PADDING)


def _positions_of(
    n_queries: int, n_keys: int | None, offset: int | None, device: torch.device | None
) -> tuple[Tensor, Tensor]:
    """Place n_queries after `offset` keys; queries before position 0 read nothing."""
    if n_keys is None:
        n_keys = n_queries + (offset or 0)
    if offset is None:
        offset = n_keys - n_queries
    if n_queries < 0 or n_keys < 0:
        raise ValueError(
            f"a mask for {n_queries} queries and {n_keys} keys was asked for; "
            f"both counts must be 0 or more"
        )
    queries = torch.arange(offset, offset + n_queries, device=device)
    return queries, torch.arange(n_keys, device=device)
