"""How tokens and numbers are written."""

import math
import unicodedata
from functools import cache

from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ft2font import FT2Font
from torch import Tensor

from course_lib.figures.show import STYLE

LONGEST = 12  # characters of a token
JOINERS = "\u200c\u200d"  # invisible, but they make one sign of several


def label(string: str) -> str:
    r"""Write a token so that its blanks and controls can be seen, in 12 characters.

    >>> label(" the"), label("two\n"), label("incomprehensible")
    ('␣the', 'two⏎', 'incomprehen…')
    """
    if not string:
        return "(nothing)"
    head = string[: LONGEST + 1]
    blanks = len(head) - len(head.lstrip(" "))
    shown = "␣" * blanks + "".join(_visible(sign) for sign in head[blanks:])
    return shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…"


def drawn(string: str, instead: int) -> str:
    """Label a token in a picture: by its number where the font lacks one of its signs.

    >>> drawn(" the", 7), drawn("日本", 11)
    ('␣the', '#11')
    """
    shown = label(string)
    return shown if {ord(sign) for sign in shown} <= _signs() else f"#{instead}"


def said(number: float) -> str:
    """Write a number in three digits or so: at most five characters and a sign.

    >>> said(0.618), said(-12.34), said(-0.001), said(1e12), said(float("nan"))
    ('0.62', '-12.3', '0.00', '1e12', 'NaN')
    """
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else "inf" if number > 0 else "-inf"
    digits = 2 if abs(number) < 10 else 1 if abs(number) < 100 else 0
    if abs(number) < 9999.5:
        return f"{round(number, digits) + 0.0:.{digits}f}"  # + 0.0: no minus zero
    return f"{number:.0e}".replace("e+0", "e").replace("e+", "e")


def counted(number: int, word: str) -> str:
    """Write a number and its word, in the plural where there is not one.

    >>> counted(1, "key"), counted(1200, "place")
    ('1 key', '1,200 places')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def are(number: int) -> str:
    """Choose the verb of a number of things."""
    return "is" if number == 1 else "are"


def tiny(number: float) -> str:
    """Write a difference that is 0 or nearly so."""
    if not math.isfinite(number):
        return said(number)
    return f"{number:.1e}" if number else "0"


def not_numbers(tables: dict[str, Tensor]) -> list[str]:
    """Say how much of each table is NaN or infinite, where something is."""
    found = []
    for name, table in tables.items():
        counts = {"NaN": table.isnan(), "infinite": table.isinf()}
        found += [
            f"{int(which.sum())} of {table.numel()} {name} {are(int(which.sum()))} {word}."
            for word, which in counts.items()
            if which.any()
        ]
    return found


def inches(words: str, size: float = 10) -> float:
    """Measure how wide words are."""
    font = _font()
    font.set_size(size, 72)
    font.set_text(words)
    return font.get_width_height()[0] / 64 / 72


def _visible(sign: str) -> str:
    """Make a control or an invisible mark visible; leave all else."""
    if sign in "\n\t":
        return {"\n": "⏎", "\t": "⇥"}[sign]
    if unicodedata.category(sign) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return sign if sign in JOINERS else sign.encode("unicode_escape").decode()
    return sign


def _font() -> FT2Font:
    """Return the font of the pictures."""
    return get_font(findfont(FontProperties(STYLE["font.family"])))


@cache
def _signs() -> set[int]:
    """Return all signs that the font can draw."""
    return set(_font().get_charmap())
