"""A translator: an encoder-decoder with the tokenizers of its two sides."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.encoder import EncoderDecoder
from course_lib.generation import beam_search, generate_batch, pad_rows
from course_lib.modes import mode
from course_lib.tokens import Tokenizer

BATCH = 64  # sources that are translated together


class Translator:
    """Turns texts of one kind into texts of another: languages, spellings and sounds.

    Args:
        model: the encoder-decoder.
        source: tokenizer of the sources.
        target: tokenizer of the targets, with bos and eos.

    Raises:
        ValueError: a vocabulary has another size than its half of the model, or the
            target's tokenizer lacks bos or eos.

    Source: Sutskever et al. (2014), arXiv:1409.3215; Vaswani et al. (2017),
        arXiv:1706.03762.
    Lesson: notebooks/12_translation.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> from course_lib.encoder import Encoder
    >>> from course_lib.tokens import CharacterTokenizer
    >>> letters = CharacterTokenizer("abc", specials=["bos", "eos"])
    >>> config = DecoderConfig(5, d_model=6, n_layers=1, n_heads=3, cross_attention=True)
    >>> model = EncoderDecoder(Encoder(config), Decoder(config))
    >>> len(Translator(model, letters, letters)(["ab", "c"], max_new_tokens=3))
    2
    """

    def __init__(self, model: EncoderDecoder, source: Tokenizer, target: Tokenizer):
        for name, half, tokenizer in (
            ("source", model.encoder, source),
            ("target", model.decoder, target),
        ):
            if half.config.vocab_size != tokenizer.vocab_size:
                raise ValueError(
                    f"the {name} tokenizer has {tokenizer.vocab_size} ids and its half of "
                    f"the model {half.config.vocab_size}; pass those it was trained with"
                )
        if target.bos_id is None or target.eos_id is None:
            raise ValueError(
                "the target's tokenizer lacks bos or eos; make it with "
                'specials=["bos", "eos"]'
            )
        self.model, self.source, self.target = model, source, target

    def __call__(
        self, texts: Sequence[str], n_beams: int = 1, max_new_tokens: int | None = None
    ) -> list[str]:
        """Translate texts, greedily or with beams.

        Args:
            texts: what to translate; not empty ones.
            n_beams: 1 takes the best token at every step.
            max_new_tokens: budget of each; None: what the decoder has room for.

        Returns:
            one translation for each text, cut at its end token.

        Raises:
            ValueError: a text is empty, holds what the vocabulary lacks, or is longer
                than the encoder's max_length; or n_beams is smaller than 1.
        """
        rows = [self._ids(text) for text in texts]
        budget = max_new_tokens or self.model.decoder.config.max_length - 1
        written = []
        for start in range(0, len(rows), BATCH):
            memory, lengths = self.memory(rows[start : start + BATCH])
            if n_beams == 1:
                written += self._greedy(memory, lengths, budget)
            else:
                written += self._with_beams(memory, lengths, budget, n_beams)
        return [self.target.decode(ids, skip_special=True) for ids in written]

    def memory(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, list[int]]:
        """Read sources with the encoder.

        Args:
            rows: ids of each source.

        Returns:
            memory: (batch, key, d_model).
            lengths: real places of each row.
        """
        encoder = self.model.encoder
        tokens, lengths = pad_rows(rows, encoder.embedding.weight.device)
        with mode(encoder, training=False), torch.inference_mode():
            return encoder(tokens, lengths), lengths

    def _ids(self, text: str) -> list[int]:
        ids = self.source.encode(text)
        limit = self.model.encoder.config.max_length
        if not 0 < len(ids) <= limit:
            raise ValueError(
                f"the text {text[:40]!r} has {len(ids)} tokens; this translator reads "
                f"texts of 1 to {limit}"
            )
        return ids

    def _greedy(self, memory, lengths, budget) -> list[list[int]]:
        prompts = [[self.target.bos_id]] * len(lengths)
        return generate_batch(
            self.model,
            prompts,
            budget,
            eos_id=self.target.eos_id,
            memory=memory,
            memory_lengths=lengths,
        )

    def _with_beams(self, memory, lengths, budget, n_beams) -> list[list[int]]:
        best = []
        for row, length in enumerate(lengths):
            found = beam_search(
                self.model,
                [self.target.bos_id],
                n_beams,
                budget,
                self.target.eos_id,
                memory=memory[row : row + 1, :length],
            )
            best.append(found[0][0])
        return best
