"""A small Whisper of transformers, and its weights written as CTranslate2 writes them."""

import json
import struct

import pytest
import tokenizers
import torch

from course_lib.config import DecoderConfig

SPECIAL = [
    "<|endoftext|>",
    "<|startoftranscript|>",
    "<|startofprev|>",
    "<|notimestamps|>",
]
N_TIMES = 1501
SETTINGS = {
    "suppress_ids": [1, 7],
    "suppress_ids_begin": [220, 256],
    "alignment_heads": [[1, 2], [0, 3]],
}
CONFIG = DecoderConfig.whisper_tiny(
    vocab_size=256 + len(SPECIAL) + N_TIMES,
    d_model=24,
    n_layers=2,
    n_heads=4,
    d_ff=20,
    max_length=23,
)
N_POSITIONS = 35
# transformers' name -> CTranslate2's, which part of it, of how many.
BLOCK = {
    "self_attn.q_proj": ("self_attention/linear_0", 0, 3),
    "self_attn.k_proj": ("self_attention/linear_0", 1, 3),
    "self_attn.v_proj": ("self_attention/linear_0", 2, 3),
    "self_attn.out_proj": ("self_attention/linear_1", 0, 1),
    "self_attn_layer_norm": ("self_attention/layer_norm", 0, 1),
    "encoder_attn.q_proj": ("attention/linear_0", 0, 1),
    "encoder_attn.k_proj": ("attention/linear_1", 0, 2),
    "encoder_attn.v_proj": ("attention/linear_1", 1, 2),
    "encoder_attn.out_proj": ("attention/linear_2", 0, 1),
    "encoder_attn_layer_norm": ("attention/layer_norm", 0, 1),
    "fc1": ("ffn/linear_0", 0, 1),
    "fc2": ("ffn/linear_1", 0, 1),
    "final_layer_norm": ("ffn/layer_norm", 0, 1),
}


def transformers_whisper(config, n_positions):
    """Build transformers' Whisper of the sizes of a decoder's config."""
    transformers = pytest.importorskip(
        "transformers", reason="the extra `compare` (transformers) is not installed"
    )
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers"), config.n_layers)
    sizes |= dict.fromkeys(
        ("encoder_attention_heads", "decoder_attention_heads"), config.n_heads
    )
    sizes |= dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), config.d_ff)
    made = transformers.WhisperConfig(
        vocab_size=config.vocab_size,
        d_model=config.d_model,
        max_source_positions=n_positions,
        max_target_positions=config.max_length,
        suppress_tokens=None,
        begin_suppress_tokens=None,
        **dict.fromkeys(
            ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"),
            0,
        ),
        **sizes,
    )
    return transformers.WhisperForConditionalGeneration(made).eval()


def place(name):
    """Return where CTranslate2 keeps a parameter of transformers: name, part, parts."""
    half, rest = name.removeprefix("model.").split(".", 1)
    part, kind = rest.rsplit(".", 1)
    if "norm" in part:
        kind = {"weight": "gamma", "bias": "beta"}[kind]
    if part.startswith("layers."):
        _, layer, part = part.split(".", 2)
        stored, index, n = BLOCK[part]
        return f"{half}/layer_{layer}/{stored}/{kind}", index, n
    outer = {
        "embed_tokens": "embeddings/weight",
        "embed_positions": "position_encodings/encodings",
    }
    return f"{half}/{outer.get(part, f'{part}/{kind}')}", 0, 1


def fused(model):
    """Return a transformers Whisper's weights under CTranslate2's names."""
    parts = {}
    for name, parameter in model.named_parameters():
        stored, index, _ = place(name)
        parts.setdefault(stored, {})[index] = parameter.detach()
    for stored, found in parts.items():
        if stored.endswith("linear_0/bias") and len(found) == 2:  # keys have none
            found[1] = torch.zeros_like(found[0])
        if stored.endswith("/attention/linear_1/bias"):
            found[0] = torch.zeros_like(found[1])
    return {
        name: torch.cat([found[i] for i in sorted(found)])
        for name, found in parts.items()
    }


def unfuse(stored, model):
    """Fill a transformers Whisper from tensors under CTranslate2's names."""
    for name, parameter in model.named_parameters():
        key, index, n = place(name)
        parameter.data.copy_(stored[key].chunk(n)[index].float())
    return model


def text(value):
    """Return a text as CTranslate2 stores it."""
    return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"


def variable(name, tensor):
    """Return a tensor as CTranslate2 stores it, in half precision as the real file."""
    raw = tensor.half().numpy().tobytes()
    shape = struct.pack(f"<B{tensor.ndim}I", tensor.ndim, *tensor.shape)
    return text(name) + shape + struct.pack("<BI", 4, len(raw)) + raw


def ctranslate2_bytes(tensors, aliases=(), version=6):
    """Build a model.bin."""
    head = struct.pack("<I", version) + text("WhisperSpec")
    head += struct.pack("<II", 3, len(tensors))
    body = b"".join(variable(name, tensor) for name, tensor in tensors.items())
    names = b"".join(text(alias) + text(name) for alias, name in aliases)
    return head + body + struct.pack("<I", len(aliases)) + names


def tokenizer_json():
    """Return a byte-level BPE without merges, with the special tokens but no times."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    bpe = tokenizers.Tokenizer(
        tokenizers.models.BPE({letter: i for i, letter in enumerate(letters)}, [])
    )
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    bpe.add_special_tokens(SPECIAL)
    return bpe.to_str()


def write_converted(folder, tensors):
    """Write a folder as CTranslate2 does."""
    aliases = [("decoder/projection/weight", "decoder/embeddings/weight")]
    (folder / "model.bin").write_bytes(ctranslate2_bytes(tensors, aliases))
    (folder / "config.json").write_text(json.dumps(SETTINGS))
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    return folder


def write_published(folder, model):
    """Write a folder as the hub has it."""
    model.save_pretrained(folder)
    settings = {
        "suppress_tokens": SETTINGS["suppress_ids"],
        "begin_suppress_tokens": SETTINGS["suppress_ids_begin"],
        "alignment_heads": SETTINGS["alignment_heads"],
    }
    (folder / "generation_config.json").write_text(json.dumps(settings))
    (folder / "tokenizer.json").write_text(tokenizer_json(), encoding="utf-8")
    return folder
