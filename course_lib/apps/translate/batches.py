"""Pairs of texts as batches for an encoder-decoder, the same batches at every run."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.generation import pad_rows
from course_lib.tokens import Tokenizer
from course_lib.training import inputs_and_targets

POOL = 50  # batches that are sorted by length together: little padding, still random


class PairBatches:
    """Micro-batch i of a shuffled corpus, whichever micro-batches were asked before.

    Pairs of like lengths share a batch, so that little is computed on padding.

    Args:
        pairs: (source, target) texts.
        source: tokenizer of the sources.
        target: tokenizer of the targets; it has bos and eos.
        batch_size: pairs a batch.
        seed: of the order; every pass over the corpus has its own.

    Raises:
        ValueError: there is no pair, the target's tokenizer lacks bos or eos, or a
            text holds what its tokenizer lacks.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 5.1 (like lengths together).
    Lesson: notebooks/12_translation.ipynb

    >>> from course_lib.tokens import CharacterTokenizer
    >>> letters = CharacterTokenizer("abc", specials=["bos", "eos"])
    >>> batches = PairBatches([("ab", "ba"), ("abc", "cba")], letters, letters, 2)
    >>> (sources, tokens, _, _), targets = batches(0)
    >>> sources.tolist(), tokens.tolist(), targets.tolist()
    ([[0, 1, 0], [0, 1, 2]], [[3, 1, 0, 4], [3, 2, 1, 0]], [[1, 0, 4, -100], [2, 1, 0, 4]])
    """

    def __init__(
        self,
        pairs: Sequence[tuple[str, str]],
        source: Tokenizer,
        target: Tokenizer,
        batch_size: int,
        seed: int = 0,
    ):
        if not pairs:
            raise ValueError("no pairs were given; pass at least one")
        if target.bos_id is None or target.eos_id is None:
            raise ValueError(
                "the target's tokenizer lacks bos or eos; make it with "
                'specials=["bos", "eos"]'
            )
        self.sources = [source.encode(text) for text, _ in pairs]
        self.targets = [
            [target.bos_id, *target.encode(text), target.eos_id] for _, text in pairs
        ]
        self.batch_size, self.seed = batch_size, seed
        self._pass, self._order = -1, []

    def __len__(self) -> int:
        """How many micro-batches one pass over the corpus has."""
        return -(-len(self.sources) // self.batch_size)

    def __call__(self, i: int) -> tuple[tuple[Tensor, Tensor, list, list], Tensor]:
        """Return micro-batch i, counted from 0 over all passes.

        Args:
            i: which one.

        Returns:
            inputs: sources (batch, key), tokens (batch, position), the real lengths of
                both; what EncoderDecoder takes.
            targets: (batch, position), -100 at padding.
        """
        number, place = divmod(i, len(self))
        if number != self._pass:
            self._pass, self._order = number, self._shuffled(number)
        rows = self._order[place]
        sources, source_lengths = pad_rows([self.sources[row] for row in rows])
        rows, lengths = pad_rows([self.targets[row] for row in rows])
        tokens, targets = inputs_and_targets(rows, lengths)
        return (sources, tokens, source_lengths, [n - 1 for n in lengths]), targets

    def _shuffled(self, number: int) -> list[list[int]]:
        """Cut one pass into batches: shuffled, sorted within pools, shuffled again."""
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + number)
        order = torch.randperm(len(self.sources), generator=generator).tolist()
        size, pool, batches = self.batch_size, self.batch_size * POOL, []
        for start in range(0, len(order), pool):
            some = sorted(order[start : start + pool], key=self._length)
            batches += [some[i : i + size] for i in range(0, len(some), size)]
        mixed = torch.randperm(len(batches), generator=generator).tolist()
        return [batches[i] for i in mixed]

    def _length(self, row: int) -> tuple[int, int]:
        return len(self.targets[row]), len(self.sources[row])
