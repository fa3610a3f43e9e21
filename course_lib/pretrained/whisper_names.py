"""What others call Whisper's weights: two files' names, and ours for each."""

import re
from collections.abc import Iterator, Mapping

from torch import Tensor

SELF, CROSS = "self_attention", "cross_attention"
# Where a file stacks several projections, the parts stand in the order of its rows.
CTRANSLATE2 = {
    "conv1": ["stem.first"],
    "conv2": ["stem.second"],
    "embeddings": ["embedding"],
    "position_encodings": ["embedding.positions"],
    "layer_norm": ["stack.final_norm"],
    "self_attention/layer_norm": ["self_norm"],
    "self_attention/linear_0": [
        f"{SELF}.to_{what}" for what in ("queries", "keys", "values")
    ],
    "self_attention/linear_1": [f"{SELF}.to_output"],
    "attention/layer_norm": ["cross_norm"],
    "attention/linear_0": [f"{CROSS}.to_queries"],
    "attention/linear_1": [f"{CROSS}.to_keys", f"{CROSS}.to_values"],
    "attention/linear_2": [f"{CROSS}.to_output"],
    "ffn/layer_norm": ["feed_norm"],
    "ffn/linear_0": ["feed_forward.to_hidden"],
    "ffn/linear_1": ["feed_forward.to_output"],
}
HUB = {
    "conv1": ["stem.first"],
    "conv2": ["stem.second"],
    "embed_tokens": ["embedding"],
    "embed_positions": ["embedding.positions"],
    "layer_norm": ["stack.final_norm"],
    "self_attn_layer_norm": ["self_norm"],
    "encoder_attn_layer_norm": ["cross_norm"],
    "final_layer_norm": ["feed_norm"],
    "fc1": ["feed_forward.to_hidden"],
    "fc2": ["feed_forward.to_output"],
} | {
    f"{theirs}.{letter}_proj": [f"{ours}.to_{what}"]
    for theirs, ours in (("self_attn", SELF), ("encoder_attn", CROSS))
    for letter, what in (
        ("q", "queries"),
        ("k", "keys"),
        ("v", "values"),
        ("out", "output"),
    )
}
PATTERN = re.compile(r"(encoder|decoder)[./](?:layers?[._](\d+)[./])?(.+)[./](\w+)")


def our_names(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of a Whisper file under the names of the course's model.

    Args:
        stored: name -> tensor, as CTranslate2 or as the Hugging Face hub names them.

    Returns:
        name -> tensor: names of an EncoderDecoder's parameters and buffers. Settings,
        and the head, which is the embedding, are left out.

    Raises:
        ValueError: a weight has no place in this model.

    Source: CTranslate2, specs/whisper_spec.py; transformers, modeling_whisper.py.
    Lesson: notebooks/14_captions.ipynb

    >>> list(our_names({"model.decoder.layers.3.fc1.bias": torch.zeros(5)}))
    ['decoder.stack.blocks.3.feed_forward.to_hidden.bias']
    >>> fused = {"decoder/layer_3/attention/linear_1/bias": torch.tensor([2.0, 3.0])}
    >>> our_names(fused)["decoder.stack.blocks.3.cross_attention.to_values.bias"]
    tensor([3.])
    """
    return dict(
        pair
        for name, tensor in stored.items()
        for pair in _renamed(name.removeprefix("model."), tensor)
    )


def _renamed(name: str, tensor: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield our names for one stored tensor, with the rows that each one has."""
    if not tensor.ndim or name in ("proj_out.weight", "decoder/projection/weight"):
        return
    found = PATTERN.fullmatch(name)
    half, layer, part, kind = found.groups() if found else (None, None, name, None)
    parts = (CTRANSLATE2 if "/" in name else HUB).get(part)
    if not parts:
        raise ValueError(f"the weights {name} have no place in Whisper")
    if half == "encoder" and parts == ["embedding.positions"]:
        parts = ["stem.positions"]
    place = half if layer is None else f"{half}.stack.blocks.{layer}"
    for ours, rows in zip(parts, tensor.tensor_split(len(parts)), strict=True):
        yield f"{place}.{ours}.{_kind(ours, kind)}", rows


def _kind(part: str, kind: str) -> str:
    """Return which parameter of our module a stored one is."""
    if kind in ("bias", "beta"):
        return "bias"
    if part.endswith("norm"):
        return "gain"
    return "table" if part.endswith("positions") else "weight"
