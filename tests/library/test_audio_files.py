"""Any audio file is heard as one channel at 16 kHz, in blocks, or refused in a sentence."""

import math
import os
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
import soundfile
import torch

from course_lib.audio import SAMPLE_RATE
from course_lib.audio.files import read_audio, stream_audio
from course_lib.audio.resampling import Resampler
from course_lib.data.speech import sentences
from tests.library.small_models import numbers


def tone(hertz, rate, seconds=2.0):
    times = torch.arange(round(rate * seconds), dtype=torch.float64) / rate
    return torch.sin(2 * math.pi * hertz * times).float()


@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_channels_that_cancel_are_heard_as_one_of_them(tmp_path, noise):
    voice = 0.3 * tone(440, 16000, 1.6)
    turned = -voice + noise * numbers(len(voice), seed=3)
    sound = torch.stack((voice, turned), dim=1).numpy()
    soundfile.write(tmp_path / "a.wav", sound, 16000, subtype="FLOAT")
    torch.testing.assert_close(read_audio(tmp_path / "a.wav"), voice, atol=1e-4, rtol=0)


def resampled(samples, rate, new_rate=SAMPLE_RATE, block=977):
    resampler = Resampler(rate, new_rate)
    made = [
        resampler.push(samples[i : i + block]) for i in range(0, len(samples), block)
    ]
    return torch.cat([*made, resampler.finish()])


def decibels(samples):
    """The level of the middle, where no edge is near, against a full sine."""
    middle = samples[2000:-2000].double()
    return 10 * math.log10(2 * middle.square().mean() + 1e-20)


@pytest.mark.parametrize("rate", [8000, 11025, 22050, 44100, 48000, 44056])
def test_a_tone_keeps_its_pitch_its_loudness_and_its_place(rate):
    made = resampled(tone(1000, rate), rate)
    assert len(made) == 2 * SAMPLE_RATE
    expected = tone(1000, SAMPLE_RATE)
    assert decibels(made - expected) < -80
    assert abs(decibels(made)) < 0.01


@pytest.mark.parametrize("rate", [22050, 44100, 48000, 96000])
@pytest.mark.parametrize("hertz", [8100, 9000, 10500])
def test_what_the_new_rate_cannot_hold_is_gone(rate, hertz):
    assert decibels(resampled(tone(hertz, rate), rate)) < -60


def test_blocks_of_any_size_give_the_same_samples():
    samples = numbers(9001)
    whole = resampled(samples, 44100, block=9001)
    for block in (1, 13, 4410):
        torch.testing.assert_close(resampled(samples, 44100, block=block), whole)


@pytest.mark.parametrize("rate", [8000, 11025, 44100, 48000])
@pytest.mark.parametrize("n", [1, 2, 7, 640, 4409, 4410, 4411])
def test_a_sound_keeps_its_length_and_a_click_in_its_last_sample(rate, n):
    click = torch.zeros(n)
    click[-1] = 1.0
    made = resampled(click, rate)
    assert len(made) == math.ceil(Fraction(n * SAMPLE_RATE, rate))
    place = round(Fraction((n - 1) * SAMPLE_RATE, rate))
    assert made.argmax() == min(place, len(made) - 1)


def test_the_same_rate_changes_nothing():
    samples = numbers(701)
    assert torch.equal(resampled(samples, SAMPLE_RATE), samples)


@pytest.mark.parametrize("rate", [0, 3999, 384_001, 16000.0])
def test_a_rate_that_no_file_has_is_refused(rate):
    with pytest.raises(ValueError, match="from 4000 to 384000"):
        Resampler(rate, SAMPLE_RATE)


SOUND = 0.5 * tone(440, 44100, seconds=0.8).numpy()


@pytest.mark.parametrize(
    ("name", "subtype"),
    [
        ("a.wav", "PCM_U8"),
        ("a.wav", "PCM_16"),
        ("a.wav", "PCM_24"),
        ("a.wav", "PCM_32"),
        ("a.wav", "FLOAT"),
        ("a.wav", "DOUBLE"),
        ("a.flac", "PCM_16"),
        ("a.flac", "PCM_24"),
    ],
)
def test_every_width_and_both_formats_hold_the_same_sound(tmp_path, name, subtype):
    soundfile.write(tmp_path / name, SOUND, 44100, subtype=subtype)
    samples = read_audio(tmp_path / name)
    assert samples.dtype == torch.float32
    expected = resampled(torch.from_numpy(SOUND), 44100)
    step = 1 / 128 if subtype == "PCM_U8" else 1 / 32768
    torch.testing.assert_close(samples, expected, atol=2 * step, rtol=0)


def test_channels_become_their_mean(tmp_path):
    left, right = numbers(2, 3001, seed=5).clamp(-1, 1).numpy() / 2
    soundfile.write(tmp_path / "a.wav", np.stack([left, right], 1), 16000, "FLOAT")
    mean = torch.from_numpy((left + right) / 2)
    torch.testing.assert_close(read_audio(str(tmp_path / "a.wav")), mean)


