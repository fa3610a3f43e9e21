"""The commands: python -m course_lib translate TEXT | translate train FILE.tsv | pronounce WORD."""

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from course_lib.apps.translate.corpora import CORPORA, UNITS, own_file
from course_lib.apps.translate.run import train_translator
from course_lib.apps.translate.translator import Translator
from course_lib.data.parallel import tidy
from course_lib.pretrained import OWN, load
from course_lib.pretrained.checkpoints import read

TRAIN = "train"
MOST_BEAMS = 64


def translate(arguments: Sequence[str]) -> None:
    """Translate texts, or train a translator if the first argument is "train".

    Args:
        arguments: what stands behind "translate".

    Raises:
        ValueError: a text, a file or a folder does not fit; the message says how. Other
            texts are translated first.

    Source: POSIX.1-2017, section 12, Utility Conventions.
    Lesson: notebooks/12_translation.ipynb

    >>> translate(["twenty-one", "Monday, 3 May 2021"])
    einundzwanzig
    Montag, 3. Mai 2021
    """
    if arguments[:1] == [TRAIN]:
        return _train(arguments[1:])
    parser = argparse.ArgumentParser(
        "python -m course_lib translate",
        epilog="Training: python -m course_lib translate train --help",
    )
    parser.add_argument("texts", nargs="+", metavar="TEXT")
    parser.add_argument("--model", default="english-german", help="a name or a folder")
    parser.add_argument("--beams", type=int, default=1)
    asked = parser.parse_args(arguments)
    _show(translator(asked.model), asked.texts, asked.beams, _source)


def pronounce(arguments: Sequence[str]) -> None:
    """Say how words are pronounced, as phonemes of the CMU Pronouncing Dictionary.

    Args:
        arguments: what stands behind "pronounce".

    Raises:
        ValueError: a word has letters that the model does not know; other words are
            said first.

    Source: Carnegie Mellon University, CMUdict.
    Lesson: notebooks/12_translation.ipynb
    """
    parser = argparse.ArgumentParser("python -m course_lib pronounce")
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("--beams", type=int, default=4)
    asked = parser.parse_args(arguments)
    _show(translator("pronunciations"), asked.words, asked.beams, _word)


def translator(model: str) -> Translator:
    """Load one of the course's translators, or one from a folder.

    Args:
        model: a name of CORPORA, or the folder that `translate train` wrote.

    Raises:
        ValueError: it is neither.

    Source: lesson 12.
    Lesson: notebooks/12_translation.ipynb

    >>> translator("pronunciations")(["letter"])
    ['L EH T ER']
    """
    if model in OWN:
        loaded, tokenizers = load(model)
    elif Path(model).is_dir():
        folder = Path(model).absolute()
        loaded, tokenizers = read(folder.name, folder.parent)
    else:
        raise ValueError(
            f"{model!r} is neither a folder nor one of {', '.join(CORPORA)}: name one, or "
            f"train your own with: python -m course_lib translate train FILE.tsv"
        )
    if not isinstance(tokenizers, list) or len(tokenizers) != 2:
        raise ValueError(f"{model!r} holds a model that is no translator")
    return Translator(loaded, *tokenizers)


def _show(
    model: Translator,
    texts: Sequence[str],
    n_beams: int,
    read: Callable[[Translator, str], str],
) -> None:
    """Print a line for each text; name those that cannot be read at the end."""
    if not 1 <= n_beams <= MOST_BEAMS:
        raise ValueError(f"--beams was {n_beams}; pass 1 to {MOST_BEAMS}")
    problems = []
    for text in texts:
        try:
            (line,) = model([read(model, text)], n_beams)
        except ValueError as error:
            problems.append(f"{text[:40]!r} was left out: {error}")
        else:
            print(line)
    if problems:
        raise ValueError("\n".join(problems))


def _source(model: Translator, text: str) -> str:
    """Return a text as the model may know it; in lower case if only that can be read."""
    text = tidy(text)
    unknown = _unknown(model, text)
    if unknown and not _unknown(model, text.lower()):
        return text.lower()
    if unknown:
        raise ValueError(f"this translator never saw {', '.join(map(repr, unknown))}")
    return text


def _unknown(model: Translator, text: str) -> list[str]:
    """List the characters that the model's sources never held."""
    found = []
    for character in dict.fromkeys(text):
        try:
            model.source.encode(character)
        except ValueError:
            found.append(character)
    return found


def _word(model: Translator, text: str) -> str:
    """Return a word as the dictionary spells it."""
    word = text.lower().replace("’", "'")
    if not re.fullmatch("[a-z']*[a-z][a-z']*", word):
        raise ValueError("words are made of a to z and '")
    return word


def _train(arguments: Sequence[str]) -> None:
    """Read the options of a training run and start it."""
    parser = argparse.ArgumentParser(
        "python -m course_lib translate train",
        description="Train a translator. The same command goes on with a run that was "
        "cut off.",
    )
    parser.add_argument(
        "corpus",
        metavar="FILE.tsv",
        help=f"source, tab, target on each line; or one of {', '.join(CORPORA)}",
    )
    parser.add_argument(
        "--out", type=Path, help="folder to write (default: the file's name)"
    )
    parser.add_argument("--steps", type=int, help="updates at most")
    parser.add_argument("--encoding", default="utf-8-sig", help="of the file")
    parser.add_argument("--target-units", choices=UNITS, default=UNITS[0])
    parser.add_argument("--test", action="store_true", help="measure on the test pairs")
    asked = parser.parse_args(arguments)
    if asked.corpus in CORPORA:
        corpus = CORPORA[asked.corpus]
    else:
        corpus, found = own_file(asked.corpus, asked.encoding, asked.target_units)
        for number, problem in found.problems:
            print(f"line {number} skipped: {problem}", file=sys.stderr)
        print(
            f"pairs: {len(found.pairs)}; lines skipped: {found.n_skipped}, "
            f"repeated: {found.n_repeated}",
            file=sys.stderr,
        )
    if asked.steps is not None and asked.steps < 1:
        raise ValueError(f"--steps was {asked.steps}; train for at least 1 update")
    if asked.steps is not None:
        corpus = replace(corpus, recipe=replace(corpus.recipe, n_steps=asked.steps))
    if asked.out is None and corpus.name in CORPORA:
        raise ValueError(f"the name {corpus.name} is taken: name a folder with --out")
    command = f"python -m course_lib translate train {shlex.join(arguments)}"
    train_translator(corpus, asked.out or Path(corpus.name), asked.test, command)
