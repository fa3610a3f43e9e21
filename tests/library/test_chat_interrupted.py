"""A conversation that is broken off anywhere goes on as if it had ended there."""

import gc

import pytest
import torch

from course_lib.apps.chat import Conversation, tiny_chat
from tests.library.scripted import Script

MODEL, TOKENIZER = tiny_chat()
CLOSE = dict(atol=2e-5, rtol=1e-4)
N_LAYERS = MODEL.config.n_layers
PLACES = [
    MODEL.embedding,
    *(
        part
        for block in MODEL.stack.blocks
        for part in (block.self_attention, block.feed_forward)
    ),
    MODEL.head,
]


def spoken(*answers, **settings):
    script = Script(TOKENIZER, *answers)
    return Conversation(MODEL, TOKENIZER, sampler=script, **settings), script


def say(conversation, text):
    return "".join(conversation.say(text))


def ended_after(n, *later):
    """Give a conversation whose first answer ended by its budget after n characters."""
    conversation, script = spoken(*(["Hello."] if n else []), *later, max_new_tokens=n)
    assert say(conversation, "Hi!") == "Hello."[:n]
    conversation.max_new_tokens = 256
    return conversation, script


def goes_on_like(broken, script, n):
    """Compare with a conversation that ended after n characters; both go on."""
    reference, expected = ended_after(n, "Yes", "No")
    assert broken.messages == reference.messages
    assert broken.ids == reference.ids
    assert broken.ids == TOKENIZER.chat(broken.messages, False)
    held = int(broken.cache.lengths[0])
    assert broken.cache.step(1).before == [held]  # all layers hold the same
    script.answers = [[*TOKENIZER.encode(text), 1] for text in ("Yes", "No")]
    script.seen.clear()
    expected.seen.clear()
    for text in ("Really?", "Why?"):
        assert say(broken, text) == say(reference, text)
    assert broken.ids == reference.ids
    torch.testing.assert_close(
        torch.stack(script.seen), torch.stack(expected.seen), **CLOSE
    )
    with torch.no_grad():
        anew = MODEL(torch.tensor([broken.ids]))[0]
    torch.testing.assert_close(script.seen[-1], anew[len(broken.ids) - 3], **CLOSE)


class Break:
    """Raise an error in a part of the model, after or before it ran, in one pass."""

    def __init__(self, part, n_pass, error, before):
        self.left, self.error = n_pass, error
        register = part.register_forward_pre_hook if before else None
        self.handle = (register or part.register_forward_hook)(self._raise)

    def _raise(self, *_):
        self.left -= 1
        if self.left < 0:
            self.handle.remove()
            raise self.error


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("part", range(len(PLACES)))
@pytest.mark.parametrize("n_pass", [0, 1, 3])
def test_an_error_anywhere_in_a_pass_leaves_what_was_whole(part, n_pass, before):
    conversation, script = spoken("Hello.")
    shown = []
    Break(PLACES[part], n_pass, KeyboardInterrupt(), before)
    with pytest.raises(KeyboardInterrupt):
        shown.extend(conversation.say("Hi!"))
    assert "".join(shown) == "Hello."[:n_pass]
    assert conversation.reason == "interrupted"
    goes_on_like(conversation, script, n_pass)


@pytest.mark.parametrize("part", [0, 3, len(PLACES) - 1])
@pytest.mark.parametrize("n_pass", [0, 2])
def test_an_error_in_a_later_turn_leaves_the_earlier_ones(part, n_pass):
    conversation, script = spoken("Hello.", "Never", "No")
    say(conversation, "Hi!")
    Break(PLACES[part], n_pass, RuntimeError("no memory"), before=False)
    with pytest.raises(RuntimeError, match="no memory"):
        say(conversation, "Really?")
    if n_pass == 0:
        script.answers.pop(0)
    contents = [message["content"] for message in conversation.messages[1:]]
    assert contents == ["Hi!", "Hello.", "Really?", "Never"[:n_pass]]
    assert say(conversation, "Why?") == "No"
    assert conversation.ids == TOKENIZER.chat(conversation.messages, False)


def test_an_error_of_the_sampler_leaves_what_was_whole():
    conversation, script = spoken("Hello.")
    conversation.sampler = lambda logits, history: 1 / 0
    with pytest.raises(ZeroDivisionError):
        say(conversation, "Hi!")
    conversation.sampler = script
    goes_on_like(conversation, script, 0)


