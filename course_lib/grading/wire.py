"""Values as JSON: what leaves a sandbox is numbers and texts, and nothing that runs."""

import math
from typing import Any

import torch
from torch import Tensor

from course_lib.feedback.values import Unreadable

MOST_NUMBERS = 100_000  # of one tensor; the largest right value has a few thousand
MOST_LETTERS = 2_000  # of one text
DEEPEST = 20
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    )
}


class WireError(ValueError):
    """What came out of a sandbox is not a value in this form."""


def encode(value: Any) -> Any:
    """Turn a plain value (see feedback.values) into what JSON can hold.

    Args:
        value: tensors, numbers, texts, lists and dicts of them.

    >>> encode([torch.tensor([1, 2]), "a"])
    [{'dtype': 'int64', 'shape': [2], 'numbers': [1, 2]}, 'a']
    """
    if isinstance(value, Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        if dtype not in DTYPES:
            return {"unreadable": f"tensor of {dtype}"}
        if value.numel() > MOST_NUMBERS:
            return {"unreadable": f"tensor of {value.numel()} numbers"}
        numbers = value.flatten().tolist()
        return {"dtype": dtype, "shape": list(value.shape), "numbers": numbers}
    if isinstance(value, list):
        return [encode(part) for part in value]
    if isinstance(value, dict):
        return {"parts": [[key, encode(part)] for key, part in value.items()]}
    if isinstance(value, Unreadable):
        return {"unreadable": value.kind}
    return value[:MOST_LETTERS] if isinstance(value, str) else value


def decode(value: Any, depth: int = 0) -> Any:
    """Turn it back, and trust nothing.

    Args:
        value: what `json.loads` gave.
        depth: how many lists and dicts this one stands in.

    Raises:
        WireError: it is in no such form.

    >>> decode({"dtype": "int64", "shape": [2], "numbers": [1, 2]})
    tensor([1, 2])
    """
    if depth > DEEPEST:
        raise WireError("lists in lists, too deep")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [decode(part, depth + 1) for part in value]
    if isinstance(value, dict):
        keys = set(value)
        if keys == {"dtype", "shape", "numbers"}:
            return _tensor(**value)
        if keys == {"unreadable"}:
            return Unreadable(clean(str(value["unreadable"]), 80))
        if keys == {"parts"}:
            return _parts(value["parts"], depth + 1)
    raise WireError("an unknown form")


def clean(text: str, most: int = MOST_LETTERS) -> str:
    r"""Cut a stranger's text and take out what could steer a terminal.

    >>> clean("a\x1b[2Jb")
    'a?[2Jb'
    """
    kept = (one if one.isprintable() or one == "\n" else "?" for one in text[:most])
    return "".join(kept)


def _parts(pairs: Any, depth: int) -> dict:
    if not isinstance(pairs, list):
        raise WireError("parts that are no list")
    found = {}
    for pair in pairs:
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise WireError("a part without a name")
        found[clean(pair[0], 200)] = decode(pair[1], depth)
    return found


def _tensor(dtype: Any, shape: Any, numbers: Any) -> Tensor:
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise WireError("an unknown dtype")
    if not _all(shape, int) or not _all(numbers, bool | int | float):
        raise WireError("a tensor without numbers")
    if len(shape) > DEEPEST or any(not 0 <= n <= MOST_NUMBERS for n in shape):
        raise WireError("a shape of no tensor")
    # an empty tensor needs no numbers, but who walks through its axes needs time
    if math.prod(n for n in shape if n) > MOST_NUMBERS:
        raise WireError("a shape of too many places")
    try:
        return torch.tensor(numbers, dtype=DTYPES[dtype]).reshape(shape)
    except (RuntimeError, ValueError, OverflowError, TypeError) as error:
        raise WireError("numbers that do not fit") from error


def _all(values: Any, kind: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) <= MOST_NUMBERS
        and all(isinstance(one, kind) for one in values)
    )
