"""One window of sound becomes words with times: encode, write, align."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import torch
from torch import Tensor

from course_lib.apps.captions.alignment import attention_map, starts_of
from course_lib.apps.captions.words import Word, words_of
from course_lib.apps.captions.writing import Transcript, write
from course_lib.audio import SAMPLE_RATE, log_mel
from course_lib.modes import mode

SHORTEST_WINDOW, SILENCE_BEHIND, LONGEST_WINDOW = 10.0, 1.5, 30.0  # seconds
TOKENS_A_SECOND, TOKENS_BESIDES = 6, 8  # more than anybody speaks: it is a loop
POSITION_SECONDS = 0.02
LATE = 0.1  # seconds that attention comes behind the sound, measured


@dataclass(frozen=True)
class Hypothesis:
    """What a window seems to say.

    Attributes:
        known: the words that were given, with their times in this window.
        words: those behind them.
        confidence: mean log-probability of the new tokens, in nats.

    Lesson: notebooks/14_captions.ipynb
    """

    known: tuple[Word, ...]
    words: tuple[Word, ...]
    confidence: float


class Recogniser:
    """Write down what one window of sound says, after words that are already known.

    Args:
        model: a Whisper: an EncoderDecoder of sound with alignment_heads.
        tokenizer: its SpeechTokenizer.
        shortest_seconds: a shorter window is filled up with silence: without any the
            model repeats itself.

    Raises:
        ValueError: the model has no alignment heads.

    Source: Radford et al. (2022), arXiv:2212.04356, sections 2.2 and 4.5.
    Lesson: notebooks/14_captions.ipynb
    """

    def __init__(self, model, tokenizer, shortest_seconds: float = SHORTEST_WINDOW):
        if not getattr(model, "alignment_heads", None):
            raise ValueError(
                "the model has no alignment_heads, so words would have no times; pass "
                "what load('whisper-tiny.en') returns"
            )
        self.model, self.tokenizer = model, tokenizer
        self.shortest_seconds = shortest_seconds

    @torch.inference_mode()
    def __call__(
        self,
        samples: Tensor,
        known: Sequence[Word] = (),
        guess: Sequence[Word] = (),
        start: float = 0.0,
    ) -> Hypothesis:
        """Continue the known words as the sound does.

        Args:
            samples: (sample,) float, 16,000 a second, from 1 sample to 30 s.
            known: words of this window that are not in question any more.
            guess: words that may well follow; they only save time.
            start: seconds of the stream before this window.

        Returns:
            A Hypothesis.

        Raises:
            ValueError: the window is empty, too long, or no sound.
        """
        model, seconds = self.model, len(samples) / SAMPLE_RATE
        if seconds > LONGEST_WINDOW:
            raise ValueError(
                f"a window of {seconds:.1f} s was given; the model hears at most "
                f"{LONGEST_WINDOW:.0f} s at once, so cut it"
            )
        window = min(
            max(self.shortest_seconds, seconds + SILENCE_BEHIND), LONGEST_WINDOW
        )
        n_mels = model.encoder.stem.first.in_channels
        before, guessed = _ids(known), _ids(guess)
        limit = TOKENS_BESIDES + int(TOKENS_A_SECOND * seconds) - len(before)
        limit = max(limit, TOKENS_BESIDES, len(guessed) + 1)
        with mode(model, training=False):
            sound = samples.to(model.decoder.embedding.weight.device)
            memory = model.encoder(log_mel(sound, window, n_mels))
            said = write(model, self.tokenizer, memory, before, guessed, limit)
        return self._hypothesis(known, said, seconds, start)

    def _hypothesis(
        self, known: Sequence[Word], said: Transcript, seconds: float, start: float
    ) -> Hypothesis:
        """Put times to the words, known and new."""
        before, ids = _ids(known), said.ids
        pieces = words_of(self.tokenizer, ids, continued=bool(before))
        if not known and not pieces:
            return Hypothesis((), (), said.confidence)
        n_positions = max(2, round(seconds / POSITION_SECONDS))
        places = starts_of(attention_map(said.weights[..., :n_positions]))
        times = [start + max(0.0, place * POSITION_SECONDS - LATE) for place in places]
        firsts = [*accumulate((len(word.ids) for word in known[:-1]), initial=0)][
            : len(known)
        ]
        firsts += [len(before) + first for _, first, _ in pieces]
        spans = list(pairwise([times[place] for place in firsts] + times[-1:]))
        timed = [
            replace(word, start=begin, end=end)
            for word, (begin, end) in zip(known, spans, strict=False)
        ]
        words, used = [], 0
        for (text, _, behind), (begin, end) in zip(
            pieces, spans[len(known) :], strict=True
        ):
            words.append(Word(text, begin, end, tuple(ids[used:behind])))
            used = behind
        return Hypothesis(tuple(timed), tuple(words), said.confidence)


def _ids(words: Sequence[Word]) -> list[int]:
    return [token_id for word in words for token_id in word.ids]
