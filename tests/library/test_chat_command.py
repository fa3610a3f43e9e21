"""The command chat, as a person or a pipe uses it."""

import contextlib
import io
import os
import select
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from course_lib.__main__ import main
from course_lib.apps.chat import Conversation, command, tiny_chat
from course_lib.apps.chat.terminal import PROMPT, converse
from tests.library.scripted import Script

pty = pytest.importorskip("pty", reason="needs the terminals of Unix")
MODEL, TOKENIZER = tiny_chat()
# The command with a tiny model that says the same letter for ever.
TINY = """
import sys, torch
from course_lib.__main__ import main
from course_lib.apps.chat import command, tiny_chat
from course_lib.pretrained.chat import ChatTokenizer
tiny = tiny_chat(d_model=240, n_heads=12, n_kv_heads=12)
command.load = lambda name: tiny
command.Sampler = lambda *settings, **named: lambda logits, history: torch.tensor([70])
sys.exit(main(["chat", *sys.argv[1:]]))
"""


def run(monkeypatch, typed, *arguments, answers=("Hello.", "Yes")):
    """Run the command in this process on a tiny model; return its exit status."""
    script = Script(TOKENIZER, *answers)
    monkeypatch.setattr(command, "load", lambda name: (MODEL, TOKENIZER))
    monkeypatch.setattr(command, "Sampler", lambda *settings, **named: script)
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    return main(["chat", *arguments])


def test_a_pipe_gets_the_answers_and_nothing_else(monkeypatch, capsys):
    assert run(monkeypatch, "Hi!\n\nReally?") == 0
    told = capsys.readouterr()
    assert told.out == "Hello.\nYes\n"
    assert told.err == ""


def test_stats_are_told_beside_the_answers(monkeypatch, capsys):
    assert run(monkeypatch, "Hi!\n", "--stats") == 0
    told = capsys.readouterr()
    assert told.out == "Hello.\n"
    assert f"{len(TOKENIZER.chat('Hi!'))} tokens fed, first token after " in told.err


def test_the_commands_of_a_conversation(monkeypatch, capsys):
    typed = "/system\nHi!\n/clear\n/help\n/nonsense\nReally?\n/quit\nnever\n"
    assert run(monkeypatch, typed, "--system", "Be brief.", "--stats") == 0
    told = capsys.readouterr()
    assert told.out == "Hello.\nYes\n"
    lines = told.err.splitlines()
    assert lines[0] == "Be brief."
    assert lines[2] == "Forgotten."
    assert "There is no command /nonsense." in lines
    system = {"role": "system", "content": ""}
    turn = [system, {"role": "user", "content": "Really?"}]
    n_turn = len(TOKENIZER.chat(turn)) - len(TOKENIZER.chat([system], False))
    assert any(line.startswith(f"{n_turn} tokens fed") for line in lines)


def test_what_does_not_fit_ends_a_pipe_with_a_sentence(monkeypatch, capsys):
    assert run(monkeypatch, "?" * 9000) == 1
    told = capsys.readouterr()
    assert "the message has" in told.err
    assert "Traceback" not in told.err


def test_a_note_about_forgotten_turns_is_told(monkeypatch, capsys):
    script = Script(TOKENIZER, "1", "2")
    conversation = Conversation(
        MODEL, TOKENIZER, "", script, max_new_tokens=9, max_length=60
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO("Hi!\nReally?\n"))
    converse(conversation)
    told = capsys.readouterr()
    assert told.out == "1\n2\n"
    assert told.err.startswith("Forgotten to make room: your oldest message (“Hi!”)")


