"""Where an answer's value and the right one first differ, and how that is shown."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from course_lib.feedback.values import same, show

MOST = 400  # characters that a learner reads of one value


def contrast(given: Any, wanted: Any, tolerance: float = 1e-4) -> tuple[str, str, str]:
    """Write two plain values so that their difference can be seen.

    What is short is written whole. Where a value would be cut, or both would look alike,
    only the first part that differs is written.

    Args:
        given: plain value that an answer gave.
        wanted: plain value of the reference.
        tolerance: largest difference that is still equal, relative and absolute.

    Returns:
        place: where that part stands; empty where all is written.
        given: its text.
        wanted: its text.

    >>> contrast([1, 2], [1, 3])
    ('', '[1, 2]', '[1, 3]')
    >>> contrast({"keys": torch.zeros(9)}, {"keys": torch.eye(9)[8]})
    ('keys, [8]', '0', '1')
    """
    place = []
    while not _telling(given, wanted):
        parts = _parts(given, wanted)
        deeper = [part for part in parts if not same(*part[1:], tolerance)]
        if not deeper:
            break
        step, given, wanted = deeper[0]
        place.append(step)
    return ", ".join(place), *_texts(given, wanted)


def _telling(given: Any, wanted: Any) -> bool:
    """Tell whether both are written whole and do not look alike."""
    texts = _texts(given, wanted, MOST + 1)
    return texts[0] != texts[1] and max(map(len, texts)) <= MOST


def _texts(given: Any, wanted: Any, most: int = MOST) -> tuple[str, str]:
    texts = show(given, most), show(wanted, most)
    if texts[0] == texts[1] and isinstance(given, float) and isinstance(wanted, float):
        return f"{given:.10g}", f"{wanted:.10g}"
    return texts


def _parts(given: Any, wanted: Any) -> list[tuple[str, Any, Any]]:
    """Pair the parts of two values of one kind; or say why they have no pairs."""
    if isinstance(given, Mapping) and isinstance(wanted, Mapping):
        if given.keys() != wanted.keys():
            return [("names", list(given), list(wanted))]
        return [(name, given[name], wanted[name]) for name in wanted]
    if isinstance(given, list) and isinstance(wanted, list):
        if len(given) != len(wanted):
            return [("number of parts", len(given), len(wanted))]
        return [
            (f"part {i + 1} of {len(given)}", *pair)
            for i, pair in enumerate(zip(given, wanted, strict=True))
        ]
    if isinstance(given, Tensor) and isinstance(wanted, Tensor):
        return _slices(given, wanted)
    return []


def _slices(given: Tensor, wanted: Tensor) -> list[tuple[str, Any, Any]]:
    if given.shape != wanted.shape:
        return [("shape", list(given.shape), list(wanted.shape))]
    if given.ndim == 0:
        return [("its number", given.item(), wanted.item())]
    if given.ndim == 1:
        given, wanted = given.tolist(), wanted.tolist()
    return [(f"[{i}]", *pair) for i, pair in enumerate(zip(given, wanted, strict=True))]
