"""Demo: between two readings each position is measured, widened, bent and narrowed, alone."""

import math

import torch
from torch import Tensor, nn

from course_lib.demos.control import choice, slider, switch
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.feed_forward import FeedForward
from course_lib.figures import Still
from course_lib.figures.show import BLUE, GREEN, INK, ORANGE, write
from course_lib.norms import rms_norm
from course_lib.pretrained import load

BY_HAND, REAL = "two bits, by hand", "SmolLM2, 30 layers"
PROMPT = "The capital of France is"
BITS = [(-1, -1), (-1, 1), (1, -1), (1, 1)]  # -1 is no, +1 is yes
SUMS = ["0   0", "1   0", "1   0", "0   1"]  # sum and carry
HIGHEST, N_BARS = 1e6, 5


def demo() -> Demo:
    """Make the demo: a layer that adds two bits, and what the pieces are to SmolLM2.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/06_feed_forward.ipynb
    """
    layer, (model, tokenizer) = _adder(), load("smollm2")
    ids = tokenizer.encode(PROMPT)
    trained, _ = _stream(model, ids, 1, norm=True, bend=True)

    def draw(look: str, bend: bool, norm: bool, size: int) -> Still:
        if look == BY_HAND:
            return _draw_adder(layer, size, norm, bend)
        lengths, logits = _stream(model, ids, size, norm, bend)
        shares, best = logits.softmax(-1).topk(N_BARS)
        words = [tokenizer.decode([one]) for one in best.tolist()]
        words = [word.strip() or repr(word) for word in words]
        nexts = dict(zip(words, shares.tolist(), strict=True))
        finite = bool(logits.isfinite().all())
        return _draw_stream(trained, lengths, norm, nexts if finite else {})

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
            "“Sum” should be 1 where one bit is −1 and one +1. Why is it 0 everywhere?",
            "The first two hidden units are opposite numbers: they cancel. Without a bend two "
            "linear layers are one.",
        ),
        Step(
            "A bend (ReLU) makes negative numbers 0 and has no weights. Which sums change?",
            "The two in the middle: −2 no longer cancels 2. All four are right now.",
            after={"bend": True},
        ),
        Step(
            "We make the vector at the last position ten times as large. Which columns change?",
            "Only its own: each position is alone. Its carry is 19 instead of 1.",
            before={"bend": True},
            after={"bend": True, "size": 10},
        ),
        Step(
            "A norm divides each vector by its size. What does the layer read at the last "
            "position?",
            "(10, 10) has the size 10: it reads (1, 1) again, and the carry is 1.",
            before={"bend": True, "size": 10},
            after={"bend": True, "size": 10, "norm": True},
        ),
        Step(
            "A real model says “Paris”. We take its bends out of all 30 layers. What will it "
            "say?",
            "Something else: “your” comes first. Its weights were learned with the bend.",
            before=real,
            after=real | {"bend": False},
        ),
        Step(
            "Bends back, norms out: every layer reads the stream at its full size. What "
            "happens to it?",
            "It passes a million in layer 6 and is no number from layer 9 on. A norm brings "
            "every vector to size 1 before its gain.",
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
        "x = (a, b)": _whole(x),
        "read, after the norm" if norm else "read, no norm": _whole(read),
        "hidden: a−b, b−a, a+b−1": _whole(hidden),
        "bent: negative → 0" if bend else "not bent": _whole(bent),
        "sum = (1st + 2nd) / 2\ncarry (both yes) = 3rd": _whole(outputs),
    }
    right = [_whole(outputs)[at] == one for at, one in enumerate(SUMS)]
    fig, (axes,) = new_stage()
    axes.set(xlim=(-3.4, 7.4), ylim=(-1, 4.5))
    axes.axis("off")
    for row, (name, vectors) in enumerate(rows.items()):
        axes.text(-3.4, row, name, va="center", size=13)
        for at, vector in enumerate(vectors):
            edge, x_at = BLUE, 2 * at + 0.5
            if row == len(rows) - 1:
                edge = GREEN if right[at] else ORANGE
                vector += " ✓" if right[at] else " ✗"
            box = {"boxstyle": "square,pad=0.25", "fc": "white", "ec": edge, "lw": 2}
            write(axes, x_at, row, vector, bbox=box)
            arrow = (x_at, row - 0.3), (x_at, row - 0.7)
            if row:
                axes.annotate("", *arrow, arrowprops={"arrowstyle": "-|>"})
            else:
                write(axes, x_at, -0.8, f"position {at}", size=13)
    results = "; ".join(" and ".join(one.split()) for one in _whole(outputs))
    caption = f"Sum and carry: {results}. {sum(right)} of 4 are right"
    alt = "Four columns, one a position, read from the bottom up; arrows lead upwards only."
    for name, vectors in rows.items():
        alt += f" {name}: {'; '.join(vectors)}."
    return Still(fig, alt, caption + ".")


