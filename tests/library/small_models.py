"""Small models with random or chosen weights, and the kinds that tests run through."""

import math
from itertools import pairwise

import torch

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.positions import SCHEMES as SCHEMES

KINDS = ("append", "preallocated", "paged", "sliding_window")
TOLERANCES = {
    torch.float32: dict(atol=2e-5, rtol=1e-4),
    torch.float64: dict(atol=1e-10, rtol=1e-10),
}


def numbers(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)


def ids(*shape, seed=0, vocab_size=13):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, vocab_size, shape, generator=generator)


def scatter_weights(model, seed, std=0.5):
    """Draw every parameter, large enough that each one is felt in the logits."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if parameter.ndim == 1:  # a bias, or a gain around 1
            noise = noise * 0.2 + name.endswith("gain") / std
        parameter.data.copy_(noise * std)
    return model.eval()


def small_config(**changes):
    """Sizes that differ pairwise, so that a swapped axis cannot hide."""
    sizes = dict(
        vocab_size=13,
        d_model=24,
        n_layers=2,
        n_heads=6,
        n_kv_heads=3,
        d_ff=17,
        max_length=11,
        max_distance=5,
        tie_weights=False,
    )
    return DecoderConfig(**{**sizes, **changes})


def small_decoder(seed=1, dtype=torch.float32, **changes):
    return scatter_weights(Decoder(small_config(**changes)).to(dtype), seed)


def with_config(decoder, **changes):
    """Copy the weights into a decoder whose config differs in what adds no weights."""
    twin = small_decoder(**{**vars(decoder.config), **changes})
    twin.load_state_dict(decoder.state_dict())
    return twin


def decoder_for(kind, scheme, dtype=torch.float32, **changes):
    """Make a decoder that a kind of cache fits: a sliding window needs a window."""
    window = {"window": 3} if kind == "sliding_window" else {}
    return small_decoder(positions=scheme, dtype=dtype, **{**window, **changes})


def fed(decoder, tokens, cache, size, **options):
    """Logits of tokens that are fed in chunks of `size`."""
    chunks = tokens.split(size, dim=1)
    return torch.cat([decoder(chunk, cache=cache, **options) for chunk in chunks], 1)


def next_token_table(table):
    """Build a decoder whose logits after token i are row i of a (vocab, vocab) table."""
    n = len(table)
    config = DecoderConfig(
        n, n, 1, 1, positions="none", norm="rms", tie_weights=False, eps=1e-12
    )
    decoder = Decoder(config).eval()
    block = decoder.stack.blocks[0]
    for silent in (block.self_attention.to_output, block.feed_forward.to_output):
        torch.nn.init.zeros_(silent.weight)
    decoder.embedding.weight.data.copy_(torch.eye(n))
    # The final norm makes sqrt(n) of the 1 in a unit vector.
    decoder.head.weight.data.copy_(torch.tensor(table).T / math.sqrt(n))
    return decoder


def chain(*path, vocab_size=11):
    """Build a decoder that greedily follows a path of ids, and stays at its end."""
    table = torch.zeros(vocab_size, vocab_size)
    for here, there in (*pairwise(path), (path[-1], path[-1])):
        table[here, there] = 9.0
    return next_token_table(table.tolist())


class CallCounter:
    """Count the calls of a module, and keep the shape of each first argument."""

    def __init__(self, module):
        self.shapes = []
        self.handle = module.register_forward_pre_hook(self._count)

    def _count(self, module, arguments):
        self.shapes.append(tuple(arguments[0].shape))

    def __len__(self):
        return len(self.shapes)
