"""A panel to chat in, for a notebook: the answer is written while the page stays free."""

import html
import threading

import anywidget
import traitlets

from course_lib.apps.chat.conversation import Conversation
from course_lib.apps.chat.page import SCRIPT, STYLE
from course_lib.apps.chat.status_line import status_line
from course_lib.decoder import Decoder
from course_lib.hardware import device
from course_lib.pretrained import AssetError, load
from course_lib.pretrained.chat import ChatTokenizer
from course_lib.sampling import Sampler

WITHOUT_KERNEL = (
    "A chat panel: a field for your message, and SmolLM2's answer as it is written. "
    "It needs a running kernel: run this cell in JupyterLab."
)
TOP_P = 0.9


class ChatPanel(anywidget.AnyWidget):
    """Write to a model and read its answer; stop it, or begin anew.

    The answer is written in a thread of its own, so that Stop is heard; it acts at the
    next piece of text.

    Args:
        model: a Decoder; None loads SmolLM2 with the first message.
        tokenizer: its ChatTokenizer.
        **settings: of the Conversation.

    Attributes:
        turns: {"role": ..., "text": ...} each, what the page shows, forgotten ones too.
        status: the line below: what the last answer took, or why there is none.
        busy: whether an answer is being written.
        returned: a message that was not taken, for the page to put back.
        temperature: where the slider stands at first.

    Source: WAI-ARIA 1.2, roles log and status.
    Lesson: notebooks/13_chat.ipynb
    """

    _esm = SCRIPT
    _css = STYLE
    turns = traitlets.List().tag(sync=True)
    status = traitlets.Unicode().tag(sync=True)
    busy = traitlets.Bool().tag(sync=True)
    returned = traitlets.Unicode().tag(sync=True)
    temperature = traitlets.Float(0.2).tag(sync=True)

    def __init__(
        self,
        model: Decoder | None = None,
        tokenizer: ChatTokenizer | None = None,
        **settings,
    ):
        self._given, self._settings = (model, tokenizer), settings
        self.conversation: Conversation | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        super().__init__()
        self.on_msg(self._on_message)

    def say(self, text: str, temperature: float | None = None) -> None:
        """Let a thread answer a message, unless one is being answered."""
        if self.busy or not text.strip():
            return
        if temperature is None:
            temperature = self.temperature
        self._stopped.clear()
        self.busy, self.returned = True, ""
        arguments = (text.strip(), temperature)
        self._thread = threading.Thread(target=self._run, args=arguments, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the answer that is being written."""
        self._stopped.set()

    def clear(self) -> None:
        """Stop what is being written, then begin anew."""
        self.stop()
        self.wait()
        if self.conversation is not None:
            self.conversation.clear()
        self.turns, self.status = [], "Forgotten."

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the answer is written, at most some seconds."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _on_message(self, _widget, content: dict, _buffers) -> None:
        """Do what was clicked."""
        match content:
            case {
                "do": "say",
                "text": str(text),
                "temperature": int() | float() as warm,
            }:
                self.say(text, warm)
            case {"do": "stop"}:
                self.stop()
            case {"do": "clear"}:
                self.clear()

    # -- the thread -------------------------------------------------------------------

    def _run(self, text: str, temperature: float) -> None:
        """Answer a message, or say in the status line why not."""
        earlier, n_turns = self.turns, self._n_turns
        try:
            self._answer(text, temperature)
        except Exception as error:  # a thread has nobody else to tell
            expected = isinstance(error, AssetError | ValueError)
            why = str(error) if expected else f"{type(error).__name__}: {error}"
            taken = self._n_turns > n_turns
            self.status = f"{'Broken off' if taken else 'No answer'}: {why}"
            if not taken:
                self.turns, self.returned = earlier, text
        finally:
            self.busy = False

    def _answer(self, text: str, temperature: float) -> None:
        """Write the answer piece by piece."""
        turns = [*self.turns, _turn("user", text)]
        self.turns, self.status = turns, "Writing …"
        conversation = self._begun()
        conversation.sampler = Sampler(temperature, top_p=TOP_P)
        n_notes, answer = len(conversation.notes), ""
        pieces = conversation.say(text)
        try:
            for piece in pieces:
                answer += piece
                self.turns = [*turns, _turn("assistant", answer)]
                if self._stopped.is_set():
                    break
        finally:
            pieces.close()
        self.turns = [*turns, _turn("assistant", answer)]  # an empty answer too
        notes = conversation.notes[n_notes:]
        self.status = " ".join([status_line(conversation) + ".", *notes])

    def _begun(self) -> Conversation:
        """Return the conversation, made with the first message."""
        if self.conversation is None:
            model, tokenizer = self._given
            if model is None:
                self.status = "Loading the model …"
                model, tokenizer = load("smollm2")
                model = model.to(device())
                self.status = "Writing …"
            self.conversation = Conversation(model, tokenizer, **self._settings)
        return self.conversation

    @property
    def _n_turns(self) -> int:
        """How many messages the conversation has taken."""
        return 0 if self.conversation is None else len(self.conversation.fed)

    # -- pages without a kernel -------------------------------------------------------

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        """Give the widget, and for pages without a kernel a sentence."""
        data, metadata = super()._repr_mimebundle_(**kwargs)
        words = {
            "text/plain": WITHOUT_KERNEL,
            "text/html": f"<p>{html.escape(WITHOUT_KERNEL)}</p>",
        }
        return data | words, metadata


def _turn(role: str, text: str) -> dict[str, str]:
    """Make what the page shows of one turn."""
    return {"role": role, "text": text}
