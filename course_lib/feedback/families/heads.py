"""Several heads read: the steps of multi-head attention, and mistakes in the cuts."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from course_lib.attention import merge_heads, split_heads
from course_lib.feedback.families.faults import Fault
from course_lib.feedback.families.weighing import by_hand


@dataclass(frozen=True)
class Steps:
    """The steps between the layers, all of them right; a mistake exchanges one.

    source: from (x, memory) to what makes keys and what makes values.
    asks: from (x, memory) to what makes queries.
    split: from (x, n_heads) to heads; merge the way back.
    attend: from (queries, keys, values, allowed) to what the heads read.
    """

    source: Callable = lambda x, memory: (memory, memory)
    asks: Callable = lambda x, memory: x
    split: Callable = split_heads
    merge: Callable = merge_heads
    attend: Callable = by_hand

    def read(self, x, memory, layers, n_heads: int, allowed: Tensor | None) -> Tensor:
        """Read the memory; the layers make queries, keys and values."""
        inputs = self.asks(x, memory), *self.source(x, memory)
        queries, keys, values = (
            self.split(layer(given), n_heads)
            for layer, given in zip(layers, inputs, strict=True)
        )
        return self.merge(self.attend(queries, keys, values, allowed))


def view_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut by view alone."""
    return x.reshape(len(x), n_heads, x.shape[1], -1)


def view_merged(x: Tensor) -> Tensor:
    """Merge by view alone."""
    return x.reshape(len(x), x.shape[2], -1)


def every_nth(x: Tensor, n_heads: int) -> Tensor:
    """Deal the numbers out to the heads in turn."""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def dealt_back(x: Tensor) -> Tensor:
    """Collect what was dealt out in turn."""
    return x.permute(0, 2, 3, 1).flatten(-2)


VIEW = "view never moves data: which axes are neighbours in memory?"
MERGE = "After attention, whose numbers stand next to each other in memory?"
EVERY = "Which numbers of a token belong to head 0?"
CUTS = (
    Fault("heads-split-by-view", VIEW, Steps(split=view_heads)),
    Fault("heads-split-by-view", VIEW, Steps(split=view_heads, merge=view_merged)),
    Fault("heads-merged-without-transpose", MERGE, Steps(merge=view_merged)),
    Fault("heads-interleaved", EVERY, Steps(split=every_nth)),
    Fault("heads-interleaved", EVERY, Steps(split=every_nth, merge=dealt_back)),
    Fault(
        "one-head-only",
        "How many heads do you really have?",
        Steps(split=lambda x, n_heads: split_heads(x, 1)),
    ),
)
