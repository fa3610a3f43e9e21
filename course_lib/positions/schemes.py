"""The position schemes as modules, behind one interface."""

import math

import torch
from torch import Tensor, nn

from course_lib.positions.formulas import (
    Angles,
    alibi_bias,
    angles,
    check_rotation,
    check_waves,
    relative_scores,
    rotate,
    sinusoids_at,
)

SCHEMES = ("learned", "sinusoidal", "rotary", "relative", "alibi", "none")


class Positions(nn.Module):
    """The interface of a position scheme; by itself, the scheme "none".

    Lesson: notebooks/04_positions.ipynb
    """

    def embed(self, positions: Tensor) -> Tensor | None:
        """Return (..., d_model) to add to the embeddings of positions (...), or None."""
        return None

    def prepare(self, positions: Tensor) -> Tensor | Angles:
        """Compute once per pass what every layer's `turn` and `bias` need."""
        return positions

    def turn(self, x: Tensor, prepared) -> Tensor:
        """Apply the scheme to queries or keys (batch, head, position, d_head)."""
        return x

    def bias(self, queries: Tensor, query_positions, key_positions) -> Tensor | None:
        """Return what is added to the scores, (batch, head, query, key), or None."""
        return None


class SinusoidalPositions(Positions):
    """Add fixed sines and cosines to the embeddings.

    Args:
        d_model: even width.
        layout: as in sinusoids.

    Lesson: notebooks/04_positions.ipynb
    """

    def __init__(self, d_model: int, layout: str = "interleaved"):
        super().__init__()
        check_waves(d_model, layout)
        self.d_model, self.layout = d_model, layout

    def embed(self, positions: Tensor) -> Tensor:
        """Compute the waves at positions (...): (..., d_model)."""
        return sinusoids_at(positions, self.d_model, self.layout)


class LearnedPositions(Positions):
    """Add a learned vector per position to the embeddings.

    Args:
        max_length: positions.
        d_model: width.

    Source: Gehring et al. (2017), arXiv:1705.03122, section 3.1.
    Lesson: notebooks/04_positions.ipynb
    """

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.table = _table(max_length, d_model)

    def embed(self, positions: Tensor) -> Tensor:
        """Look up (..., d_model) for positions (...), each below max_length."""
        return self.table[positions]


def _table(n_rows: int, width: int) -> nn.Parameter:
    table = nn.Parameter(torch.empty(n_rows, width))
    # On the meta device a model is only laid out; it draws its weights later.
    return table if table.is_meta else nn.init.normal_(table, std=0.02)


class RotaryPositions(Positions):
    """Turn queries and keys by their position.

    Args:
        d_head: even width of a head.
        base: as in angles.
        pairing: as in rotate.

    Lesson: notebooks/04_positions.ipynb
    """

    def __init__(self, d_head: int, base: float = 10000.0, pairing: str = "half"):
        super().__init__()
        check_rotation(d_head, pairing)
        self.d_head, self.base, self.pairing = d_head, base, pairing

    def prepare(self, positions: Tensor) -> Angles:
        """Compute the angles of a pass once."""
        return angles(positions, self.d_head, self.base, self.pairing)

    def turn(self, x: Tensor, prepared: Tensor | Angles) -> Tensor:
        """Rotate (batch, head, position, d_head)."""
        return rotate(x, prepared, self.base, self.pairing)


class AlibiPositions(Positions):
    """Lower the scores of far keys.

    Args:
        n_heads: heads.

    Lesson: notebooks/04_positions.ipynb
    """

    def __init__(self, n_heads: int):
        super().__init__()
        self.n_heads = n_heads

    def bias(
        self, queries: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """Return the ALiBi bias in the dtype of the queries."""
        return alibi_bias(self.n_heads, query_positions, key_positions).to(
            queries.dtype
        )


class RelativePositions(Positions):
    """Add to each score what the query thinks of the distance to the key.

    Args:
        d_head: width of a head.
        max_distance: farther keys count as this far.

    Note: the paper also adds a vector per distance to the values; this does not.

    Source: Shaw, Uszkoreit, Vaswani (2018), arXiv:1803.02155.
    Lesson: notebooks/04_positions.ipynb
    """

    def __init__(self, d_head: int, max_distance: int = 16):
        super().__init__()
        self.max_distance = max_distance
        self.table = _table(2 * max_distance + 1, d_head)

    def bias(
        self, queries: Tensor, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor:
        """Return the scaled relative scores."""
        scores = relative_scores(queries, self.table, query_positions, key_positions)
        return scores / math.sqrt(queries.shape[-1])


def embedding_scheme(config) -> Positions:
    """Choose what adds positions to the embeddings; a neutral scheme where nothing does.

    Args:
        config: a DecoderConfig (positions, d_model, max_length).

    Raises:
        ValueError: config.positions is unknown.

    Lesson: notebooks/04_positions.ipynb

    >>> from course_lib.config import DecoderConfig
    >>> config = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)
    >>> tuple(embedding_scheme(config).embed(torch.tensor([0, 7])).shape)
    (2, 6)
    """
    if config.positions == "learned":
        return LearnedPositions(config.max_length, config.d_model)
    if config.positions == "sinusoidal":
        return SinusoidalPositions(config.d_model)
    if config.positions not in SCHEMES:
        raise ValueError(
            f"positions was {config.positions!r}; choose one of {', '.join(SCHEMES)}"
        )
    return Positions()


def attention_scheme(config) -> Positions | None:
    """Choose what a layer's attention does with positions; None where it does nothing.

    Args:
        config: a DecoderConfig (positions, d_model, n_heads, rotary_base, ...).

    Lesson: notebooks/04_positions.ipynb

    >>> from course_lib.config import DecoderConfig
    >>> attention_scheme(DecoderConfig.smollm2_135m()).pairing
    'half'
    """
    d_head = config.d_model // config.n_heads
    if config.positions == "rotary":
        return RotaryPositions(d_head, config.rotary_base, config.rotary_pairing)
    if config.positions == "alibi":
        return AlibiPositions(config.n_heads)
    if config.positions == "relative":
        return RelativePositions(d_head, config.max_distance)
    return None
