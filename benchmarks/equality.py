"""The same weights, the same logits: no timing without it.

What a peer has no place for must be 0 in ours before the two are compared (`without`).
"""

import copy

import torch

from course_lib.decoder import Decoder


def randomise(decoder: Decoder, seed: int = 1) -> Decoder:
    """Give every parameter noise, so that no bias or gain can be forgotten unseen."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=generator)
    return decoder.eval()


def without(decoder: Decoder, *words: str) -> Decoder:
    """Copy a decoder and set those parameters to 0 whose name contains one of the words."""
    twin = copy.deepcopy(decoder)
    for name, parameter in twin.named_parameters():
        if any(word in name for word in words):
            parameter.data.zero_()
    return twin


def difference(ours, theirs, n: int = 24) -> float:
    """Return the largest difference of the logits of some random ids, or refuse to go on."""
    vocab_size = ours.config.vocab_size
    tokens = torch.randint(
        vocab_size, (2, n), generator=torch.Generator().manual_seed(5)
    )
    with torch.inference_mode():
        expected, given = ours(tokens), theirs(tokens)
    largest = (expected - getattr(given, "logits", given)).abs().max().item()
    if largest > 1e-4 * max(1.0, expected.abs().max().item()):
        raise SystemExit(f"logits differ by {largest}: no timing without equality")
    return largest


def copy_all(pairs) -> None:
    """Copy each of our tensors into its peer's."""
    with torch.no_grad():
        for theirs, ours in pairs:
            assert theirs.shape == ours.shape, (theirs.shape, ours.shape)
            theirs.copy_(ours)


def norm_of(theirs, ours):
    """Pair a LayerNorm with ours."""
    return [(theirs.weight, ours.gain), (theirs.bias, ours.bias)]


def layer_of(theirs, ours):
    """Pair a Linear with ours."""
    return [(theirs.weight, ours.weight), (theirs.bias, ours.bias)]


def stacked(heads, what: str) -> torch.Tensor:
    """Queries, keys and values of ours under one another."""
    return torch.cat(
        [
            getattr(part, what)
            for part in (heads.to_queries, heads.to_keys, heads.to_values)
        ]
    )
