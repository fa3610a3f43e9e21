"""Demo: a feed-forward network works on each position alone, and needs its bend."""

import torch
from torch import Tensor, nn

from course_lib.demos.control import choice, slider, switch
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.feed_forward import FeedForward
from course_lib.figures import Still
from course_lib.figures.show import BLUE, GREEN, ORANGE, write
from course_lib.norms import rms_norm
from course_lib.pretrained import load

BY_HAND, REAL = "two bits, by hand", "SmolLM2, 30 layers"
PROMPT = "The capital of France is"
BITS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]  # -1 is no, +1 is yes
SUMS = ["0   0", "1   0", "1   0", "0   1"]  # sum and carry
N_BARS = 5


def demo() -> Demo:
    """Make the demo: a layer that adds two bits, and what the bend is to SmolLM2.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/06_feed_forward.ipynb
    """
    layer, (model, tokenizer) = _adder(), load("smollm2")
    ids = tokenizer.encode(PROMPT)

    def draw(look: str, bend: bool, norm: bool, size: int) -> Still:
        if look == BY_HAND:
            return _draw_adder(layer, size, norm, bend)
        n_finite, logits = _read(model, ids, size, norm, bend)
        shares, best = logits.softmax(-1).topk(N_BARS)
        words = [tokenizer.decode([one]) for one in best.tolist()]
        words = [word.strip() or repr(word) for word in words]
        nexts = dict(zip(words, shares.tolist(), strict=True))
        finite = bool(logits.isfinite().all())
        pieces = f"{'With' if bend else 'No'} bend, {'with' if norm else 'no'} norm"
        return _draw_next(pieces, nexts if finite else {}, n_finite)

    view = Plot(
        draw,
        look=choice("Look at", [BY_HAND, REAL]),
        bend=switch("Bend"),
        norm=switch("Norm"),
        size=slider("Last position ×", 1, low=1, high=10),
    )
    real = {"look": REAL, "bend": True, "norm": True}
    steps = [
        Step(
            "This layer should add two bits, −1 no, 1 yes: sum 1 if exactly one is yes. Why is its "
            "sum always 0?",
            "The first two hidden numbers are opposite: they cancel. Without a bend, two linear "
            "layers are no more than one.",
        ),
        Step(
            "A bend (ReLU) makes negative numbers 0 and has no weights. Which sums change?",
            "The two in the middle: −2 no longer cancels 2. Now all four columns are right.",
            after={"bend": True},
        ),
        Step(
            "A real model says “Paris”. We take the bend out of all 30 layers. Does “Paris” still "
            "come first?",
            "No: “your” comes first, with 25 %. The weights were learned with the bend and do not "
            "work without it.",
            before=real,
            after=real | {"bend": False},
        ),
        Step(
            "We make the vector at position 3 ten times as large: (10, 10). Which columns change?",
            "Only its own: the layer reads no other position. Its carry: 19, not 1.",
            before={"bend": True},
            after={"bend": True, "size": 10},
        ),
        Step(
            "A norm divides each vector by the root mean square of its numbers. What is left of "
            "(10, 10)?",
            "(1, 1): its root mean square is 10. So its carry is 1 again; each vector is divided "
            "by its own number, alone.",
            before={"bend": True, "size": 10},
            after={"bend": True, "size": 10, "norm": True},
        ),
        Step(
            "SmolLM2 again, with its bends. Now we take out all norms. Does it still say “Paris”?",
            "It says nothing: the larger a vector that a layer reads, the more it adds. From "
            "layer 9 on it is no number.",
            before=real,
            after=real | {"norm": False},
        ),
    ]
    return Demo("Feed-forward and norm", view, steps)


@torch.no_grad()
def _adder() -> FeedForward:
    """Make the layer: hidden a - b, b - a, a + b - 1; sum from the first two, carry."""
    layer = FeedForward(d_model=2, d_ff=3, activation="relu")
    layer.to_hidden.weight.copy_(torch.tensor([[1.0, -1], [-1, 1], [1, 1]]))
    layer.to_hidden.bias.copy_(torch.tensor([0.0, 0, -1]))
    layer.to_output.weight.copy_(torch.tensor([[0.5, 0.5, 0], [0, 0, 1]]))
    layer.to_output.bias.zero_()
    return layer


