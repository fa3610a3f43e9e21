"""The weights that a model starts from."""

import torch
from torch import nn

from course_lib.config import DecoderConfig
from course_lib.norms import LayerNorm, RMSNorm
from course_lib.positions import LearnedPositions, RelativePositions


def initialise_weights(
    module: nn.Module, config: DecoderConfig, generator: torch.Generator | None = None
) -> None:
    """Draw the initial weights of a model in place.

    Projections: Glorot's normal distribution, those that write to a pre-norm residual
    stream divided by sqrt(number of writers), so that the stream's variance does not
    grow with depth. Embeddings: standard deviation 0.02, or d_model^-0.5 where they
    are scaled. Biases 0, gains 1.

    Args:
        module: a Decoder, Encoder or AudioEncoder.
        config: its config.
        generator: the source of randomness; None: torch's own.

    Source: Glorot, Bengio (2010); Radford et al. (2019), section 2.3 (residual scale).
    Lesson: notebooks/08_decoder.ipynb

    >>> from course_lib.decoder import Decoder
    >>> config = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)
    >>> decoder = Decoder(config, initialise=False)
    >>> initialise_weights(decoder, config, torch.Generator().manual_seed(3))
    >>> decoder.stack.final_norm.gain.sum().item()
    6.0
    """
    embedding = getattr(module, "embedding", None)
    n_writers = config.n_layers * (3 if config.cross_attention else 2)
    for name, part in module.named_modules():
        if isinstance(part, nn.Embedding):
            std = config.d_model**-0.5 if config.embed_scale else 0.02
            nn.init.normal_(part.weight, std=std, generator=generator)
        elif isinstance(part, nn.Linear | nn.Conv1d):
            if embedding is not None and part.weight is embedding.weight:
                continue  # a tied head starts as the embedding
            writes = config.pre_norm and name.endswith("to_output")
            nn.init.xavier_normal_(
                part.weight, n_writers**-0.5 if writes else 1.0, generator
            )
            if part.bias is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, LayerNorm | RMSNorm):
            nn.init.ones_(part.gain)
            if getattr(part, "bias", None) is not None:
                nn.init.zeros_(part.bias)
        elif isinstance(part, LearnedPositions | RelativePositions):
            nn.init.normal_(part.table, std=0.02, generator=generator)
