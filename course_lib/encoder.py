"""Encoders of text and of sound: the stack without a causal mask; and both halves together."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from course_lib.audio import AudioStem
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


class AudioEncoder(nn.Module):
    """Read sound at once: an audio stem in place of the embedding, then the same stack.

    Args:
        config: a DecoderConfig; its causal, cross_attention and window are switched off
            here. max_length counts positions of 20 ms; of its position schemes only
            those inside attention act, since the stem has its own.
        n_mels: bands of the spectrogram.
        generator: the source of the random initial weights; None: torch's own.
        initialise: False leaves the weights as they come, for a caller who loads some.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.2.
    Lesson: notebooks/14_captions.ipynb

    >>> encoder = AudioEncoder(DecoderConfig(11, d_model=6, n_layers=2, n_heads=3), n_mels=5)
    >>> tuple(encoder(torch.zeros(2, 5, 14)).shape)
    (2, 7, 6)
    """

    def __init__(
        self,
        config: DecoderConfig,
        n_mels: int = 80,
        generator: torch.Generator | None = None,
        initialise: bool = True,
    ):
        super().__init__()
        self.config = replace(config, causal=False, cross_attention=False, window=None)
        self.stem = AudioStem(self.config, n_mels)
        with torch.device("meta"):  # shapes only: weights are drawn, or loaded, once
            self.stack = Stack(self.config)
        self.stack.to_empty(device=torch.get_default_device())
        if initialise:
            initialise_weights(self, self.config, generator)

    def forward(
        self, spectrogram: Tensor, lengths: None = None, record: dict | None = None
    ) -> Tensor:
        """Turn a spectrogram into the memory that a decoder's cross-attention reads.

        Fewer frames than the longest are read as they are: the positions are cut.

        Args:
            spectrogram: (batch, mel, frame) float, as log_mel makes it.
            lengths: None; every row is heard whole, filled up with silence.
            record: a dict that receives the attention weights (see Block.forward).

        Returns:
            memory: (batch, frame / 2, d_model).

        Raises:
            ValueError: lengths were given, or as AudioStem.forward.
        """
        if lengths is not None:
            raise ValueError(
                "lengths were given to an encoder of sound, which hears every row whole; "
                "fill shorter ones with silence, as log_mel does"
            )
        residual = self.stem(spectrogram)
        positions = torch.arange(residual.shape[1], device=residual.device)
        return self.stack(residual, positions, record=record)


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
            source: what the encoder reads: (batch, key) int, ids, or for an encoder of
                sound (batch, mel, frame) float, a spectrogram.
            tokens: (batch, position) int, ids that the decoder is fed.
            source_lengths: (batch,) int, real tokens of each source; None: all, and
                always so for sound.
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
