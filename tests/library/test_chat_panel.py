"""The chat panel, driven in Python: what each button does, and what is shown."""

import threading

import pytest
import torch

from course_lib.apps.chat import panel as panel_module
from course_lib.apps.chat import show_chat, tiny_chat
from course_lib.apps.chat.panel import WITHOUT_KERNEL, ChatPanel
from tests.library.scripted import Script

MODEL, TOKENIZER = tiny_chat()
MODERN = "application/vnd.jupyter.widget-view+json"


def opened(monkeypatch, *answers, **settings):
    """Give a panel whose model says these texts."""
    script = Script(TOKENIZER, *answers)
    monkeypatch.setattr(panel_module, "Sampler", lambda *a, **named: script)
    return ChatPanel(MODEL, TOKENIZER, **settings)


class Gate:
    """A sampler that says the same letter for ever, and waits for a word at each."""

    def __init__(self, n_free):
        self.n_free, self.reached, self.go_on = (
            n_free,
            threading.Event(),
            threading.Event(),
        )

    def __call__(self, logits, history):
        self.n_free -= 1
        if self.n_free < 0:
            self.reached.set()
            assert self.go_on.wait(20)
        return torch.tensor(TOKENIZER.encode("x"))


def click(panel, do, **more):
    """Tell the panel what its page tells it."""
    panel._handle_custom_msg({"do": do, **more}, [])


def send(panel, text):
    click(panel, "say", text=text, temperature=0.5)
    panel.wait(20)


def shown(panel):
    return [(turn["role"], turn["text"]) for turn in panel.turns]


def test_a_message_is_answered(monkeypatch):
    panel = opened(monkeypatch, "Hello.", "Yes")
    send(panel, "Hi!")
    send(panel, "  Really? ")
    assert shown(panel) == [
        *(("user", "Hi!"), ("assistant", "Hello.")),
        *(("user", "Really?"), ("assistant", "Yes")),
    ]
    assert f"{panel.conversation.fed[1]} tokens fed" in panel.status
    assert "tokens/s" in panel.status
    assert not panel.busy


@pytest.mark.parametrize(
    "nonsense",
    [{}, {"do": "other"}, {"do": "say"}, {"do": "say", "text": 3, "temperature": 1}],
)
def test_what_no_page_says_is_not_heard(monkeypatch, nonsense):
    panel = opened(monkeypatch, "Hello.")
    panel._handle_custom_msg(nonsense, [])
    panel.wait(20)
    assert (shown(panel), panel.conversation) == ([], None)


def test_a_cell_can_speak_in_the_panel_too(monkeypatch):
    panel = opened(monkeypatch, "Hello.")
    panel.say("Hi!")
    panel.wait(20)
    assert shown(panel)[1] == ("assistant", "Hello.")


def test_an_empty_message_is_not_sent(monkeypatch):
    panel = opened(monkeypatch, "Hello.")
    send(panel, "  ")
    assert shown(panel) == []
    assert panel.conversation is None


def test_markup_stays_text_in_what_the_page_is_given(monkeypatch):
    panel = opened(monkeypatch, "<b>No</b>")
    send(panel, "<script>alert(1)</script>")
    assert shown(panel)[0] == ("user", "<script>alert(1)</script>")
    script = panel._esm
    assert "innerHTML" not in script
    assert "textContent" in script


def in_the_middle(monkeypatch):
    """A panel whose answer has three letters and waits at a gate for the next."""
    gate = Gate(n_free=3)
    monkeypatch.setattr(panel_module, "Sampler", lambda *a, **named: gate)
    panel = ChatPanel(MODEL, TOKENIZER)
    panel.say("Hi!")
    assert gate.reached.wait(20)
    return panel, gate


