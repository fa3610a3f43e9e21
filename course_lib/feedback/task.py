"""What an exercise asks, on which inputs, and which mistakes are known."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor


class Draw:
    """A source of random inputs that one seed fixes.

    Args:
        seed: any whole number.

    >>> tuple(Draw(3).normal(2, 5).shape)
    (2, 5)
    """

    def __init__(self, seed: int):
        self.generator = torch.Generator().manual_seed(seed)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return standard normal numbers of this shape."""
        return torch.randn(shape, generator=self.generator).to(dtype)

    def ints(self, low: int, high: int, *shape: int) -> Tensor:
        """Return int64 numbers from low to high - 1, of this shape."""
        return torch.randint(low, high, shape, generator=self.generator)

    def size(self, low: int, high: int) -> int:
        """Return one whole number from low to high - 1."""
        return int(self.ints(low, high, 1))

    def order(self, n: int) -> Tensor:
        """Return the numbers 0 to n - 1 in random order."""
        return torch.randperm(n, generator=self.generator)


class Probe:
    """One input on which an answer is compared with the reference.

    Args:
        label: what this input tries, a few words that a learner reads.
        *args: what the answer is called with.
        tolerance: largest difference that is still equal, relative and absolute.
        **kwargs: what the answer is called with by name.

    >>> Probe("three scores", torch.zeros(3), dim=-1).kwargs
    {'dim': -1}
    """

    def __init__(self, label: str, *args: Any, tolerance: float = 1e-4, **kwargs: Any):
        self.label, self.args, self.kwargs = label, args, kwargs
        self.tolerance = tolerance


@dataclass(frozen=True)
class Mistake:
    """A wrong implementation that people really write.

    id: its name in the catalogue.
    hint: a question that leads to the fault, never the answer.
    read: heading of the lesson that explains it.
    answer: the wrong implementation itself, used as the exercise's answer is.
    """

    id: str
    hint: str
    read: str
    answer: Callable


@dataclass(frozen=True)
class Property:
    """What must hold between the results of several probes, whatever their values.

    id: its name, such as "causality".
    hint: a question that leads to the fault.
    holds: from {label: value} of all probes that gave a value to a bool.
    """

    id: str
    hint: str
    holds: Callable[[Mapping[str, Any]], bool]


def call(answer: Callable, *args: Any, **kwargs: Any) -> Any:
    """Use an answer in the plain way: call it."""
    return answer(*args, **kwargs)


@dataclass
class Task:
    """One function (or class) that an exercise asks for.

    name: the name that `check` takes.
    asks: one sentence: what was asked.
    lesson: the notebook that explains it, such as "02_masks".
    reference: the right answer.
    use: how an answer is used on a probe's arguments; it gives a nested value of
        tensors and numbers, and holds no expected value, so that it may run beside
        untrusted code.
    read: heading of the lesson to point to when no mistake fits.

    The three decorators below fill the rest in.
    """

    name: str
    asks: str
    lesson: str
    reference: Callable
    use: Callable = call
    read: str = "Build"
    mistakes: list[Mistake] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    _inputs: Callable[[Draw], Iterable[Probe]] | None = None
    _drawn: dict[int, list[Probe]] = field(default_factory=dict)

    def inputs(self, function: Callable[[Draw], Iterable[Probe]]) -> Callable:
        """Take the function that yields the probes, the smallest first."""
        self._inputs = function
        return function

    def mistake(self, id: str, hint: str, read: str | None = None) -> Callable:
        """Take a wrong implementation; several of one id are variants of it."""

        def take(answer: Callable) -> Callable:
            self.mistakes.append(Mistake(id, hint, read or self.read, answer))
            return answer

        return take

    def property(self, id: str, hint: str) -> Callable:
        """Take the test of a property, from {label: value} to bool."""

        def take(holds: Callable[[Mapping[str, Any]], bool]) -> Callable:
            self.properties.append(Property(id, hint, holds))
            return holds

        return take

    def probes(self, seed: int = 0) -> list[Probe]:
        """Return the probes of this seed, the smallest first."""
        if seed not in self._drawn:
            self._drawn[seed] = list(self._inputs(Draw(seed)))
        return self._drawn[seed]
