"""A word of the captions, and how tokens become words."""

from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.tokens import Tokenizer


@dataclass(frozen=True)
class Word:
    """A word with its place in time; all times are seconds from the stream's beginning.

    Attributes:
        text: as shown, with its punctuation.
        start: when it begins to be spoken.
        end: when it has been spoken.
        ids: its tokens.
        committed_at: how much audio had arrived when it was shown; None: not yet.
        compute_seconds: from the arrival of that audio to the word on the screen.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> word = Word("Ask,", 3.2, 3.7, committed_at=4.5, compute_seconds=0.2)
    >>> word.letters, round(word.lag, 3)
    ('ask', 1.0)
    """

    text: str
    start: float
    end: float
    ids: tuple[int, ...] = ()
    committed_at: float | None = None
    compute_seconds: float = 0.0

    @property
    def lag(self) -> float:
        """Seconds from its last sound to its being shown."""
        return self.committed_at + self.compute_seconds - self.end

    @property
    def letters(self) -> str:
        """What two hypotheses are compared by: neither case nor punctuation."""
        return "".join(filter(str.isalnum, self.text.lower()))

    @property
    def is_open(self) -> bool:
        """Whether nothing stands behind its last letter."""
        return self.text[-1:].isalnum()

    @property
    def ends_sentence(self) -> bool:
        """Whether a sentence ends with it."""
        return self.text.rstrip("\"')”’").endswith((".", "?", "!"))


def words_of(
    tokenizer: Tokenizer, ids: Sequence[int], continued: bool = False
) -> list[tuple[str, int, int]]:
    """Cut ids into words: each begins with a blank and holds a letter or a digit.

    A piece without either joins the word before it. What a continued text has before its
    first blank, such as a comma, belongs to a word that is out already and is left out.

    Args:
        tokenizer: knows the bytes of each id.
        ids: (position,) of a transcript.
        continued: words stand before them.

    Returns:
        (text, place of its first id, place behind its last) of each word.

    Source: OpenAI's whisper/tokenizer.py, split_tokens_on_spaces.
    Lesson: notebooks/14_captions.ipynb

    >>> from course_lib.apps.chat import tiny_chat
    >>> _, tokenizer = tiny_chat()
    >>> words_of(tokenizer, tokenizer.encode(", ask not -"), continued=True)
    [('ask', 1, 5), ('not -', 5, 11)]
    """
    pieces: list[tuple[bytes, int, int]] = []
    for i, token_id in enumerate(ids):
        piece = tokenizer.token_bytes(token_id)
        if not pieces or piece.startswith(b" "):
            pieces.append((piece, i, i + 1))
        else:
            before, first, _ = pieces[-1]
            pieces[-1] = (before + piece, first, i + 1)
    if continued and pieces and not pieces[0][0].startswith(b" "):
        del pieces[0]
    words: list[tuple[str, int, int]] = []
    for piece, first, end in pieces:
        text = piece.decode("utf-8", errors="replace").strip()
        if any(map(str.isalnum, text)):
            words.append((text, first, end))
        elif words:
            before, first, _ = words[-1]
            words[-1] = (f"{before} {text}".rstrip(), first, end)
    return words
