"""Which words are final: what hypotheses in a row agree on. No model is needed here."""

from collections.abc import Sequence
from itertools import takewhile

from course_lib.apps.captions.words import Word


class StablePrefix:
    """Commit the words that the last hypotheses agree on; never take one back.

    A word at the end of a hypothesis may be half spoken and is often guessed wrong. The
    next hypothesis has heard more: what both say is committed. Case and punctuation may
    differ; the newest ones count. A last word with punctuation waits, since that is
    often only the end of what was heard. A word that ended well before the newest sound
    is not half spoken: it may be committed without a second opinion.

    Args:
        agreement: hypotheses that must say the same; 1 commits whatever comes.

    Raises:
        ValueError: agreement is smaller than 1.

    Source: Liu et al. (2020), Local agreement, arXiv:2005.11185, section 4; Machacek et
        al. (2023), Whisper-Streaming, arXiv:2307.14743.
    Lesson: notebooks/14_captions.ipynb

    >>> say = lambda text: [Word(word, 0, 0) for word in text.split()]
    >>> policy = StablePrefix()
    >>> [word.text for word in policy.hear(say("ask not wet"))]
    []
    >>> [word.text for word in policy.hear(say("Ask not what you"))]
    ['Ask', 'not']
    """

    def __init__(self, agreement: int = 2):
        if agreement < 1:
            raise ValueError(
                f"agreement was {agreement}; pass how many hypotheses must agree, best 2"
            )
        self.agreement = agreement
        self.committed: list[Word] = []  # since the last cut
        self.pending: list[Word] = []  # of the newest hypothesis
        self._earlier: list[list[Word]] = []

    def hear(
        self, words: Sequence[Word], flush: bool = False, settled: float | None = None
    ) -> list[Word]:
        """Take the next hypothesis and return what is final now.

        Args:
            words: what follows the committed words.
            flush: commit all of it, since nobody goes on speaking.
            settled: seconds of the stream; words up to there need no second opinion.

        Returns:
            The newly committed words.
        """
        words = list(words)
        n = (
            len(words)
            if flush
            else max(self._n_agreed(words), _n_until(words, settled))
        )
        self.committed += words[:n]
        self.pending = words[n:]
        kept = [*self._earlier, words][1 - self.agreement or len(words) + 1 :]
        self._earlier = [] if flush else [earlier[n:] for earlier in kept]
        return words[:n]

    def forget(self, n_words: int) -> None:
        """Let go of the oldest committed words, whose sound is cut off."""
        del self.committed[:n_words]

    def begin_anew(self) -> None:
        """Forget everything: another window begins, with nothing known of it."""
        self.committed, self.pending, self._earlier = [], [], []

    def _n_agreed(self, words: list[Word]) -> int:
        """Count the first words that all the last hypotheses share."""
        if len(self._earlier) < self.agreement - 1:
            return 0
        n = 0
        for same in zip(words, *self._earlier, strict=False):
            if len({word.letters for word in same}) > 1:
                break
            n += 1
        at_end = self.agreement > 1 and 0 < n == len(words)
        return n - 1 if at_end and not words[-1].is_open else n


def _n_until(words: list[Word], seconds: float | None) -> int:
    """Count the first words that end before a time; None: no word does."""
    if seconds is None:
        return 0
    return sum(1 for _ in takewhile(lambda word: word.end <= seconds, words))


def cut_place(
    words: Sequence[Word], n_committed: int, seconds: float, soft: float, hard: float
) -> int | None:
    """Say behind how many words the sound may be cut off, so that a window stays short.

    Behind the last committed sentence that something follows, as soon as the window is
    longer than `soft`. Where no sentence ends, behind the committed word with the
    longest pause, as soon as it is longer than `hard`.

    Args:
        words: the newest hypothesis, the committed words first.
        n_committed: how many of them are committed.
        seconds: the window's length.
        soft: seconds from which a sentence's end is a place to cut.
        hard: seconds from which any word is one.

    Returns:
        A number of committed words, or None: do not cut, or there is no place.

    Source: Machacek et al. (2023), Whisper-Streaming, arXiv:2307.14743.
    Lesson: notebooks/14_captions.ipynb

    >>> words = [Word("Wait.", 0, 1), Word("Ask", 2, 3), Word("not", 3, 4)]
    >>> [cut_place(words, 2, seconds, soft=12, hard=20) for seconds in (9, 13)]
    [None, 1]
    """
    if seconds <= soft:
        return None
    last = min(n_committed, len(words) - 1)
    for n in range(last, 0, -1):
        if words[n - 1].ends_sentence:
            return n
    if seconds <= hard or last < 1:
        return None
    late = range((last + 1) // 2 or 1, last + 1)  # cut off at least half of the words
    return max(late, key=lambda n: (words[n].start - words[n - 1].end, n))
