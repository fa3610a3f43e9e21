"""The encoder: the same stack without a causal mask; and both halves together."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from course_lib.block import Stack
from course_lib.config import DecoderConfig
from course_lib.decoder import Decoder
from course_lib.embedding import TokenEmbedding
from course_lib.initial import initialise_weights
from course_lib.masks import may_read


class Encoder(nn.Module):
    """Read a whole source at once: every position reads every real one.

    Args:
        config: a DecoderConfig; its causal and cross_attention are set to False here.
        generator: the source of the random initial weights; None: torch's own.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.1.
    Lesson: notebooks/05_cross_attention.ipynb

    >>> encoder = Encoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> tuple(encoder(torch.tensor([[1, 2, 3, 5, 7]])).shape)
    (1, 5, 6)
    """

    def __init__(self, config: DecoderConfig, generator: torch.Generator | None = None):
        super().__init__()
        self.config = replace(config, causal=False, cross_attention=False)
        with torch.device("meta"):  # shapes only: weights are drawn once
            self.embedding = TokenEmbedding(self.config)
            self.stack = Stack(self.config)
        self.to_empty(device=torch.get_default_device())
        initialise_weights(self, self.config, generator)

    def forward(
        self,
        tokens: Tensor,
        lengths: Tensor | Sequence[int] | None = None,
        side: str = "right",
        record: dict | None = None,
    ) -> Tensor:
        """Turn a source into the memory that a decoder's cross-attention reads.

        Args:
            tokens: (batch, position) int, ids.
            lengths: (batch,) int, real tokens of each row; None: all.
            side: "right" or "left", where the padding stands.
            record: a dict that receives the attention weights (see Block.forward).

        Returns:
            memory: (batch, position, d_model); rows at padding mean nothing.

        Raises:
            ValueError: ids outside the vocabulary, a wrong shape or dtype, a source
                longer than max_length, or lengths that do not fit.
        """
        self.embedding.check(tokens)
        positions = self.embedding.place(tokens, lengths, side)
        allowed = None
        if lengths is not None or self.config.window is not None:
            allowed = may_read(
                positions, positions, causal=False, window=self.config.window
            )
        residual = self.embedding(tokens, positions)
        return self.stack(residual, positions, allowed=allowed, record=record)


class EncoderDecoder(nn.Module):
    """Read a source with one stack, write a target with another.

    Args:
        encoder: turns a source into memory (batch, key, d_model).
        decoder: a Decoder with cross-attention and the encoder's d_model.

    Raises:
        ValueError: the decoder has no cross-attention.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.1.
    Lesson: notebooks/05_cross_attention.ipynb
    """

    def __init__(self, encoder: nn.Module, decoder: Decoder):
        super().__init__()
        if not decoder.config.cross_attention:
            raise ValueError(
                "the decoder has no cross-attention and would ignore the source; build it with "
                "cross_attention=True"
            )
        self.encoder, self.decoder = encoder, decoder

    def forward(
        self,
        source: Tensor,
        tokens: Tensor,
        source_lengths: Tensor | Sequence[int] | None = None,
        lengths: Tensor | Sequence[int] | None = None,
    ) -> Tensor:
        """Score every next target token: teacher forcing, all positions at once.

        Args:
            source: (batch, key) int, ids that the encoder reads.
            tokens: (batch, position) int, ids that the decoder is fed.
            source_lengths: (batch,) int, real tokens of each source; None: all.
            lengths: (batch,) int, real tokens of each target; None: all.

        Returns:
            logits: (batch, position, vocab).

        Raises:
            ValueError: as Encoder.forward and Decoder.forward.

        >>> config = DecoderConfig(11, 6, 2, 3, cross_attention=True)
        >>> model = EncoderDecoder(Encoder(config), Decoder(config))
        >>> source, tokens = torch.tensor([[1, 2, 3]]), torch.tensor([[5, 7]])
        >>> tuple(model(source, tokens).shape)
        (1, 2, 11)
        """
        memory = self.encoder(source, source_lengths)
        return self.decoder(
            tokens, memory, lengths=lengths, memory_lengths=source_lengths
        )
