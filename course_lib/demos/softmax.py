"""Demo: scores become a choice, and temperature makes it bolder or more timid."""

import torch
from torch import Tensor

from course_lib.demos.control import choice, slider
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, ORANGE
from course_lib.pretrained import load
from course_lib.sampling import apply_temperature
from course_lib.softmax import softmax

SMALL, SHIFTED, REAL = "2, 1, 0", "102, 101, 100", "SmolLM2: “The sky is”"
N_BARS = 8


def demo() -> Demo:
    """Make the demo; the real scores are SmolLM2's.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/01_softmax.ipynb
    """
    sets = {
        SMALL: (["A", "B", "C"], torch.tensor([2.0, 1.0, 0.0])),
        SHIFTED: (["A", "B", "C"], torch.tensor([102.0, 101.0, 100.0])),
        REAL: _real_scores("The sky is"),
    }

    def draw(scores: str, temperature: float) -> Still:
        return _picture(*sets[scores], temperature)

    view = Plot(
        draw,
        scores=choice("Scores", list(sets)),
        temperature=slider("Temperature", 1.0, low=0.1, high=5.0, step=0.1),
    )
    steps = [
        Step(
            "Three words have the scores 2, 1 and 0. How many times as likely as B is A?",
            "e = 2.72 times: one point more multiplies by e, wherever the points lie.",
        ),
        Step(
            "We add 100 to every score. What happens to the probabilities?",
            "Nothing. Only differences count, so the largest score can be subtracted first, "
            "and exp never overflows.",
            after={"scores": SHIFTED},
        ),
        Step(
            "Temperature 0.5 divides every score by 0.5: they double. Does B gain or lose?",
            "It loses: A is now e² = 7.4 times as likely as B. A shift changes nothing, a scale "
            "does.",
            after={"temperature": 0.5},
        ),
        Step(
            "Temperature 5 divides every score by 5. Do the bars become more alike? Can C overtake "
            "B?",
            "More alike: the higher the temperature, the nearer to one third each. The order stays "
            "at every temperature.",
            after={"temperature": 5.0},
        ),
        Step(
            "After “The sky is”, at temperature 0.3, “a” has nearly all. How much do the 49,144 "
            "others get at 3?",
            "98.9 %: each of the other 49,144 gets little, but they are many.",
            before={"scores": REAL, "temperature": 0.3},
            after={"temperature": 3.0},
        ),
    ]
    return Demo("Softmax and temperature", view, steps)


def _real_scores(prompt: str) -> tuple[list[str], Tensor]:
    """Give the model's likeliest next tokens, and all scores, sorted."""
    model, tokenizer = load("smollm2")
    with torch.inference_mode():
        logits = model(torch.tensor([tokenizer.encode(prompt)]), only_last=True)[0, -1]
    scores, ids = logits.sort(descending=True)
    return [tokenizer.decode([one]).strip() for one in ids[:N_BARS].tolist()], scores


def _picture(names: list[str], scores: Tensor, temperature: float) -> Still:
    """Draw scores on the left, what softmax makes of them on the right."""
    probabilities = softmax(apply_temperature(scores, temperature))[: len(names)]
    fig, (left, right) = new_stage([1, 1.25])
    n_others = len(scores) - len(names)
    rest = 1 - float(probabilities.sum())
    rows = [*names, f"{n_others:,} others"] if n_others else names
    shown = [*probabilities.tolist(), rest][: len(rows)]
    heights, labels = scores[: len(names)].tolist(), [""] * len(rows)
    labels[: len(names)] = [f"{score:.1f}" for score in heights]
    heights += [0.0] * (len(rows) - len(names))
    made = f"probability at temperature {temperature:.1f}"
    for axes, values, colour, what, numbers in (
        (left, heights, BLUE, "score, before temperature", labels),
        (right, shown, ORANGE, made, [_share(p) for p in shown]),
    ):
        bars = axes.barh(rows, values, color=colour)
        axes.bar_label(bars, numbers, padding=3)
        axes.margins(x=0.25)
        axes.invert_yaxis()
        axes.set_xlabel(what)
    right.set(xlim=(0, 1.35), xticks=[0, 0.5, 1])
    shares = [
        f"{w} {_percent(p)}" for w, p in zip(names, probabilities.tolist(), strict=True)
    ]
    caption = f"Temperature {temperature:.1f}: {', '.join(shares[:3])}"
    if n_others:
        caption += f"; the {n_others:,} other tokens {_percent(rest)}"
    heights = [f"{w} {s:.1f}" for w, s in zip(names, scores.tolist(), strict=False)]
    alt = (
        f"Two bar charts. Scores: {', '.join(heights)}. Probabilities at temperature "
        f"{temperature:.1f}: {', '.join(shares)}."
    )
    return Still(fig, alt, caption + ".")


def _share(probability: float) -> str:
    """Write a probability: what is small is not nothing."""
    return f"{probability:.3f}" if probability >= 0.0005 else "< 0.001"


def _percent(probability: float) -> str:
    return f"{probability:.1%}" if probability >= 0.0005 else "under 0.1%"
