"""A reader's own corpus: one pair of texts a line, with a tab between them."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LONGEST_LINE = 10_000  # characters; a longer one is skipped without being kept
REFUSED = ("Cc", "Cs")  # Unicode's control characters and lone surrogates
SHOWN = 20  # problems that are kept with their line numbers; the rest is counted


@dataclass
class PairFile:
    """What a file of pairs held.

    Attributes:
        pairs: (source, target), in the file's order, each pair once.
        problems: (line number, what is wrong with it), the first 20 that were skipped.
        n_skipped: lines that were skipped for a problem.
        n_repeated: lines that repeat an earlier pair.

    Lesson: notebooks/12_translation.ipynb
    """

    pairs: list[tuple[str, str]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)
    n_skipped: int = 0
    n_repeated: int = 0


def read_pairs(
    path: str | Path, encoding: str = "utf-8-sig", longest: int = 500
) -> PairFile:
    """Read pairs of texts from a file, one pair a line: source, tab, target.

    Blanks around a text are dropped, and several become one. A line that is not a pair
    is skipped and noted with its number; further columns make a line a problem, since
    nobody can know which two are meant. Empty lines are passed over in silence.

    Args:
        path: the file.
        encoding: of its text; utf-8, with or without a byte-order mark.
        longest: characters that a source or a target may have.

    Returns:
        the pairs, and what was skipped.

    Raises:
        ValueError: the file is missing or cannot be read, is not text in this encoding,
            or holds no pair.

    Source: IANA media type text/tab-separated-values.
    Lesson: notebooks/12_translation.ipynb

    >>> read_pairs("no such file.tsv")
    Traceback (most recent call last):
    ValueError: no such file.tsv cannot be read: No such file or directory
    """
    found, seen = PairFile(), set()
    try:
        with open(path, encoding=encoding) as file:
            for number, line in _lines(file):
                pair, problem = _pair(line, longest)
                if problem:
                    found.n_skipped += 1
                    if len(found.problems) < SHOWN:
                        found.problems.append((number, problem))
                elif pair in seen:
                    found.n_repeated += 1
                elif pair:
                    seen.add(pair)
                    found.pairs.append(pair)
    except (UnicodeError, LookupError) as error:
        raise ValueError(_not_this_encoding(path, encoding, error)) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    if not found.pairs:
        reason = "".join(f"; line {n}: {what}" for n, what in found.problems[:1])
        raise ValueError(
            f"{path} holds no pair: write one a line, a source, a tab, a target{reason}"
        )
    return found


def tidy(text: str) -> str:
    """Take away blanks at the ends, and put one where there are several.

    Args:
        text: what a person wrote; tabs, line ends and no-break spaces are blanks too.

    Source: Python's str.split.
    Lesson: notebooks/12_translation.ipynb

    >>> tidy(" Monday,  3 May 2021 ")
    'Monday, 3 May 2021'
    """
    return " ".join(text.split())


def _lines(file) -> Iterator[tuple[int, str | None]]:
    """Yield each line with its number; None for a line too long to be kept."""
    number, whole = 0, True
    while piece := file.readline(LONGEST_LINE):
        ends = piece.endswith("\n")
        if whole:
            number += 1
            yield number, piece if ends or len(piece) < LONGEST_LINE else None
        whole = ends


def _pair(line: str | None, longest: int) -> tuple[tuple[str, str] | None, str]:
    """Cut a line in two: the pair, or what is wrong; neither for an empty line."""
    if line is None:
        return None, f"longer than {LONGEST_LINE} characters"
    if not line.strip():
        return None, ""
    columns = [tidy(column) for column in line.split("\t")]
    if len(columns) != 2:
        tabs = len(columns) - 1
        return None, f"{tabs} tabs, expected one between source and target"
    for name, text in zip(("source", "target"), columns, strict=True):
        if not text:
            return None, f"the {name} is empty"
        if any(unicodedata.category(character) in REFUSED for character in text):
            return None, f"the {name} holds a control character"
        if len(text) > longest:
            return None, f"the {name} has {len(text)} characters, at most {longest}"
    return (columns[0], columns[1]), ""


def _not_this_encoding(path, encoding: str, error: Exception) -> str:
    """Say what the file may be instead."""
    if isinstance(error, LookupError):
        return f"Python knows no encoding {encoding!r}; try utf-8, utf-16 or latin-1"
    with open(path, "rb") as file:
        head = file.read(4)
    guess = "latin-1 or cp1252"
    if head in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        guess = "utf-32"
    elif head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        guess = "utf-16"
    return (
        f"{path} is not text in {encoding.removesuffix('-sig')}: save it as UTF-8, or "
        f"name its encoding, perhaps {guess}"
    )
