"""Questions as data: one TOML file a lesson, read and checked."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "questions"
LETTERS = "abcdefgh"
MARKUP = re.compile(r"\$|</?[a-z]+>|\\\w|\*\w[^*`]*\w\*")  # formulas, html, emphasis


@dataclass(frozen=True)
class Choice:
    """One way to answer, and why it is right or wrong.

    Args:
        text: what can be chosen.
        right: whether it holds.
        reason: shown once it was chosen.

    Lesson: notebooks/00_start.ipynb
    """

    text: str
    right: bool
    reason: str


@dataclass(frozen=True)
class Question:
    """A question with its choices.

    Args:
        id: short name, unique in its lesson; progress is kept under it.
        text: what is asked.
        choices: two to eight.
        several: whether more than one may be right; then all of them must be chosen.

    Lesson: notebooks/00_start.ipynb
    """

    id: str
    text: str
    choices: tuple[Choice, ...]
    several: bool = False

    @property
    def key(self) -> str:
        """The letters of the right choices."""
        pairs = zip(LETTERS, self.choices, strict=False)
        return "".join(letter for letter, choice in pairs if choice.right)

    def is_right(self, chosen: str) -> bool:
        """Tell whether exactly the right letters were chosen, in any order."""
        return set(chosen) == set(self.key)


def load_questions(lesson: str, folder: Path = FOLDER) -> tuple[Question, ...]:
    """Read the questions of a lesson.

    Args:
        lesson: its word, as in "softmax".
        folder: where the files `lesson.toml` are.

    Returns:
        The questions, in order.

    Raises:
        ValueError: there is no such file, or it breaks a rule of the format (the message
            says which, and where).

    Lesson: notebooks/00_start.ipynb

    >>> question = load_questions("masks")[0]
    >>> len(question.choices), question.key
    (4, 'b')
    """
    path = folder / f"{lesson}.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        there = ", ".join(sorted(p.stem for p in folder.glob("*.toml")))
        raise ValueError(
            f"there is no quiz named {lesson!r}; there are: {there}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name} is not TOML: {error}") from error
    entries = table.get("question")
    if not isinstance(entries, list) or not entries:
        raise ValueError(f"{path.name} holds no [[question]]")
    questions = tuple(_question(path.name, entry) for entry in entries)
    ids = [question.id for question in questions]
    if len(set(ids)) < len(ids):
        raise ValueError(f"{path.name}: two questions have the same id, of {ids}")
    return questions


def _question(file: str, entry: dict) -> Question:
    """Make one question of its table, or say what is wrong with it."""
    where = f"{file}, question {entry.get('id', '?')!r}"
    try:
        choices = tuple(Choice(**choice) for choice in entry.pop("choice"))
        question = Question(choices=choices, **entry)
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{where}: {error}. A question has id, text, choice and perhaps several; a "
            "choice has text, right and reason"
        ) from error
    for fault, found in _faults(question).items():
        if found:
            raise ValueError(f"{where}: {fault}")
    return question


def _faults(question: Question) -> dict[str, bool]:
    """Each rule that a question may break, and whether this one does."""
    n_right, n_choices = len(question.key), len(question.choices)
    texts = [question.text]
    for choice in question.choices:
        texts += [choice.text, choice.reason]
    written = all(isinstance(text, str) and text.strip() for text in texts)
    bools = all(isinstance(choice.right, bool) for choice in question.choices)
    named = re.fullmatch(r"[a-z][a-z0-9-]*", str(question.id))
    marked = written and [t for t in texts if MARKUP.search(t)]
    different = len({choice.text for choice in question.choices}) == n_choices
    says_all = written and "all that" in question.text
    return {
        "the id needs small letters, digits and hyphens": not named,
        "a text is missing": not written,
        "`right` is true or false": not bools,
        f"2 to {len(LETTERS)} choices are needed": not 2 <= n_choices <= len(LETTERS),
        "two choices say the same": not different,
        "one choice is right, or set several = true": (
            not question.several and n_right != 1
        ),
        "several = true needs two right choices and a wrong one": (
            bool(question.several) and not 2 <= n_right < n_choices
        ),
        "a question says 'all that' (apply, hold) if, and only if, several = true": (
            bool(question.several) != bool(says_all)
        ),
        "formulas, html and *emphasis* are not shown: write plain text and `code`": bool(
            marked
        ),
    }
