"""Another sample rate: a windowed sinc, evaluated at the new instants, block by block."""

import math

import torch
from torch import Tensor

N_CROSSINGS = 32  # zero crossings of the sinc on each side
ROLL_OFF = 0.92  # where the filter is half down, as a part of half the lower rate
BETA = 8.0  # of the Kaiser window: what is cut off is weaker by 80 dB
RATES = (4_000, 384_000)


class Resampler:
    """Turn blocks of samples at one rate into blocks at another; joins cannot be heard.

    Every new sample is a weighted sum of the old ones around its instant. The weights
    are a sinc, the ideal low pass, under a Kaiser window that makes it end. They repeat
    as soon as both rates meet again, so they are computed once. The filter waits for
    what follows: 2 ms at 16 kHz behind the input.

    Args:
        rate: of what comes in, samples a second.
        new_rate: of what goes out.

    Raises:
        ValueError: a rate is no whole number from 4,000 to 384,000.

    Source: Smith, Digital Audio Resampling, https://ccrma.stanford.edu/~jos/resample.
    Lesson: notebooks/14_captions.ipynb

    >>> resampler = Resampler(48_000, 16_000)
    >>> blocks = [resampler.push(torch.zeros(700)), resampler.push(torch.zeros(500))]
    >>> len(torch.cat([*blocks, resampler.finish()]))
    400
    """

    def __init__(self, rate: int, new_rate: int):
        for given in (rate, new_rate):
            if not (isinstance(given, int) and RATES[0] <= given <= RATES[1]):
                raise ValueError(
                    f"the sample rate was {given!r}; convert the audio to a whole rate from "
                    f"{RATES[0]} to {RATES[1]} samples a second, best 16000"
                )
        common = math.gcd(rate, new_rate)
        self.n_old, self.n_new = rate // common, new_rate // common
        self._same = rate == new_rate
        cutoff = ROLL_OFF * min(1.0, new_rate / rate)  # 1: half the old rate
        self._reach = math.ceil(N_CROSSINGS / cutoff)
        self._weights = _weights(self.n_old, self.n_new, cutoff, self._reach)
        self._held = torch.zeros(self._reach)  # silence before the beginning
        self._first = -self._reach  # place of the first held sample
        self._n_in = self._n_out = 0

    def push(self, samples: Tensor) -> Tensor:
        """Take the next samples and return the new ones that they complete.

        Args:
            samples: (sample,) float32.

        Returns:
            (sample,) float32; empty where nothing is complete yet.
        """
        if self._same:
            return samples
        self._n_in += len(samples)
        self._held = torch.cat((self._held, samples))
        n_complete = (self._n_in - self._reach) * self.n_new // self.n_old
        return self._new(n_complete)

    def finish(self) -> Tensor:
        """Return the last new samples, with silence behind the end."""
        if self._same:
            return torch.zeros(0)
        self._held = torch.cat((self._held, torch.zeros(self._reach)))
        return self._new(-(-self._n_in * self.n_new // self.n_old))

    def _new(self, end: int) -> Tensor:
        """Compute the new samples up to a place, and let go of old ones."""
        if end <= self._n_out:
            return torch.zeros(0)
        places = torch.arange(self._n_out, end)
        old, phase = places * self.n_old // self.n_new, places % self.n_new
        pieces = self._held.unfold(0, self._weights.shape[1], 1)
        starts = old - self._reach + 1 - self._first
        made = (pieces[starts] * self._weights[phase]).sum(dim=1)
        self._n_out = end
        needed = end * self.n_old // self.n_new - self._reach + 1
        self._held = self._held[needed - self._first :]
        self._first = needed
        return made


def _weights(n_old: int, n_new: int, cutoff: float, reach: int) -> Tensor:
    """(phase, tap): what each old sample counts, for each place between two of them."""
    phases = torch.arange(n_new, dtype=torch.float64) * n_old / n_new % 1
    taps = torch.arange(1 - reach, reach + 1, dtype=torch.float64)
    distance = taps - phases[:, None]
    inside = (1 - (distance / reach) ** 2).clamp(min=0)
    window = torch.special.i0(BETA * inside.sqrt()) / torch.special.i0(
        torch.tensor(BETA, dtype=torch.float64)
    )
    return (cutoff * torch.sinc(cutoff * distance) * window).float()
