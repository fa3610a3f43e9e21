"""Sound for a model: samples become a log-mel spectrogram, and that a residual stream."""

from course_lib.audio.spectrogram import (
    HOP_LENGTH,
    N_FFT,
    SAMPLE_RATE,
    log_mel,
    mel_filters,
)
from course_lib.audio.stem import AudioStem

__all__ = [
    "AudioStem",
    "HOP_LENGTH",
    "N_FFT",
    "SAMPLE_RATE",
    "log_mel",
    "mel_filters",
]
