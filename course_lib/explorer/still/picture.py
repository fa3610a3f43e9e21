"""Which picture is drawn for which look at a trace."""

import matplotlib

from course_lib.explorer.still.head import draw_head
from course_lib.explorer.still.paper import Paper
from course_lib.explorer.still.spot import spot_of
from course_lib.explorer.still.stack import draw_stack
from course_lib.explorer.still.step import draw_step
from course_lib.explorer.still.strips import draw_strips
from course_lib.explorer.still.training import draw_training
from course_lib.figures import Still
from course_lib.figures.show import STYLE
from course_lib.trace import Trace


def draw_still(
    trace: Trace,
    mode: str = "local",
    step: int = 0,
    layer: int = 0,
    head: int = 0,
    kind: str = "self",
    query: int | None = None,
) -> Still:
    """Draw one look at a trace, and say in words what it shows.

    Args:
        trace: what was recorded.
        mode: "global", the stack as it was run: how long the stream is before and
            behind each layer, and how long what each sublayer gave; "local", one head or
            one feed-forward layer in detail; "dynamic", one step of writing, or the
            training pass with its losses.
        step: the pass.
        layer: the block; of no meaning in "global".
        head: the attention head; of no meaning in "global".
        kind: "self", "cross" or "feed_forward", what "local" shows.
        query: position of the row that is spoken of; None: the last that was fed.

    Returns:
        The still.

    Raises:
        ValueError: the trace has no steps, or an argument does not fit it.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> draw_still(Trace.record(decoder, [1, 2, 3]), "dynamic").caption
    'Step 0 (prefill): 0 of 3 tokens are in the cache, 3 are fed now.'
    """
    spot = spot_of(trace, mode, step, layer, head, kind, query)
    draw = {"global": draw_stack, "local": draw_head, "dynamic": draw_step}[mode]
    if mode == "local" and kind == "feed_forward":
        draw = draw_strips
    if mode == "dynamic" and spot.entry["phase"] == "train":
        draw = draw_training
    with matplotlib.rc_context(STYLE):
        paper = Paper()
        caption, alt = draw(paper, spot)
        return Still(paper.finish(), alt, caption)
