"""Demo: a translator writes piece by piece, sure or not, and beams look for likelier."""

import math
from functools import cache

import torch
from matplotlib.axes import Axes

from course_lib.apps.translate.translator import Translator
from course_lib.demos.control import choice, slider, words
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, ORANGE, write
from course_lib.generation import beam_search
from course_lib.pretrained import load

GERMAN, SOUNDS = "English to German", "spelling to sounds"
NAMES = {GERMAN: "english-german", SOUNDS: "pronunciations"}
BUDGET, SHOWN, BEAMS = 38, 20, 4  # pieces that are written, drawn; beams at most
CROWDED = 12  # pieces that leave room for a number above each


def demo() -> Demo:
    """Make the demo; both translators are the course's own.

    Lesson: notebooks/12_translation.ipynb
    """
    translators = {task: _translator(name) for task, name in NAMES.items()}

    @cache
    def told(task: str, text: str, n_beams: int) -> tuple[list, list]:
        return _write(translators[task], text, n_beams)

    def draw(task: str, text: str, shown: int, n_beams: int) -> Still:
        known, unknown = _known(translators[task], text, task == SOUNDS)
        return _picture(task, known, unknown, *told(task, known, n_beams), shown)

    view = Plot(
        draw,
        task=choice("Translator", [GERMAN, SOUNDS]),
        text=words("Text", "forty-two", longest=24),
        shown=slider("Pieces", 0, low=0, high=SHOWN),
        n_beams=slider("Beams", 1, low=1, high=BEAMS),
    )
    spelled = {"task": SOUNDS, "shown": SHOWN}
    steps = [
        Step(
            "forty-two in German, letter by letter. First: f of forty, v of vierzig (40), or z "
            "of zwei (2)?",
            "z: zweiundvierzig, two-and-forty, 100 % sure. It read the whole source before it "
            "began.",
            after={"shown": SHOWN},
        ),
        Step(
            "31 February 2021: will it refuse, mend, or translate?",
            "It translates what is said, all pieces near 100 %. Nothing in training taught it "
            "to doubt a date.",
            before={"text": "31 February 2021"},
            after={"shown": SHOWN},
        ),
        Step(
            "zero is in 2 of 154,703 training pairs. Will it write “null” (which is right), "
            "nothing, or something else?",
            "dreiunddreißlf, no German word: it has no piece for “I do not know”. Here the bars "
            "dip, 63 % at first; they do not always.",
            before={"text": "zero"},
            after={"shown": SHOWN},
        ),
        Step(
            "Spelling to sounds. “read”, one beam: R EH D (red), 67 %. Where is the other third?",
            "Nearly all at R IY D (reed), 32 %: both are right, and the source does not say "
            "which.",
            before={"text": "read"} | spelled,
            after={"n_beams": 4},
        ),
        Step(
            "gpt, one beam: 11 %. Will four beams find a likelier text? And a better one?",
            "Likelier, 16 % against 11 %, and worse: the P is lost. Each further piece costs "
            "probability.",
            before={"text": "gpt"} | spelled,
            after={"n_beams": 4},
        ),
    ]
    return Demo("Translation", view, steps)


def _translator(name: str) -> Translator:
    """Give one of the course's own translators."""
    model, (source, target) = load(name)
    return Translator(model, source, target)


def _known(translator: Translator, text: str, lower: bool) -> tuple[str, str]:
    """Split a text into the characters that the translator reads, and the others."""
    known, unknown = "", ""
    for character in text.strip().lower() if lower else text.strip():
        try:
            translator.source.encode(character)
            known += character
        except ValueError:
            unknown += character
    if not known.strip():
        raise ValueError(
            f"{text!r} has no character that this translator knows: type some letters"
        )
    return known, unknown


