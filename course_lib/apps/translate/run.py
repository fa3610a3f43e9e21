"""A training run in a folder: progress, samples, resume, the stored translator, its card."""

import json
import random
import sys
import time
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from tqdm import tqdm

from course_lib.apps.translate.corpora import Corpus
from course_lib.apps.translate.fit import Fit, Pairs, fit_translator
from course_lib.apps.translate.scoring import Score, score
from course_lib.apps.translate.translator import Translator
from course_lib.pretrained.checkpoints import read, save

SETTINGS, CHECKPOINT, SECONDS = "settings.json", "training.pt", "cpu_seconds.txt"
N_SAMPLES, N_SCORED = 3, 1000


def train_translator(
    corpus: Corpus, folder: Path, with_test: bool = False, command: str = ""
) -> Translator:
    """Train a translator of a corpus; store it with its card in a folder.

    A run that was cut off goes on where its last checkpoint is, if it is called again
    with the same corpus and recipe.

    Args:
        corpus: what to learn.
        folder: where the translator is stored and the run is kept; made if it is missing.
        with_test: measure on the test pairs too; once, at the very end of all trials.
        command: what makes the translator again, for its card.

    Returns:
        the translator, read back from the folder.

    Raises:
        ValueError: the folder is a file or holds another run, or as fit_translator.

    Source: Prechelt (1998), Early Stopping - But When?
    Lesson: notebooks/12_translation.ipynb
    """
    parts = training, validation, test = _parts(corpus)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name another folder with --out")
    tokenizers = corpus.tokenizers([*training, *validation, *test])
    translator = Translator(corpus.recipe.model(*tokenizers), *tokenizers)
    folder.mkdir(parents=True, exist_ok=True)
    _claim(folder, corpus, parts)
    progress = _Progress(corpus, translator, validation, folder / SECONDS)
    with progress:
        found = fit_translator(
            translator,
            training,
            validation,
            corpus.recipe,
            folder / CHECKPOINT,
            progress,
        )
    # Measured is what was stored, not what was trained: float16 rounds.
    save(folder, translator.model, tokenizers, "Not measured.")
    model, tokenizers = read(folder.name, folder.absolute().parent)
    translator = Translator(model, *tokenizers)
    figures = {"validation": measure(translator, validation, corpus)}
    if with_test and test:
        figures["test"] = measure(translator, test, corpus, most=None)
    seconds = float((folder / SECONDS).read_text())
    text = card(corpus, found, figures, seconds, parts, command)
    save(folder, model, tokenizers, text)
    for name, figure in figures.items():
        print(f"{name}: {_sentence(figure, corpus)}", file=sys.stderr)
    return translator


def measure(
    translator: Translator, pairs: Pairs, corpus: Corpus, most: int | None = N_SCORED
) -> Score:
    """Translate greedily and compare; every target of a source is a right one.

    Args:
        translator: what to measure.
        pairs: held-out pairs.
        corpus: says what the units of its targets are.
        most: sources to score, drawn at random but always the same; None: all.

    Returns:
        the score.

    Raises:
        ValueError: there is no pair.

    Source: lesson 12.
    Lesson: notebooks/12_translation.ipynb
    """
    references: dict[str, list[str]] = {}
    for source, target in pairs:
        references.setdefault(source, []).append(target)
    sources = list(references)
    if most is not None and most < len(sources):
        sources = random.Random(0).sample(sources, most)
    separator = " " if corpus.target_units == "words" else None
    right = [references[source] for source in sources]
    return score(translator(sources), right, separator)


