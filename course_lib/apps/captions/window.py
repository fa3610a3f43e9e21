"""The sound that is recognised again with each chunk: what came since the last cut."""

import torch
from torch import Tensor

from course_lib.apps.captions.recogniser import LONGEST_WINDOW
from course_lib.audio import SAMPLE_RATE


class Window:
    """Hold the newest sound of a stream, and know when it begins.

    Where to cut is not decided here.

    Args:
        chunk_size: samples that will come at a time.

    Attributes:
        sound: (sample,) float, 16,000 a second.
        start: seconds of the stream before it.
        end: seconds of the stream until now.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> window = Window(chunk_size=8000)
    >>> for _ in range(6):
    ...     window.add(torch.zeros(8000))
    >>> window.cut_at(1.25)
    >>> window.start, window.end, window.seconds, len(window.sound)
    (1.25, 3.0, 1.75, 28000)
    >>> window.keep_last(0.5)
    >>> window.start, window.end
    (2.5, 3.0)
    """

    def __init__(self, chunk_size: int):
        self.chunk_size = chunk_size
        self.sound, self.start, self.end = torch.zeros(0), 0.0, 0.0

    @property
    def seconds(self) -> float:
        """How long it is."""
        return self.end - self.start

    @property
    def is_full(self) -> bool:
        """Whether the next chunk would make it too long for the model."""
        return len(self.sound) + self.chunk_size > LONGEST_WINDOW * SAMPLE_RATE

    def add(self, chunk: Tensor) -> None:
        """Take the next sound.

        Args:
            chunk: (sample,) float, 16,000 a second.
        """
        self.sound = torch.cat((self.sound, chunk))
        self.end += len(chunk) / SAMPLE_RATE

    def cut_at(self, seconds: float) -> None:
        """Forget what came before a time of the stream.

        Args:
            seconds: from start to end.
        """
        self.sound = self.sound[round((seconds - self.start) * SAMPLE_RATE) :]
        self.start = seconds

    def keep_last(self, seconds: float) -> None:
        """Forget all but the last sound.

        Args:
            seconds: of sound that is kept, more than 0.
        """
        self.sound = self.sound[-round(seconds * SAMPLE_RATE) :]
        self.start = self.end - len(self.sound) / SAMPLE_RATE
