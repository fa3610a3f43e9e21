"""One turn of the user with its answer: ids for the model, text for the reader."""

from dataclasses import dataclass, field


@dataclass
class Exchange:
    """A turn of the user with its answer, which may still be being written.

    Args:
        asked: what the user said.
        ids: the turn as the model reads it, up to the opened turn of the assistant;
            grows by each id that the model chooses.
        answer: the text that was given out.
        reach: for each chosen id, how many characters of the answer are whole with it.
        seconds: for each chosen id, when it was there, from the start of the answer.
        reason: why the answer ended; None: it has not.
        closed: whether the end of the turn stands in ids.

    Lesson: notebooks/13_chat.ipynb
    """

    asked: str
    ids: list[int]
    answer: str = ""
    reach: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reason: str | None = None
    closed: bool = False

    def __post_init__(self):
        self.start = len(self.ids)

    def add(self, new_id: int, text: str, seconds: float) -> None:
        """Keep an id that was chosen, and how far the text reaches with it."""
        self.ids.append(new_id)
        self.seconds.append(seconds)
        self.reach.append((self.reach or [0])[-1] + len(text))

    @property
    def n_kept(self) -> int:
        """How many ids stay when the answer ends: those that hold the text given out.

        The last of them may hold more, where a stop string begins inside a token.
        """
        n_chosen = sum(reached < len(self.answer) for reached in self.reach)
        return self.start + n_chosen + (1 if self.answer else 0)

    def close(self, closing: list[int]) -> None:
        """End the turn: drop the ids that hold nothing given out, write its end."""
        self.ids = self.ids[: self.n_kept] + closing
        self.reason = self.reason or "interrupted"
        self.closed = True


def forgotten(gone: list[Exchange], max_length: int) -> str:
    """Say which exchanges a conversation of max_length tokens has lost."""
    first = gone[0].asked
    begins = first if len(first) <= 30 else f"{first[:30]}…"
    which = f"your oldest message (“{begins}”) with its answer"
    if len(gone) > 1:
        which = f"your {len(gone)} oldest messages (from “{begins}” on), with answers"
    n_tokens = sum(len(exchange.ids) for exchange in gone)
    return f"Forgotten to make room: {which}, {n_tokens} of {max_length} tokens."
