"""Number names, English and German: the tens and ones cross."""

import re
from collections.abc import Iterable

# German writes a number as one word; these are its parts, the longer first.
PARTS_OF_NUMBERS = re.compile(
    "tausend|hundert|zwanzig|dreißig|(?:vier|fünf|sech|sieb|acht|neun)zig|und|null|zehn"
    "|elf|zwölf|sech(?=z)|sieb(?=z)|eins|ein|zwei|drei|vier|fünf|sechs|sieben|acht|neun"
)
LARGEST_NUMBER = 999_999


def number_names(numbers: Iterable[int], plain: bool = True) -> list[tuple[str, str]]:
    """Name whole numbers in English and in German.

    Args:
        numbers: from 0 to 999,999.
        plain: leave out the "and", hyphens and commas that English writes.

    Returns:
        pairs: the English name; a plain one is words between blanks. And the German
        name with a bar between its parts; without the bars it is the one word that
        German writes.

    Raises:
        ValueError: a number is not a whole one from 0 to 999,999, or the package
            num2words is missing.

    Source: package num2words 0.5.14 (LGPL).
    Lesson: notebooks/12_translation.ipynb

    >>> number_names([21, 116])
    [('twenty one', 'ein|und|zwanzig'), ('one hundred sixteen', 'ein|hundert|sech|zehn')]
    """
    num2words = _num2words()
    pairs = []
    for number in numbers:
        if not (isinstance(number, int) and 0 <= number <= LARGEST_NUMBER):
            raise ValueError(
                f"number_names was given {number!r}; pass whole numbers from 0 to "
                f"{LARGEST_NUMBER:,}"
            )
        english = num2words(number, lang="en")
        if plain:
            english = re.sub(r" and |-|, ", " ", english)
        german = PARTS_OF_NUMBERS.findall(num2words(number, lang="de"))
        pairs.append((english, "|".join(german)))
    return pairs


def _num2words():
    try:
        from num2words import num2words  # late: only this function needs the package
    except ModuleNotFoundError:
        raise ValueError(
            "the package num2words is not installed, and it knows the number names: "
            "run 'python -m pip install num2words==0.5.14'"
        ) from None
    return num2words
