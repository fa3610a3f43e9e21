"""The command: python -m course_lib captions FILE."""

import argparse
import io
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from course_lib.apps.captions.captions import Captions, check_chunk
from course_lib.apps.captions.lags import lag_line
from course_lib.apps.captions.subtitles import Cue, cues, srt, vtt
from course_lib.apps.captions.words import Word
from course_lib.audio import SAMPLE_RATE
from course_lib.audio.files import stream_audio
from course_lib.data.speech import sentences
from course_lib.hardware import device
from course_lib.pretrained import load

EXAMPLE = "example"
LIVE_SECONDS, FILE_SECONDS = 0.5, 5.0  # of a chunk: soon, or with more to go by


def captions(arguments: Sequence[str]) -> None:
    """Write down what an audio file says.

    Args:
        arguments: what stands behind "captions".

    Raises:
        ValueError: a setting is outside its range, or the file is no sound; what was
            said until then is written first.
        OSError: a file cannot be opened.
        AssetError: the weights are missing.

    Source: POSIX.1-2017, section 12, Utility Conventions.
    Lesson: notebooks/14_captions.ipynb

    >>> captions(["talk.wav", "--chunk", "0"])
    Traceback (most recent call last):
    ValueError: chunk_seconds was 0.0; pass 0.1 to 5.0, best 0.5
    """
    asked = _options(arguments)
    check_chunk(asked.chunk)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    path = _file(asked.file)
    next(stream_audio(path))  # what cannot be read is told before the model is loaded
    if asked.output:
        _check_output(Path(asked.output), path)
    model, tokenizer = load("whisper-tiny.en")
    live = Captions(model.to(device()), tokenizer, chunk_seconds=asked.chunk)
    if asked.srt or asked.vtt:
        _write_subtitles(live, path, asked)
    elif asked.live:
        _write_live(live, path)
    else:
        _write_lines(live, path)
    if not live.words:
        print("no speech was heard", file=sys.stderr)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        "python -m course_lib captions",
        description="Write down what an English recording says, with Whisper tiny.en.",
    )
    parser.add_argument(
        "file", metavar="FILE", help="WAV, FLAC, OGG or MP3; 'example' is one of ours"
    )
    parser.add_argument(
        "--live", action="store_true", help="as if it were spoken now, word by word"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--srt", action="store_true", help="subtitles as SubRip")
    form.add_argument("--vtt", action="store_true", help="subtitles as WebVTT")
    parser.add_argument("-o", "--output", metavar="FILE", help="for the subtitles")
    parser.add_argument(
        "--chunk", type=float, metavar="SECONDS", help="0.5 live, else 5"
    )
    asked = parser.parse_args(arguments)
    if asked.live and (asked.srt or asked.vtt):
        parser.error("--live shows words as they come; leave --srt and --vtt out")
    if asked.output and not (asked.srt or asked.vtt):
        parser.error("-o is for subtitles; add --srt or --vtt")
    if asked.chunk is None:
        asked.chunk = LIVE_SECONDS if asked.live else FILE_SECONDS
    return asked


def _check_output(output: Path, recording: Path) -> None:
    """Refuse an output that cannot be written, or that would overwrite the recording."""
    if output.is_dir():
        raise ValueError(f"-o {output}: that is a folder; name a file in it")
    if not output.absolute().parent.is_dir():
        raise ValueError(f"-o {output}: there is no such folder; make it first")
    if output.exists() and output.samefile(recording):
        raise ValueError(f"-o {output}: that is the recording; name another file")


def _file(name: str) -> Path:
    """Find the file, or one of the course's own sentences."""
    path = Path(name)
    return sentences()[0].path if name == EXAMPLE and not path.exists() else path


def _heard(live: Captions, path: Path, real_time: bool = False) -> Iterator[list[Word]]:
    """Yield newly committed words; in real time, not before they could have been spoken."""
    began, trouble = time.perf_counter(), None
    try:
        for chunk in stream_audio(path, live.chunk_seconds):
            if real_time:
                spoken = began + live.seconds + len(chunk) / SAMPLE_RATE
                time.sleep(max(0.0, spoken - time.perf_counter()))
            yield live.feed(chunk)
    except ValueError as error:
        trouble = error
    yield live.finish()
    if trouble:
        raise trouble


def _write_lines(live: Captions, path: Path) -> None:
    """Write a line with its time as soon as it is whole, and what there is at the end."""
    held: list[Word] = []
    try:
        for words in _heard(live, path):
            held += words
            for cue in cues(held)[:-1]:
                print(_line(cue), flush=True)
                del held[: len(cue.words)]
    finally:  # Ctrl-C and a file that breaks off, too
        for cue in cues(held):
            print(_line(cue), flush=True)


def _write_live(live: Captions, path: Path) -> None:
    """Write words as they come, and how late they were to stderr."""
    try:
        for words in _heard(live, path, real_time=True):
            for word in words:
                print(word.text, end="\n" if word.ends_sentence else " ", flush=True)
    finally:
        if live.words and not live.words[-1].ends_sentence:
            print(flush=True)
        print(lag_line(live), file=sys.stderr)


def _write_subtitles(live: Captions, path: Path, asked: argparse.Namespace) -> None:
    """Write subtitles at the end, to a file or to stdout."""
    try:
        for _ in _heard(live, path):
            pass
    finally:
        text = (srt if asked.srt else vtt)(live.words)
        if asked.output and live.words:  # else what was there stays
            Path(asked.output).write_text(text, encoding="utf-8")
        elif not asked.output:
            print(text, end="", flush=True)


def _line(cue: Cue) -> str:
    minutes, seconds = divmod(cue.start, 60)
    return f"[{int(minutes):02d}:{seconds:04.1f}] {cue.text}"
