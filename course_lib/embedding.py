"""The embedding: ids become vectors, and where the scheme adds them, positions."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.masks import token_positions
from course_lib.positions import embedding_scheme


class TokenEmbedding(nn.Embedding):
    """Look up a vector per id, scale it, add the position, drop some in training.

    Args:
        config: a DecoderConfig (vocab_size, d_model, positions, embed_scale, dropout).

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.4.
    Lesson: notebooks/08_decoder.ipynb
    """

    def __init__(self, config):
        # Made empty: the model that owns the embedding initialises it, or loads it.
        weight = torch.empty(config.vocab_size, config.d_model)
        super().__init__(config.vocab_size, config.d_model, _weight=weight)
        self.config = config
        self.positions = embedding_scheme(config)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Embed ids at their positions.

        Args:
            tokens: (batch, position) int.
            positions: (position,) or (batch, position) int; -1 marks padding.

        Returns:
            residual: (batch, position, d_model).
        """
        residual = super().forward(tokens)
        if self.config.embed_scale:
            residual = residual * math.sqrt(self.config.d_model)
        placed = self.positions.embed(positions.clamp(min=0))
        if placed is not None:
            residual = residual + placed.to(residual.dtype)
        return F.dropout(residual, self.config.dropout, self.training)

    def check(self, tokens: Tensor) -> None:
        """Raise a ValueError unless tokens are (batch, position) ids of the vocabulary."""
        if not isinstance(tokens, Tensor):
            raise ValueError(
                f"tokens are a {type(tokens).__name__}; pass a tensor of ids, (batch, position): "
                f"torch.tensor([[...]])"
            )
        if tokens.ndim != 2 or tokens.dtype not in (torch.int64, torch.int32):
            raise ValueError(
                f"tokens have shape {tuple(tokens.shape)} and dtype {tokens.dtype}; pass ids as "
                f"(batch, position) int64, for one sequence tokens[None]"
            )
        if tokens.numel() == 0:
            raise ValueError(
                f"tokens have shape {tuple(tokens.shape)}; pass at least one row and one token, "
                f"for example a start token"
            )
        least, most = (int(end) for end in tokens.aminmax())
        if least < 0 or most >= self.config.vocab_size:
            raise ValueError(
                f"tokens hold ids from {least} to {most}; this vocabulary has ids 0 to "
                f"{self.config.vocab_size - 1}"
            )

    def place(
        self, tokens: Tensor, lengths: Tensor | Sequence[int] | None, side: str
    ) -> Tensor:
        """Number the tokens of a call that has no cache, from 0.

        Args:
            tokens: (batch, position) int.
            lengths: (batch,) int, real tokens of each row; None: all.
            side: where the padding stands.

        Returns:
            positions: (position,), or (batch, position) with -1 for padding.

        Raises:
            ValueError: a row is longer than max_length, or lengths do not fit.
        """
        batch, n = tokens.shape
        self.check_length(n)
        if side not in ("right", "left"):
            raise ValueError(
                f"side was {side!r}; padding stands on the 'right' or the 'left'"
            )
        if lengths is None:
            return torch.arange(n, device=tokens.device)
        lengths = torch.as_tensor(lengths, device=tokens.device)
        if lengths.ndim == 1 and len(lengths) != batch:
            raise ValueError(
                f"lengths has {len(lengths)} entries for {batch} rows; pass one a row"
            )
        return token_positions(n, lengths, side=side)

    def check_length(self, length: int) -> None:
        """Raise a ValueError if a row of `length` tokens is more than the model reads."""
        if length > self.config.max_length:
            raise ValueError(
                f"a row would be {length} tokens long and this model reads at most "
                f"{self.config.max_length}; shorten the input"
            )
