"""Training mode and evaluation mode, switched for a while and put back."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def mode(model: nn.Module, training: bool) -> Iterator[None]:
    """Switch a model and all its parts to one mode inside the block, then back.

    In evaluation mode dropout drops nothing; torch.no_grad alone does not see to that.

    Args:
        model: any module; each of its parts gets its own mode back.
        training: True for training, False for evaluation.

    Lesson: notebooks/11_training.ipynb

    >>> from torch import nn
    >>> model = nn.Sequential(nn.Dropout(0.5), nn.Dropout(0.5).eval())
    >>> with mode(model, training=False):
    ...     [part.training for part in model]
    [False, False]
    >>> [part.training for part in model]
    [True, False]
    """
    switched = [part for part in model.modules() if part.training != training]
    for part in switched:
        part.training = training
    try:
        yield
    finally:
        for part in switched:
            part.training = not training
