"""From logits to the next id: filters that hide ids, and a sampler that draws one.

A filter takes logits and returns new ones, with -inf where an id is hidden. None of
them reorders the ids that stay.
"""

from course_lib.sampling.filters import (
    apply_temperature,
    min_p,
    repetition_penalty,
    suppress,
    top_k,
    top_p,
)
from course_lib.sampling.sampler import Sampler

__all__ = [
    "Sampler",
    "apply_temperature",
    "min_p",
    "repetition_penalty",
    "suppress",
    "top_k",
    "top_p",
]
