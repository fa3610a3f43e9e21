"""The second face of the same model: text that is continued, without a template."""

from collections.abc import Iterator, Sequence

from course_lib.apps.chat.stops import check_stops, until
from course_lib.decoder import Decoder
from course_lib.generation import stream
from course_lib.sampling import Sampler
from course_lib.tokens import TextDecoder, Tokenizer

CODE_STOPS = ("\n\n\n", "\ndef ", "\nclass ")


def complete(
    model: Decoder,
    tokenizer: Tokenizer,
    text: str,
    max_new_tokens: int = 128,
    sampler: Sampler | None = None,
    stops: Sequence[str] = CODE_STOPS,
) -> Iterator[str]:
    """Yield what a model writes after a text, as it is written.

    It ends at the end token, before a stop string, or with the budget. An empty text
    begins with the token that begins a document.

    Args:
        model: a Decoder.
        tokenizer: of the same vocabulary.
        text: what is continued.
        max_new_tokens: most ids to write, 0 or more.
        sampler: chooses each id; None: the largest logit.
        stops: texts that end it and are not given out; the default ends a Python
            function where the next one begins.

    Yields:
        text, not empty and never half a character.

    Raises:
        ValueError: a stop is empty, the budget is negative, or text and budget exceed
            what the model reads; at the call.

    Source: Chen et al. (2021), Codex, arXiv:2107.03374, section 3.2 (stops).
    Lesson: notebooks/13_chat.ipynb

    >>> from course_lib.apps.chat import tiny_chat
    >>> model, tokenizer = tiny_chat()
    >>> pieces = complete(model, tokenizer, "def mean(numbers):", max_new_tokens=5)
    >>> len("".join(pieces)) <= 5
    True
    """
    check_stops(stops)
    begin = tokenizer.eos_id if tokenizer.bos_id is None else tokenizer.bos_id
    ids = tokenizer.encode(text) or [begin]
    end = tokenizer.eos_id
    new_ids = stream(model, ids, max_new_tokens, sampler, eos_id=end)
    return until(_texts(tokenizer, new_ids), stops)


def _texts(tokenizer: Tokenizer, new_ids: Iterator[int]) -> Iterator[str]:
    """Yield the text of ids before the end token, half a character at the end left out."""
    decoder = TextDecoder(tokenizer)
    for new_id in new_ids:
        if new_id == tokenizer.eos_id:
            return
        if text := decoder.push(new_id):
            yield text
