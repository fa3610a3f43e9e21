"""Check what tokenizers are given: texts, and kinds of special tokens."""

from collections.abc import Iterable, Iterator, Sequence

SPECIAL_KINDS = ("bos", "eos", "pad")


def utf8(text: str) -> bytes:
    """Return the bytes of a text.

    Args:
        text: any text.

    Raises:
        ValueError: text is not a str, or holds half a surrogate pair.

    Source: The Unicode Standard, section 3.9 (UTF-8).
    Lesson: notebooks/11_training.ipynb

    >>> list(utf8("é"))
    [195, 169]
    """
    if not isinstance(text, str):
        raise ValueError(
            f"a text (str) was expected, got {type(text).__name__}: pass a str"
        )
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text holds half a surrogate pair at {error.start}, which is no "
            "character: decode it with errors='replace' first"
        ) from None


def checked_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield training texts, and make sure that they hold at least one character.

    Args:
        texts: the texts; a str is one text.

    Raises:
        ValueError: all texts are empty, or one is not a str.

    Source: Jurafsky & Martin, Speech and Language Processing (3rd ed.), section 2.5.
    Lesson: notebooks/11_training.ipynb

    >>> list(checked_texts("banana"))
    ['banana']
    """
    empty = True
    for text in [texts] if isinstance(texts, str) else texts:
        empty = empty and not utf8(text)
        yield text
    if empty:
        raise ValueError("the training texts are empty: give at least one character")


def checked_kinds(specials: Sequence[str]) -> list[str]:
    """Return the kinds of special tokens, each known and named once.

    Args:
        specials: any of "bos", "eos", "pad".

    Raises:
        ValueError: another word is among them, or one stands twice.

    Source: Jurafsky & Martin, Speech and Language Processing (3rd ed.), section 2.5.
    Lesson: notebooks/11_training.ipynb

    >>> checked_kinds(("eos", "pad"))
    ['eos', 'pad']
    """
    kinds = list(specials)
    if len(set(kinds)) != len(kinds) or not set(kinds) <= set(SPECIAL_KINDS):
        raise ValueError(
            f"specials was {specials!r}, expected any of {SPECIAL_KINDS}, each once"
        )
    return kinds
