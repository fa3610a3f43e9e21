"""What an answer gave: written at all, the same each time, alone or with company."""

import torch
from torch import Tensor

from course_lib.feedback.values import plain, same


def written(result):
    """Pass a result on; an exercise that returns nothing is not written yet."""
    if result is None or result is Ellipsis:
        raise NotImplementedError
    return result


def several(result, n: int = 2, stack_ndim: int | None = None):
    """Pass n results on; a lone tensor would be cut into rows as if they were results.

    A stack of them, with so many axes, may be unpacked as they are.
    """
    if isinstance(written(result), Tensor) and result.ndim != stack_ndim:
        count = {2: "two", 3: "three"}[n]
        raise TypeError(f"one tensor was returned; {count} are asked for")
    return result


def outputs_of(result, values=None) -> Tensor:
    """Take the outputs, where an answer gives outputs or (outputs, weights)."""
    return written(result[0] if isinstance(result, tuple | list) else result)


def settled(run):
    """Run twice; where the results differ, give both: chance has no place here."""
    torch.manual_seed(0)  # so that the same chance is known as the same mistake
    first, second = run(), run()
    if same(plain(second), plain(first)):
        return first
    return {"the first time": plain(first), "the second time": plain(second)}


def repeats(values) -> bool:
    """Tell whether all that `settled` ran gave the same result twice."""
    found = [value for value in values.values() if isinstance(value, dict)]
    found += [value["outputs"] for value in found if "outputs" in value]
    return not any("the second time" in value for value in found)


def use_twice(answer, *args, **kwargs):
    """Call the answer twice; read what both calls give."""
    return settled(lambda: answer(*args, **kwargs))


class Named:
    """A function with a name that a learner can read."""

    def __init__(self, name: str, function):
        self.name, self.function = name, function

    def __call__(self, *args):
        """Call the function."""
        return self.function(*args)

    def __repr__(self) -> str:
        return self.name
