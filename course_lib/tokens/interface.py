"""What every tokenizer can do, and how ids become text one at a time."""

import codecs
from collections.abc import Iterable, Iterator, Sequence
from operator import index


class Tokenizer:
    """What every tokenizer of the course can do; each kind adds its own `encode`.

    A token stands for some bytes of UTF-8 text. Special tokens mark places (a start,
    an end, filling) and stand for no text of the learner's; `decode` shows their
    names unless told to skip them.

    Args:
        pieces: the bytes of each token, in the order of ids.
        special_ids: the ids of the special tokens.
        bos_id: the id that opens a text, or None.
        eos_id: the id that ends a text, or None.
        pad_id: the id that fills a batch, or None.

    Source: Jurafsky & Martin, Speech and Language Processing (3rd ed.), section 2.5.
    Lesson: notebooks/11_training.ipynb

    >>> tokenizer = Tokenizer([b"a", b"b", b"<eos>"], special_ids=[2], eos_id=2)
    >>> tokenizer.vocab_size, tokenizer.decode([1, 0, 2])
    (3, 'ba<eos>')
    """

    def __init__(
        self,
        pieces: Sequence[bytes],
        special_ids: Iterable[int] = (),
        bos_id: int | None = None,
        eos_id: int | None = None,
        pad_id: int | None = None,
    ):
        self._pieces = list(pieces)
        self.special_ids = frozenset(special_ids)
        self.bos_id, self.eos_id, self.pad_id = bos_id, eos_id, pad_id

    @property
    def vocab_size(self) -> int:
        """How many different tokens there are; ids are 0 to vocab_size - 1."""
        return len(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text.

        Args:
            text: any text; no special token is added.

        Raises:
            ValueError: text is not a str, or holds what the vocabulary lacks.
        """
        raise NotImplementedError

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token stands for.

        Args:
            token_id: 0 to vocab_size - 1.

        Raises:
            ValueError: no token has that id.
        """
        try:
            number = index(token_id)
        except TypeError:
            raise ValueError(
                f"a token id is a whole number, got {token_id!r}: pass one row of ids"
            ) from None
        if not 0 <= number < self.vocab_size:
            raise ValueError(
                f"no token has id {number}: expected 0 to {self.vocab_size - 1}. "
                "Was it made by another tokenizer?"
            )
        return self._pieces[number]

    def decode(self, ids: Iterable[int], skip_special: bool = False) -> str:
        """Return the text of ids.

        Bytes that are not UTF-8 become the replacement character U+FFFD.

        Args:
            ids: (position,) whole numbers, a list or a tensor.
            skip_special: leave special tokens out.

        Raises:
            ValueError: no token has one of the ids.
        """
        return "".join(self.decode_stream(ids, skip_special))

    def decode_stream(
        self, ids: Iterable[int], skip_special: bool = False
    ) -> Iterator[str]:
        """Yield text as ids arrive, never half a character.

        A character may need several tokens. It is held back until its last byte is
        there, so every piece can be printed at once and the pieces joined are `decode`.

        Args:
            ids: (position,) whole numbers, also a generator that is still producing.
            skip_special: leave special tokens out.

        Yields:
            text, not empty.

        Raises:
            ValueError: no token has one of the ids.
        """
        decoder = TextDecoder(self, skip_special)
        for token_id in ids:
            if text := decoder.push(token_id):
                yield text
        if text := decoder.finish():
            yield text

    def token(self, token_id: int) -> str:
        r"""Return a token as it is shown in tables and pictures.

        Spaces become "␣"; control characters and bytes that are no whole character
        become backslash escapes.

        Args:
            token_id: 0 to vocab_size - 1.

        Raises:
            ValueError: no token has that id.
        """
        text = self.token_bytes(token_id).decode("utf-8", errors="backslashreplace")
        return "".join(_visible(character) for character in text)


class TextDecoder:
    """Turn ids into text one at a time; for loops that `decode_stream` does not fit.

    Args:
        tokenizer: gives each id its bytes.
        skip_special: leave special tokens out.

    Source: Python's codecs.IncrementalDecoder.
    Lesson: notebooks/11_training.ipynb

    >>> from course_lib.tokens import ByteTokenizer
    >>> decoder = TextDecoder(ByteTokenizer())
    >>> [decoder.push(token_id) for token_id in "é".encode()], decoder.finish()
    (['', 'é'], '')
    """

    def __init__(self, tokenizer: Tokenizer, skip_special: bool = False):
        self._tokenizer = tokenizer
        self._skipped = tokenizer.special_ids if skip_special else frozenset()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token_id: int) -> str:
        """Take one id and return the text that is complete now, perhaps none.

        Args:
            token_id: 0 to the tokenizer's vocab_size - 1.

        Raises:
            ValueError: no token has that id.
        """
        piece = self._tokenizer.token_bytes(token_id)
        if int(token_id) in self._skipped:
            return ""
        return self._decoder.decode(piece)

    def finish(self) -> str:
        """Return what is left: nothing, or U+FFFD for half a character."""
        return self._decoder.decode(b"", final=True)


def _visible(character: str) -> str:
    """Show a space as ␣ and escape what cannot be printed."""
    if character == " ":
        return "␣"
    return (
        character
        if character.isprintable()
        else character.encode("unicode_escape").decode()
    )
