"""Live captions: sound goes in, words come out, and none is ever taken back."""

import time
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from course_lib.apps.captions.belief import NEAR, believed, timed
from course_lib.apps.captions.deafness import Deafness
from course_lib.apps.captions.endpoint import Endpoint
from course_lib.apps.captions.policy import StablePrefix, cut_place
from course_lib.apps.captions.recogniser import LONGEST_WINDOW, Hypothesis, Recogniser
from course_lib.apps.captions.window import Window
from course_lib.apps.captions.words import Word
from course_lib.audio import SAMPLE_RATE

SOFT_SECONDS, HARD_SECONDS = 12.0, 20.0  # of a window, when it is cut
SHORTEST_SECONDS = 8.0  # of a window with silence; 10 s take longer and are no better
LEAD_SECONDS = 0.5  # of silence that is kept before a word
SETTLED_SECONDS = 0.4  # since a word's end, after which it is not half spoken
REST_SECONDS = 1.5  # a pause after which a window begins anew
DONE_SECONDS = 6.0  # of a window: in a shorter one a stop is often only a pause
SHORTEST_PAUSE = 0.2  # seconds; less lies between two sounds of a word


class Captions:
    """Turn speech into words while it is spoken.

    With each chunk the sound since the last cut is recognised again, behind the words
    that are committed already. What two hypotheses agree on is committed (policy), a
    pause commits the rest (endpoint), and a long window is cut behind a sentence. Behind
    a whole sentence the model may end each time although somebody speaks on: so the
    window begins anew at a pause there, or where sound is left that no word explains.

    Memory is bounded: no more than 30 s of sound is held.

    Args:
        model: a Whisper, as load("whisper-tiny.en") returns it.
        tokenizer: its SpeechTokenizer.
        chunk_seconds: how often words may come; less costs more computing.
        agreement: hypotheses that must agree.
        pause_seconds: of quiet that commit what is pending, at least 0.2; None: never.
        soft_seconds: of a window from which it is cut behind a sentence.
        hard_seconds: of a window from which it is cut behind any word.
        clock: seconds that computing takes; time.process_time measures one thread on a
            busy machine.
        settled_seconds: since a word's end, after which it needs no second hypothesis;
            None: it always does.
        recogniser: what is called instead of a Recogniser of model and tokenizer.

    Attributes:
        words: the committed words, with times, committed_at and compute_seconds.
        seconds: of sound that arrived.

    Raises:
        ValueError: a setting is outside its range, or the model has no alignment heads.

    Source: Machacek et al. (2023), Whisper-Streaming, arXiv:2307.14743.
    Lesson: notebooks/14_captions.ipynb
    """

    def __init__(
        self,
        model,
        tokenizer,
        chunk_seconds: float = 0.5,
        agreement: int = 2,
        pause_seconds: float | None = 0.5,
        soft_seconds: float = SOFT_SECONDS,
        hard_seconds: float = HARD_SECONDS,
        clock: Callable[[], float] = time.perf_counter,
        settled_seconds: float | None = SETTLED_SECONDS,
        recogniser: Callable[..., Hypothesis] | None = None,
    ):
        check_chunk(chunk_seconds, hard_seconds)
        if pause_seconds is not None and not pause_seconds >= SHORTEST_PAUSE:
            raise ValueError(
                f"pause_seconds was {pause_seconds}; pass {SHORTEST_PAUSE} or more, or None"
            )
        self.chunk_seconds = chunk_seconds
        self._recognise = recogniser or Recogniser(model, tokenizer, SHORTEST_SECONDS)
        self.pause_seconds, self.clock = pause_seconds, clock
        self.settled_seconds = settled_seconds
        self._soft, self._hard = soft_seconds, hard_seconds
        self.policy, self.endpoint = StablePrefix(agreement), Endpoint()
        self.window = Window(round(chunk_seconds * SAMPLE_RATE))
        self._deafness = Deafness(self.endpoint)
        self.words: list[Word] = []
        self.compute_seconds = self._free_at = 0.0
        self._arrived = torch.zeros(0)  # not yet a chunk
        self._heard_until = 0.0  # what was said before is committed

    def feed(self, samples: Tensor) -> list[Word]:
        """Take sound as it comes and return the words that are final now.

        Args:
            samples: (sample,) float, 16,000 a second, of any length.

        Returns:
            The newly committed words.

        Raises:
            ValueError: samples are no such sound.
        """
        _check(samples)
        self._arrived = torch.cat((self._arrived, samples.float()))
        words, size = [], self.window.chunk_size
        while len(self._arrived) >= size:
            chunk, self._arrived = self._arrived.tensor_split([size])
            words += self._step(chunk)
        return words

    def finish(self) -> list[Word]:
        """Return the last words: nothing follows."""
        chunk, self._arrived = self._arrived, torch.zeros(0)
        return self._step(chunk, last=True)

    @property
    def seconds(self) -> float:
        """How much sound was heard."""
        return self.window.end

    @property
    def pending(self) -> str:
        """What the newest hypothesis says behind the committed words."""
        return " ".join(word.text for word in self.policy.pending)

    @property
    def lags(self) -> list[float]:
        """Seconds from the end of each word to its being shown."""
        return [word.lag for word in self.words]

    def _step(self, chunk: Tensor, last: bool = False) -> list[Word]:
        """Hear a chunk, and note when its words are out."""
        began = self.clock()
        self.window.add(chunk)
        self.endpoint.hear(chunk)
        words = self._hear(last)
        spent = self.clock() - began
        self.compute_seconds += spent
        # Sound that comes while a chunk is being computed has to wait.
        self._free_at = max(self._free_at, self.seconds) + spent
        late = self._free_at - self.seconds
        words = [
            replace(word, committed_at=self.seconds, compute_seconds=late)
            for word in words
        ]
        self.words += words
        return words

    def _hear(self, last: bool) -> list[Word]:
        """Recognise the window again, unless nothing was said since the last time."""
        quiet = self.endpoint.quiet_seconds
        if not self.endpoint.has_sound(self._heard_until, self.seconds):
            if quiet >= REST_SECONDS:
                self._begin_anew(LEAD_SECONDS)
            return []
        said, heard = self._recognised()
        paused = self.pause_seconds is not None and quiet >= self.pause_seconds
        pending, start, ends = self.policy.pending, self.window.start, last or paused
        missed = self._deafness.hear(said, heard, pending, self.seconds, ends)
        flush = ends or missed is not None or self.window.is_full
        waits = self.settled_seconds
        settled = None if waits is None else self.seconds - waits
        words = self.policy.hear(heard, flush, settled)
        if ends:
            self._heard_until = self.seconds
        if missed is not None:
            self._cut_between(missed, missed + 3 * NEAR)
            self._heard_until = missed
            self.policy.begin_anew()
            if last and missed > start:  # no chunk comes that would hear the rest
                words += self._hear(last)
        elif paused and self._is_done(said):
            self._begin_anew(min(LEAD_SECONDS, quiet - NEAR))
        else:
            self._cut(said)
        return words

    def _is_done(self, said: list[Word]) -> bool:
        """Tell whether a whole sentence stands in the window, and long enough to be one."""
        return (
            bool(said) and said[-1].ends_sentence and self.window.seconds > DONE_SECONDS
        )

    def _recognised(self) -> tuple[list[Word], list[Word]]:
        """Give all words of the window that are believed, and those not committed."""
        committed, pending = self.policy.committed, self.policy.pending
        window = self.window
        hypothesis = self._recognise(window.sound, committed, pending, window.start)
        earliest = self.words[-1].end if self.words else 0.0
        heard = believed(hypothesis, self.endpoint, earliest)
        return [*timed(hypothesis.known, self.endpoint), *heard], heard

    def _cut(self, words: list[Word]) -> None:
        """Keep the window short."""
        seconds, n_committed = self.window.seconds, len(self.policy.committed)
        n = cut_place(words, n_committed, seconds, self._soft, self._hard)
        if n is not None:
            self._cut_between(words[n - 1].end - NEAR, words[n].start + NEAR)
            self.policy.forget(n)
        if self.window.is_full:
            self._begin_anew(LEAD_SECONDS)

    def _cut_between(self, earliest: float, latest: float) -> None:
        """Let the window begin at the quietest place between two times."""
        earliest = max(earliest, self.window.start)
        self.window.cut_at(self.endpoint.quietest(earliest, latest))
        self._deafness.begin_anew()

    def _begin_anew(self, seconds: float) -> None:
        """Forget all but the last seconds of sound."""
        self.window.keep_last(seconds)
        self.policy.begin_anew()


def check_chunk(chunk_seconds: float, hard_seconds: float = HARD_SECONDS) -> None:
    """Refuse a chunk that leaves a window no room for a second opinion."""
    longest = (LONGEST_WINDOW - hard_seconds) / 2
    if not 0.1 <= chunk_seconds <= longest:
        raise ValueError(
            f"chunk_seconds was {chunk_seconds}; pass 0.1 to {longest}, best 0.5"
        )


def _check(samples: Tensor) -> None:
    if samples.ndim != 1 or not samples.is_floating_point():
        raise ValueError(
            f"samples have shape {tuple(samples.shape)} and dtype {samples.dtype}; pass "
            f"(sample,) floats from -1 to 1, 16,000 a second, as stream_audio gives them"
        )
    if not samples.isfinite().all():
        raise ValueError(
            "samples hold NaN or infinite values; look where they come from, or put 0 there"
        )
