"""What a model has to beat: predicting from counts, measured in bits."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice

START = "<start>", "of", "a", "sequence"  # stands before it, and is never predicted
END = "<end>", "of", "a", "sequence"


class NGram:
    """Predict a symbol from the order - 1 before it, with Witten-Bell interpolation.

    A longer context is mixed with the shorter one by how often it was seen (c) and
    how many different symbols followed it (t): p = (count + t * p_shorter) / (c + t).
    The shortest guess is uniform. A sequence begins with a start mark of its own.

    Args:
        order: 1 looks at no other symbol, 2 at one, ...
        sequences: what to count in: str, bytes, lists of ids ... The symbols are
            their elements, anything that can be a key of a dict.
        vocabulary: all symbols there can be; None: those seen.
        end: also predict that a sequence ends.

    Raises:
        ValueError: order is below 1, sequences is one str or bytes, there is no
            symbol and no vocabulary, or a symbol is not in the vocabulary.

    Source: Witten, Bell (1991), The zero-frequency problem, method C; Chen, Goodman
        (1998), An empirical study of smoothing techniques, section 2.4, eq. 12.
    Lesson: notebooks/11_training.ipynb

    >>> model = NGram(2, ["ab", "ab", "b"], end=False)
    >>> round(model.probability("b", context="a"), 3), round(model.bits("ab"), 3)
    (0.857, 1.03)
    """

    def __init__(
        self,
        order: int,
        sequences: Iterable[Sequence[Hashable]],
        vocabulary: Iterable[Hashable] | None = None,
        end: bool = True,
    ):
        _check(order, sequences)
        self.order, self.end = order, end
        self._grams = _count(sequences, order, [END] if end else [])
        seen = {gram[0] for gram in self._grams if len(gram) == 1} - {END}
        self.vocabulary = frozenset(seen if vocabulary is None else vocabulary)
        if not self.vocabulary:
            raise ValueError("the sequences are empty: give at least one symbol")
        if unknown := seen - self.vocabulary:
            raise ValueError(_not_in_vocabulary(next(iter(unknown))))
        self._seen, self._kinds = Counter(), Counter()
        for gram, count in self._grams.items():
            self._seen[gram[:-1]] += count
            self._kinds[gram[:-1]] += 1

    def probability(self, symbol: Hashable, context: Sequence[Hashable] = ()) -> float:
        """Return the probability of a symbol after a context.

        Args:
            symbol: of the vocabulary, or baselines.END.
            context: all symbols before it; a start mark is set before them.

        Raises:
            ValueError: the symbol is not in the vocabulary.
        """
        last = (START,) * (self.order - 1) + tuple(context)
        return self._probability(symbol, last[len(last) - self.order + 1 :])

    def bits(self, sequence: Sequence[Hashable]) -> float:
        """Return the surprise of a whole sequence, its end included if end was set.

        Args:
            sequence: symbols of the vocabulary.

        Returns:
            bits: the sum of -log2 p; divide by bytes or characters yourself.

        Raises:
            ValueError: a symbol is not in the vocabulary.
        """
        n = self.order - 1
        marked = (START,) * n + tuple(sequence) + ((END,) if self.end else ())
        return -sum(
            math.log2(self._probability(marked[i], marked[i - n : i]))
            for i in range(n, len(marked))
        )

    def _probability(self, symbol: Hashable, context: tuple) -> float:
        """Mix the guesses from the shortest context to the longest that was seen."""
        if symbol not in self.vocabulary and not (self.end and symbol == END):
            raise ValueError(_not_in_vocabulary(symbol))
        p = 1 / (len(self.vocabulary) + self.end)
        for start in range(len(context), -1, -1):
            known = context[start:]
            if not (kinds := self._kinds.get(known, 0)):
                break
            count = self._grams.get((*known, symbol), 0)
            p = (count + kinds * p) / (self._seen[known] + kinds)
        return p


def _count(sequences: Iterable[Sequence], order: int, end: list) -> Counter:
    """Count all runs of 1 to order symbols that do not end in a start mark."""
    row = []
    for sequence in sequences:
        row += [START] * (order - 1)
        row += sequence
        row += end
    grams = Counter()
    for n in range(1, order + 1):
        first = order - n  # every order predicts the same symbols
        grams.update(
            zip(*(islice(row, first + i, None) for i in range(n)), strict=False)
        )
    return Counter({gram: c for gram, c in grams.items() if gram[-1] != START})


def _check(order: int, sequences) -> None:
    if order < 1:
        raise ValueError(
            f"order was {order}; it counts the predicted symbol too, at least 1"
        )
    if isinstance(sequences, str | bytes):
        raise ValueError(
            f"sequences was one {type(sequences).__name__}, expected several: "
            "pass [text]"
        )


def _not_in_vocabulary(symbol: Hashable) -> str:
    return (
        f"the symbol {symbol!r} is not in the vocabulary: name all symbols there can "
        "be, such as vocabulary=range(256) for bytes"
    )
