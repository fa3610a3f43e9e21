"""Sound becomes what Whisper reads: a spectrogram, then a residual stream."""

import math

import numpy as np
import pytest
import torch

from course_lib.audio import AudioStem, log_mel, mel_filters
from course_lib.config import DecoderConfig
from tests.library.small_models import numbers, scatter_weights

assert_close = torch.testing.assert_close
SILENCE = -1.5  # (log10(1e-10) + 4) / 4


def tone(hertz, seconds=1.0, loudness=0.5):
    return loudness * torch.sin(
        2 * math.pi * hertz * torch.arange(int(seconds * 16000)) / 16000
    )


def feature_extractor():
    transformers = pytest.importorskip(
        "transformers", reason="the extra `compare` (transformers) is not installed"
    )
    return transformers.WhisperFeatureExtractor()


# -- filters


def test_a_filter_is_a_triangle_between_its_neighbours_peaks():
    # Three bands have five corners, evenly spaced in mel: two below 1000 Hz, three above.
    step = (15 + 27 * math.log(8) / math.log(6.4)) / 4
    above = [1000 * 6.4 ** ((n * step - 15) / 27) for n in (2, 3)]
    corners = [0, step * 200 / 3, *above, 8000]
    filters = mel_filters(3)
    for band, (left, peak, right) in enumerate(
        zip(corners, corners[1:], corners[2:], strict=False)
    ):
        for i in range(201):
            slope = min(
                (40 * i - left) / (peak - left), (right - 40 * i) / (right - peak)
            )
            expected = max(0, slope) * 2 / (right - left)
            assert filters[band, i].item() == pytest.approx(expected, abs=1e-8)


def test_every_band_has_the_same_area():
    areas = mel_filters(10).sum(-1) * 40
    assert_close(areas, torch.ones(10), atol=0.03, rtol=0)


@pytest.mark.compare
def test_filters_equal_those_of_transformers():
    theirs = torch.tensor(feature_extractor().mel_filters, dtype=torch.float32).T
    assert_close(mel_filters(), theirs, atol=1e-7, rtol=0)


def test_no_bands_are_refused():
    with pytest.raises(ValueError, match="n_mels was 0; pass at least 1"):
        mel_filters(0)


# -- log-mel


@pytest.mark.compare
@pytest.mark.parametrize("n_samples", [1, 4001, 48000, 480000])
def test_a_window_of_30_seconds_equals_transformers(n_samples):
    samples = numbers(n_samples) * 0.1
    theirs = feature_extractor()(
        samples.numpy(), sampling_rate=16000, return_tensors="pt"
    ).input_features
    assert_close(log_mel(samples, window_seconds=30), theirs, atol=1e-5, rtol=0)


def test_one_frame_equals_a_plain_fourier_sum():
    samples = numbers(1600) * 0.1
    frame = samples[160 * 4 - 200 : 160 * 4 + 200].double()  # the fifth, in its middle
    hann = 0.5 - 0.5 * torch.cos(2 * math.pi * torch.arange(400).double() / 400)
    turns = torch.outer(torch.arange(201).double(), torch.arange(400).double()) / 400
    waves = torch.exp(-2j * math.pi * turns) @ (frame * hann).to(torch.complex128)
    logs = (mel_filters().double() @ waves.abs().square()).log10()
    spectrogram = log_mel(samples)
    assert spectrogram.shape == (1, 80, 10)
    assert_close(spectrogram[0, :, 4], ((logs + 4) / 4).float(), atol=1e-4, rtol=0)


@pytest.mark.parametrize("hertz", [150, 440, 1000, 3000, 7000])
def test_the_loudest_band_is_the_one_around_the_tone(hertz):
    loudest = log_mel(tone(hertz))[0, :, 10:90].mean(-1).argmax()
    assert mel_filters()[loudest, round(hertz / 40)] > 0


@pytest.mark.parametrize(
    ("n_samples", "window", "n_frames"),
    [(1, None, 2), (320, None, 2), (321, None, 4), (16000, None, 100)]
    + [(7, 0.5, 50), (16000, 1.0, 100), (16000, 1.01, 102), (16000, 5, 500)],
)
def test_there_are_100_frames_a_second_in_pairs(n_samples, window, n_frames):
    assert log_mel(numbers(n_samples), window).shape == (1, 80, n_frames)


def test_silence_is_one_value_everywhere():
    assert_close(log_mel(torch.zeros(16000), 2), torch.full((1, 80, 200), SILENCE))


def test_nothing_is_more_than_8_decades_below_the_loudest():
    spectrogram = log_mel(tone(440), window_seconds=3)
    assert_close(spectrogram.min(), spectrogram.max() - 2)


