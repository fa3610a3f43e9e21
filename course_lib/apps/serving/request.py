"""A request: the ids to continue, and how far it is."""

from dataclasses import dataclass, field

from torch import Tensor

from course_lib.kv_cache import PagedCache
from course_lib.sampling import Sampler

WAITING, READING, WRITING, DONE, LEFT = "waiting", "reading", "writing", "done", "left"


@dataclass(eq=False)
class Request:
    """One text to be continued by a Server.

    Attributes:
        prompt_ids: what to continue.
        max_new_tokens: budget.
        sampler: chooses each id; its own, so that it draws as it would alone.
        eos_id: end token, or None.
        new_ids: what was written so far, the end token included.
        state: "waiting" for blocks; "reading" its prompt; "writing"; "done"; "left".
        n_shared: prompt tokens that it took over from another request's blocks.
        cache: its keys and values, None while it waits or after it left.

    Lesson: notebooks/13_chat.ipynb
    """

    prompt_ids: list[int]
    max_new_tokens: int
    sampler: Sampler
    eos_id: int | None = None
    new_ids: list[int] = field(default_factory=list)
    state: str = WAITING
    n_shared: int = 0
    cache: PagedCache | None = None

    @property
    def ids(self) -> list[int]:
        """The prompt and what was written."""
        return self.prompt_ids + self.new_ids

    @property
    def n_fed(self) -> int:
        """Tokens whose keys and values are in the cache."""
        return 0 if self.cache is None else int(self.cache.lengths)

    @property
    def active(self) -> bool:
        """Whether the next step feeds it."""
        return self.state in (READING, WRITING)

    def next_chunk(self, n_most: int) -> list[int]:
        """Return the next ids to feed: a piece of the prompt, or the last new id.

        Args:
            n_most: most ids to return.
        """
        start = self.n_fed
        return self.ids[start : start + n_most]

    def write(self, logits: Tensor) -> int:
        """Choose the next id, and be done where that ends the text.

        Args:
            logits: (1, vocab), the scores after the last id.

        Returns:
            the id.
        """
        new_id = int(self.sampler(logits, [self.ids]))
        self.new_ids.append(new_id)
        ended = new_id == self.eos_id or len(self.new_ids) == self.max_new_tokens
        self.state = DONE if ended else WRITING
        return new_id
