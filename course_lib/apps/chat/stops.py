"""Stop strings: text flows on until one of them is complete, however it was cut."""

from collections.abc import Generator, Iterable, Iterator, Sequence


def until(pieces: Iterable[str], stops: Sequence[str]) -> Iterator[str]:
    """Yield text as it comes, up to the first stop string.

    Held back is only what may be the beginning of a stop string; where the text ends
    without one, it is given out. The first is the one that is complete first, of two
    that end together the longer. A generator of pieces is closed with the text, so
    that nothing is computed for nobody.

    Args:
        pieces: text in pieces of any length.
        stops: the stop strings; none lets everything pass.

    Yields:
        text, not empty; joined it does not depend on how the text was cut.

    Raises:
        ValueError: stops is a str, or one of them is empty or no str; at the call.

    Source: Hugging Face transformers, class StopStringCriteria.
    Lesson: notebooks/13_chat.ipynb

    >>> list(until(["one, t", "wo, thr", "ee"], stops=[", th"]))
    ['one', ', two']
    """
    check_stops(stops)
    return _until(pieces, list(stops))


def check_stops(stops: Sequence[str]) -> None:
    """Refuse what cannot stop a text."""
    if isinstance(stops, str) or not all(
        isinstance(stop, str) and stop for stop in stops
    ):
        raise ValueError(
            f"stops were {stops!r}; pass a list of texts of at least one character, "
            f"or an empty list"
        )


def _until(pieces: Iterable[str], stops: list[str]) -> Iterator[str]:
    """Do the work of `until`; a generator starts late, and the check must not."""
    held = ""
    try:
        for piece in pieces:
            held += piece
            if (cut := _cut(held, stops)) is not None:
                held = held[:cut]
                break
            free = len(held) - _n_open(held, stops)
            given, held = held[:free], held[free:]
            if given:
                yield given
        _close(pieces)
        if held:
            yield held
    finally:
        _close(pieces)


def _cut(text: str, stops: list[str]) -> int | None:
    """Find where the stop string begins that is complete first."""
    places = [(text.find(stop), stop) for stop in stops]
    found = [(place + len(stop), place) for place, stop in places if place >= 0]
    return min(found)[1] if found else None


def _n_open(text: str, stops: list[str]) -> int:
    """Count the last characters that may be the beginning of a stop string."""
    longest = min(max(map(len, stops), default=1) - 1, len(text))
    for n in range(longest, 0, -1):
        if any(stop.startswith(text[-n:]) for stop in stops):
            return n
    return 0


def _close(pieces: Iterable[str]) -> None:
    """End a generator; a list or a file is left alone."""
    if isinstance(pieces, Generator):
        pieces.close()
