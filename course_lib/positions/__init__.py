"""How order enters: five schemes (and none) behind one interface.

A scheme may act in three places, and leaves the others alone:
    embed(positions)                                 added to the token embeddings
    turn(x, prepared)                                applied to queries and keys
    bias(queries, query_positions, key_positions)    added to the scores
"""

from course_lib.positions.formulas import (
    Angles,
    alibi_bias,
    angles,
    relative_scores,
    rotate,
    sinusoids,
)
from course_lib.positions.schemes import (
    SCHEMES,
    AlibiPositions,
    LearnedPositions,
    Positions,
    RelativePositions,
    RotaryPositions,
    SinusoidalPositions,
    attention_scheme,
    embedding_scheme,
)

__all__ = [
    "AlibiPositions",
    "Angles",
    "LearnedPositions",
    "Positions",
    "RelativePositions",
    "RotaryPositions",
    "SCHEMES",
    "SinusoidalPositions",
    "alibi_bias",
    "angles",
    "attention_scheme",
    "embedding_scheme",
    "relative_scores",
    "rotate",
    "sinusoids",
]
