"""The corpora of the course's own translators, and a reader's own file as one."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_lib.apps.translate.fit import Pairs, Recipe
from course_lib.data.dates import ENGLISH_FORMATS, date_pairs, days
from course_lib.data.number_names import LARGEST_NUMBER, number_names
from course_lib.data.parallel import PairFile, read_pairs
from course_lib.data.pronunciations import pronunciations
from course_lib.data.splits import split
from course_lib.tokens import CharacterTokenizer, Tokenizer, WordTokenizer

SHARES = (0.05, 0.05)  # of validation and of test
UNITS = ("characters", "words")
TYPED_FORMATS = (
    *ENGLISH_FORMATS,
    "y-MM-dd",
    "EEEE d MMMM y",
    "EEE, MMM d, y",
    "d MMM y",
    "MMM d, y",
    "dd MMMM y",
)


@dataclass(frozen=True)
class Corpus:
    """Pairs to learn from, and how they are cut into tokens.

    Attributes:
        name: of the corpus, and of the translator that it makes.
        title: a line for its card.
        pairs: gives all the pairs.
        target_units: "characters" or "words" of the targets; sources are characters.
        recipe: how its translator is trained.
        licence: of the data.
        basic: says of a source whether it is never held out, because no rule gives it;
            None: all may be.
        kept_together: "source" or "target": pairs that have it in common go to the same
            part.

    Lesson: notebooks/12_translation.ipynb
    """

    name: str
    title: str
    pairs: Callable[[], list[tuple[str, str]]]
    target_units: str = "characters"
    recipe: Recipe = field(default_factory=Recipe)
    licence: str = "the reader's own"
    basic: Callable[[str], bool] | None = None
    kept_together: str = "source"

    def parts(self) -> tuple[Pairs, Pairs, Pairs]:
        """Deal the pairs by what is kept together; basic ones all go to training.

        Returns:
            training, validation, test.
        """
        basic, rest = [], []
        for pair in self.pairs():
            known = self.basic is not None and self.basic(pair[0])
            (basic if known else rest).append(pair)
        side = ("source", "target").index(self.kept_together)
        training, *held_out = split(rest, *SHARES, key=lambda pair: pair[side])
        return basic + training, *held_out

    def tokenizers(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[Tokenizer, Tokenizer]:
        """Make the tokenizers of both sides.

        Args:
            pairs: those whose characters and words must be known.
        """
        targets = [target for _, target in pairs]
        source = CharacterTokenizer([text for text, _ in pairs])
        ends = ["bos", "eos"]
        if self.target_units == "words":
            return source, WordTokenizer(targets, specials=ends)
        return source, CharacterTokenizer(targets, specials=ends)


def english_german(n_numbers: int = 40_000, n_dates: int = 60_000) -> Pairs:
    """Number names to 999,999 and dates from 1000 to 2999, English and German.

    Names below 2,000 are all there, the others are drawn. Names and dates come in the
    forms that people type: with and without "and" or commas, with a capital letter,
    dates in lower case.

    Args:
        n_numbers: numbers to draw.
        n_dates: days to draw.

    Returns:
        pairs, each source once.

    Source: packages num2words 0.5.14 and babel 2.19.0.
    Lesson: notebooks/12_translation.ipynb
    """
    draw = random.Random(0)
    drawn = draw.sample(range(LARGEST_NUMBER + 1), n_numbers)
    numbers = sorted({*range(2000), *drawn})
    pairs = []
    for written, plain in zip(
        number_names(numbers, plain=False), number_names(numbers), strict=True
    ):
        german = written[1].replace("|", "")
        english = draw.choice((written[0], written[0].replace(" and ", " "), plain[0]))
        pairs += [
            (written[0], german),
            (english.capitalize(), german),
            (english, german),
        ]
    some = draw.sample(days(1000, 2999), n_dates)
    for i, pair in enumerate(date_pairs(some, "de", TYPED_FORMATS)):
        english, german = pair
        pairs.append((english.lower() if i % 5 == 0 else english, german))
    return list(dict(pairs).items())


def is_one_word(source: str) -> bool:
    """Whether an English number name is one word: no rule makes it of others.

    Args:
        source: a name.

    Source: package num2words 0.5.14.
    Lesson: notebooks/12_translation.ipynb

    >>> is_one_word("twenty"), is_one_word("twenty-one")
    (True, False)
    """
    return source.isalpha()


CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus(
            "english-german",
            "Number names to 999,999 and dates from 1000 to 2999, English to German",
            english_german,
            recipe=Recipe(d_model=64, n_steps=5000, learning_rate=3e-3, max_length=128),
            licence="num2words: LGPL; CLDR through babel: Unicode and BSD-3-Clause",
            basic=is_one_word,
            kept_together="target",  # a number has several names, and is held out with all
        ),
        Corpus(
            "pronunciations",
            "English spellings to phonemes without stress",
            pronunciations,
            target_units="words",
            recipe=Recipe(n_layers=1, n_steps=12_000, batch_size=128, max_length=40),
            licence="CMU Pronouncing Dictionary: BSD-like (Carnegie Mellon University)",
        ),
    )
}


def own_file(
    path: str | Path, encoding: str = "utf-8-sig", target_units: str = "characters"
) -> tuple[Corpus, PairFile]:
    """Make a corpus of a reader's own file of pairs.

    Args:
        path: one pair a line: source, tab, target.
        encoding: of the file.
        target_units: "characters" or "words".

    Returns:
        the corpus, and what the file held, its bad lines included.

    Raises:
        ValueError: as read_pairs, or there are fewer than two different sources.

    Source: IANA media type text/tab-separated-values.
    Lesson: notebooks/12_translation.ipynb
    """
    found = read_pairs(path, encoding)
    if len({source for source, _ in found.pairs}) < 2:
        raise ValueError(
            f"{path} holds one source only: training needs at least two, one to learn "
            f"from and one to check with; some thousands make a useful translator"
        )
    longest = max(len(text) for pair in found.pairs for text in pair)
    recipe = Recipe(max_length=longest + 2, dropout=0.1)
    name = Path(path).stem
    corpus = Corpus(
        name, f"The pairs of {name}", lambda: found.pairs, target_units, recipe
    )
    return corpus, found
