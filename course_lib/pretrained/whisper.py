"""Whisper: its weights in the course's encoder and decoder, and its tokenizer."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from course_lib.config import DecoderConfig
from course_lib.decoder import Decoder
from course_lib.encoder import AudioEncoder, EncoderDecoder
from course_lib.hardware import threads
from course_lib.pretrained.ctranslate2 import read_ctranslate2
from course_lib.pretrained.speech import SpeechTokenizer
from course_lib.pretrained.whisper_names import our_names

UNREADABLE = (
    OSError,
    SafetensorError,
    TypeError,
    UnicodeDecodeError,
    json.JSONDecodeError,
)
POSITIONS = "encoder.stem.positions.table"


class _Layout(NamedTuple):
    """Where a folder keeps weights and settings, and what those call suppressed ids."""

    weights: str
    read: Callable[[Path], dict[str, Tensor]]
    settings: str
    always: str
    first: str


HUB = _Layout(
    weights="model.safetensors",
    read=load_file,
    settings="generation_config.json",
    always="suppress_tokens",
    first="begin_suppress_tokens",
)
CTRANSLATE2 = _Layout(
    weights="model.bin",
    read=read_ctranslate2,
    settings="config.json",
    always="suppress_ids",
    first="suppress_ids_begin",
)


class Whisper(EncoderDecoder):
    """An EncoderDecoder of speech that knows which of its heads follow the sound.

    Args:
        encoder: turns a spectrogram into memory.
        decoder: writes what it hears.
        alignment_heads: (layer, head) of each cross-attention whose weights tell when
            a token was spoken.

    Raises:
        ValueError: a head is not in the decoder.

    Source: Radford et al. (2022), arXiv:2212.04356, section 2.2.
    Lesson: notebooks/14_captions.ipynb
    """

    def __init__(
        self,
        encoder: AudioEncoder,
        decoder: Decoder,
        alignment_heads: Sequence[tuple[int, int]] = (),
    ):
        super().__init__(encoder, decoder)
        self.alignment_heads = [
            (int(layer), int(head)) for layer, head in alignment_heads
        ]
        n_layers, n_heads = decoder.config.n_layers, decoder.config.n_heads
        for layer, head in self.alignment_heads:
            if not (0 <= layer < n_layers and 0 <= head < n_heads):
                raise ValueError(
                    f"an alignment head was (layer, head) = {(layer, head)}; this decoder "
                    f"has {n_layers} layers of {n_heads} heads"
                )


def read_whisper(
    folder: str | Path, config: DecoderConfig | None = None
) -> tuple[Whisper, SpeechTokenizer]:
    """Build the model and the tokenizer that a folder holds.

    Args:
        folder: holds tokenizer.json and the weights: model.bin with config.json, as
            CTranslate2 converts Whisper, or model.safetensors with
            generation_config.json, as the Hugging Face hub has openai/whisper-tiny.en
            and transformers' save_pretrained lays it out.
        config: a decoder of the weights' sizes; None takes DecoderConfig.whisper_tiny().
            The encoder gets the same sizes and its own number of positions.

    Returns:
        the model, float32, in eval mode, and the tokenizer.

    Raises:
        ValueError: a file is missing or damaged, or holds another model.

    Source: Radford et al. (2022), arXiv:2212.04356, table 1.
    Lesson: notebooks/14_captions.ipynb

    >>> read_whisper("no such folder")
    Traceback (most recent call last):
    ValueError: the Whisper in no such folder cannot be read: No such file ...
    """
    weights, heads, tokenizer = _read(Path(folder))
    config = config or DecoderConfig.whisper_tiny()
    if tokenizer.vocab_size != config.vocab_size:
        raise ValueError(
            f"the tokenizer in {folder} has {tokenizer.vocab_size} ids and the model "
            f"{config.vocab_size}: is it another model's?"
        )
    n_positions = len(weights.get(POSITIONS, "?"))  # if missing, the copying says so
    encoder = AudioEncoder(replace(config, max_length=n_positions), initialise=False)
    model = Whisper(encoder, Decoder(config, initialise=False), heads)
    _copy_weights(weights, model)
    return model.eval(), tokenizer


def _read(folder: Path) -> tuple[dict[str, Tensor], list, SpeechTokenizer]:
    """Read weights under our names, alignment heads and tokenizer, in either layout."""
    layout = CTRANSLATE2 if (folder / "model.bin").is_file() else HUB
    try:
        weights = our_names(layout.read(folder / layout.weights))
        settings = json.loads((folder / layout.settings).read_bytes())
        suppressed = settings[layout.always], settings[layout.first]
        heads = settings["alignment_heads"]
        stored = (folder / "tokenizer.json").read_text(encoding="utf-8")
    except KeyError as error:
        raise ValueError(f"{folder / layout.settings} lacks {error}") from None
    except UNREADABLE as error:
        raise ValueError(f"the Whisper in {folder} cannot be read: {error}") from error
    return weights, heads, SpeechTokenizer(stored, *suppressed)


def _copy_weights(weights: dict[str, Tensor], model: Whisper) -> None:
    """Copy every tensor into the place it belongs to; a key bias may be left out."""
    with threads(1), torch.no_grad():
        for name, target in chain(model.named_parameters(), model.named_buffers()):
            stored = weights.pop(name, None)
            if stored is None and name.endswith("to_keys.bias"):
                stored = torch.zeros_like(target)  # it cannot change a softmax
            if stored is None or stored.shape != target.shape:
                raise ValueError(
                    f"the weights for {name} have shape "
                    f"{None if stored is None else tuple(stored.shape)}, expected "
                    f"{tuple(target.shape)}: is it another model?"
                )
            target.copy_(stored)
    if weights:
        raise ValueError(
            f"{len(weights)} weights have no place in this model, such as "
            f"{min(weights)}: is it another model?"
        )
