"""How good translations are: exact matches and edits, against one or more references."""

from collections.abc import Sequence
from dataclasses import dataclass

References = Sequence[str]


@dataclass(frozen=True)
class Score:
    """Errors of some translations.

    Attributes:
        exact: share that equals one of its references.
        error_rate: edits that are left, per unit of the nearest references.
        n: translations that were scored.

    Lesson: notebooks/12_translation.ipynb
    """

    exact: float
    error_rate: float
    n: int


def edit_distance(first: Sequence, second: Sequence) -> int:
    """Count the insertions, deletions and replacements from one sequence to another.

    Args:
        first: units: characters of a str, or a list of words.
        second: units.

    Returns:
        the fewest edits, each of them counted as one.

    Source: Wagner, Fischer (1974), The String-to-String Correction Problem.
    Lesson: notebooks/12_translation.ipynb

    >>> edit_distance("kitten", "sitting")
    3
    """
    row = list(range(len(second) + 1))
    for i, unit in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(second, start=1):
            replaced = diagonal + (unit != other)
            diagonal, row[j] = row[j], min(replaced, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def score(
    translations: Sequence[str],
    references: Sequence[References],
    separator: str | None = None,
) -> Score:
    """Compare each translation with the nearest of its references.

    Args:
        translations: texts.
        references: for each, the right texts; one is enough.
        separator: units are what stands between separators; None: characters.

    Returns:
        the share of exact matches, and edits per unit of the nearest reference (of
        equally near ones the first).

    Raises:
        ValueError: there is nothing to score, or a translation has no reference.

    Source: Bisani, Ney (2008), Joint-sequence models for grapheme-to-phoneme
        conversion: word and phoneme error rate.
    Lesson: notebooks/12_translation.ipynb

    >>> score(["T EH N S ER"], [["T EH N S AO R", "T EH N S ER"]], separator=" ").exact
    1.0
    """
    if not translations or len(translations) != len(references):
        raise ValueError(
            f"{len(translations)} translations and {len(references)} lists of references "
            f"were given; pass one list for each translation, at least one"
        )
    exact = edits = units = 0
    for text, right in zip(translations, references, strict=True):
        if isinstance(right, str) or not right:
            raise ValueError(
                f"the references of {text!r} were {right!r}; pass a list of texts"
            )
        written = _units(text, separator)
        known = [_units(reference, separator) for reference in right]
        distances = [edit_distance(written, reference) for reference in known]
        nearest = min(range(len(known)), key=distances.__getitem__)
        exact += distances[nearest] == 0
        edits += distances[nearest]
        units += len(known[nearest])
    return Score(exact / len(translations), edits / max(units, 1), len(translations))


def _units(text: str, separator: str | None) -> Sequence[str]:
    return text if separator is None else text.split(separator)
