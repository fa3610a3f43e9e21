"""The audio stem: what stands in an encoder of sound where others have an embedding."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.positions import Positions, sinusoids


class FixedPositions(Positions):
    """Whisper's waves as a table that is never trained, but stored with the weights.

    A file may hold them rounded; whoever loads it then hears exactly as its model does.

    Args:
        max_length: positions.
        d_model: even width.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.2.
    Lesson: notebooks/14_captions.ipynb

    >>> FixedPositions(7, 4).embed(torch.tensor([1]))
    tensor([[8.4147e-01, 1.0000e-04, 5.4030e-01, 1.0000e+00]])
    """

    def __init__(self, max_length: int, d_model: int):
        super().__init__()
        self.register_buffer("table", sinusoids(max_length, d_model, layout="halves"))

    def embed(self, positions: Tensor) -> Tensor:
        """Look up (..., d_model) for positions (...), each below max_length."""
        return self.table[positions]


class AudioStem(nn.Module):
    """Make a residual stream of a spectrogram: two convolutions and fixed positions.

    Each convolution looks at three neighbours and is followed by GELU. The second takes
    every other place, so two frames of 10 ms become one position of 20 ms.

    Args:
        config: the encoder's DecoderConfig (d_model, max_length).
        n_mels: bands of the spectrogram.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.2.
    Lesson: notebooks/14_captions.ipynb

    >>> from course_lib.config import DecoderConfig
    >>> stem = AudioStem(DecoderConfig.whisper_tiny(max_length=1500))
    >>> tuple(stem(torch.zeros(1, 80, 1000)).shape)
    (1, 500, 384)
    """

    def __init__(self, config, n_mels: int = 80):
        super().__init__()
        self.max_frames = 2 * config.max_length
        self.first = nn.Conv1d(n_mels, config.d_model, kernel_size=3, padding=1)
        self.second = nn.Conv1d(
            config.d_model, config.d_model, kernel_size=3, stride=2, padding=1
        )
        self.positions = FixedPositions(config.max_length, config.d_model)

    def forward(self, spectrogram: Tensor) -> Tensor:
        """Turn frames into positions.

        Args:
            spectrogram: (batch, mel, frame) float, an even number of frames.

        Returns:
            residual: (batch, frame / 2, d_model).

        Raises:
            ValueError: another number of bands, an odd number of frames, none, or more
                than 2 * max_length.
        """
        self._check(spectrogram)
        residual = F.gelu(self.first(spectrogram.to(self.first.weight.dtype)))
        residual = F.gelu(self.second(residual)).transpose(1, 2)
        places = torch.arange(residual.shape[1], device=residual.device)
        return residual + self.positions.embed(places)

    def _check(self, spectrogram: Tensor) -> None:
        n_mels = self.first.in_channels
        shape = tuple(spectrogram.shape)
        if len(shape) != 3 or shape[1] != n_mels or not spectrogram.is_floating_point():
            raise ValueError(
                f"the spectrogram has shape {shape} and dtype {spectrogram.dtype}; pass "
                f"(batch, mel, frame) floats with {n_mels} bands, as log_mel makes them"
            )
        if not 2 <= shape[2] <= self.max_frames or shape[2] % 2:
            raise ValueError(
                f"the spectrogram has {shape[2]} frames; pass an even number from 2 to "
                f"{self.max_frames}, 100 a second"
            )
