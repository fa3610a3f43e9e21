"""Audio files as Whisper hears them: one channel, 16,000 samples a second, in chunks."""

import re
from collections.abc import Iterator
from pathlib import Path

import soundfile
import torch
from torch import Tensor

from course_lib.audio.resampling import Resampler
from course_lib.audio.spectrogram import SAMPLE_RATE

BLOCK_SECONDS = 0.5  # read from the file at a time
LOUDEST = 8.0  # 1 is full scale; some overshoot, more is another scale
CANCELLED = 0.01  # of the power: one channel is the other turned over
UNKNOWN_SIZE = 0x7FFF0000  # headers written before their audio claim this much, or more


def read_audio(path: str | Path) -> Tensor:
    """Read a whole audio file; for long ones there is stream_audio.

    Args:
        path: WAV, FLAC or what else libsndfile reads, of any rate, width and number of
            channels.

    Returns:
        (sample,) float32, 16,000 a second, from -1 to 1; the mean of the channels, or
        one of them where they cancel.

    Raises:
        ValueError: the file holds no audio, breaks off, or has samples that are no
            numbers.
        OSError: it cannot be opened.

    Source: libsndfile, https://libsndfile.github.io/libsndfile.
    Lesson: notebooks/14_captions.ipynb

    >>> from pathlib import Path
    >>> import course_lib.data
    >>> speech = Path(course_lib.data.__file__).parent / "sentences"
    >>> samples = read_audio(next(speech.glob("*.flac")))
    >>> samples.dtype, len(samples) > SAMPLE_RATE
    (torch.float32, True)
    """
    return torch.cat(list(stream_audio(path, BLOCK_SECONDS)))


def stream_audio(path: str | Path, seconds: float = 0.5) -> Iterator[Tensor]:
    """Yield an audio file in chunks, as a microphone would give them.

    Of the file no more than a chunk and half a second is held.

    Args:
        path: as in read_audio.
        seconds: of a chunk; the last may be shorter.

    Yields:
        (sample,) float32, as in read_audio.

    Raises:
        ValueError: as read_audio; what comes before the place where a file breaks off
            is yielded first. Or a chunk would have no sample.
        OSError: the file cannot be opened.

    Source: libsndfile, https://libsndfile.github.io/libsndfile.
    Lesson: notebooks/14_captions.ipynb

    >>> next(stream_audio("talk.wav", seconds=0))
    Traceback (most recent call last):
    ValueError: seconds was 0; a chunk needs at least one sample, pass 0.5
    """
    size = round(seconds * SAMPLE_RATE)
    if size < 1:
        raise ValueError(
            f"seconds was {seconds}; a chunk needs at least one sample, pass 0.5"
        )
    held, trouble = torch.zeros(0), None
    try:
        for block in _blocks(Path(path)):
            held = torch.cat((held, block))
            while len(held) >= size:
                yield held[:size]
                held = held[size:]
    except ValueError as error:
        trouble = error
    if len(held):
        yield held
    if trouble:
        raise trouble


def _blocks(path: Path) -> Iterator[Tensor]:
    """Yield one channel at 16 kHz, in blocks of about half a second."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ValueError(
            f"{path} is a pipe or a device; save the sound as a file first"
        )
    with path.open("rb") as opened, _sound(path, opened) as sound:
        resampler = Resampler(sound.samplerate, SAMPLE_RATE)
        size, n_read = round(sound.samplerate * BLOCK_SECONDS), 0
        try:
            while len(block := sound.read(size, dtype="float32", always_2d=True)):
                samples = _one_channel(torch.from_numpy(block))
                if not samples.isfinite().all():
                    raise ValueError(
                        f"{path} has samples that are no finite numbers after "
                        f"{n_read / sound.samplerate:.1f} s; write the file anew, as 16 bit"
                    )
                if float(samples.abs().amax()) > LOUDEST:
                    raise ValueError(
                        f"{path} has samples up to {samples.abs().amax():.3g}; audio in floats "
                        f"lies within -1 and 1, so divide it, or write the file as 16 bit"
                    )
                n_read += len(block)
                yield resampler.push(samples)
        except soundfile.LibsndfileError:
            n_read = min(n_read, sound.frames - 1)
        yield resampler.finish()
        if n_read < sound.frames or _is_cut(sound.extra_info):
            raise ValueError(
                f"{path} breaks off after {n_read / sound.samplerate:.1f} s, its end is missing; "
                f"copy or download it again"
            )
        if not n_read:
            raise ValueError(f"{path} holds no sound at all: its length is 0 samples")


def _sound(path: Path, opened) -> soundfile.SoundFile:
    """Let libsndfile look at a file."""
    try:
        return soundfile.SoundFile(opened)
    except (
        soundfile.LibsndfileError,
        TypeError,
    ):  # TypeError: a name that ends in .raw
        raise ValueError(
            f"{path} is no audio that can be read here; convert it to WAV or FLAC, for "
            f"example: ffmpeg -i {path.name} -ar 16000 -ac 1 {path.stem}-16k.wav"
        ) from None


def _is_cut(log: str) -> bool:
    """Whether a WAV file's header claims more audio than the file has."""
    sizes = re.search(r"^data\s*: (\d+) \(should be (\d+)\)", log, re.MULTILINE)
    return bool(sizes) and int(sizes[2]) < int(sizes[1]) < UNKNOWN_SIZE


def _one_channel(block: Tensor) -> Tensor:
    """Mix (sample, channel) to one; channels that cancel give the first loud one."""
    mean, powers = block.mean(dim=1), block.square().mean(dim=0)
    if mean.square().mean() >= CANCELLED * powers.mean():
        return mean
    return block[:, int((2 * powers >= powers.max()).int().argmax())]