def test_chunks_have_the_length_that_was_asked_for(tmp_path):
    soundfile.write(tmp_path / "a.flac", SOUND, 44100)
    chunks = list(stream_audio(tmp_path / "a.flac", seconds=0.3))
    assert [len(chunk) for chunk in chunks] == [4800, 4800, 3200]
    assert torch.equal(torch.cat(chunks), read_audio(tmp_path / "a.flac"))


def test_a_chunk_without_samples_is_refused():
    with pytest.raises(ValueError, match=r"seconds was 1e-05"):
        next(stream_audio("a.wav", seconds=1e-5))


def test_ten_minutes_are_streamed_in_little_memory(tmp_path):
    block = np.zeros((16000, 2), dtype=np.int16)
    with soundfile.SoundFile(tmp_path / "long.wav", "w", 16000, 2) as file:
        for _ in range(600):
            file.write(block)
    tracemalloc.start()
    n_samples = sum(len(chunk) for chunk in stream_audio(tmp_path / "long.wav"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n_samples == 600 * SAMPLE_RATE
    assert most < 2_000_000


@pytest.mark.parametrize(
    "content", [b"", b"no sound\n" * 500, b"RIFF\x24\0\0\0WAVEfmt "]
)
@pytest.mark.parametrize("name", ["a.wav", "a.flac", "a.raw"])
def test_what_is_no_audio_is_refused_with_a_cure(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match="no audio that can be read here.*ffmpeg -i a"):
        read_audio(tmp_path / name)


def test_a_file_without_a_sample_is_refused(tmp_path):
    soundfile.write(tmp_path / "a.wav", np.zeros(0), 16000)
    with pytest.raises(ValueError, match="its length is 0 samples"):
        read_audio(tmp_path / "a.wav")


@pytest.mark.parametrize("name", ["a.wav", "a.flac"])
def test_a_file_that_breaks_off_gives_its_sound_first(tmp_path, name):
    noise = np.random.default_rng(3).uniform(-0.5, 0.5, 48000)
    soundfile.write(tmp_path / name, noise, 16000)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) * 2 // 3])
    chunks = []
    with pytest.raises(ValueError, match=r"breaks off after [12]\.\d s"):
        chunks.extend(stream_audio(tmp_path / name, seconds=0.5))
    n_samples = sum(map(len, chunks))
    assert 16000 <= n_samples <= 32000
    expected = torch.from_numpy(noise[:n_samples]).float()
    torch.testing.assert_close(torch.cat(chunks), expected, atol=1e-4, rtol=0)


def test_a_header_that_was_written_before_the_sound_does_no_harm(tmp_path):
    soundfile.write(tmp_path / "a.wav", SOUND, 16000)
    content = (tmp_path / "a.wav").read_bytes()
    streamed = content[:40] + b"\xff\xff\xff\xff" + content[44:]
    (tmp_path / "a.wav").write_bytes(streamed)
    assert len(read_audio(tmp_path / "a.wav")) == len(SOUND)


def test_samples_that_are_no_numbers_are_refused(tmp_path):
    sound = np.zeros(16000, dtype=np.float32)
    sound[9000] = np.nan
    soundfile.write(tmp_path / "a.wav", sound, 16000, "FLOAT")
    with pytest.raises(ValueError, match=r"no finite numbers after 0\.5 s"):
        read_audio(tmp_path / "a.wav")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.wav"):
        read_audio(tmp_path / "none.wav")


def test_the_course_s_sentences_are_spoken_where_they_say():
    for sentence in sentences():
        samples = sentence.samples()
        assert " ".join(sentence.words) == sentence.text
        assert len(sentence.starts) == len(sentence.words)
        assert list(sentence.starts) == sorted(set(sentence.starts))
        assert sentence.starts[-1] < len(samples) / SAMPLE_RATE < 5
        assert 0.1 < samples.abs().max() <= 1
    assert len({sentence.name for sentence in sentences()}) == len(sentences()) >= 6


def test_damaged_sentences_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr("course_lib.data.speech.FOLDER", tmp_path)
    with pytest.raises(ValueError, match="missing or damaged"):
        sentences()
    (tmp_path / "sentences.json").write_text('[{"name": "a"}]')
    with pytest.raises(ValueError, match="missing or damaged"):
        sentences()


def test_floats_of_another_scale_are_refused(tmp_path):
    path = tmp_path / "loud.wav"
    soundfile.write(path, 32768 * tone(440, 16000).numpy(), 16000, subtype="FLOAT")
    with pytest.raises(ValueError, match="lies within -1 and 1, so divide it"):
        read_audio(path)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    path = tmp_path / "pipe.wav"
    os.mkfifo(path)
    with pytest.raises(ValueError, match="is a pipe or a device; save the sound"):
        read_audio(path)
