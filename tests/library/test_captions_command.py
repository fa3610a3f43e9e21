"""The command captions, on a scripted recogniser: lines, live words, subtitles, troubles."""

import re
import signal
import subprocess
import sys
from functools import partial

import pytest
import soundfile
import torch

from course_lib.__main__ import main
from course_lib.apps.captions import captions as module
from course_lib.apps.captions import command
from course_lib.apps.captions.tiny import tiny_whisper
from course_lib.pretrained import AssetError
from tests.library.test_captions import Script, talk

TALK = "Ask not what your country can do. Ask what you can do."
WORDS, SOUND = talk(TALK)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "talk.wav"
    soundfile.write(path, SOUND.numpy(), 16000)
    return path


def run(monkeypatch, *arguments, script=None):
    """Run the command in this process; return its exit status."""
    script = Script(WORDS) if script is None else script
    monkeypatch.setattr(command, "load", lambda name: tiny_whisper())
    monkeypatch.setattr(module, "Recogniser", lambda *_: script)
    try:
        return main(["captions", *map(str, arguments)])
    except SystemExit as end:  # argparse's own
        return end.code


def test_a_file_becomes_lines_with_times(monkeypatch, capsys, file):
    assert run(monkeypatch, file) == 0
    assert capsys.readouterr().out.splitlines() == [
        "[00:00.5] Ask not what your country can do.",
        "[00:04.5] Ask what you can do.",
    ]


def test_live_words_come_in_real_time_and_their_lag_is_told(monkeypatch, capsys, file):
    waited = []
    monkeypatch.setattr(command.time, "sleep", waited.append)
    assert run(monkeypatch, file, "--live") == 0
    told = capsys.readouterr()
    assert told.out == "Ask not what your country can do.\nAsk what you can do.\n"
    assert re.search(r"12 words, shown \d\.\d\d s after .*of computing", told.err)
    assert max(waited) > len(SOUND) / 16000 - 0.6


def test_subtitles_go_to_stdout_or_into_a_file(monkeypatch, capsys, file, tmp_path):
    assert run(monkeypatch, file, "--srt") == 0
    assert capsys.readouterr().out.startswith("1\n00:00:00,5")
    assert run(monkeypatch, file, "--vtt", "-o", tmp_path / "talk.vtt") == 0
    assert capsys.readouterr().out == ""
    written = (tmp_path / "talk.vtt").read_text(encoding="utf-8")
    assert written.startswith("WEBVTT\n\n00:00:00.5")
    assert "Ask what you can do.\n" in written


def test_a_file_that_breaks_off_is_shown_up_to_there(monkeypatch, capsys, file):
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert run(monkeypatch, file) == 1
    told = capsys.readouterr()
    assert told.out.startswith("[00:00.5] Ask not what your country")
    assert "breaks off after" in told.err


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ([], 2, "FILE"),
        (["none.wav"], 1, "none.wav: No such file"),
        (["{folder}"], 1, "Is a directory"),
        (["{text}"], 1, "is no audio that can be read here"),
        (["{file}", "--chunk", "0"], 1, "chunk_seconds was 0.0"),
        (["{file}", "--chunk", "x"], 2, "invalid float"),
        (["{file}", "--srt", "--vtt"], 2, "not allowed with"),
        (["{file}", "--live", "--srt"], 2, "leave --srt and --vtt out"),
        (["{file}", "-o", "a.srt"], 2, "add --srt or --vtt"),
        (["{file}", "--srt", "-o", "{folder}/no/a.srt"], 1, "there is no such folder"),
        (["{file}", "--srt", "-o", "{folder}"], 1, "that is a folder"),
        (["{file}", "--srt", "-o", "{file}"], 1, "that is the recording"),
    ],
)
def test_trouble_ends_in_a_sentence(
    monkeypatch, capsys, file, tmp_path, arguments, status, told
):
    (tmp_path / "text.wav").write_text("no sound " * 99)
    places = {"file": file, "folder": tmp_path, "text": tmp_path / "text.wav"}
    given = [argument.format(**places) for argument in arguments]
    assert run(monkeypatch, *given) == status
    said = capsys.readouterr().err
    assert told in said
    assert "Traceback" not in said


def test_without_the_weights_the_cure_is_told(monkeypatch, capsys, file):
    def missing(name):
        raise AssetError(f"{name} is missing: fetch it")

    monkeypatch.setattr(command, "load", missing)
    assert main(["captions", str(file)]) == 1
    assert capsys.readouterr().err == "whisper-tiny.en is missing: fetch it\n"


def test_the_example_is_one_of_the_course_s_sentences(monkeypatch, capsys):
    assert run(monkeypatch, "example", script=Script([])) == 0


# In a process of its own: a recogniser that says the time of each window.
SLOW = """
import sys, time
from course_lib.__main__ import main
from course_lib.apps.captions import Hypothesis, Word, captions, command
from course_lib.apps.captions.tiny import tiny_whisper
command.load = lambda name: tiny_whisper()

def hear(samples, known=(), guess=(), start=0.0):
    time.sleep(0.05)
    end = start + len(samples) / 16000
    words = [Word(f"w{i}.", i / 2, i / 2 + 0.4, (i,)) for i in range(9999)]
    inside = [w for w in words if start <= w.start and w.end < end]
    return Hypothesis(tuple(inside[: len(known)]), tuple(inside[len(known):]), -0.1)

captions.Recogniser = lambda *_: hear
sys.exit(main(["captions", *sys.argv[1:]]))
"""


@pytest.fixture
def long_file(tmp_path):
    times = torch.arange(16000 * 300) / 16000
    noise = torch.rand(len(times)) - 0.5
    path = tmp_path / "long.wav"
    soundfile.write(path, (noise * (times % 0.5 < 0.4)).numpy(), 16000)
    return path


@pytest.mark.slow
def test_ctrl_c_shows_what_is_committed_and_ends(long_file):
    command_line = [sys.executable, "-u", "-c", SLOW, str(long_file), "--chunk", "0.5"]
    with subprocess.Popen(
        command_line,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # what a background job starts ignores Ctrl-C
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, told = process.communicate(timeout=30)
    assert "w0." in first
    assert process.returncode == 130
    assert told == "stopped\n"


@pytest.mark.slow
def test_a_reader_that_leaves_ends_it_quietly(long_file):
    command_line = [sys.executable, "-u", "-c", SLOW, str(long_file), "--chunk", "0.5"]
    with subprocess.Popen(
        command_line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        told = process.stderr.read()
        assert process.wait(30) == 0
    assert told == ""


def test_subtitles_that_cannot_be_made_leave_the_old_file(
    monkeypatch, capsys, tmp_path
):
    old, silence = tmp_path / "old.srt", tmp_path / "silence.wav"
    old.write_text("kept")
    soundfile.write(silence, torch.zeros(32000).numpy(), 16000)
    assert run(monkeypatch, silence, "--srt", "-o", old) == 0
    assert old.read_text() == "kept"
    assert "no speech was heard" in capsys.readouterr().err


def test_a_long_file_is_heard_to_its_end_in_large_chunks(monkeypatch, capsys, tmp_path):
    words, sound = talk(f"{TALK} " * 12, pause=4.0)
    path = tmp_path / "long.wav"
    soundfile.write(path, sound.numpy(), 16000)
    assert run(monkeypatch, path, script=Script(words, garble=False)) == 0
    said = re.sub(r"\[.*?\] ", "", capsys.readouterr().out).split()
    assert said == [word.text for word in words]
