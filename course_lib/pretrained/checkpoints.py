"""Small models of our own training: stored beside the code, each with its card."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.tokens import Tokenizer, describe, rebuild

TRAINED = Path(__file__).with_name("trained")
WEIGHTS, VOCABULARY, CARD = "model.safetensors", "tokenizers.json", "card.md"
DIGEST = re.compile(rf"sha256 of {re.escape(WEIGHTS)}: `(\w+)`")
LARGEST = 5_000_000  # bytes; the repository carries these files


def save(
    folder: str | Path,
    model: Decoder | EncoderDecoder,
    tokenizers: Sequence[Tokenizer],
    card: str,
    largest: int | None = LARGEST,
) -> Path:
    """Store a model in half precision, its tokenizers and its card in a folder.

    Args:
        folder: made if it is not there; files in it are written over.
        model: a decoder, or an encoder with a decoder; its configs go into the file.
        tokenizers: those that it was trained with: the decoder's own one, or the
            encoder's and the decoder's.
        card: Markdown that says what it is; the sha256 of the weights is added.
        largest: bytes that the weights may have; None: any number.

    Returns:
        the folder.

    Raises:
        ValueError: a weight is not finite in float16, the tokenizers are not one a
            vocabulary or of another size, or the file would be larger than allowed.

    Source: safetensors, its format description (github.com/huggingface/safetensors).
    Lesson: notebooks/11_training.ipynb

    >>> from course_lib.tokens import CharacterTokenizer
    >>> decoder = Decoder(DecoderConfig(11, d_model=6, n_layers=1, n_heads=3))
    >>> save("never made", decoder, [CharacterTokenizer("ab")], "# Two that do not fit")
    Traceback (most recent call last):
    ValueError: the decoder has 11 ids and its tokenizer 2: ...
    """
    halves = _halves(model)
    if len(halves) != len(tokenizers):
        raise ValueError(
            f"{len(tokenizers)} tokenizers were given; pass one for each of "
            f"{' and '.join(halves)}"
        )
    for (name, half), tokenizer in zip(halves.items(), tokenizers, strict=True):
        if half.config.vocab_size != tokenizer.vocab_size:
            raise ValueError(
                f"the {name} has {half.config.vocab_size} ids and its tokenizer "
                f"{tokenizer.vocab_size}: pass the tokenizer it was trained with"
            )
    configs = {name: asdict(half.config) for name, half in halves.items()}
    # One entry: safetensors writes several in any order, and then no two files agree.
    metadata = {"configs": json.dumps(configs)}
    stored = safetensors.torch.save(_in_half_precision(model), metadata)
    if largest is not None and len(stored) > largest:
        raise ValueError(
            f"the weights need {len(stored)} bytes, at most {largest} are allowed: "
            "train a smaller model"
        )
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / WEIGHTS).write_bytes(stored)
    descriptions = [describe(tokenizer) for tokenizer in tokenizers]
    text = json.dumps(descriptions, ensure_ascii=False)
    (folder / VOCABULARY).write_text(text, encoding="utf-8")
    digest = hashlib.sha256(stored).hexdigest()
    card = DIGEST.sub("", card).rstrip()
    text = f"{card}\n\nsha256 of {WEIGHTS}: `{digest}`\n"
    (folder / CARD).write_text(text, encoding="utf-8")
    return folder


def read(
    name: str, home: str | Path = TRAINED
) -> tuple[Decoder | EncoderDecoder, list[Tokenizer]]:
    """Build the model and the tokenizers that a folder of `save` holds.

    Args:
        name: of the folder.
        home: where the folder lies; the default holds the course's own.

    Returns:
        the model, float32 on the CPU, in eval mode, and its tokenizers as in save.

    Raises:
        ValueError: a file is missing, cannot be read, or is not the one of the card.

    Source: safetensors, its format description (github.com/huggingface/safetensors).
    Lesson: notebooks/11_training.ipynb

    >>> read("no such folder")
    Traceback (most recent call last):
    ValueError: ... holds no model.safetensors, tokenizers.json, card.md: ...
    """
    folder = Path(home) / name
    names = (WEIGHTS, VOCABULARY, CARD)
    if missing := [each for each in names if not (folder / each).is_file()]:
        raise ValueError(
            f"{folder} holds no {', '.join(missing)}: restore the files from the "
            "repository, or train the model again as its card says"
        )
    _check_digest(folder)
    try:
        with safe_open(folder / WEIGHTS, framework="pt") as file:
            configs = json.loads((file.metadata() or {})["configs"])
            model = _model(file, configs)
    except (SafetensorError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(
            f"{folder / WEIGHTS} is no model of ours: {error!r}"
        ) from error
    try:
        descriptions = json.loads((folder / VOCABULARY).read_text(encoding="utf-8"))
        tokenizers = [rebuild(description) for description in descriptions]
        sizes = [tokenizer.vocab_size for tokenizer in tokenizers]
        if sizes != [half.config.vocab_size for half in _halves(model).values()]:
            raise ValueError(
                f"its tokenizers have {sizes} ids, which is not the model's"
            )
        return model, tokenizers
    except Exception as error:  # the tokenizers library raises Exception itself
        raise ValueError(f"{folder / VOCABULARY} cannot be read: {error}") from error


def _halves(model: Decoder | EncoderDecoder) -> dict[str, nn.Module]:
    """Name the parts that have a vocabulary of their own."""
    if isinstance(model, EncoderDecoder):
        return {"encoder": model.encoder, "decoder": model.decoder}
    return {"decoder": model}


def _in_half_precision(model: nn.Module) -> dict[str, torch.Tensor]:
    """Round every parameter to float16; a tied head is there once."""
    tensors = {}
    for name, parameter in model.named_parameters():
        half = parameter.detach().cpu().to(torch.float16).contiguous()
        if not half.isfinite().all():
            raise ValueError(
                f"{name} holds a NaN or a number beyond 65504, the largest of float16: "
                "did the run diverge?"
            )
        tensors[name] = half
    return tensors


def _check_digest(folder: Path) -> None:
    """Compare the weights with what the card says of them."""
    found = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    card = (folder / CARD).read_text(encoding="utf-8", errors="replace")
    written = DIGEST.findall(card)
    if written != [found]:
        raise ValueError(
            f"{folder / WEIGHTS} has the sha256 {found[:12]}…, its card says "
            f"{written[0][:12] + '…' if written else 'none'}: restore both from the "
            "repository"
        )


def _model(file, configs: dict) -> Decoder | EncoderDecoder:
    """Copy the stored tensors into a model of the stored configs."""
    decoder = Decoder(DecoderConfig(**configs["decoder"]), initialise=False)
    model = decoder
    if "encoder" in configs:
        model = EncoderDecoder(Encoder(DecoderConfig(**configs["encoder"])), decoder)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(file.get_tensor(name))
    return model.eval()