def test_stop_ends_the_answer_and_the_next_message_goes_on(monkeypatch):
    panel, gate = in_the_middle(monkeypatch)
    assert panel.busy
    panel.say("Not now")
    click(panel, "stop")
    gate.go_on.set()
    panel.wait(20)
    assert shown(panel) == [("user", "Hi!"), ("assistant", "xxxx")]
    assert "ended by interrupted" in panel.status
    monkeypatch.setattr(
        panel_module, "Sampler", lambda *a, **named: Script(TOKENIZER, "Yes")
    )
    send(panel, "Again?")
    assert shown(panel)[2:] == [("user", "Again?"), ("assistant", "Yes")]
    assert panel.conversation.ids == TOKENIZER.chat(panel.conversation.messages, False)


def test_clear_stops_the_answer_first(monkeypatch):
    panel, gate = in_the_middle(monkeypatch)
    threading.Timer(0.1, gate.go_on.set).start()
    click(panel, "clear")
    assert shown(panel) == []
    assert panel.status == "Forgotten."
    assert [m["role"] for m in panel.conversation.messages] == ["system"]
    assert not panel.busy


def test_clear_before_anything_was_said_does_nothing(monkeypatch):
    panel = opened(monkeypatch, "Hello.")
    click(panel, "clear")
    send(panel, "Hi!")
    assert len(shown(panel)) == 2


def test_a_message_that_does_not_fit_comes_back_to_be_changed(monkeypatch):
    panel = opened(monkeypatch, "Hello.", max_length=150, max_new_tokens=9)
    send(panel, "?" * 200)
    assert shown(panel) == []
    assert panel.returned == "?" * 200
    assert panel.status.startswith("No answer: the message has 2")
    send(panel, "Hi!")
    assert shown(panel)[1] == ("assistant", "Hello.")


def test_an_error_while_writing_is_shown_and_what_was_written_stays(monkeypatch):
    panel = opened(monkeypatch, "Hello.")
    script = Script(TOKENIZER, "Hello.")
    n_left = [3]

    def fails(logits, history):
        n_left[0] -= 1
        if n_left[0] < 0:
            raise RuntimeError("no <memory>")
        return script(logits, history)

    monkeypatch.setattr(panel_module, "Sampler", lambda *a, **named: fails)
    send(panel, "Hi!")
    assert panel.status == "Broken off: RuntimeError: no <memory>"
    assert shown(panel) == [("user", "Hi!"), ("assistant", "Hel")]
    assert panel.returned == ""
    assert not panel.busy


def test_missing_weights_are_told_in_the_panel(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    panel = ChatPanel()
    send(panel, "Hi!")
    assert "make weights" in panel.status
    assert panel.returned == "Hi!"


def test_forgotten_turns_are_told_and_stay_on_the_page(monkeypatch):
    panel = opened(monkeypatch, "1", "2", system="", max_length=60, max_new_tokens=9)
    send(panel, "Hi!")
    send(panel, "Really?")
    assert "Forgotten to make room" in panel.status
    assert len(shown(panel)) == 4


def test_the_temperature_is_that_of_the_slider(monkeypatch):
    seen = []

    def sampler(temperature, **named):
        seen.append(temperature)
        return Script(TOKENIZER, "x")

    monkeypatch.setattr(panel_module, "Sampler", sampler)
    panel = ChatPanel(MODEL, TOKENIZER)
    for value in (0.0, 1.3):
        click(panel, "say", text="Hi!", temperature=value)
        panel.wait(20)
    assert seen == [0.0, 1.3]


def test_a_page_without_a_kernel_says_what_the_panel_is(monkeypatch):
    data, _ = opened(monkeypatch)._repr_mimebundle_()
    assert MODERN in data
    assert data["text/plain"] == WITHOUT_KERNEL
    assert data["text/html"].startswith("<p>A chat panel")


def test_without_a_kernel_show_chat_says_what_it_is(capsys):
    assert show_chat() is None
    assert capsys.readouterr().out == WITHOUT_KERNEL + "\n"


def test_a_model_needs_its_tokenizer():
    with pytest.raises(ValueError, match="pass both"):
        show_chat(model=MODEL)
