"""A chat model without weights to fetch: it writes nonsense, in the right format."""

import torch
from tokenizers import pre_tokenizers

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.pretrained.chat import END, START, ChatTokenizer


def tiny_chat(seed: int = 0, **changes) -> tuple[Decoder, ChatTokenizer]:
    """Build SmolLM2's kind of decoder with random weights, and a tokenizer of bytes.

    Args:
        seed: starts the generator of the weights.
        **changes: fields of DecoderConfig.

    Source: Ben Allal et al. (2025), SmolLM2, arXiv:2502.02737.
    Lesson: notebooks/13_chat.ipynb

    >>> model, tokenizer = tiny_chat()
    >>> model.config.vocab_size, len(tokenizer.encode("Hi!"))
    (258, 3)
    """
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = ChatTokenizer([START, END, *letters], [], special=[START, END])
    sizes = {"d_model": 24, "n_layers": 3, "n_heads": 6, "n_kv_heads": 3, "d_ff": 17}
    sizes["vocab_size"] = tokenizer.vocab_size
    config = DecoderConfig.smollm2_135m(**{**sizes, **changes})
    generator = torch.Generator().manual_seed(seed)
    return Decoder(config, generator).eval(), tokenizer
