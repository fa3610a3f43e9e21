"""What an answer gave, in a form that can be sent, compared and shown."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Unreadable:
    """Something that is neither a number, a tensor nor a collection of them."""

    kind: str


def plain(value: Any) -> Any:
    """Reduce a value to tensors on the CPU, numbers, texts, lists and dicts.

    What only claims to be equal to everything has no numbers, and becomes Unreadable.

    Args:
        value: anything.

    Returns:
        The same numbers; tensors detached, tuples as lists, other objects Unreadable.

    >>> plain((torch.ones(2, requires_grad=True), 3, object()))
    [tensor([1., 1.]), 3, Unreadable(kind='object')]
    """
    if type(value) in (bool, int, float, str, type(None)):
        return value
    if isinstance(value, Tensor):
        return value.detach().cpu().clone()
    if type(value) in (list, tuple):
        return [plain(part) for part in value]
    if type(value) is dict:
        return {str(key): plain(part) for key, part in value.items()}
    if type(value).__module__ == "numpy":
        return torch.as_tensor(value).clone()
    return Unreadable(type(value).__name__)


def same(given: Any, wanted: Any, tolerance: float = 1e-4) -> bool:
    """Compare two plain values number by number; dtypes may differ, shapes may not.

    Args:
        given: plain value that an answer gave.
        wanted: plain value of the reference (or of a known mistake).
        tolerance: largest relative and absolute difference.

    >>> same([1.0, 2.0], torch.tensor([1.0, 2.0])), same(torch.ones(2), torch.ones(2, 1))
    (True, False)
    """
    if isinstance(given, Unreadable) or isinstance(wanted, Unreadable):
        return False
    if isinstance(wanted, Mapping):
        return (
            isinstance(given, Mapping)
            and given.keys() == wanted.keys()
            and all(same(given[key], wanted[key], tolerance) for key in wanted)
        )
    numbers_given, numbers_wanted = _numbers(given), _numbers(wanted)
    if numbers_given is not None and numbers_wanted is not None:
        return numbers_given.shape == numbers_wanted.shape and bool(
            torch.isclose(
                numbers_given, numbers_wanted, tolerance, tolerance, equal_nan=True
            ).all()
        )
    if isinstance(wanted, list):
        return (
            isinstance(given, list)
            and len(given) == len(wanted)
            and all(
                same(one, other, tolerance)
                for one, other in zip(given, wanted, strict=True)
            )
        )
    return type(given) is type(wanted) and given == wanted


def _numbers(value: Any) -> Tensor | None:
    """Return a value's numbers as float64, or None where it is not all numbers."""
    if isinstance(value, Tensor):
        return value.double() if not value.is_complex() else None
    if isinstance(value, bool | int | float | list):
        try:
            return torch.tensor(value, dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError, OverflowError):
            return None
    return None


def distinct(value: Any) -> set:
    """Collect the different numbers (and texts) that a plain value holds.

    >>> sorted(distinct({"loss": 0.0, "gradient": torch.tensor([[0.0, 2.0]])}))
    [0.0, 2.0]
    """
    if isinstance(value, Mapping):
        return set().union(*map(distinct, value.values()))
    numbers = _numbers(value)
    if numbers is not None:
        return set(numbers.unique().tolist())
    if isinstance(value, list):
        return set().union(*map(distinct, value))
    return {str(value)}


def finite(value: Any) -> bool:
    """Tell whether a plain value has numbers, and all of them are finite."""
    if isinstance(value, Mapping):
        return bool(value) and all(map(finite, value.values()))
    numbers = _numbers(value)
    if numbers is not None:
        return bool(numbers.isfinite().all())
    return isinstance(value, list) and bool(value) and all(map(finite, value))


def show(value: Any, most: int = 400) -> str:
    """Write a value so that a learner can compare two of them by eye.

    Args:
        value: a plain value, or an argument of a probe.
        most: characters after which it is cut.

    >>> print(show(torch.tensor([[True, False], [True, True]])))
    [[1, 0],
     [1, 1]]  shape (2, 2), bool
    """
    if isinstance(value, Tensor):
        text = _show_tensor(value)
    elif isinstance(value, float):
        text = f"{value:.4g}" if math.isfinite(value) else str(value)
    elif isinstance(value, list):
        text = "[" + ", ".join(show(part, most) for part in value) + "]"
    elif isinstance(value, Mapping):
        text = "\n".join(hanging(f"{key}: ", show(value[key], most)) for key in value)
    elif isinstance(value, Unreadable):
        text = f"an object of type {value.kind}"
    else:
        text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= most else text[: most - 4] + " ..."


def hanging(head: str, text: str) -> str:
    """Put a head before a text and set the lines that follow below its first one."""
    return head + text.replace("\n", "\n" + " " * len(head))


def _show_tensor(value: Tensor) -> str:
    """Write a small tensor whole, a large one by its corner, and its shape."""
    shape = f"shape {tuple(value.shape)}, {str(value.dtype).removeprefix('torch.')}"
    numbers = value.long() if value.dtype is torch.bool else value.detach()
    return f"{_nested(numbers)}  {shape}"


def _nested(numbers: Tensor) -> str:
    if numbers.ndim == 0:
        return _number(numbers.item())
    if numbers.ndim == 1:
        shown = [_number(number) for number in numbers[:8].tolist()]
        return "[" + ", ".join(shown + ["..."] * (len(numbers) > 8)) + "]"
    shown = [_nested(part) for part in numbers[:6]] + ["..."] * (len(numbers) > 6)
    inner = ",\n".join(shown).replace("\n", "\n ")
    return f"[{inner}]"


def _number(number: float) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)
