"""Spoken sentences of our own, with their text and when each word begins."""

import json
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from course_lib.audio.files import read_audio

FOLDER = Path(__file__).parent / "sentences"


@dataclass(frozen=True)
class Sentence:
    """One spoken sentence, or two that belong together.

    Attributes:
        name: a word that names it.
        text: what is spoken, with punctuation.
        words: the text, word by word.
        starts: seconds from the beginning of the file to that of each word.
        path: its FLAC file, 16,000 samples a second.

    Source: espeak-ng 1.52, voice en-us, 155 words a minute (see tools/speech.py).
    Lesson: notebooks/14_captions.ipynb
    """

    name: str
    text: str
    words: tuple[str, ...]
    starts: tuple[float, ...]
    path: Path

    def samples(self) -> Tensor:
        """Read the sound: (sample,) float32."""
        return read_audio(self.path)


def sentences() -> list[Sentence]:
    """List the spoken sentences that come with the course.

    A synthesiser's voice: it says exactly when each word begins, which no recording
    of a person does, and is harder to understand than most people. Show mechanics with
    it; how good captions are, a recording shows.

    Returns:
        Sentence objects, always in the same order.

    Raises:
        ValueError: the files are missing or damaged.

    Source: espeak-ng 1.52, voice en-us, 155 words a minute.
    Lesson: notebooks/14_captions.ipynb

    >>> first = sentences()[0]
    >>> first.words[:2], first.starts[0]
    (('Good', 'morning,'), 0.0)
    """
    try:
        listed = json.loads((FOLDER / "sentences.json").read_text(encoding="utf-8"))
        return [_sentence(each) for each in listed]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ValueError(
            f"the spoken sentences in {FOLDER} are missing or damaged "
            f"({type(error).__name__}); install the course again"
        ) from None


def _sentence(given: dict) -> Sentence:
    words = given["words"]
    return Sentence(
        name=given["name"],
        text=given["text"],
        words=tuple(word["text"] for word in words),
        starts=tuple(float(word["start"]) for word in words),
        path=FOLDER / f"{given['name']}.flac",
    )
