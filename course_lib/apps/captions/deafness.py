"""Whether the model has stopped listening: it says the same, though somebody speaks on."""

from collections.abc import Sequence

from course_lib.apps.captions.belief import NEAR
from course_lib.apps.captions.endpoint import Endpoint
from course_lib.apps.captions.words import Word

UNSAID_SECONDS = 1.0  # of sound behind all words: the model has stopped listening
BEHIND_SENTENCE = 0.6  # the same behind a whole sentence, where it stops most often


class Deafness:
    """Find sound that no word explains, while hypotheses say nothing new.

    Whisper may end behind the same word each time, as long as the window grows. In the
    middle of a sentence that must be seen twice in a row.

    Args:
        endpoint: hears the sound.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> endpoint = Endpoint()
    >>> tone = 0.3 * torch.sin(torch.arange(32000) * 0.2)
    >>> endpoint.hear(torch.cat((torch.zeros(8000), tone)))
    >>> deafness, said = Deafness(endpoint), [Word("Wait.", 0.5, 1.0)]
    >>> deafness.hear(said, said, before=[], now=1.5)
    >>> deafness.hear(said, said, before=said, now=2.5)
    1.0
    """

    def __init__(self, endpoint: Endpoint):
        self.endpoint = endpoint
        self._n_deaf = 0  # hypotheses in a row with sound behind the last word
        self._same_since = 0.0  # when a hypothesis last said something else

    def hear(
        self,
        said: Sequence[Word],
        heard: Sequence[Word],
        before: Sequence[Word],
        now: float,
        last: bool = False,
    ) -> float | None:
        """Take the next hypothesis and return where the model has stopped listening.

        Args:
            said: all its words.
            heard: those of them that are not committed.
            before: what the hypothesis before it left uncommitted.
            now: seconds of the stream until now.
            last: no hypothesis follows that could say more, so this one decides.

        Returns:
            When the last word ended, in seconds; None: it listens.
        """
        if not said or _letters(heard) != _letters(before):
            self._n_deaf, self._same_since = 0, now
            if not said or not last:
                return None
        # Alignment may stretch the last word over what follows.
        end = min(said[-1].end, self._same_since)
        unsaid = self.endpoint.loud_seconds(end + NEAR, now)
        if said[-1].ends_sentence:
            return end if unsaid >= BEHIND_SENTENCE else None
        self._n_deaf = self._n_deaf + 1 if unsaid >= UNSAID_SECONDS else 0
        return end if self._n_deaf > (0 if last else 1) else None

    def begin_anew(self) -> None:
        """Count from nothing: the window has been cut."""
        self._n_deaf = 0


def _letters(words: Sequence[Word]) -> list[str]:
    return [word.letters for word in words]
