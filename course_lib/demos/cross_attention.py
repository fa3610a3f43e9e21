"""Demo: a translator reads its source through cross-attention, and nowhere else."""

import re
from functools import cache

import torch

from course_lib.apps.translate.translator import Translator
from course_lib.demos.control import choice, slider
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, INK, ORANGE, write
from course_lib.pretrained import load

SOURCES = ["twenty-one", "forty-two", "sixty-five"]
OTHER = "fifty-seven"
OWN, NONE = "its own", "none, only zeros"
LATER, OTHERS = f"of {OTHER}, after “und”", f"of {OTHER}"
LONGEST = 17  # letters of a name, END counted


def demo() -> Demo:
    """Make the demo; the translator is the course's own, english-german.

    Lesson: notebooks/05_cross_attention.ipynb
    """
    translator = Translator(*_parts())

    @cache
    def told(source: str, memory: str) -> list[tuple[str, float, str, list[float]]]:
        return _write(translator, source, memory)

    def draw(source: str, written: int, memory: str) -> Still:
        return _picture(told(source, memory), written)

    view = Plot(
        draw,
        source=choice("Source", SOURCES),
        written=slider("Letters written", 0, low=0, high=LONGEST),
        memory=choice("Memory", [OWN, LATER, OTHERS, NONE]),
    )
    steps = [
        Step(
            "German says one-and-twenty: ein-und-zwanzig. Which English word is read most for the "
            "first letter, e?",
            "“one”, the last word: 0.65. The source is complete before the first letter is "
            "written: no causal mask hides its end.",
            after={"written": 1},
        ),
        Step(
            "“e” reads “one”. Six letters later comes z of zwanzig, twenty. Which word is read "
            "most then?",
            "“twenty”, 0.69; “one” falls from 0.65 to 0.29. Each letter has a query of its own, "
            "and so weights of its own.",
            before={"written": 1},
            after={"written": 7},
        ),
        Step(
            "einund stays. The memory is now of fifty-seven, in German sieben-und-fünfzig. How "
            "does the word end?",
            "einundfünfzig, 51: it goes on from its own letters, and reads the rest from the new "
            "memory. Nothing of “twenty” is left.",
            before={"memory": LATER, "written": 6},
            after={"memory": LATER, "written": 14},
        ),
        Step(
            "The memory is all zeros: nothing of the source. What will it write: noise, nothing, "
            "or German?",
            "German: dreitausend, 3000. Fluent, but not about the source. When a model writes so, "
            "check first whether the source reaches it.",
            before={"memory": NONE},
            after={"memory": NONE, "written": 12},
        ),
    ]
    return Demo("Cross-attention", view, steps)


def _parts() -> tuple:
    """Give the committed translator's model and its two tokenizers."""
    model, (source, target) = load("english-german")
    return model, source, target


def _write(
    translator: Translator, source: str, memory: str
) -> list[tuple[str, float, str, list[float]]]:
    """Write greedily: letter, its probability, the source that was read, the weights."""
    target, model, steps = translator.target, translator.model, []
    read = {
        text: translator.memory([translator.source.encode(text)])[0]
        for text in (source, OTHER)
    }
    zeros = torch.zeros_like(read[source])
    while len(steps) < LONGEST:
        so_far = "".join(letter for letter, *_ in steps)
        after = memory == OTHERS or (memory == LATER and so_far.endswith("und"))
        after = after or (steps and steps[-1][2] == OTHER)
        name = "" if memory == NONE else OTHER if after else source
        tokens, record = torch.tensor([[target.bos_id, *target.encode(so_far)]]), {}
        with torch.inference_mode():
            pages = read.get(name, zeros)
            logits = model.decoder(tokens, pages, record=record)[0, -1]
        best = int(logits.argmax())
        letter = "END" if best == target.eos_id else target.decode([best])
        # The last layer, mean over heads: the row that writes this letter.
        weights = record["cross", 1][0, :, -1].mean(0).tolist()
        steps.append((letter, float(logits.softmax(-1)[best]), name, weights))
        if letter == "END":
            break
    return steps


