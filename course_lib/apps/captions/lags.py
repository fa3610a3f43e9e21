"""How late words are shown: from their last sound to the screen."""

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.apps.captions.captions import Captions


def quantile(values: Sequence[float], share: float) -> float:
    """Give the value that a share of all values do not exceed.

    Args:
        values: at least one.
        share: from 0 to 1.

    Source: lesson 14.
    Lesson: notebooks/14_captions.ipynb

    >>> quantile([3, 1, 2, 4, 5], 0.5)
    3
    """
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def lag_line(captions: "Captions") -> str:
    """Say in a line how late the words were, and what computing took."""
    if not captions.words:
        return "no words"
    lags, seconds = captions.lags, captions.seconds
    return (
        f"{len(lags)} words, shown {statistics.median(lags):.2f} s after they were spoken "
        f"(median; 90 % within {quantile(lags, 0.9):.2f} s); a second of sound took "
        f"{captions.compute_seconds / seconds:.2f} s of computing"
    )
