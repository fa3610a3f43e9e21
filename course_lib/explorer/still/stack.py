"""The whole stack, a row a layer: how long the stream is, and what is added to it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.explorer.still.labels import are, counted, inches, not_numbers, said
from course_lib.explorer.still.paper import EDGE, LINE, WIDTH, Paper, limit_of
from course_lib.explorer.still.spot import SUBLAYERS, Spot
from course_lib.figures.show import BLUE, ORANGE, PAPER, SKY

MOST_LAYERS = 30
BARS = 3.5  # where the lengths begin
BOX = 3.1  # the least width of a part, and the width of a layer
LEGEND = (
    "Read it from the bottom up. Bars are lengths (L2); the light ones share one "
    "scale, the dark ones another."
)


def draw_stack(paper: Paper, spot: Spot) -> tuple[str, str]:
    """Draw the stack from embedding to head; return caption and alt text."""
    config = spot.trace.config
    layers = _drawn_layers(config["n_layers"])
    words = _words(spot, layers)
    paper.headline(spot, "the whole stack")
    tied = ", the embedding's numbers" if config["tie_weights"] else ""
    _draw_part(paper, spot, "head", tied)
    if config["pre_norm"]:
        _draw_part(paper, spot, "stack.final_norm")
    names = ["stream before", *_sublayers(spot), "stream behind"]
    room = (WIDTH - BARS - EDGE) / len(names)
    for place, name in enumerate(names):
        paper.write(BARS + place * room, paper.y + LINE / 2, name, weight="bold")
    paper.y += LINE + 0.05
    _draw_layers(paper, spot, layers, room)
    if spot.trace.n_memory:
        _draw_memory(paper, spot, BARS + 2 * room)
    paper.y += 0.12
    _draw_part(paper, spot, "embedding", _positions(config))
    paper.note(LEGEND)
    return words


def _positions(config: dict) -> str:
    """Say what the embedding adds of the order."""
    scheme = config["positions"]
    return f", with {scheme} positions" if scheme in ("learned", "sinusoidal") else ""


def _drawn_layers(n_layers: int) -> list[int]:
    """Choose the layers that a picture has room for: the first and the last."""
    if n_layers <= MOST_LAYERS:
        return list(range(n_layers))
    half = MOST_LAYERS // 2
    return [*range(half), *range(n_layers - half, n_layers)]


def _sublayers(spot: Spot) -> list[str]:
    """Name the sublayers of a layer in their order."""
    names = list(SUBLAYERS.values())
    return names if spot.trace.config["cross_attention"] else [names[0], names[2]]


def _lengths(spot: Spot) -> tuple[Tensor, Tensor]:
    """Return how long the stream is (layer, sublayer + 1), and what is added to it."""
    stream = spot.array("residuals")[:, :, spot.row].norm(dim=-1)
    return stream, spot.array("output_norms")[:, :, spot.row]


def _part(spot: Spot, name: str) -> dict:
    """Look a module of the traced model up."""
    return next(part for part in spot.trace.tree if part["name"] == name)


def _parameters(spot: Spot, name: str) -> str:
    """Count the parameters of a module of the traced model."""
    return counted(_part(spot, name)["n_parameters"], "parameter")


def _draw_layers(paper: Paper, spot: Spot, layers: Sequence[int], room: float) -> None:
    """Draw the layers, the last above: stream, what each sublayer gives, stream."""
    stream, added = _lengths(spot)
    stream = stream[:, [0, -1]]
    longest = {SKY: limit_of(stream), BLUE: limit_of(added)}
    for above, layer in zip([None, *layers[:0:-1]], layers[::-1], strict=True):
        if above is not None and above != layer + 1:
            n_hidden = above - layer - 1
            words = f"… {counted(n_hidden, 'layer')} that {are(n_hidden)} not drawn …"
            paper.note(words, EDGE + 0.1)
        before, behind = stream[layer].tolist()
        bars = [(before, SKY), *((one, BLUE) for one in added[layer].tolist())]
        for place, (length, colour) in enumerate([*bars, (behind, SKY)]):
            where = BARS + place * room, paper.y + LINE / 2
            share = length / longest[colour]
            paper.bar(*where, share, room - 0.65, said(length), colour)
        frame = {"facecolor": "none", "edgecolor": BLUE, "linewidth": 1.2}
        paper.box(EDGE, paper.y + 0.01, BOX, LINE - 0.02, **frame)
        size = _parameters(spot, f"stack.blocks.{layer}")
        paper.note(f"layer {layer}: {size}", EDGE + 0.1)


def _draw_memory(paper: Paper, spot: Spot, x: float) -> None:
    """Draw the memory beside the embedding, below what reads it."""
    d_model = spot.trace.config["d_model"]
    words = f"memory: {counted(spot.trace.n_memory, 'place')} × {d_model} numbers"
    style = {"facecolor": PAPER, "edgecolor": ORANGE, "linewidth": 1.5}
    paper.box(x, paper.y + 0.22, inches(words) + 0.2, 0.28, **style)
    paper.write(x + 0.1, paper.y + 0.36, words)
    paper.arrow((x + 0.3, paper.y + 0.22), (x + 0.3, paper.y + 0.01))


def _draw_part(paper: Paper, spot: Spot, name: str, more: str = "") -> None:
    """Draw a part beside the layers: its shapes and its parameter count."""
    shapes = _part(spot, name)["shapes"].values()
    shape = " × ".join(str(size) for size in next(iter(shapes), []))
    words = f"{name.split('.')[-1]} {shape}: {_parameters(spot, name)}{more}"
    frame = {"facecolor": PAPER, "edgecolor": BLUE, "linewidth": 1.5}
    paper.box(EDGE, paper.y, max(BOX, inches(words) + 0.25), 0.28, **frame)
    paper.write(EDGE + 0.1, paper.y + 0.14, words)
    paper.y += 0.36


def _words(spot: Spot, layers: Sequence[int]) -> tuple[str, str]:
    """Say how long the stream is along the stack; caption and alt text."""
    stream, added = _lengths(spot)
    n_layers = len(stream)
    caption = (
        f"The stack of {counted(n_layers, 'layer')} in {spot.step_name}: row "
        f"{spot.token(spot.query)} has length {said(stream[0, 0].item())} before layer 0 "
        f"and {said(stream[-1, -1].item())} behind layer {n_layers - 1}."
    )
    parts = [caption, f"{_parameters(spot, '')} in all.", *_longest(spot, added)]
    if spot.trace.n_memory:
        places = counted(spot.trace.n_memory, "place")
        parts.append(f"A memory of {places} stands beside it.")
    parts += not_numbers({"lengths": torch.cat([stream.flatten(), added.flatten()])})
    for layer in layers:
        outputs = zip(_sublayers(spot), added[layer].tolist(), strict=True)
        told = ", ".join(f"{name} {said(length)}" for name, length in outputs)
        before, behind = (said(stream[layer, place].item()) for place in (0, -1))
        parts.append(
            f"Layer {layer}: stream {before}, {told}, stream behind it {behind}."
        )
    return caption, " ".join(parts)


def _longest(spot: Spot, added: Tensor) -> list[str]:
    """Name the sublayer that adds most, where that can be said."""
    if not added.isfinite().all():
        return []
    layer, place = divmod(int(added.argmax()), added.shape[1])
    name = _sublayers(spot)[place]
    return [
        f"The longest output is {said(added.max().item())}: {name} of layer {layer}."
    ]
