"""Pretrained weights: fetched once, verified, and loaded into the course's decoder."""

from typing import TYPE_CHECKING

from course_lib.pretrained.assets import AssetError, find_asset
from course_lib.pretrained.hub import gpt2_folder
from course_lib.pretrained.storage import verified_files

if TYPE_CHECKING:
    from course_lib.decoder import Decoder
    from course_lib.encoder import EncoderDecoder
    from course_lib.tokens import Tokenizer

__all__ = ["AssetError", "load"]

OWN = ("python-source", "pronunciations", "english-german")
LOADABLE = ("smollm2", "whisper-tiny.en", "gpt2", *OWN)


def load(name: str) -> tuple["Decoder | EncoderDecoder", "Tokenizer | list[Tokenizer]"]:
    """Return a pretrained model, ready to use, and its tokenizer.

    The weight files must have been fetched before; nothing is downloaded here. Each is
    compared with its sha256 first. Small ones of our own come with the course.

    Args:
        name: "smollm2", SmolLM2-135M-Instruct, a small chat model; "whisper-tiny.en",
            Whisper, an EncoderDecoder that writes down English speech; "gpt2", GPT-2
            small, which only the Hugging Face hub has. Of our own training, and with
            nothing to fetch: "python-source" completes Python, "pronunciations" turns
            spellings into phonemes, "english-german" translates number names and dates.

    Returns:
        the model, float32 on the CPU, in eval mode, and the tokenizer; of a translator
        those of its source and of its target.

    Raises:
        ValueError: no model has that name; the message lists the names. Or a file of
            our own is missing or damaged.
        AssetError: the weight file is missing or damaged; the message names the
            command that fetches it.

    Source: Ben Allal et al. (2025), SmolLM2, arXiv:2502.02737.
    Lesson: notebooks/00_start.ipynb

    >>> load("gpt-5")
    Traceback (most recent call last):
    ValueError: unknown model 'gpt-5': choose one of smollm2, whisper-tiny.en, gpt2, ...
    """
    if name not in LOADABLE:
        raise ValueError(f"unknown model {name!r}: choose one of {', '.join(LOADABLE)}")
    if name == "gpt2":
        folder = gpt2_folder()
        from course_lib.pretrained.gpt2 import read_gpt2  # late, as below

        return read_gpt2(folder)
    if name in OWN:
        from course_lib.pretrained.checkpoints import read  # late, as below

        model, tokenizers = read(name)
        return model, tokenizers if len(tokenizers) > 1 else tokenizers[0]
    path, *_ = verified_files(find_asset(name))
    if name == "whisper-tiny.en":
        from course_lib.pretrained.whisper import read_whisper  # late, as below

        return read_whisper(path.parent)
    from course_lib.pretrained.smollm2 import (
        read_smollm2,
    )  # late: fetching weights needs no torch

    return read_smollm2(path)