def _whole(vectors: Tensor) -> list[str]:
    """Write vectors of whole numbers."""
    return [
        "   ".join(f"{round(number)}".replace("-", "−") for number in vector)
        for vector in vectors.tolist()
    ]


@torch.inference_mode()
def _stream(model: nn.Module, ids: list[int], size: int, norm: bool, bend: bool):
    """Run the blocks by hand: the stream's size at the last position, and the logits."""
    positions = torch.arange(len(ids))

    def measured(part: nn.Module, x: Tensor) -> Tensor:
        return part(x) if norm else x * part.gain

    residual = model.embedding(torch.tensor([ids]), positions)
    residual[:, -1] *= size
    stream = [residual[0, -1]]
    positions = model.stack.blocks[0].self_attention.scheme.prepare(positions)
    for block in model.stack.blocks:
        x, feed = measured(block.self_norm, residual), block.feed_forward
        read, _ = block.self_attention(x, positions=positions, causal=True)
        residual = residual + read
        x = measured(block.feed_norm, residual)
        gate = feed.activation(feed.to_gate(x)) if bend else feed.to_gate(x)
        residual = residual + feed.to_output(gate * feed.to_hidden(x))
        stream.append(residual[0, -1])
    logits = model.head(measured(model.stack.final_norm, residual))[0, -1]
    return torch.stack(stream).double().square().mean(-1).sqrt(), logits


def _draw_stream(trained: Tensor, lengths: Tensor, norm: bool, nexts: dict) -> Still:
    """Draw how large the stream is after each layer, and what comes next."""
    fig, (left, right) = new_stage([1.3, 1])
    n_finite = int(lengths.isfinite().sum())
    left.semilogy(trained, "--", color=INK, lw=1.5, label="as trained")
    left.semilogy(lengths[:n_finite], "-o", color=BLUE, ms=5, label="stream")
    if norm:
        left.axhline(1, color=ORANGE, lw=3, ls=":", label="read, after the norm")
    left.set(xlim=(-1, 31), ylim=(0.03, HIGHEST))
    left.set(xlabel="layers passed", ylabel="size of the vector")
    left.legend(loc="upper right", fontsize=12, frameon=False)
    left.set_title(f"“{PROMPT} …”", size=13)
    if nexts:
        bars = right.barh(list(nexts), list(nexts.values()), color=BLUE)
        right.bar_label(bars, fmt="%.2f", padding=3)
        right.invert_yaxis()
        right.set(xlim=(0, 1.15), xlabel="probability of the next token")
        word, chance = next(iter(nexts.items()))
        said = f"The stream goes from {lengths[0]:.1f} to {lengths[-1]:.0f}; "
        said += f"next comes “{word}” with {chance:.0%}."
    else:
        right.axis("off")
        right.text(0.5, 0.5, "not a number:\nno next token", ha="center", size=16)
        above = int((lengths < HIGHEST).long().argmin())
        said = f"The stream passes a million in layer {above}; from layer {n_finite} on it is "
        said += "no number, and there is no next token."
    sizes = ", ".join(
        f"{one:.3g}" if math.isfinite(one) else "no number"
        for one in lengths[::5].tolist()
    )
    bars = ", ".join(f"{word} {chance:.2f}" for word, chance in nexts.items())
    alt = f"Left, the stream's size over 30 layers, at every fifth {sizes}. "
    alt += f"Right, {f'bars: {bars}' if nexts else 'no bars'}. {said}"
    return Still(fig, alt, said)
