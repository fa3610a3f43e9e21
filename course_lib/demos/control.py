"""The controls of a plot: what may be set, and what is nearest to a wish."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Control:
    """One control; made by slider, choice, switch or words.

    Attributes:
        kind: "slider", "choice", "switch" or "words".
        label: what is written beside it.
        value: where it stands at first.
        low, high, step: of a slider.
        options: of a choice.
        longest: letters that words may have.

    Lesson: notebooks/00_start.ipynb
    """

    kind: str
    label: str
    value: object
    low: float = 0
    high: float = 1
    step: float = 1
    options: tuple[str, ...] = ()
    longest: int = 0

    def nearest(self, wish: object) -> object:
        """Give the value that is allowed and nearest to what is wished.

        Args:
            wish: anything; what cannot be read at all gives the first value.

        Lesson: notebooks/00_start.ipynb

        >>> slider("Layer", 0, low=0, high=3).nearest(17)
        3
        >>> choice("Mask", ["on", "off"]).nearest("maybe")
        'on'
        """
        if self.kind == "switch":
            return bool(wish)
        if self.kind == "words":
            return str(wish)[: self.longest]
        if self.kind == "choice":
            return wish if wish in self.options else self.value
        try:
            steps = round((float(wish) - self.low) / self.step)
        except (TypeError, ValueError, OverflowError):  # not a number, or no finite one
            return self.value
        value = min(max(self.low + steps * self.step, self.low), self.high)
        whole = all(isinstance(one, int) for one in (self.low, self.high, self.step))
        return int(value) if whole else round(value, 6)

    def plain(self) -> dict:
        """Give it as the page reads it."""
        return asdict(self)


def slider(
    label: str, value: float, low: float, high: float, step: float = 1
) -> Control:
    """Make a slider.

    Args:
        label: what is written beside it.
        value: where it stands at first.
        low: its left end.
        high: its right end.
        step: between two places; whole numbers throughout give whole values.

    Lesson: notebooks/00_start.ipynb

    >>> slider("Temperature", 1.0, low=0.0, high=2.0, step=0.1).nearest(0.72)
    0.7
    """
    return Control("slider", label, value, low, high, step)


def choice(label: str, options: list[str], value: str | None = None) -> Control:
    """Make a choice between words.

    Args:
        label: what is written beside it.
        options: what can be chosen.
        value: what is chosen at first; None: the first option.

    Lesson: notebooks/00_start.ipynb

    >>> choice("Mask", ["causal", "none"]).value
    'causal'
    """
    return Control("choice", label, value or options[0], options=tuple(options))


def switch(label: str, value: bool = False) -> Control:
    """Make a switch.

    Args:
        label: what is written beside it.
        value: whether it is on at first.

    Lesson: notebooks/00_start.ipynb

    >>> switch("Mask", True).value
    True
    """
    return Control("switch", label, value)


def words(label: str, value: str, longest: int = 60) -> Control:
    """Make a field for words.

    Args:
        label: what is written beside it.
        value: what stands in it at first.
        longest: letters that it takes.

    Lesson: notebooks/00_start.ipynb

    >>> words("Number", "seven", longest=3).nearest("eleven")
    'ele'
    """
    return Control("words", label, value, longest=longest)
