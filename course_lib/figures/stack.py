"""The whole decoder as a picture, drawn from its own modules."""

from collections.abc import Iterator

import matplotlib
from matplotlib.figure import Figure
from torch import nn

from course_lib.figures.plan import Plan, count
from course_lib.figures.show import STYLE, write


def draw_stack(decoder: nn.Module) -> Figure:
    """Draw a decoder from its own modules: parts, shapes, parameter counts.

    Args:
        decoder: a course_lib Decoder; only shapes are read, so one on the meta
            device will do.

    Returns:
        The figure, to be shown with `show_figure`. Read it from the bottom up.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> config = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)
    >>> fig = draw_stack(Decoder(config))
    """
    config, block = decoder.config, decoder.stack.blocks[0]
    stream = f"(batch, position, {config.d_model})"
    with matplotlib.rc_context(STYLE):
        plan = Plan(8.0)
        plan.note("tokens: (batch, position)")
        sizes = f"{config.vocab_size} × {config.d_model}"
        if config.positions in ("learned", "sinusoidal"):
            sizes += f", plus {config.positions} positions"
        plan.box(decoder.embedding, "embedding", sizes)
        plan.note(f"residual stream: {stream}")
        bottom = plan.y
        for kind, words in _sublayers(config, block):
            plan.sublayer(block, kind, words, config.pre_norm)
        times = f"block\n{len(decoder.stack.blocks)} times\n{count(block)} each"
        plan.frame(bottom, times)
        plan.note(f"residual stream: {stream}")
        if decoder.stack.final_norm is not None:
            plan.box(decoder.stack.final_norm, "final_norm", "")
        plan.box(
            decoder.head,
            "head",
            f"{config.d_model} × {config.vocab_size}",
            "none: uses the embedding's" if config.tie_weights else "",
        )
        plan.note(f"logits: (batch, position, {config.vocab_size})", last=True)
        plan.y += 0.35
        write(plan.axes, plan.NUMBERS, plan.y, "parameters", ha="left", weight="bold")
        plan.y += 0.2
        return plan.finish()


def _sublayers(config: object, block: nn.Module) -> Iterator[tuple[str, str]]:
    """Name the sublayers that this block has, with their sizes in words."""
    heads = f"{config.n_heads} heads of width {config.d_head}"
    if config.n_kv_heads < config.n_heads:
        heads = (
            f"{config.n_heads} query and {config.n_kv_heads} key/value heads "
            f"of width {config.d_head}"
        )
    turned = block.self_attention.scheme is not None
    yield "self", heads + (f", {config.positions}" if turned else "")
    if block.cross_attention is not None:
        yield "cross", f"{heads}, reads the memory"
    gate = ", gated" if config.gated else ""
    widths = f"{config.d_model} → {config.d_ff} → {config.d_model}"
    yield "feed", f"{widths}, {config.activation}{gate}"
