"""The command: python -m course_lib chat, a conversation in the terminal."""

import argparse
import io
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from course_lib.apps.chat.completion import complete
from course_lib.apps.chat.conversation import Conversation
from course_lib.apps.chat.terminal import converse, emit
from course_lib.hardware import device
from course_lib.pretrained import load
from course_lib.sampling import Sampler


def chat(arguments: Sequence[str]) -> None:
    """Speak with SmolLM2 in the terminal, or let it continue a text.

    Args:
        arguments: what stands behind "chat".

    Raises:
        ValueError: a setting is outside its range, a file cannot be read, or a text is
            too long; the message says how to mend it.
        AssetError: the weights are missing.

    Source: POSIX.1-2017, section 12, Utility Conventions.
    Lesson: notebooks/13_chat.ipynb

    >>> chat(["--temperature", "-1"])
    Traceback (most recent call last):
    ValueError: temperature was -1.0; ...
    """
    asked = _options(arguments)
    sampler = Sampler(asked.temperature, top_p=asked.top_p, seed=asked.seed)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # what is no UTF-8 becomes U+FFFD or ?
    given = None if asked.complete is None else _text(asked.complete)
    model, tokenizer = load("smollm2")
    chat_model = model.to(device()), tokenizer
    if given is not None:
        pieces = complete(*chat_model, given, asked.max_new_tokens, sampler)
        for piece in chain([given], pieces, ["\n"]):
            emit(piece)
    else:
        settings = (asked.system, sampler, asked.max_new_tokens)
        converse(Conversation(*chat_model, *settings), asked.stats)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        "python -m course_lib chat",
        description="Speak with SmolLM2-135M. In the conversation, /help lists commands.",
    )
    parser.add_argument("--system", metavar="TEXT", help="what the model is told first")
    parser.add_argument("--temperature", type=float, default=0.2, help="0: no chance")
    parser.add_argument("--top-p", type=float, default=0.9)
    parser.add_argument("--seed", type=int, help="the same answers every time")
    parser.add_argument("--max-new-tokens", type=int, default=256, metavar="N")
    parser.add_argument("--stats", action="store_true", help="what each answer took")
    parser.add_argument(
        "--complete", metavar="FILE", help="continue a text instead; - is the input"
    )
    asked = parser.parse_args(arguments)
    if asked.complete is not None and (asked.stats or asked.system is not None):
        parser.error("--complete has no conversation for --system or --stats")
    return asked


def _text(name: str) -> str:
    """Read a file, or the input."""
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise ValueError(f"{name} cannot be read: {error.strerror}") from None
