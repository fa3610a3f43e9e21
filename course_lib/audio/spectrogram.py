"""From samples to what Whisper reads: how loud each pitch is, every 10 ms."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

SAMPLE_RATE = 16_000  # samples per second
N_FFT = 400  # samples that one frame looks at: 25 ms
HOP_LENGTH = 160  # samples from one frame to the next: 10 ms
SAMPLES_PER_POSITION = 2 * HOP_LENGTH  # the audio stem halves the frames


def mel_filters(n_mels: int = 80) -> Tensor:
    """Weigh frequencies into bands as wide as the ear's: Slaney's triangles.

    Each band is a triangle over frequency. Its corners are evenly spaced on the mel
    scale, which is linear up to 1000 Hz and logarithmic above, and its area is 1.

    Args:
        n_mels: bands from 0 to 8000 Hz.

    Returns:
        (mel, frequency) float32, with N_FFT / 2 + 1 frequencies.

    Raises:
        ValueError: n_mels is smaller than 1.

    Source: Slaney (1998), Auditory Toolbox 2, Interval Research report 1998-010.
    Lesson: notebooks/14_captions.ipynb

    >>> filters = mel_filters()
    >>> tuple(filters.shape), filters[:, 10].nonzero().flatten().tolist()  # of 400 Hz
    ((80, 201), [9, 10])
    """
    if n_mels < 1:
        raise ValueError(f"n_mels was {n_mels}; pass at least 1 band")
    frequencies = torch.linspace(0, SAMPLE_RATE / 2, N_FFT // 2 + 1, dtype=torch.double)
    highest = 15 + 27 * math.log(SAMPLE_RATE / 2000) / math.log(6.4)
    mels = torch.linspace(0, highest, n_mels + 2, dtype=torch.double)
    corners = torch.where(
        mels < 15, mels * 200 / 3, 1000 * torch.exp((mels - 15) * math.log(6.4) / 27)
    )
    left, peak, right = (
        corners[i : n_mels + i, None] for i in range(3)
    )  # of every triangle
    rising = (frequencies - left) / (peak - left)
    falling = (right - frequencies) / (right - peak)
    return (torch.minimum(rising, falling).clamp(min=0) * 2 / (right - left)).float()


def log_mel(
    samples: Tensor, window_seconds: float | None = None, n_mels: int = 80
) -> Tensor:
    """Turn sound into a log-mel spectrogram, scaled as Whisper was trained on it.

    Every 10 ms the power of 25 ms of sound is summed within each mel band. Its log10 is
    cut 8 below the loudest value of the row, then (x + 4) / 4.

    Args:
        samples: (sample,) or (batch, sample) float, 16000 a second, within -1 and 1.
        window_seconds: fill up to this length with silence, as Whisper expects 30 s;
            None: only up to a whole number of positions of 20 ms.
        n_mels: bands.

    Returns:
        (batch, mel, frame) float32; 100 frames a second, an even number.

    Raises:
        ValueError: samples are not floats of such a shape, none at all, not finite, or
            longer than the window.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.2.
    Lesson: notebooks/14_captions.ipynb

    >>> samples = torch.sin(2 * torch.pi * 440 * torch.arange(16000) / 16000)
    >>> spectrogram = log_mel(samples, window_seconds=5)
    >>> tuple(spectrogram.shape), spectrogram[0].sum(-1).argmax().item()  # 440 Hz
    ((1, 80, 500), 11)
    """
    samples = _fill(_checked(samples), window_seconds)
    window = torch.hann_window(N_FFT, device=samples.device)
    spectrum = torch.stft(
        samples, N_FFT, HOP_LENGTH, window=window, return_complex=True
    )
    power = spectrum[..., :-1].abs().square()  # the last frame is half outside
    mels = mel_filters(n_mels).to(samples.device) @ power
    logs = mels.clamp(min=1e-10).log10()
    return (torch.maximum(logs, logs.amax((-2, -1), keepdim=True) - 8) + 4) / 4


def _checked(samples: Tensor) -> Tensor:
    """Return samples as (batch, sample) float32, or say why they are none."""
    samples = torch.as_tensor(samples)
    shape = tuple(samples.shape)
    if not samples.is_floating_point():
        raise ValueError(
            f"samples have dtype {samples.dtype}; pass floats within -1 and 1: 16-bit "
            f"samples divided by 32768"
        )
    if samples.ndim not in (1, 2) or (samples.ndim == 2 and shape[0] > shape[1] > 0):
        raise ValueError(
            f"samples have shape {shape}; pass (sample,) or (batch, sample): "
            f"channels averaged to one, time in the last axis"
        )
    if not samples.numel():
        raise ValueError(
            f"samples have shape {shape}, so there is no sound; pass at least one "
            f"sample, for a window of silence torch.zeros(1)"
        )
    if not bool(samples.isfinite().all()):
        raise ValueError(
            "samples hold NaN or infinite values; look where they come from, or put 0 there"
        )
    return samples.reshape(-1, shape[-1]).float()


def _fill(samples: Tensor, window_seconds: float | None) -> Tensor:
    """Add silence behind (batch, sample) up to the window, in whole positions."""
    length = needed = samples.shape[-1]
    if window_seconds is not None:
        if not 0 < window_seconds < math.inf:
            raise ValueError(
                f"window_seconds was {window_seconds}; pass a length above 0, or None"
            )
        needed = round(window_seconds * SAMPLE_RATE)
        if length > needed:
            raise ValueError(
                f"{length} samples are {length / SAMPLE_RATE:.2f} s, longer than the window of "
                f"{window_seconds} s; cut them, or make the window longer"
            )
    needed = -(-needed // SAMPLES_PER_POSITION) * SAMPLES_PER_POSITION
    return F.pad(samples, (0, needed - length))
