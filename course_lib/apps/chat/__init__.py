"""Chat: several turns on one cache, streamed; and text that is simply continued.

python -m course_lib chat               speak with SmolLM2 in the terminal
python -m course_lib chat --complete -  continue the text that is piped in
"""

from course_lib.apps.chat.completion import complete
from course_lib.apps.chat.conversation import Conversation
from course_lib.apps.chat.status_line import status_line
from course_lib.apps.chat.stops import until
from course_lib.apps.chat.tiny import tiny_chat


def show_chat(model=None, tokenizer=None):
    """Show a panel to chat in, in a notebook; elsewhere say what it is.

    Args:
        model: a Decoder; None loads SmolLM2 with the first message.
        tokenizer: its ChatTokenizer.

    Returns:
        The panel, as the last line of a cell shows it; None without a kernel.

    Raises:
        ValueError: only one of model and tokenizer is given.

    Source: lesson 13.
    Lesson: notebooks/13_chat.ipynb

    >>> show_chat()
    A chat panel: ...
    """
    from IPython import get_ipython

    from course_lib.apps.chat.panel import WITHOUT_KERNEL, ChatPanel  # late: ipywidgets

    if (model is None) != (tokenizer is None):
        raise ValueError(
            "show_chat was given one of model and tokenizer; pass both, or none for SmolLM2"
        )
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        print(WITHOUT_KERNEL)
        return None
    return ChatPanel(model, tokenizer)


__all__ = ["Conversation", "complete", "show_chat", "status_line", "tiny_chat", "until"]