@torch.inference_mode()
def _draw_adder(layer: FeedForward, size: int, norm: bool, bend: bool) -> Still:
    """Draw each position's vector on its way through the layer, from the bottom up."""
    x = torch.tensor(BITS, dtype=torch.float32)
    x[-1] *= size
    read = rms_norm(x, torch.ones(2)) if norm else x
    hidden = layer.to_hidden(read)
    bent = layer.activation(hidden) if bend else hidden
    outputs = layer.to_output(bent)
    rows = {
        "input: a, b": _whole(x),
        "after the norm": _whole(read) if norm else [],
        "hidden: a − b,\nb − a, a + b − 1": _whole(hidden),
        "after the bend:\nnegative → 0" if bend else "no bend": _whole(bent),
        "sum = (1st + 2nd) / 2,\ncarry = 3rd": _whole(outputs),
    }
    right = [_whole(outputs)[at] == one for at, one in enumerate(SUMS)]
    fig, (axes,) = new_stage()
    axes.set(xlim=(-3.4, 7.4), ylim=(-1, 4.5))
    axes.axis("off")
    for row, (name, vectors) in enumerate(rows.items()):
        if not vectors:  # no norm: the arrows pass its row
            continue
        axes.text(-3.4, row, name, va="center", size=15)
        for at, vector in enumerate(vectors):
            edge, x_at = BLUE, 2 * at + 0.5
            if row == len(rows) - 1:
                edge = GREEN if right[at] else ORANGE
                vector += " ✓" if right[at] else " ✗"
            box = {"boxstyle": "square,pad=0.25", "fc": "white", "ec": edge, "lw": 2}
            write(axes, x_at, row, vector, bbox=box, size=16)
            below = 1 if row != 2 or norm else 2
            arrow = (x_at, row - 0.3), (x_at, row - below + 0.3)
            if row:
                axes.annotate("", *arrow, arrowprops={"arrowstyle": "-|>"})
            else:
                write(axes, x_at, -0.8, f"position {at}", size=15)
    results = "; ".join(", ".join(one.split()) for one in _whole(outputs))
    caption = f"Right in {sum(right)} of 4 columns: sum and carry {results}"
    alt = "Four columns, one a position, read from the bottom up; arrows lead upwards only."
    for name, vectors in [row for row in rows.items() if row[1]]:
        alt += f" {' '.join(name.split())}: {'; '.join(vectors)}."
    return Still(fig, alt, caption + ".")


def _whole(vectors: Tensor) -> list[str]:
    """Write vectors of whole numbers."""
    return [
        "   ".join(f"{round(number)}".replace("-", "−") for number in vector)
        for vector in vectors.tolist()
    ]


@torch.inference_mode()
def _read(model: nn.Module, ids: list[int], size: int, norm: bool, bend: bool):
    """Run the layers by hand: how many keep the last position finite, and the logits."""
    positions = torch.arange(len(ids))

    def measured(part: nn.Module, x: Tensor) -> Tensor:
        return part(x) if norm else x * part.gain

    residual = model.embedding(torch.tensor([ids]), positions)
    residual[:, -1] *= size
    n_finite = 0
    positions = model.stack.blocks[0].self_attention.scheme.prepare(positions)
    for block in model.stack.blocks:
        x, feed = measured(block.self_norm, residual), block.feed_forward
        read, _ = block.self_attention(x, positions=positions, causal=True)
        residual = residual + read
        x = measured(block.feed_norm, residual)
        gate = feed.activation(feed.to_gate(x)) if bend else feed.to_gate(x)
        residual = residual + feed.to_output(gate * feed.to_hidden(x))
        n_finite += bool(residual[0, -1].isfinite().all())
    logits = model.head(measured(model.stack.final_norm, residual))[0, -1]
    return n_finite, logits


def _draw_next(pieces: str, nexts: dict, n_finite: int) -> Still:
    """Draw what comes next, or that nothing does."""
    fig, (axes,) = new_stage()
    axes.set_title(f"“{PROMPT} …”: {pieces[0].lower()}{pieces[1:]}", size=16)
    if not nexts:
        axes.axis("off")
        axes.text(0.5, 0.5, "not a number:\nno next token", ha="center", size=20)
        said = (
            f"{pieces}: from layer {n_finite + 1} on the vector at the last position "
        )
        said += "is no number, and there is no next token."
        return Still(fig, f"No bars. {said}", said)
    bars = axes.barh(list(nexts), list(nexts.values()), color=BLUE)
    axes.bar_label(bars, fmt="%.2f", padding=4, size=16)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=16)
    axes.set(xlim=(0, 1.1), xticks=[0, 0.5, 1], xlabel="probability of the next token")
    word, chance = next(iter(nexts.items()))
    said = f"{pieces}: next comes “{word}” with {chance:.0%}."
    shares = ", ".join(f"{word} {chance:.2f}" for word, chance in nexts.items())
    return Still(fig, f"Bars of the next token: {shares}. {said}", said)
