"""Where there is sound and where a pause: energy against a floor that adapts."""

import torch
from torch import Tensor

from course_lib.audio import SAMPLE_RATE

FRAME_SECONDS = 0.02
MEMORY_SECONDS = 30.0
FLOOR, PEAK = 0.10, 0.95  # quantiles of the levels that are remembered
LEAST_DB, SHARE = 4.0, 0.3  # above the floor; of the way up to the peak
SILENCE_DB = -65.0  # below full scale: never speech
FLAT_DB = 5.0  # steady noise stays within this range, speech does not
RANGE_DB = (
    45.0  # what is softer than speech by this is a room, even beside no sound at all
)
SMOOTH = 5  # frames whose median counts, so that a click is no speech
GAP = 8  # frames: a shorter silence lies within a word
MARGIN_SECONDS = 0.04  # a sound begins and ends softer than it is


class Endpoint:
    """Tell speech from pauses by how loud 20 ms are, compared with the last 30 s.

    The floor is the level that a tenth of the frames stay below, so a fan that is
    switched on becomes part of it. It knows loudness only: music is sound, too.

    Source: Rabiner and Sambur (1975), doi:10.1002/j.1538-7305.1975.tb02840.x.
    Lesson: notebooks/14_captions.ipynb

    >>> endpoint = Endpoint()
    >>> tone = 0.3 * torch.sin(torch.arange(16000) * 0.2)
    >>> endpoint.hear(torch.cat((torch.zeros(8000), tone, torch.zeros(9600))))
    >>> round(endpoint.quiet_seconds, 1), [round(t, 1) for t in endpoint.sound(0, 1.9)]
    (0.6, [0.5, 1.5])
    """

    def __init__(self):
        self._frame = round(FRAME_SECONDS * SAMPLE_RATE)
        self._held = torch.zeros(0)
        self._levels = torch.zeros(0)
        self._first = 0  # frames that are forgotten
        self._loud = torch.zeros(0, dtype=torch.bool)

    def hear(self, samples: Tensor) -> None:
        """Take the next sound.

        Args:
            samples: (sample,) float, 16,000 a second.
        """
        held = torch.cat((self._held, samples.cpu().float()))
        n_frames = len(held) // self._frame
        used, self._held = held.tensor_split([n_frames * self._frame])
        frames = used.reshape(n_frames, self._frame)
        frames = frames - frames.mean(dim=1, keepdim=True)  # a constant is no sound
        power = frames.square().mean(dim=1)
        levels = torch.cat((self._levels, 10 * power.clamp(min=1e-12).log10()))
        self._levels = levels[-round(MEMORY_SECONDS / FRAME_SECONDS) :]
        self._first += len(levels) - len(self._levels)
        self._loud = self._judge()

    @property
    def quiet_seconds(self) -> float:
        """How long the pause at the end has lasted."""
        places = self._loud.nonzero()
        last = -1 if not len(places) else int(places[-1])
        return (len(self._loud) - 1 - last) * FRAME_SECONDS

    def loud_seconds(self, start: float, end: float) -> float:
        """How much sound there is between two times, in seconds."""
        return int(self._between(start, end).sum()) * FRAME_SECONDS

    def has_sound(self, start: float, end: float) -> bool:
        """Whether something is loud between two times, in seconds."""
        return bool(self._between(start, end).any())

    def sound(self, start: float, end: float) -> tuple[float, float]:
        """The longest stretch of sound between two times, in seconds.

        Attention gives a pause to the word behind it. What is shorter than the word, or
        a gap within it, is no pause.
        """
        first, _ = self._places(start, end)
        loud = self._between(start, end).tolist()
        stretches: list[list[int]] = []
        for place, is_loud in enumerate(loud):
            if is_loud and stretches and place - stretches[-1][1] <= GAP:
                stretches[-1][1] = place + 1
            elif is_loud:
                stretches.append([place, place + 1])
        if not stretches:
            return start, end
        begin, stop = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
        times = [
            (self._first + first + place) * FRAME_SECONDS for place in (begin, stop)
        ]
        return max(start, times[0] - MARGIN_SECONDS), min(
            end, times[1] + MARGIN_SECONDS
        )

    def quietest(self, start: float, end: float) -> float:
        """The middle of the quietest 60 ms between two times, in seconds."""
        first, last = self._places(start, end)
        levels = self._levels[first:last]
        if len(levels) < 3:
            return (start + end) / 2
        place = int(levels.unfold(0, 3, 1).mean(1).argmin()) + 1.5
        return (self._first + first + place) * FRAME_SECONDS

    def _judge(self) -> Tensor:
        """(frame,) bool: which frames are loud, judged by all that are remembered."""
        if not len(self._levels):
            return torch.zeros(0, dtype=torch.bool)
        pad = SMOOTH // 2
        ends = self._levels[:1].expand(pad), self._levels[-1:].expand(pad)
        smooth = torch.cat((ends[0], self._levels, ends[1])).unfold(0, SMOOTH, 1)
        smooth = smooth.median(dim=1).values
        floor, peak = smooth.quantile(torch.tensor([FLOOR, PEAK])).tolist()
        floor = max(floor, peak - RANGE_DB)
        if peak - floor < FLAT_DB:
            floor = peak  # nothing but steady noise
        threshold = floor + max(LEAST_DB, SHARE * (peak - floor))
        return smooth > max(threshold, SILENCE_DB)

    def _places(self, start: float, end: float) -> tuple[int, int]:
        first = round(start / FRAME_SECONDS) - self._first
        last = round(end / FRAME_SECONDS) - self._first
        return max(0, first), max(0, last)

    def _between(self, start: float, end: float) -> Tensor:
        first, last = self._places(start, end)
        return self._loud[first:last]
