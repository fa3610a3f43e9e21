"""The tokenizer of a speech model: text, and the tokens that steer transcription."""

from collections.abc import Iterable, Iterator, Sequence

import tokenizers

from course_lib.tokens import BPETokenizer

START, PLAIN, PREVIOUS = (
    "<|startoftranscript|>",
    "<|notimestamps|>",
    "<|startofprev|>",
)
END = "<|endoftext|>"
N_TIMESTAMPS = 1501  # 0 to 30 s in steps of 0.02 s


class SpeechTokenizer(BPETokenizer):
    """Whisper's tokenizer: GPT-2's byte-level BPE, then tokens that are no text.

    All ids from the end token on are special: they begin or end a transcript, name a
    language or a time. `encode` never makes one, `decode` leaves them out.

    Args:
        stored: what a tokenizer.json holds: a byte-level BPE of the `tokenizers`
            library with the special tokens.
        suppressed: ids that a transcript never holds.
        suppressed_first: ids that it does not begin with, besides those.

    Attributes:
        prompt: ids that ask for a transcript without times.
        eos_id: the id that ends it.
        start_of_previous: the id before the text of the previous window.
        suppressed: as given, a list.
        suppressed_first: as given, a list.

    Raises:
        ValueError: stored is no tokenizer, a special token is missing, or a suppressed
            id is no token.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.3.
    Lesson: notebooks/14_captions.ipynb

    >>> letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    >>> bpe = tokenizers.Tokenizer(tokenizers.models.BPE({l: i for i, l in enumerate(letters)}, []))
    >>> bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    >>> _ = bpe.add_special_tokens([END, START, PREVIOUS, PLAIN])
    >>> tokenizer = SpeechTokenizer(bpe.to_str(), suppressed=[2])
    >>> tokenizer.prompt, tokenizer.decode([*tokenizer.prompt, *tokenizer.encode("Hi")])
    ([257, 259], 'Hi')
    """

    def __init__(
        self,
        stored: str,
        suppressed: Sequence[int] = (),
        suppressed_first: Sequence[int] = (),
    ):
        try:
            bpe = tokenizers.Tokenizer.from_str(stored)
        except Exception as error:  # the library raises nothing narrower
            raise ValueError(
                f"the tokenizer cannot be read ({error}): is tokenizer.json whole?"
            ) from error
        if missing := {START, PLAIN, PREVIOUS, END} - set(bpe.get_vocab()):
            raise ValueError(
                f"the tokenizer has no {', '.join(sorted(missing))}: is it of another "
                f"model than Whisper?"
            )
        # Some files leave out the times, and the model has scores for them.
        bpe.add_special_tokens([f"<|{step / 50:.2f}|>" for step in range(N_TIMESTAMPS)])
        bpe.encode_special_tokens = True  # their names in a text stay text
        super().__init__(bpe, bos=START, eos=END)
        self.special_ids = frozenset(range(self.eos_id, self.vocab_size))
        self.prompt = [self.bos_id, bpe.token_to_id(PLAIN)]
        self.start_of_previous = bpe.token_to_id(PREVIOUS)
        self.suppressed = list(suppressed)
        self.suppressed_first = list(suppressed_first)
        for token_id in [*self.suppressed, *self.suppressed_first]:
            self.token_bytes(token_id)  # refuses what is no id

    def decode(self, ids: Iterable[int], skip_special: bool = True) -> str:
        """Return the text of ids.

        Args:
            ids: (position,) whole numbers, a list or a tensor.
            skip_special: leave special tokens out; False shows their names.

        Raises:
            ValueError: no token has one of the ids.
        """
        return super().decode(ids, skip_special)

    def decode_stream(
        self, ids: Iterable[int], skip_special: bool = True
    ) -> Iterator[str]:
        """Yield text as ids arrive, never half a character.

        Args:
            ids: (position,) whole numbers, also a generator that is still producing.
            skip_special: leave special tokens out; False shows their names.

        Yields:
            text, not empty.

        Raises:
            ValueError: no token has one of the ids.
        """
        return super().decode_stream(ids, skip_special)
