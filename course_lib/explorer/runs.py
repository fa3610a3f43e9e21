"""The runs that the explorer compares, made in one call."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from course_lib.decoder import Decoder
from course_lib.explorer.widget import Explorer
from course_lib.trace import Trace


def explore(
    model: Decoder,
    tokens: Sequence[int] | Tensor,
    memory: Tensor | None = None,
    max_new_tokens: int = 0,
    text: Callable[[int], str] = str,
    memory_strings: Sequence[str] = (),
    **settings,
) -> Explorer:
    """Run a decoder in the three ways that the explorer compares, and look at it.

    It writes with a cache; then everything written goes through the model once more
    without its causal mask, and once as a training row: each token's target is the next.

    Args:
        model: a Decoder, or an EncoderDecoder whose decoder writes.
        tokens: (position,) ids of the prompt.
        memory: (1, key, d_model) for cross-attention.
        max_new_tokens: tokens to write after the prompt.
        text: turns an id into what is shown.
        memory_strings: what stands at each place of the memory.
        **settings: sampler, eos_id, use_cache, n_beams and length_penalty as in
            Trace.record; all others as in Explorer.

    Raises:
        ValueError: as Trace.record and Explorer.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> explore(decoder, [1, 2, 3], max_new_tokens=4).header["traces"]["main"]["n_memory"]
    0
    """
    of_record = ("sampler", "eos_id", "use_cache", "n_beams", "length_penalty")
    recorded = {name: settings.pop(name) for name in of_record if name in settings}
    shown = {"memory": memory, "text": text, "memory_strings": memory_strings}
    trace = Trace.record(
        model, tokens, max_new_tokens=max_new_tokens, **shown, **recorded
    )
    written = torch.tensor(trace.tokens)
    unmasked = training = None
    if trace.config["causal"]:
        unmasked = Trace.record(model, written, masked=False, **shown)
    if len(written) > 1:
        training = Trace.record(model, written[:-1], targets=written[1:], **shown)
    return Explorer(trace, unmasked, training, **settings)
