"""A player for a notebook: the sound, and the captions as they appear. Plain HTML."""

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path

import soundfile
import torch
from torch import Tensor

from course_lib.apps.captions.subtitles import cues, vtt_cue
from course_lib.apps.captions.words import Word
from course_lib.audio import SAMPLE_RATE
from course_lib.audio.files import read_audio

LONGEST_SECONDS = 120  # about 3 MB of a notebook
STYLE = "width: 100%; max-width: 40em; height: 9em; background: #000;"


def show_captions(
    sound: Tensor | str | Path,
    words: Sequence[Word],
    when: str = "spoken",
    label: str = "Recording with captions",
):
    """Show a player whose captions appear word by word.

    Nothing but HTML: it plays in a stored notebook without a kernel. Where a page
    takes sound out, as GitHub does, the text with its times stays.

    Args:
        sound: (sample,) float, 16,000 a second, or an audio file; 2 minutes at most.
        words: with times, as Captions gives them.
        when: "spoken", each word at its start, or "committed", when it was shown live.
        label: what a screen reader calls it.

    Returns:
        What a cell shows in its last line.

    Raises:
        ValueError: the sound is longer, when is another word, or a word was never
            committed.

    Source: HTML, https://html.spec.whatwg.org, section 4.8.13, the track element.
    Lesson: notebooks/14_captions.ipynb

    >>> player = show_captions(torch.zeros(16000), [Word("Ask", 0.1, 0.4)])
    >>> "<track" in player.data, "Ask" in player.data
    (True, True)
    """
    from IPython.display import HTML  # late: only a notebook has it

    track, last = _track(words, when)
    samples = read_audio(sound) if isinstance(sound, str | Path) else sound.cpu()
    seconds = len(samples) / SAMPLE_RATE
    if seconds > LONGEST_SECONDS:
        raise ValueError(
            f"the sound has {seconds:.0f} s and would be stored in the notebook; pass "
            f"{LONGEST_SECONDS} s at most, for example sound[: 60 * 16000]"
        )
    silence = max(0, round((last - seconds) * SAMPLE_RATE))
    samples = torch.cat((samples, torch.zeros(silence)))
    return HTML(
        f'<figure style="margin: 0"><video controls style="{STYLE}" '
        f'aria-label="{html.escape(label)}" src="{_data(_flac(samples), "audio/flac")}">'
        f'<track default kind="captions" srclang="en" label="English" '
        f'src="{_data(track.encode(), "text/vtt")}"></video>'
        f"<details><summary>{html.escape(label)}: the text</summary>"
        f"<ol>{_lines(words)}</ol></details></figure>"
    )


def _track(words: Sequence[Word], when: str) -> tuple[str, float]:
    """Write a track whose cues grow by a word at a time, and say when it ends."""
    if when not in ("spoken", "committed"):
        raise ValueError(f"when was {when!r}; pass 'spoken' or 'committed'")
    if when == "committed" and any(word.committed_at is None for word in words):
        raise ValueError(
            "a word has no committed_at; pass words of Captions, or when='spoken'"
        )
    steps: list[tuple[float, list[str]]] = []
    ends = 0.0
    for cue in cues(words):
        for n, word in enumerate(cue.words, start=1):
            shown = word.start if when == "spoken" else _shown(word)
            steps.append((shown, [" ".join(each.text for each in cue.words[:n])]))
        ends = max(cue.end, shown + 1)
    times = [time for time, _ in steps][1:] + [ends]
    blocks = [
        vtt_cue(start, end, lines)
        for (start, lines), end in zip(steps, times, strict=True)
        if end > start
    ]
    return "\n\n".join(["WEBVTT", *blocks]) + "\n", ends


def _shown(word: Word) -> float:
    return word.committed_at + word.compute_seconds


def _lines(words: Sequence[Word]) -> str:
    """The text as list items, for who does not play it."""
    return "".join(
        f"<li>{cue.start:.1f} s: {html.escape(cue.text)}</li>" for cue in cues(words)
    )


def _flac(samples: Tensor) -> bytes:
    file = io.BytesIO()
    loudest = samples.abs().max().clamp(min=1.0) if len(samples) else 1.0
    sound = (samples / loudest).numpy()
    soundfile.write(file, sound, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def _data(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
