"""The tokenizers that learn nothing: one id a byte, a character or a word."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from course_lib.tokens.interface import Tokenizer
from course_lib.tokens.texts import checked_kinds, checked_texts, utf8


class ByteTokenizer(Tokenizer):
    """Give every byte of UTF-8 its own id: 256 ids write every text there is.

    Args:
        specials: special tokens to add behind the bytes, any of "bos", "eos", "pad".

    Raises:
        ValueError: specials holds another word, or one twice.

    Source: Xue et al. (2022), ByT5, arXiv:2105.13626.
    Lesson: notebooks/11_training.ipynb

    >>> tokenizer = ByteTokenizer(specials=["eos"])
    >>> tokenizer.encode("né"), tokenizer.eos_id
    ([110, 195, 169], 256)
    >>> tokenizer.decode([110, 195, 169, 256])
    'né<eos>'
    """

    def __init__(self, specials: Sequence[str] = ()):
        pieces = [bytes([byte]) for byte in range(256)]
        super().__init__(*_with_specials(pieces, specials))

    def encode(self, text: str) -> list[int]:
        """Return one id for each byte of the text in UTF-8.

        Args:
            text: any text.

        Raises:
            ValueError: text is not a str, or holds half a surrogate pair.
        """
        return list(utf8(text))


class CharacterTokenizer(Tokenizer):
    """Give every character that occurs in some texts its own id.

    Args:
        texts: the texts; ids follow the order of the characters in Unicode.
        specials: special tokens to add behind the characters, any of "bos", "eos",
            "pad".

    Raises:
        ValueError: the texts hold no character, or specials holds another word.

    Source: Sutskever et al. (2011), Generating Text with Recurrent Neural Networks.
    Lesson: notebooks/11_training.ipynb

    >>> tokenizer = CharacterTokenizer(["banana"])
    >>> tokenizer.encode("nab"), tokenizer.vocab_size
    ([2, 0, 1], 3)
    """

    def __init__(self, texts: Iterable[str], specials: Sequence[str] = ()):
        characters = sorted(set(chain.from_iterable(checked_texts(texts))))
        pieces = [utf8(character) for character in characters]
        super().__init__(*_with_specials(pieces, specials))
        self._ids = {character: i for i, character in enumerate(characters)}

    def encode(self, text: str) -> list[int]:
        """Return one id for each character of the text.

        Args:
            text: characters that occurred in the texts.

        Raises:
            ValueError: text is not a str, or holds another character.
        """
        utf8(text)
        try:
            return [self._ids[character] for character in text]
        except KeyError as error:
            character = error.args[0]
            raise ValueError(
                f"the character {character!r} (at {text.index(character)}) is not in "
                f"the vocabulary of {len(self._ids)} characters: build the tokenizer "
                "from texts that hold it, or use a ByteTokenizer"
            ) from None


class WordTokenizer(Tokenizer):
    """Give every word that occurs in some texts its own id.

    A word is what stands between separators: English words between blanks, phonemes
    between blanks, or parts of a German number between bars.

    Args:
        texts: the texts; ids follow the order of the words in Unicode.
        separator: what stands between two words, one character.
        specials: special tokens to add behind the words, any of "bos", "eos", "pad".

    Raises:
        ValueError: the texts hold no word, separator is not one character, or specials
            holds another word.

    Source: Sutskever et al. (2014), Sequence to Sequence Learning, section 3.1.
    Lesson: notebooks/12_translation.ipynb

    >>> tokenizer = WordTokenizer(["ein|und|zwanzig"], separator="|")
    >>> tokenizer.encode("zwanzig|und"), tokenizer.decode([2, 1, 0])
    ([2, 1], 'zwanzig|und|ein')
    """

    def __init__(
        self,
        texts: Iterable[str],
        separator: str = " ",
        specials: Sequence[str] = (),
    ):
        if len(separator) != 1:
            raise ValueError(f"separator was {separator!r}, expected one character")
        words = {
            word for text in checked_texts(texts) for word in text.split(separator)
        }
        self.separator = separator
        self.words = sorted(words - {""})
        if not self.words:
            raise ValueError(
                f"the training texts hold only separators ({separator!r}): give at "
                "least one word"
            )
        pieces = [utf8(word + separator) for word in self.words]
        super().__init__(*_with_specials(pieces, specials))
        self._ids = {word: i for i, word in enumerate(self.words)}

    def encode(self, text: str) -> list[int]:
        """Return one id for each word of the text.

        Args:
            text: words that occurred in the texts, between separators.

        Raises:
            ValueError: text is not a str, or holds another word.
        """
        utf8(text)
        try:
            return [self._ids[word] for word in text.split(self.separator) if word]
        except KeyError as error:
            raise ValueError(
                f"the word {error.args[0]!r} is not in the vocabulary of "
                f"{len(self._ids)} words: build the tokenizer from texts that hold it, "
                "or use one of characters or bytes"
            ) from None

    def decode_stream(
        self, ids: Iterable[int], skip_special: bool = False
    ) -> Iterator[str]:
        """Yield the words one by one, each with the separator before it.

        Args:
            ids: (position,) whole numbers, also a generator that is still producing.
            skip_special: leave special tokens out.

        Yields:
            text, not empty.

        Raises:
            ValueError: no token has one of the ids.
        """
        begun = False
        for token_id in ids:
            text = self.token_bytes(token_id).decode("utf-8")
            if token_id in self.special_ids:
                if not skip_special:
                    yield text
            else:
                yield self.separator * begun + text.removesuffix(self.separator)
                begun = True

    def token(self, token_id: int) -> str:
        """Return a word as it is shown in tables and pictures.

        Args:
            token_id: 0 to vocab_size - 1.

        Raises:
            ValueError: no token has that id.
        """
        if self.token_bytes(token_id) and token_id < len(self.words):
            return self.words[token_id]
        return super().token(token_id)


def _with_specials(
    pieces: list[bytes], specials: Sequence[str]
) -> tuple[list[bytes], range, int | None, int | None, int | None]:
    """Append special tokens; the arguments of Tokenizer."""
    kinds = checked_kinds(specials)
    ids = {kind: len(pieces) + i for i, kind in enumerate(kinds)}
    special_ids = range(len(pieces), len(pieces) + len(kinds))
    pieces = pieces + [f"<{kind}>".encode() for kind in kinds]
    return pieces, special_ids, ids.get("bos"), ids.get("eos"), ids.get("pad")