@pytest.mark.parametrize("n", [1, 3, 6])
@pytest.mark.parametrize("how", ["close", "drop", "throw"])
def test_whoever_stops_reading_ends_the_answer(how, n):
    conversation, script = spoken("Hello.")
    pieces = conversation.say("Hi!")
    for _ in range(n):
        next(pieces)
    if how == "close":
        pieces.close()
    elif how == "drop":
        del pieces
        gc.collect()
    else:
        with pytest.raises(KeyboardInterrupt):
            pieces.throw(KeyboardInterrupt)
    assert conversation.reason == "interrupted"
    goes_on_like(conversation, script, n)


def break_off_at_the_third(pieces):
    for n, _ in enumerate(pieces):
        if n == 2:
            raise KeyboardInterrupt


def test_an_error_of_the_reader_is_noticed_at_the_next_message():
    conversation, script = spoken("Hello.")
    pieces = conversation.say("Hi!")  # held here, as a notebook holds a traceback
    with pytest.raises(KeyboardInterrupt):
        break_off_at_the_third(pieces)
    assert conversation.messages[-1] == {"role": "user", "content": "Hi!"}
    conversation.end_turn()
    goes_on_like(conversation, script, 3)
    assert list(pieces) == []


def test_a_new_message_ends_the_answer_that_is_still_open():
    conversation, _ = spoken("Hello.", "Yes")
    first = conversation.say("Hi!")
    assert next(first) + next(first) == "He"
    assert say(conversation, "Really?") == "Yes"
    before = conversation.ids
    assert list(first) == []
    assert conversation.ids == before
    contents = [message["content"] for message in conversation.messages[1:]]
    assert contents == ["Hi!", "He", "Really?", "Yes"]
    assert conversation.ids == TOKENIZER.chat(conversation.messages, False)


def test_a_message_that_is_refused_leaves_an_open_answer_open():
    conversation, _ = spoken("Hello.", max_length=150, max_new_tokens=9)
    pieces = conversation.say("Hi!")
    next(pieces)
    with pytest.raises(ValueError, match="fit"):
        conversation.say("?" * 99)
    assert "".join(pieces) == "ello."


def test_an_answer_that_nobody_asked_for_never_happened():
    conversation, _ = spoken("Yes")
    conversation.say("Hi!").close()
    conversation.say("Hi!")
    assert conversation.fed == []
    assert say(conversation, "Really?") == "Yes"
    assert len(conversation.messages) == 3


def test_clear_ends_an_answer_that_is_still_open():
    conversation, _ = spoken("Hello.", "Yes")
    pieces = conversation.say("Hi!")
    next(pieces)
    conversation.clear()
    assert list(pieces) == []
    assert conversation.messages == spoken()[0].messages
    assert say(conversation, "Really?") == "Yes"
    assert conversation.ids == TOKENIZER.chat(conversation.messages, False)


def test_what_was_held_back_for_a_stop_string_is_forgotten_by_an_interrupt():
    conversation, _ = spoken("ab\nUs", stops=["\nUser:"])
    Break(MODEL.head, 4, KeyboardInterrupt(), before=True)
    shown = []
    with pytest.raises(KeyboardInterrupt):
        shown.extend(conversation.say("Hi!"))
    assert shown == ["a", "b"]
    assert conversation.messages[-1]["content"] == "ab"
    assert conversation.ids == TOKENIZER.chat(conversation.messages, False)


def test_an_interrupt_while_turns_are_forgotten_loses_no_more_than_those():
    limit = 3 * 40 + 50
    conversation, script = spoken(
        "1", "2", "3", "4", system="", max_length=limit, max_new_tokens=9
    )
    for n in range(3):
        say(conversation, f"question {n}")
    Break(PLACES[4], 0, KeyboardInterrupt(), before=True)
    with pytest.raises(KeyboardInterrupt):
        say(conversation, "?" * 60)
    assert conversation.notes
    assert say(conversation, "Well?") == "4"
    assert conversation.ids == TOKENIZER.chat(conversation.messages, False)
    with torch.no_grad():
        anew = MODEL(torch.tensor([conversation.ids]))[0]
    torch.testing.assert_close(
        script.seen[-1], anew[len(conversation.ids) - 3], **CLOSE
    )
