"""Learning: known targets, all positions at once, one loss per real token."""

from course_lib.training.loop import learning_rate_at, train
from course_lib.training.loss import (
    IGNORED,
    Batch,
    inputs_and_targets,
    next_token_loss,
    perplexity,
    shift_right,
)

__all__ = [
    "IGNORED",
    "Batch",
    "inputs_and_targets",
    "learning_rate_at",
    "next_token_loss",
    "perplexity",
    "shift_right",
    "train",
]