def test_a_file_or_the_input_is_continued(monkeypatch, capsys, tmp_path):
    (tmp_path / "f.py").write_bytes(b"def f(x):\xff")
    assert run(monkeypatch, "", "--complete", str(tmp_path / "f.py")) == 0
    assert capsys.readouterr().out == "def f(x):\ufffdHello.\n"
    assert run(monkeypatch, "a\n", "--complete", "-") == 0
    assert capsys.readouterr().out == "a\nHello.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--complete", "no such.py"], "no such.py cannot be read: No such file"),
        (["--max-new-tokens", "-1"], "pass a budget of 0 or more"),
    ],
)
def test_what_cannot_be_used_gets_one_sentence(monkeypatch, capsys, arguments, message):
    assert run(monkeypatch, "Hi!\n", *arguments) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--top-p", "2"], ["--temperature", "-1"]])
def test_wrong_settings_are_named_before_anything_is_loaded(capsys, arguments):
    assert main(["chat", *arguments]) == 1
    assert "Traceback" not in capsys.readouterr().err


def test_completing_has_no_system_turn_and_no_stats(capsys):
    for option in (["--stats"], ["--system", "x"]):
        with pytest.raises(SystemExit):
            main(["chat", "--complete", "-", *option])
    assert "--complete has no conversation" in capsys.readouterr().err


def test_missing_weights_are_named_with_the_command_that_fetches_them(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    assert main(["chat"]) == 1
    assert "make weights" in capsys.readouterr().err


# In a process of its own -----------------------------------------------------------------


def start(*arguments, **streams):
    """Start the command with a tiny model."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    line = [sys.executable, "-c", TINY, *arguments]
    # A test run that was started in the background passes on that Ctrl-C is ignored.
    listen = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    return subprocess.Popen(line, env=environment, preexec_fn=listen, **streams)


@pytest.mark.slow
def test_who_reads_no_further_gets_no_traceback():
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with start("--max-new-tokens", "4000", **pipes) as process:
        process.stdin.write(b"\xff\xfe Hi!\n" * 3)
        process.stdin.close()
        assert process.stdout.read(3) == b"eee"
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr.read() == b""


class Terminal:
    """A terminal in which the command runs: type into it, read what it shows."""

    def __init__(self, *arguments):
        self.mine, theirs = pty.openpty()
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        self.process = start(*arguments, **streams, start_new_session=True)
        os.close(theirs)
        self.shown = ""

    def type(self, text):
        os.write(self.mine, text.encode())

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def until(self, text, seconds=60):
        """Wait until a text is shown, and forget what was shown up to it."""
        deadline = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown[-300:]
            if select.select([self.mine], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):  # the other end has gone
                    self.shown += os.read(self.mine, 4096).decode()
        before, _, self.shown = self.shown.partition(text)
        return before


@pytest.fixture
def terminal():
    opened = Terminal("--stats", "--max-new-tokens", "5000")
    yield opened
    opened.process.kill()
    opened.process.wait()
    os.close(opened.mine)


@pytest.mark.slow
def test_ctrl_c_stops_the_answer_and_the_conversation_goes_on(terminal):
    terminal.until(PROMPT)
    for _ in range(2):
        terminal.type("Hi!\n")
        terminal.until("eee")
        terminal.interrupt()
        terminal.until("(stopped)")
        assert "ended by interrupted" in terminal.until(PROMPT)
    time.sleep(0.5)  # readline misses a signal that comes just as it shows the prompt
    terminal.interrupt()
    assert terminal.process.wait(30) == 0
    with contextlib.suppress(AssertionError):
        terminal.until("Traceback", seconds=0.3)
        pytest.fail(terminal.shown)


@pytest.mark.parametrize("end", ["\x04", "/quit\n"])
def test_ctrl_d_and_quit_end_it(terminal, end):
    terminal.until(PROMPT)
    terminal.type(end)
    assert terminal.process.wait(30) == 0


def test_a_message_that_does_not_fit_can_be_written_anew(terminal):
    terminal.until(PROMPT)
    for _ in range(4):  # a terminal's line has a limit
        terminal.type("?" * 1000)
    terminal.type("\n")
    assert "the message has" in terminal.until("shorten it")
    terminal.type("Hi!\n")
    terminal.until("eee")