def _shares(name: str, weights: list[float]) -> dict[str, float]:
    """Add up the weights of the letters of each word."""
    if not name:
        return {"zeros": sum(weights)}
    words = [(found.group(), found.span()) for found in re.finditer(r"[a-z]+|-", name)]
    return {
        word.replace("-", "hyphen"): sum(weights[start:end])
        for word, (start, end) in words
    }


def _picture(steps: list[tuple], written: int) -> Still:
    """Draw the letters written above, the source below, lines from the newest letter."""
    now = steps[:written]
    name, weights = (now[-1] if now else steps[0])[2:]
    following = steps[len(now)][2] if len(now) < len(steps) else name
    is_read = bool(now) and following == name  # else the memory has not been read yet
    if not is_read:
        name, weights = steps[len(now)][2:]
    places = list(name) or ["0"] * len(weights)
    shares = _shares(name, weights)
    fig, (left, right) = new_stage([2.6, 1])
    left.set(xlim=(-0.7, LONGEST + 0.1), ylim=(-0.55, 2.05))
    left.axis("off")
    left.text(
        -0.6, 1.85, "the decoder: a query for each letter", ha="left", va="center"
    )
    what = "the memory: a key and a value for each letter"
    left.text(-0.6, -0.4, what, ha="left", va="center")
    start = (LONGEST - len(places)) / 2  # the source stands in the middle
    colours = dict(zip(shares, (BLUE, INK, ORANGE), strict=False))
    for place, letter in enumerate(places):
        write(left, start + place, 0, letter, size=18)
    for place, (letter, *_) in enumerate(now):
        newest = place == len(now) - 1
        box = {"boxstyle": "round,pad=0.2", "fc": "white", "ec": INK, "lw": 2}
        style = {"weight": "bold", "bbox": box} if newest else {}
        aside, size = (0.5, 13) if letter == "END" else (0, 18)
        write(left, place + aside, 1.45, letter, size=size, **style)
    if is_read:
        sizes = {"hyphen": 1, "zeros": len(places)}
        owner = [word for word in shares for _ in range(sizes.get(word, len(word)))]
        for place, weight in enumerate(weights):
            ends = [len(now) - 1, start + place], [1.22, 0.2]
            left.plot(*ends, color=colours[owner[place]], lw=16 * weight + 0.3)
    bars = right.barh(
        list(shares),
        list(shares.values()) if is_read else [0] * len(shares),
        color=[colours[word] for word in shares],
        height=0.6,
    )
    right.bar_label(bars, fmt="%.2f" if is_read else "", padding=3)
    right.set(xlim=(0, 1.35), xticks=[0, 0.5, 1], xlabel="weight, by word")
    right.set_ylim(2.6, -0.6)
    return Still(fig, *_words(now, name, shares if is_read else {}))


def _words(now: list[tuple], name: str, shares: dict[str, float]) -> tuple[str, str]:
    """Say what is drawn: alt text and caption."""
    memory = f"the memory of {name}" if name else "a memory of zeros"
    text = "".join(one for one, *_ in now if one != "END")
    if not shares:
        said = f"Written: {text or 'nothing yet'}. Next, {memory} is read."
        return f"The places of {memory}, no line and no weight. {said}", said
    letter, probability, _, _ = now[-1]
    reads = ", ".join(f"{word} {share:.2f}" for word, share in shares.items())
    caption = f"Writes {letter} (probability {probability:.2f}). Weights: {reads}."
    if letter == "END":
        caption = f"Written: {text}. Weights: {reads}."
    alt = (
        f"Above, the letters written: {text}. Lines lead from the newest, {letter}, down to "
        f"the places of {memory}, thicker for more weight. Bars, added up by word: {reads}."
    )
    return alt, caption
