"""Which words of a hypothesis are believed: those that have a sound."""

from collections.abc import Iterable
from dataclasses import replace

from course_lib.apps.captions.endpoint import Endpoint
from course_lib.apps.captions.recogniser import Hypothesis
from course_lib.apps.captions.words import Word

NEAR = 0.1  # seconds that a time may be wrong
SHORTEST_SECONDS = 0.03  # of a word at the end
TIMELESS = 3  # words in a row so short that nobody said them
UNSURE_NATS = -1.0  # mean log-probability below which nothing is believed


def timed(words: Iterable[Word], endpoint: Endpoint) -> list[Word]:
    """Let each word begin and end with its sound, and none before the one it follows.

    Args:
        words: in the order of time.
        endpoint: has heard the sound.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> endpoint = Endpoint()
    >>> tone = 0.3 * torch.sin(torch.arange(16000) * 0.2)
    >>> endpoint.hear(torch.cat((torch.zeros(8000), tone, torch.zeros(9600))))
    >>> [(round(w.start, 1), round(w.end, 1)) for w in timed([Word("Ask", 0, 2)], endpoint)]
    [(0.5, 1.5)]
    """
    found, earliest = [], 0.0
    for word in words:
        start, end = endpoint.sound(word.start, word.end)
        start = max(start, earliest)
        earliest = max(end, start)
        found.append(replace(word, start=start, end=earliest))
    return found


def believed(
    hypothesis: Hypothesis, endpoint: Endpoint, earliest: float = 0.0
) -> list[Word]:
    """Keep the new words that were heard: with some confidence, up to the last that has a sound.

    Args:
        hypothesis: of one window.
        endpoint: has heard the sound.
        earliest: seconds of the stream before which none of them was spoken.

    Returns:
        The first of the new words, each timed by its sound.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> endpoint = Endpoint()
    >>> tone = 0.3 * torch.sin(torch.arange(16000) * 0.2)
    >>> endpoint.hear(torch.cat((torch.zeros(8000), tone, torch.zeros(9600))))
    >>> said = Word("Ask.", 0.5, 1.5), Word("Thanks.", 1.8, 2.0)
    >>> [word.text for word in believed(Hypothesis((), said, -0.2), endpoint)]
    ['Ask.']
    """
    if hypothesis.confidence < UNSURE_NATS:
        return []
    # Only at the end: a soft word in the middle may well drown in noise.
    words = list(hypothesis.words)
    while words and not endpoint.has_sound(
        words[-1].start - NEAR, words[-1].end + NEAR
    ):
        del words[-1]
    words = _with_time(timed(words, endpoint))
    while words and words[-1].end - words[-1].start < SHORTEST_SECONDS:
        del words[-1]  # a guess of what may follow: no sound is left for it
    return [
        replace(word, start=max(word.start, earliest), end=max(word.end, earliest))
        for word in words
    ]


def _with_time(words: list[Word]) -> list[Word]:
    """Keep what stands before several words in a row that took no time: a loop."""
    brief = [word.end - word.start < SHORTEST_SECONDS for word in words]
    for place in range(len(words) - TIMELESS + 1):
        if all(brief[place : place + TIMELESS]):
            return words[:place]
    return words