@torch.inference_mode()
def _write(translator: Translator, text: str, n_beams: int) -> tuple[list, list]:
    """Search; give the best one's pieces with their probabilities, and all texts."""
    target, model = translator.target, translator.model
    memory, _ = translator.memory([translator.source.encode(text)])
    start, end = target.bos_id, target.eos_id
    # Length penalty 0: the whole text's probability is what is compared.
    found = beam_search(model, [start], n_beams, BUDGET, end, 0.0, memory)
    best = found[0][0]
    logits = model.decoder(torch.tensor([[start, *best[:-1]]]), memory)[0]
    chances = logits.softmax(-1).gather(1, torch.tensor(best)[:, None])[:, 0]
    names = ["END" if i == end else target.decode([i]) for i in best]
    texts = [(target.decode(ids, skip_special=True), math.exp(s)) for ids, s in found]
    return list(zip(names, chances.tolist(), strict=True)), texts


def _picture(
    task: str, text: str, unknown: str, pieces: list, texts: list, shown: int
) -> Still:
    """Draw how sure each piece of the best text is, and the texts that were found."""
    now = pieces[:shown]
    ready = len(now) == min(len(pieces), SHOWN)  # before, it would tell what comes
    texts = texts if ready else []
    fig, (left, right) = new_stage([1.9, 1])
    source = text if len(text) <= 34 else f"{text[:33]}…"
    left.set_title(f"source: {source}", loc="left", size=15, weight="bold")
    _draw_pieces(left, now, len(pieces))
    _draw_texts(right, texts)
    left_out = f" Not in its vocabulary, left out: {' '.join(unknown)}." * bool(unknown)
    if not now:
        said = f"“{text}” is read, nothing is written yet.{left_out}"
        return Still(fig, f"Two charts, still empty. {said}", said)
    name, least = min(now, key=lambda piece: piece[1])
    separator = " " if task == SOUNDS else ""
    so_far = separator.join(one for one, _ in now if one != "END")
    rest = len(pieces) - len(now)
    caption = f"“{text}” → {so_far}{f' … and {rest} more' * bool(rest)}. "
    caption += f"Least sure: {name}, {least:.0%}"
    caption += f"; whole text {texts[0][1]:.0%}.{left_out}" if ready else f".{left_out}"
    alt = (
        f"Left, how sure each piece is: {', '.join(f'{a} {p:.0%}' for a, p in now)}. Right, "
        f"what the search kept: {', '.join(f'{a} {p:.0%}' for a, p in texts) or 'nothing yet'}."
    )
    return Still(fig, alt, caption)


def _draw_pieces(axes: Axes, now: list, n_pieces: int) -> None:
    """Draw a bar a piece; a number stands above where it is not sure (of many, the five lowest)."""
    chances = [100 * chance for _, chance in now]
    told = sorted(range(len(chances)), key=chances.__getitem__)
    told = told[: len(told) if len(told) <= CROWDED else 5]  # or numbers would touch
    axes.bar(range(len(now)), chances, 0.7, color=BLUE)
    for place, chance in enumerate(chances):
        if chance < 99.5 and place in told:
            write(axes, place, chance + 6, f"{chance:.0f}", size=13)
    names = [name.replace(" ", "␣") for name, _ in now]
    names += ["?"] * (len(now) < n_pieces)  # what it would write next
    axes.set_xticks(range(len(names)), names)
    wide = max(min(n_pieces, SHOWN), 7)
    axes.set(
        xlim=(-0.6, max(wide, len(names)) - 0.4), ylim=(0, 116), yticks=[0, 50, 100]
    )
    axes.set(ylabel="probability, %", xlabel="piece, from left to right")
    for label, name in zip(axes.get_xticklabels(), names, strict=True):
        label.set_size(13 if name == "END" else 14)


def _draw_texts(axes: Axes, texts: list) -> None:
    """Draw the texts that were found, each above the bar of its probability."""
    shares = [100 * share for _, share in texts]
    axes.barh(range(len(texts)), shares, 0.3, color=ORANGE)
    for row, (text, share) in enumerate(texts):
        short = text if len(text) <= 18 else f"{text[:17]}…"
        label = f"{short} {share:.0%}"
        axes.text(2, row - 0.22, label, ha="left", va="bottom", size=13)
    axes.set(xlim=(0, 100), ylim=(BEAMS - 0.6, -0.8), yticks=[], xticks=[0, 50, 100])
    axes.set_xlabel("whole text, %")
