"""GPT-2 small: the weights of its published checkpoint in the course's decoder."""

import json
from pathlib import Path

import tokenizers
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.pretrained.hub import FILES
from course_lib.tokens import BPETokenizer

END = "<|endoftext|>"
OUTER_NAMES = {
    "embedding.weight": "wte.weight",
    "embedding.positions.table": "wpe.weight",
    "stack.final_norm.gain": "ln_f.weight",
    "stack.final_norm.bias": "ln_f.bias",
}
BLOCK_NAMES = {
    "self_norm.gain": "ln_1.weight",
    "self_norm.bias": "ln_1.bias",
    "self_attention.to_output": "attn.c_proj",
    "feed_norm.gain": "ln_2.weight",
    "feed_norm.bias": "ln_2.bias",
    "feed_forward.to_hidden": "mlp.c_fc",
    "feed_forward.to_output": "mlp.c_proj",
}
# One stored projection holds all three, side by side.
FUSED = (
    "self_attention.to_queries",
    "self_attention.to_keys",
    "self_attention.to_values",
)


def read_gpt2(folder: str | Path) -> tuple[Decoder, BPETokenizer]:
    """Build the decoder and the tokenizer that a saved GPT-2 checkpoint holds.

    Args:
        folder: holds config.json, model.safetensors and tokenizer.json, as the
            Hugging Face hub and transformers' save_pretrained lay them out.

    Returns:
        the decoder, float32, in eval mode, and the tokenizer.

    Raises:
        ValueError: a file is missing or damaged, or holds another model.

    Source: Radford et al. (2019), Language models are unsupervised multitask learners.
    Lesson: notebooks/08_decoder.ipynb

    >>> read_gpt2("no such folder")
    Traceback (most recent call last):
    ValueError: the folder no such folder holds no config.json, ...
    """
    folder = Path(folder)
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        raise ValueError(
            f"the folder {folder} holds no {', '.join(missing)}; a GPT-2 checkpoint has "
            f"{', '.join(FILES)}"
        )
    try:
        decoder = Decoder(_config(folder / "config.json"), initialise=False)
        with safe_open(folder / "model.safetensors", framework="pt") as file:
            _copy_weights(file, decoder)
        bpe = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    except ValueError:
        raise
    except (SafetensorError, KeyError, OSError, RuntimeError) as error:
        raise ValueError(
            f"the checkpoint in {folder} cannot be read: {error}"
        ) from error
    except Exception as error:  # the tokenizers library raises Exception itself
        raise ValueError(
            f"{folder / 'tokenizer.json'} cannot be read: {error}"
        ) from error
    return decoder.eval(), BPETokenizer(bpe, bos=END, eos=END)


def _config(path: Path) -> DecoderConfig:
    stored = json.loads(path.read_text(encoding="utf-8"))
    if stored.get("model_type") != "gpt2":
        raise ValueError(
            f"{path} describes a {stored.get('model_type')!r}, expected 'gpt2'"
        )
    return DecoderConfig.gpt2_small(
        vocab_size=stored["vocab_size"],
        d_model=stored["n_embd"],
        n_layers=stored["n_layer"],
        n_heads=stored["n_head"],
        n_kv_heads=None,
        d_ff=stored.get("n_inner"),
        max_length=stored["n_positions"],
        eps=stored["layer_norm_epsilon"],
    )


def _copy_weights(file, decoder: Decoder) -> None:
    """Copy each stored tensor into the parameter it belongs to."""
    # save_pretrained writes "transformer.wte.weight"; the hub's own file, "wte.weight".
    prefix = "transformer." if "transformer.wte.weight" in file.keys() else ""  # noqa: SIM118
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            weights = _stored(file, prefix, name)
            if weights.shape != parameter.shape:
                raise ValueError(
                    f"the weights for {name} have shape {tuple(weights.shape)}, expected "
                    f"{tuple(parameter.shape)}: is it another model?"
                )
            parameter.copy_(weights)


def _stored(file, prefix: str, name: str) -> Tensor:
    """Read what the checkpoint holds for one parameter of the decoder."""
    if name in OUTER_NAMES:
        return file.get_tensor(prefix + OUTER_NAMES[name])
    _, _, layer, part = name.split(".", 3)
    block = f"{prefix}h.{layer}."
    if part in BLOCK_NAMES:
        return file.get_tensor(block + BLOCK_NAMES[part])
    module, kind = part.rsplit(".", 1)
    if module in FUSED:
        fused = file.get_tensor(f"{block}attn.c_attn.{kind}")
        tensor = fused.chunk(3, dim=-1)[FUSED.index(module)]
    else:
        tensor = file.get_tensor(f"{block}{BLOCK_NAMES[module]}.{kind}")
    return tensor.t() if kind == "weight" else tensor  # stored (d_in, d_out)
