"""What a training run on one long text needs: its batches, and how far it is."""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from course_lib.training import Batch, inputs_and_targets

REPORT_EVERY = 50


def text_windows(
    ids: Tensor, context: int, rows: int, seed: int
) -> Callable[[int], Batch]:
    """Make batch i from random places of one long text; the same i, the same batch.

    Args:
        ids: (position,) int, at least context + 1.
        context: tokens in a row.
        rows: rows of a batch.
        seed: another seed, other places.

    Returns:
        a function from i to (inputs, targets), both (rows, context).

    Raises:
        ValueError: there are too few ids.

    Lesson: notebooks/11_training.ipynb

    >>> inputs, targets = text_windows(torch.arange(20), context=5, rows=2, seed=0)(7)
    >>> bool((inputs + 1 == targets).all()), tuple(inputs.shape)
    (True, (2, 5))
    """
    if len(ids) <= context:
        raise ValueError(
            f"the text has {len(ids)} tokens, a row needs {context + 1}: give more text"
        )

    def batch(i: int) -> Batch:
        generator = torch.Generator().manual_seed(seed * 1_000_003 + i)
        starts = torch.randint(len(ids) - context, (rows, 1), generator=generator)
        return inputs_and_targets(ids[starts + torch.arange(context + 1)])

    return batch


class Progress:
    """Say now and then how far a training is, and add up its CPU time.

    Args:
        n_steps: updates in all.
        record: file of the CPU seconds spent; a resumed run goes on counting from it.

    Lesson: notebooks/11_training.ipynb

    >>> progress = Progress(n_steps=100, record=Path("not written before step 50"))
    >>> progress(step=0, loss_nats=2.5)
    """

    def __init__(self, n_steps: int, record: Path):
        self.n_steps, self.record, self.losses = n_steps, record, []
        self.begun, self.cpu_begun = time.monotonic(), time.process_time()
        if record.exists():  # what was spent before a resume
            self.cpu_begun -= float(record.read_text())

    def __call__(self, step: int, loss_nats: float) -> None:
        """Take note of an update.

        Args:
            step: its number, from 0.
            loss_nats: its loss.
        """
        self.losses.append(loss_nats)
        here, done = len(self.losses), step + 1
        if here % REPORT_EVERY == 0 or done == self.n_steps:
            self.record.write_text(f"{time.process_time() - self.cpu_begun:.0f}")
            recent = self.losses[-REPORT_EVERY:]
            left = (time.monotonic() - self.begun) * (self.n_steps - done) / here
            text = (
                f"step {done} of {self.n_steps}, {sum(recent) / len(recent):.3f} nats"
            )
            print(f"{text} a token, about {left / 60:.0f} min left", file=sys.stderr)
