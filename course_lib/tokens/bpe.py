"""Byte-pair encoding: frequent runs of bytes get their own ids."""

from collections.abc import Iterable, Sequence

import tokenizers

from course_lib.tokens.interface import Tokenizer
from course_lib.tokens.texts import checked_kinds, checked_texts, utf8


class BPETokenizer(Tokenizer):
    """Give frequent runs of bytes their own ids (byte-level byte-pair encoding).

    The `tokenizers` library does the work; `train` learns one from texts, this
    constructor wraps one that exists.

    Args:
        bpe: a byte-level BPE of the `tokenizers` library.
        bos: the text of the token that opens a text, or None.
        eos: the text of the token that ends a text, or None.
        pad: the text of the token that fills a batch, or None.

    Raises:
        ValueError: bpe is not byte-level, its ids have gaps, or it lacks bos, eos or
            pad.

    Source: Sennrich et al. (2016), arXiv:1508.07909; Radford et al. (2019), GPT-2,
        section 2.2 (bytes).
    Lesson: notebooks/11_training.ipynb

    >>> tokenizer = BPETokenizer.train(["low lower lowest"] * 2, vocab_size=260)
    >>> [tokenizer.token(i) for i in tokenizer.encode("lower")]
    ['low', 'e', 'r']
    """

    def __init__(
        self,
        bpe: tokenizers.Tokenizer,
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
    ):
        named = {"bos": bos, "eos": eos, "pad": pad}
        ids = {kind: _special_id(bpe, kind, text) for kind, text in named.items()}
        added = bpe.get_added_tokens_decoder()
        vocabulary = {number: text for text, number in bpe.get_vocab().items()}
        super().__init__(
            _byte_pieces(vocabulary, {i: token.content for i, token in added.items()}),
            special_ids=[i for i, token in added.items() if token.special],
            **{f"{kind}_id": number for kind, number in ids.items()},
        )
        self._bpe = bpe
        self._missing = set(range(256)) - {p[0] for p in self._pieces if len(p) == 1}

    @classmethod
    def train(
        cls, texts: Iterable[str], vocab_size: int, specials: Sequence[str] = ()
    ) -> "BPETokenizer":
        """Learn the merges that shorten some texts most.

        Args:
            texts: the texts.
            vocab_size: the most ids to make: 256 bytes, the specials, then merges.
            specials: special tokens to add, any of "bos", "eos", "pad".

        Raises:
            ValueError: the texts hold no character, vocab_size leaves no room for the
                bytes and the specials, or specials holds another word.
        """
        needed = 256 + len(specials)
        if vocab_size < needed:
            raise ValueError(
                f"vocab_size was {vocab_size}, expected at least {needed}: every byte "
                "and every special token needs an id"
            )
        bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
        bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
        bpe.decoder = tokenizers.decoders.ByteLevel()
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=vocab_size,
            special_tokens=[f"<{kind}>" for kind in checked_kinds(specials)],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        bpe.train_from_iterator(checked_texts(texts), trainer)
        return cls(bpe, **{kind: f"<{kind}>" for kind in specials})

    @classmethod
    def from_tokenizer(
        cls,
        bpe: tokenizers.Tokenizer,
        bos: str | None = None,
        eos: str | None = None,
        pad: str | None = None,
    ) -> "BPETokenizer":
        """Wrap a byte-level BPE of the `tokenizers` library: the constructor, by name.

        Args:
            bpe: the tokenizer to wrap.
            bos: the text of the token that opens a text, or None.
            eos: the text of the token that ends a text, or None.
            pad: the text of the token that fills a batch, or None.

        Raises:
            ValueError: as the constructor does.
        """
        return cls(bpe, bos=bos, eos=eos, pad=pad)

    def encode(self, text: str) -> list[int]:
        """Return the ids of a text; the name of a special token becomes that token.

        Args:
            text: any text.

        Raises:
            ValueError: text is not a str, or holds a byte that the vocabulary lacks.
        """
        if missing := self._missing.intersection(utf8(text)):
            raise ValueError(
                f"the vocabulary has no token for the byte {min(missing):#04x} in this "
                f"text of {len(text)} characters: remove control characters and rare "
                "scripts from it"
            )
        return self._bpe.encode(text, add_special_tokens=False).ids


def _special_id(bpe: tokenizers.Tokenizer, kind: str, text: str | None) -> int | None:
    """Look up a special token."""
    number = None if text is None else bpe.token_to_id(text)
    if text is not None and number is None:
        raise ValueError(f"{kind} was {text!r}, expected a token of this tokenizer")
    return number


def _byte_letters() -> dict[str, int]:
    """Return GPT-2's spelling of bytes: printable as they are, others above 255."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {chr(byte): byte for byte in plain}
    return letters | {chr(256 + i): byte for i, byte in enumerate(others)}


def _byte_pieces(vocabulary: dict[int, str], added: dict[int, str]) -> list[bytes]:
    """Return the bytes of each token, in the order of ids."""
    letters = _byte_letters()
    try:
        return [
            added[i].encode()
            if i in added
            else bytes(letters[letter] for letter in vocabulary[i])
            for i in range(len(vocabulary))
        ]
    except KeyError as error:
        raise ValueError(
            f"expected a byte-level BPE with ids 0 to {len(vocabulary) - 1}, got one "
            f"without {error}: was it made with the ByteLevel pre-tokenizer?"
        ) from None