def test_a_row_alone_is_the_row_in_a_batch():
    rows = torch.stack((tone(440), tone(3000, loudness=1e-4), torch.zeros(16000)))
    together = log_mel(rows, window_seconds=2)
    for row, spectrogram in zip(rows, together, strict=True):
        assert_close(log_mel(row, window_seconds=2)[0], spectrogram)


def test_doubles_halves_and_arrays_are_heard_as_floats_are():
    samples = tone(440)
    for same in (samples.double(), samples.numpy(), samples.numpy().astype(np.float64)):
        assert_close(log_mel(same), log_mel(samples))
    assert_close(log_mel(samples.half()), log_mel(samples.half().float()))


def test_samples_are_left_as_they_are():
    samples = tone(440)
    before = samples.clone()
    log_mel(samples, window_seconds=2)
    assert torch.equal(samples, before)


@pytest.mark.parametrize(
    ("samples", "window", "message"),
    [
        (torch.zeros(16000, dtype=torch.int16), None, "int16; .* divided by 32768"),
        (torch.zeros(0), None, r"shape \(0,\), so there is no sound"),
        (torch.zeros(2, 0), 1, r"shape \(2, 0\), so there is no sound"),
        (torch.zeros(()), None, r"shape \(\); pass \(sample,\)"),
        (torch.zeros(2, 3, 5), None, r"shape \(2, 3, 5\); pass \(sample,\)"),
        (torch.zeros(16000, 2), None, r"shape \(16000, 2\); .* channels averaged"),
        (torch.tensor([0.0, float("nan")]), None, "NaN or infinite"),
        (torch.tensor([0.0, -float("inf")]), None, "NaN or infinite"),
        (torch.zeros(16001), 1.0, r"16001 samples are 1.00 s, longer than the window"),
        (torch.zeros(5), 0, "window_seconds was 0"),
        (torch.zeros(5), -1, "window_seconds was -1"),
        (torch.zeros(5), float("nan"), "window_seconds was nan"),
        (torch.zeros(5), float("inf"), "window_seconds was inf"),
    ],
)
def test_what_is_no_sound_is_refused(samples, window, message):
    with pytest.raises(ValueError, match=message):
        log_mel(samples, window)


# -- the stem


def small_stem(n_mels=5):
    sizes = dict(vocab_size=13, d_model=6, n_layers=1, n_heads=3, max_length=11)
    return scatter_weights(AudioStem(DecoderConfig(**sizes), n_mels), seed=1)


def gelu(x):
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def convolve(x, layer, stride):
    """Sum over three neighbours, one output at a time."""
    padded = torch.nn.functional.pad(x, (1, 1))
    places = range(0, x.shape[-1], stride)
    columns = [
        torch.einsum("bik,oik->bo", padded[..., p : p + 3], layer.weight) + layer.bias
        for p in places
    ]
    return torch.stack(columns, -1)


def test_the_stem_is_two_convolutions_and_waves():
    stem, spectrogram = small_stem(), numbers(2, 5, 14)
    x = gelu(convolve(spectrogram, stem.first, 1))
    x = gelu(convolve(x, stem.second, 2)).transpose(1, 2)
    for place in range(7):  # sines, then cosines, from wavelength 1 to 10000
        for i, speed in enumerate((1, 1e-2, 1e-4)):
            x[:, place, i] += math.sin(place * speed)
            x[:, place, 3 + i] += math.cos(place * speed)
    assert_close(stem(spectrogram), x, atol=1e-5, rtol=1e-5)


def test_the_stems_positions_are_stored_and_not_learned():
    stem = small_stem()
    names = ["first.weight", "first.bias", "second.weight", "second.bias"]
    assert [name for name, _ in stem.named_parameters()] == names
    assert [name for name, _ in stem.named_buffers()] == ["positions.table"]
    assert stem.positions.table.shape == (11, 6)


def test_a_spectrogram_is_read_in_the_dtype_of_the_weights():
    assert small_stem().bfloat16()(numbers(2, 5, 14)).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("spectrogram", "message"),
    [
        (torch.zeros(5, 14), r"shape \(5, 14\)"),
        (torch.zeros(2, 4, 14), r"shape \(2, 4, 14\) .* with 5 bands"),
        (torch.zeros(2, 14, 5), r"shape \(2, 14, 5\) .* with 5 bands"),
        (torch.zeros(2, 5, 14, dtype=torch.int64), "dtype torch.int64"),
        (torch.zeros(2, 5, 13), "13 frames; pass an even number from 2 to 22"),
        (torch.zeros(2, 5, 24), "24 frames; pass an even number from 2 to 22"),
        (torch.zeros(2, 5, 0), "0 frames"),
    ],
)
def test_what_is_no_spectrogram_is_refused(spectrogram, message):
    with pytest.raises(ValueError, match=message):
        small_stem()(spectrogram)
