"""What the last answer took: tokens fed, seconds, tokens a second, cache."""

from course_lib.apps.chat.conversation import Conversation


def status_line(conversation: Conversation) -> str:
    """Say in a line what the last turn fed, how fast it was, and what the cache holds.

    The first token takes the whole prompt, each later one a single id; so they are
    timed apart.

    Args:
        conversation: with at least one turn, or the line says that there is none.

    Source: lesson 13.
    Lesson: notebooks/13_chat.ipynb

    >>> from course_lib.apps.chat import tiny_chat
    >>> conversation = Conversation(*tiny_chat(), max_new_tokens=3)
    >>> status_line(conversation)
    'no answer yet'
    >>> _ = list(conversation.say("Hi!"))
    >>> status_line(conversation)
    '100 tokens fed, first token after ... s, then ... tokens/s, cache 102 of 8192 tokens, ...'
    """
    seconds = conversation.seconds
    if not conversation.fed:
        return "no answer yet"
    parts = [f"{conversation.fed[-1]} tokens fed"]
    if seconds:
        parts.append(f"first token after {seconds[0]:.2f} s")
    if len(seconds) > 1:
        rate = (len(seconds) - 1) / (seconds[-1] - seconds[0])
        parts.append(f"then {rate:.1f} tokens/s")
    cache = conversation.cache
    held = int(cache.lengths[0])
    parts.append(f"cache {held} of {cache.max_length} tokens")
    parts.append(f"{cache.bytes * held / cache.max_length / 1e6:.1f} MB of it in use")
    if conversation.reason != "end":
        parts.append(f"ended by {conversation.reason}")
    return ", ".join(parts)
