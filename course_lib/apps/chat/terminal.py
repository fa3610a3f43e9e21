"""A conversation in a terminal: answers on stdout, everything else on stderr."""

import contextlib
import sys

from course_lib.apps.chat.conversation import Conversation
from course_lib.apps.chat.status_line import status_line

PROMPT = "you> "
HELP = """Ctrl-C stops an answer. At the prompt Ctrl-C, Ctrl-D or /quit ends.
/clear   forget what was said
/system  show what the model was told first
/help    show this"""


def converse(conversation: Conversation, stats: bool = False) -> None:
    """Read messages line by line and write the answers, until the input ends.

    In a terminal Ctrl-C stops an answer and the conversation goes on, and a message
    that does not fit gets a sentence. Where the input is a file or a pipe there is no
    prompt, and both end it.

    Args:
        conversation: what is continued.
        stats: tell on stderr what each answer took.

    Raises:
        ValueError: a message that was piped in does not fit.
        KeyboardInterrupt: Ctrl-C where the input is no terminal.

    Source: POSIX.1-2017, section 12, Utility Conventions.
    Lesson: notebooks/13_chat.ipynb
    """
    with_person = sys.stdin.isatty()
    if with_person:
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  the arrow keys in input()
        tell(HELP)
    while (line := _line(with_person)) is not None:
        text = line.strip()
        if text == "/quit":
            break
        if text.startswith("/"):
            _obey(conversation, text)
        elif text:
            _answer(conversation, text, with_person, stats)


def emit(text: str) -> None:
    """Write to stdout at once."""
    print(text, end="", flush=True)


def tell(text: object) -> None:
    """Write a line that is no part of an answer."""
    print(text, file=sys.stderr, flush=True)


def _line(with_person: bool) -> str | None:
    """Read a line; None: there is no more, or the person wants to leave."""
    if not with_person:
        return sys.stdin.readline() or None
    try:
        if sys.stdout.isatty():
            return input(PROMPT)
        print(PROMPT, end="", file=sys.stderr, flush=True)
        return input()
    except (EOFError, KeyboardInterrupt):
        tell("")
        return None


def _obey(conversation: Conversation, command: str) -> None:
    """Do what a line that begins with a slash says."""
    if command == "/clear":
        conversation.clear()
        tell("Forgotten.")
    elif command == "/system":
        tell(conversation.messages[0]["content"])
    elif command == "/help":
        tell(HELP)
    else:
        tell(f"There is no command {command}.\n{HELP}")


def _answer(
    conversation: Conversation, text: str, with_person: bool, stats: bool
) -> None:
    """Write one answer, then what there is to say about it."""
    n_notes = len(conversation.notes)
    try:
        for piece in conversation.say(text):
            emit(piece)
    except KeyboardInterrupt:
        conversation.end_turn()
        emit("\n")
        if not with_person:
            raise
        tell("(stopped)")
    except ValueError as error:
        if not with_person:
            raise
        return tell(error)
    else:
        emit("\n")
    for note in conversation.notes[n_notes:]:
        tell(note)
    if stats:
        tell(status_line(conversation))
