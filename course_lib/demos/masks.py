"""Demo: a mask says who may read whom; without it a decoder learns to copy the answer."""

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from torch import Tensor

from course_lib.attention import attention
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.demos.control import choice
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, GREEN, ORANGE, PAPER
from course_lib.masks import may_read, token_positions
from course_lib.training import inputs_and_targets, train

PLACES = list("abcdef")
DIGITS = torch.tensor([7, 0, 3, 9, 1, 4, 8])  # the last is only predicted
CAUSAL, NONE, WINDOW, PADDED = "causal", "none", "window of 2", "padding on the left"
MOVES, CHANCES = "which outputs move", "chance of the next digit"
N_PADDING = 2
FARTHEST = 8  # of the axis, so that bars of two looks compare


def demo() -> Demo:
    """Make the demo; it trains three small decoders, which takes a few seconds.

    Lesson: notebooks/02_masks.ipynb
    """
    models = {
        CAUSAL: _trained(),
        WINDOW: _trained(window=2),
        NONE: _trained(causal=False),
    }
    models[PADDED] = models[CAUSAL]

    def draw(mask: str, changed: str, bars: str) -> Still:
        model = models[mask] if bars == CHANCES else None
        return _picture(mask, PLACES.index(changed), model)

    view = Plot(
        draw,
        mask=choice("Mask", [CAUSAL, WINDOW, PADDED, NONE]),
        changed=choice("Changed place", PLACES),
        bars=choice("Bars", [MOVES, CHANCES]),
    )
    steps = [
        Step(
            "A decoder writes from left to right. A row reads the columns with dots: which "
            "cells must be hidden?",
            "The 15 above the diagonal, which are the future. A place may read itself and "
            "what came before.",
            before={"mask": NONE},
            after={"mask": CAUSAL},
        ),
        Step(
            "Place a was changed, and all six outputs moved. Now we change place d instead. "
            "Which outputs move?",
            "d, e and f: column d has its dots there. a, b and c stay the same to the last "
            "bit.",
            after={"changed": "d"},
        ),
        Step(
            "A window of 2: each place reads only itself and the one before. b changes. Which "
            "outputs move?",
            "b and c. In one layer that is all; a second layer would pass the news on to d.",
            before={"changed": "b"},
            after={"mask": WINDOW},
        ),
        Step(
            "Places a and b, in brackets, hold padding, not text. The padding at a changes. Which "
            "outputs move?",
            "None, though c to f come later: column a is hidden. Nobody reads a, so nobody can "
            "notice.",
            before={"changed": "c", "mask": PADDED},
            after={"changed": "a"},
        ),
        Step(
            "With the mask, a decoder trained on random digits can only guess: 0.10. What does one "
            "reach without it?",
            "Close to 1, except at f: each row copies the answer from the next column. When the "
            "decoder writes, that column is still empty.",
            before={"bars": CHANCES},
            after={"mask": NONE},
        ),
    ]
    return Demo("Masks: who may read whom", view, steps)


def _trained(causal: bool = True, window: int | None = None) -> Decoder:
    """Train a small decoder to predict the next of random digits."""
    sizes = {"d_model": 32, "n_layers": 1, "n_heads": 2, "max_length": len(PLACES)}
    config = DecoderConfig(10, causal=causal, window=window, **sizes)
    model = Decoder(config, torch.Generator().manual_seed(0))
    rows = torch.randint(10, (40, 32, 7), generator=torch.Generator().manual_seed(1))
    train(model, lambda step: inputs_and_targets(rows[step]), 40, 0.03, warmup_steps=10)
    return model.eval()