def card(
    corpus: Corpus,
    found: Fit,
    figures: dict[str, Score],
    cpu_seconds: float,
    parts: tuple[Pairs, Pairs, Pairs],
    command: str,
) -> str:
    """Write what a stored translator is, in Markdown.

    Args:
        corpus: what it learned.
        found: the run.
        figures: score by part.
        cpu_seconds: of training and its looks.
        parts: the training, validation and test pairs.
        command: what makes the translator again.

    Returns:
        the card, without the digest that `save` adds.

    Source: Mitchell et al. (2019), Model Cards for Model Reporting, arXiv:1810.03993.
    Lesson: notebooks/12_translation.ipynb
    """
    step, loss = found.best
    n = [len(part) for part in parts]
    recipe = ", ".join(
        f"{name} {value}" for name, value in asdict(corpus.recipe).items()
    )
    lines = [
        f"# {corpus.name}",
        "",
        f"{corpus.title}. An encoder-decoder of the course, trained from nothing.",
        "",
        f"- data: {n[0]} training, {n[1]} validation, {n[2]} test pairs",
        f"- licence of the data: {corpus.licence}",
        f"- split: by the sha256 of the {corpus.kept_together}; all its pairs in one part",
        f"- recipe: {recipe}",
        f"- kept: update {step}, validation loss {loss:.4f} nats a token"
        + (" (early stop)" if found.stopped_early else ""),
        f"- budget: {cpu_seconds:.0f} CPU seconds, looks at the validation pairs included",
        *(f"- {name}: {_sentence(figure, corpus)}" for name, figure in figures.items()),
        f"- again: `{command}`",
    ]
    return "\n".join(lines)


def _sentence(figure: Score, corpus: Corpus) -> str:
    unit = "phoneme or word" if corpus.target_units == "words" else "character"
    return (
        f"{figure.exact:.1%} exact, {figure.error_rate:.2%} edits a {unit}, greedily, "
        f"{figure.n} sources"
    )


def _parts(corpus: Corpus) -> tuple[Pairs, Pairs, Pairs]:
    """Deal the pairs; a small corpus still gets something to learn from and to check."""
    training, validation, test = corpus.parts()
    if not training or not validation:
        pairs = training + validation + test
        last = pairs[-1][0]
        validation = [pair for pair in pairs if pair[0] == last]
        training, test = [pair for pair in pairs if pair[0] != last], []
    return training, validation, test


def _claim(folder: Path, corpus: Corpus, parts) -> None:
    """Note what runs here, or refuse if another run does."""
    digest = sha256(json.dumps(parts).encode()).hexdigest()
    mine = {"pairs": digest, "units": corpus.target_units, **asdict(corpus.recipe)}
    path = folder / SETTINGS
    earlier = json.loads(path.read_text()) if path.exists() else mine
    if other := [name for name in mine if earlier.get(name) != mine[name]]:
        raise ValueError(
            f"{folder} holds a run with other settings ({', '.join(other)}): name another "
            f"folder with --out, or delete it"
        )
    path.write_text(json.dumps(mine))


class _Progress:
    """A bar with the loss; samples at every look; the CPU seconds of all parts of a run."""

    def __init__(self, corpus, translator, validation, seconds: Path):
        self.recipe, self.translator, self.seconds = corpus.recipe, translator, seconds
        self.samples = validation[:N_SAMPLES]
        self.before = float(seconds.read_text()) if seconds.exists() else 0.0

    def __enter__(self):
        self.started = time.process_time()
        self.bar = tqdm(total=self.recipe.n_steps, desc="training", unit="step")
        return self

    def __exit__(self, *error):
        self.bar.close()
        self._note()

    def __call__(self, step: int, loss: float, found: float | None) -> None:
        self.bar.update(step + 1 - self.bar.n)
        self.bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        if found is not None:
            self._note()
            self.bar.write(f"step {step + 1}: validation loss {found:.4f}", sys.stderr)
            sources = [source for source, _ in self.samples]
            for source, text in zip(sources, self.translator(sources), strict=True):
                self.bar.write(f"    {source} -> {text}", sys.stderr)

    def _note(self) -> None:
        spent = self.before + time.process_time() - self.started
        self.seconds.write_text(f"{spent:.1f}")
