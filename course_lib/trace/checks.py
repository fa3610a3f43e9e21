"""What can be recorded: wrong input is named before anything runs."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from course_lib.decoder import Decoder

NEEDED = ("config", "embedding", "stack", "new_cache")  # what a recorder reads


def decoder_of(model: nn.Module) -> Decoder:
    """Return the decoder, that of an EncoderDecoder too, or say what was given."""
    decoder = getattr(model, "decoder", model)
    if lacking := [name for name in NEEDED if not hasattr(decoder, name)]:
        raise ValueError(
            f"model was a {type(model).__name__}, which has no {' and no '.join(lacking)}; "
            "pass a Decoder(DecoderConfig(...)), or an EncoderDecoder"
        )
    return decoder


def ids_of(tokens: Sequence[int] | Tensor) -> list[int]:
    """Return the ids of one prompt as a list, or say what was given."""
    try:
        row = torch.as_tensor(tokens)
    except (TypeError, ValueError, RuntimeError):  # words, or rows of unequal length
        row = None
    if row is not None and row.numel() == 0:
        raise ValueError(
            "tokens were empty; pass at least one id, such as that of the start token"
        )
    # bool is no number of a token; torch has no one name for the whole numbers
    numbers = row is not None and row.dtype != torch.bool
    numbers = numbers and not (row.is_floating_point() or row.is_complex())
    if not numbers or row.ndim != 1:
        given = f"{tokens!r:.60}" if row is None else f"{row.dtype} {tuple(row.shape)}"
        raise ValueError(
            f"tokens were {given}; pass the ids of one prompt, a flat list of whole "
            "numbers, as tokenizer.encode(text) gives them"
        )
    return row.tolist()


def check_count(name: str, number: int) -> None:
    """Refuse what is no whole number of 0 or more."""
    if type(number) is not int or number < 0:
        raise ValueError(
            f"{name} was {number!r}; pass how many, a whole number of 0 or more"
        )


def naming(text: Callable[[int], str]) -> Callable[[int], str]:
    """Return text, held to giving a string for each id."""
    if not callable(text):
        raise ValueError(
            f"text was {text!r:.60}; pass a function that turns an id into a string, "
            "such as tokenizer.token"
        )

    def name(token_id: int) -> str:
        string = text(token_id)
        if not isinstance(string, str):
            raise ValueError(
                f"text gave {string!r:.60} for the id {token_id}; it must turn an id into "
                "a string, as tokenizer.token and str do"
            )
        return string

    return name


def check_names(strings: Sequence[str], n_memory: int) -> None:
    """Refuse memory_strings that are not one string a place."""
    if strings and len(strings) != n_memory:
        raise ValueError(
            f"{len(strings)} memory_strings were given for a memory of {n_memory} places; "
            "pass one for each"
        )
    for place, string in enumerate(strings):
        if not isinstance(string, str):
            raise ValueError(
                f"memory_strings held {string!r:.60} at place {place}; pass strings"
            )
