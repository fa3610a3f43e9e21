"""Training, validation and test items, told apart by what they are."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def split(
    items: Iterable[Item],
    validation: float = 0.05,
    test: float = 0.05,
    key: Callable[[Item], str] | None = None,
) -> tuple[list[Item], list[Item], list[Item]]:
    """Deal items into training, validation and test by the sha256 of their text.

    An item goes where its own text sends it: on every machine, in every order, and
    whatever else is in the list. So the shares are met only on average.

    Args:
        items: what to deal; each part keeps their order.
        validation: share of the validation part, 0 to 1.
        test: share of the test part, 0 to 1; at most 1 together with validation.
        key: gives an item's text; None: the item is a str itself.

    Returns:
        (train, validation, test): three lists.

    Raises:
        ValueError: a share is outside its range, or an item's text is not a str.

    Source: Géron (2019), Hands-On Machine Learning (2nd ed.), chapter 2, "Create a
        test set" (a hash of each item's identifier).
    Lesson: notebooks/11_training.ipynb

    >>> split(["query", "key", "value", "head", "mask"], validation=0.2, test=0.4)
    (['query', 'value', 'head'], [], ['key', 'mask'])
    """
    if not (validation >= 0 and test >= 0 and validation + test <= 1):
        raise ValueError(
            f"validation was {validation} and test {test}; expected two shares of 0 or "
            f"more that are at most 1 together, such as 0.05 and 0.05"
        )
    parts = ([], [], [])
    for item in items:
        place = _place(item if key is None else key(item))
        parts[2 if place < test else 1 if place < test + validation else 0].append(item)
    return parts


def _place(text: str) -> float:
    """Return a number from 0 to below 1 that depends on the text alone."""
    if not isinstance(text, str):
        raise ValueError(
            f"an item's text was {text!r}, expected a str; pass key= with a function "
            "that gives each item's text, such as key=lambda item: item[0]"
        )
    digest = hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53