def _picture(mask: str, changed: int, model: Decoder | None) -> Still:
    """Draw the mask, and beside each row what moves or, with a model, its chances."""
    after = DIGITS.clone()
    if model is None:
        after[changed] = (after[changed] + 5) % 10
    lengths = [len(PLACES) - (N_PADDING if mask == PADDED else 0)]
    positions = token_positions(len(PLACES), lengths, side="left")[0]
    window = 2 if mask == WINDOW else None
    allowed = may_read(positions, positions, causal=mask != NONE, window=window)
    real = (positions >= 0).tolist()
    fig, (left, right) = new_stage([1.1, 1])
    _table(left, allowed, after, real, changed if model is None else None)
    if model is None:
        names, what, colour = PLACES, "how far the output moves", ORANGE
        values = (_outputs(after, allowed) - _outputs(DIGITS, allowed)).norm(dim=-1)
        told = f"outputs that move: {_listed((values > 0).tolist()) or 'none'}"
        told = f"Place {PLACES[changed]} is changed; {told}"
    else:
        names = [f"next: {digit}" for digit in after[1:].tolist()]
        what, colour = "chance given to that digit", GREEN
        with torch.inference_mode():
            logits = model(after[None, :-1], lengths=lengths, side="left")[0]
        values = logits.softmax(-1).gather(-1, after[1:, None])[:, 0]
        chances = [f"{x:.2f}" for x in values[positions >= 0].tolist()]
        told = f"Chances of the next digit: {', '.join(chances)}"
    bars = right.barh(range(len(PLACES)), values * (positions >= 0), color=colour)
    pairs = zip(values.tolist(), real, strict=True)
    numbers = [f"{x:.2f}" if is_real else "padding" for x, is_real in pairs]
    right.bar_label(bars, numbers, padding=4)
    right.set_yticks(range(len(PLACES)), names)
    right.set(xlabel=what, ylim=left.get_ylim())
    right.set_xlim(0, FARTHEST if model is None else 1.25)
    if model is not None:
        right.set_xticks([0, 0.5, 1])
    caption = f"Mask: {mask}. {told}."
    pairs = zip(PLACES, allowed.tolist(), strict=True)
    rows = [f"{one} reads {_listed(row) or 'nothing'}" for one, row in pairs]
    alt = f"A table of six rows and six columns: {'; '.join(rows)}. Bars beside it: {told}."
    return Still(fig, alt, caption)


def _listed(marks: list[bool]) -> str:
    """Name the places that are marked."""
    return ", ".join(one for one, on in zip(PLACES, marks, strict=True) if on)


def _outputs(digits: Tensor, allowed: Tensor) -> Tensor:
    """Read with one untrained head: (place, width)."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(10, 16, generator=generator)[digits[:-1]]
    to_queries, to_keys = torch.randn(2, 16, 16, generator=generator) / 6
    return attention(x @ to_queries, x @ to_keys, x, allowed, need_weights=True)[0]


def _table(
    axes: Axes, allowed: Tensor, digits: Tensor, real: list[bool], changed: int | None
) -> None:
    """Draw a dot where a row may read a column, hatching where not."""
    for row, column in torch.cartesian_prod(*[torch.arange(len(PLACES))] * 2).tolist():
        may = bool(allowed[row, column])
        style = {"facecolor": PAPER if may else "#EEEEEE", "edgecolor": "#888888"}
        style |= {} if may else {"hatch": "////"}
        axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, **style))
        if may:
            axes.plot(column, row, "o", color=BLUE, markersize=11)
    names = [str(digit) for digit in digits[: len(PLACES)].tolist()]
    names = [one if ok else f"({one})" for one, ok in zip(names, real, strict=True)]
    rows = [f"{place}  {name}" for place, name in zip(PLACES, names, strict=True)]
    axes.set_yticks(range(len(PLACES)), rows)
    if changed is not None:
        if real[changed]:
            names[changed] = f"{DIGITS[changed]}→{digits[changed]}"
        else:
            names[changed] = f"({DIGITS[changed]}→{digits[changed]})"
        frame = {"fill": False, "edgecolor": ORANGE, "linewidth": 4, "zorder": 3}
        axes.add_patch(Rectangle((changed - 0.5, -0.5), 1, len(PLACES), **frame))
    heads = [f"{place}\n{name}" for place, name in zip(PLACES, names, strict=True)]
    axes.set_xticks(range(len(PLACES)), heads)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set(xlim=(-0.6, len(PLACES) - 0.4), ylim=(len(PLACES) - 0.4, -0.6))
    axes.set(ylabel="row reads", xlabel="column: is read (dot) or hidden")
