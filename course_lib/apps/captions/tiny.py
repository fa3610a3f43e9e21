"""A speech model without weights to fetch: it hears nonsense, in the right format."""

from dataclasses import replace

import tokenizers
import torch

from course_lib.config import DecoderConfig
from course_lib.decoder import Decoder
from course_lib.encoder import AudioEncoder
from course_lib.pretrained.speech import END, PLAIN, PREVIOUS, START, SpeechTokenizer
from course_lib.pretrained.whisper import Whisper


def tiny_whisper(seed: int = 0) -> tuple[Whisper, SpeechTokenizer]:
    """Build Whisper's kind of model with random weights, and a tokenizer of bytes.

    Args:
        seed: starts the generator of the weights.

    Source: Radford et al. (2022), arXiv:2212.04356.
    Lesson: notebooks/14_captions.ipynb

    >>> model, tokenizer = tiny_whisper()
    >>> len(model.alignment_heads), tokenizer.encode("Hi")
    (2, [39, 72])
    """
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    places = {letter: place for place, letter in enumerate(letters)}
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE(places, []))
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.add_special_tokens([END, START, PREVIOUS, PLAIN])
    tokenizer = SpeechTokenizer(bpe.to_str(), suppressed_first=[256])
    tokenizer.suppressed = sorted(tokenizer.special_ids - {tokenizer.eos_id})
    config = DecoderConfig.whisper_tiny(
        vocab_size=tokenizer.vocab_size, d_model=24, n_layers=2, n_heads=3, d_ff=20
    )
    generator = torch.Generator().manual_seed(seed)
    encoder = AudioEncoder(replace(config, max_length=1500), generator=generator)
    model = Whisper(encoder, Decoder(config, generator), [(0, 1), (1, 2)])
    return model.eval(), tokenizer
