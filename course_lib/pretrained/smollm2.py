"""SmolLM2-135M-Instruct: its weights in the course's decoder, and its tokenizer."""

import re
from pathlib import Path

import torch
from torch import Tensor

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.hardware import threads
from course_lib.pretrained.chat import ChatTokenizer
from course_lib.pretrained.gguf import GGUFFile

OUTER_NAMES = {
    "embedding.weight": "token_embd.weight",
    "stack.final_norm.gain": "output_norm.weight",
}
BLOCK_NAMES = {
    "self_norm.gain": "attn_norm.weight",
    "self_attention.to_queries.weight": "attn_q.weight",
    "self_attention.to_keys.weight": "attn_k.weight",
    "self_attention.to_values.weight": "attn_v.weight",
    "self_attention.to_output.weight": "attn_output.weight",
    "feed_norm.gain": "ffn_norm.weight",
    "feed_forward.to_gate.weight": "ffn_gate.weight",
    "feed_forward.to_hidden.weight": "ffn_up.weight",
    "feed_forward.to_output.weight": "ffn_down.weight",
}
CONTROL_TOKEN = 3


def read_smollm2(
    path: str | Path, config: DecoderConfig | None = None
) -> tuple[Decoder, ChatTokenizer]:
    """Build the decoder and the tokenizer that a GGUF file of SmolLM2 holds.

    The decoder's parameters keep their layout in memory; weights are copied into them.

    Args:
        path: the file.
        config: a decoder of the file's sizes with rotary pairing "half" and a tied
            head; None takes DecoderConfig.smollm2_135m().

    Returns:
        the decoder, float32, in eval mode, and the tokenizer.

    Raises:
        ValueError: the file is damaged or holds another model.

    Source: Ben Allal et al. (2025), SmolLM2, arXiv:2502.02737.
    Lesson: notebooks/00_start.ipynb

    >>> import os
    >>> read_smollm2(os.devnull)
    Traceback (most recent call last):
    ValueError: ... is cut: the magic number needs 4 bytes at byte 0, 0 are left
    """
    file = GGUFFile(path)
    tokenizer = _build_tokenizer(file)
    decoder = Decoder(config or DecoderConfig.smollm2_135m(), initialise=False)
    _copy_weights(file, decoder)
    return decoder.eval(), tokenizer


def stored_name(name: str) -> str:
    """Return the name that a parameter of the decoder has in a GGUF file.

    Args:
        name: a name of Decoder.named_parameters().

    Raises:
        ValueError: GGUF has no name for it.

    Source: ggml project, docs/gguf.md, "Standardized tensor names".
    Lesson: notebooks/08_decoder.ipynb

    >>> stored_name("stack.blocks.7.feed_forward.to_hidden.weight")
    'blk.7.ffn_up.weight'
    """
    if name in OUTER_NAMES:
        return OUTER_NAMES[name]
    block = re.fullmatch(r"stack\.blocks\.(\d+)\.(.+)", name)
    if block is None or block[2] not in BLOCK_NAMES:
        raise ValueError(f"the parameter {name} has no name in a Llama GGUF file")
    return f"blk.{block[1]}.{BLOCK_NAMES[block[2]]}"


def halves_from_pairs(weights: Tensor, d_head: int) -> Tensor:
    """Reorder a query or key projection for rotary positions that turn halves.

    The file's rows suit rotation of neighbours, (0, 1), (2, 3) ...; here the first half
    of a head is rotated against the second.

    Args:
        weights: (head * d_head, d_model).
        d_head: even.

    Returns:
        (head * d_head, d_model): in each head the even rows, then the odd ones.

    Source: Su et al. (2021), RoFormer, arXiv:2104.09864, eq. 34.
    Lesson: notebooks/04_positions.ipynb

    >>> halves_from_pairs(torch.arange(6.0).view(6, 1), d_head=6).flatten()
    tensor([0., 2., 4., 1., 3., 5.])
    """
    return weights.unflatten(0, (-1, d_head // 2, 2)).transpose(1, 2).flatten(0, 2)


def _copy_weights(file: GGUFFile, decoder: Decoder) -> None:
    """Copy every tensor of the file into the decoder's parameters."""
    left_over = set(file.shapes)
    with threads(1), torch.no_grad():
        for name, parameter in decoder.named_parameters():
            stored = stored_name(name)
            weights = file.tensor(stored)
            if weights.shape != parameter.shape:
                raise ValueError(
                    f"{stored} in {file.path} has shape {tuple(weights.shape)}, "
                    f"expected {tuple(parameter.shape)}: is it another model?"
                )
            if stored.endswith(("attn_q.weight", "attn_k.weight")):
                weights = halves_from_pairs(weights, decoder.config.d_head)
            parameter.copy_(weights)
            left_over.discard(stored)
    if left_over:
        raise ValueError(
            f"{file.path} holds {len(left_over)} tensors that this decoder has no "
            f"place for, such as {min(left_over)}: is it another model?"
        )


def _build_tokenizer(file: GGUFFile) -> ChatTokenizer:
    """Rebuild the tokenizer from the fields of the file."""
    if (kind := file.field("tokenizer.ggml.pre")) != "smollm":
        raise ValueError(f"{file.path} has a tokenizer {kind!r}, expected 'smollm'")
    tokens, merges, kinds = (
        file.field(f"tokenizer.ggml.{name}")
        for name in ("tokens", "merges", "token_type")
    )
    if not all(isinstance(texts, list) for texts in (tokens, merges, kinds)):
        raise ValueError(f"{file.path} has a vocabulary that is no list: is it whole?")
    return ChatTokenizer(
        tokens,
        merges=[tuple(pair.split(" ")) for pair in merges],
        special=[t for t, k in zip(tokens, kinds, strict=False) if k == CONTROL_TOKEN],
    )
