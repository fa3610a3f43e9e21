"""Scores become weights, and weights an average: attention with one wrong step.

A step is called as attend(queries, keys, values, allowed=None, bias=None), and accepts
every shape that can be broadcast, as an answer does that is written by hand.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course_lib.attention import attention
from course_lib.feedback.families.faults import Fault
from course_lib.masks import causal_mask, combine


def root_of_d_head(queries: Tensor, keys: Tensor) -> float:
    """Give what a score is divided by."""
    return math.sqrt(queries.shape[-1])


def scored(queries, keys, bias=None, root=root_of_d_head) -> Tensor:
    """Score as asked, but for the root."""
    scores = queries @ keys.mT / root(queries, keys)
    return scores if bias is None else scores + bias


def hide(scores, allowed, fill=-1e9) -> Tensor:
    """Fill hidden scores."""
    return scores if allowed is None else scores.masked_fill(~allowed, fill)


def weighed(root=root_of_d_head, mask=None, fill=-1e9, axis=-1, late=None) -> Callable:
    """Give an attention of which one step is another.

    Args:
        root: from queries and keys to what a score is divided by.
        mask: from (allowed, scores) to the mask that is used.
        fill: what a hidden score becomes.
        axis: of the softmax.
        late: what hidden *weights* become; scores are not hidden then.
    """

    def attend(queries, keys, values, allowed=None, bias=None):
        scores = scored(queries, keys, bias, root)
        if mask and allowed is not None:
            allowed = mask(allowed, scores)
        if late is None:
            return hide(scores, allowed, fill).softmax(axis) @ values
        return hide(scores.softmax(axis), allowed, late) @ values

    return attend


by_hand = weighed()


def with_exponentials(divisor: Callable) -> Callable:
    """Give an attention without the shift by the largest score."""

    def attend(queries, keys, values, allowed=None, bias=None):
        exponentials = hide(scored(queries, keys, bias), allowed).exp()
        return exponentials / divisor(exponentials.sum(-1, keepdim=True)) @ values

    return attend


def with_mask_added(extra: Callable) -> Callable:
    """Give an attention that adds to the scores what is made of the mask."""

    def attend(queries, keys, values, allowed=None, bias=None):
        scores = scored(queries, keys, bias)
        scores = scores if allowed is None else scores + extra(allowed)
        return scores.softmax(-1) @ values

    return attend


def by_library(mask: Callable) -> Callable:
    """Give the library's attention, which gives 0 where nothing may be read."""

    def attend(queries, keys, values, allowed=None, bias=None):
        return attention(queries, keys, values, mask(allowed, queries, keys), bias)[0]

    return attend


SCALE = "How many products are summed in one score, and how does their spread grow?"
TWICE = "By how much is a score divided in all?"  # two roots make d_head
SCALES = (
    Fault("scale-missing", SCALE, weighed(lambda queries, keys: 1.0)),
    Fault(
        "scale-by-d-model",
        SCALE,
        weighed(lambda queries, keys: math.sqrt(queries.shape[1] * queries.shape[-1])),
    ),
    Fault("scale-by-d-head", TWICE, weighed(lambda queries, keys: queries.shape[-1])),
)

AXIS = "For one query, over which axis should the weights add up to one?"
LARGE = "What does exp(1000) give?"
SOFTMAXES = (
    *(Fault("softmax-wrong-dim", AXIS, weighed(axis=axis)) for axis in (-2, 1, 0)),
    *(
        Fault("softmax-no-max-shift", LARGE, with_exponentials(divisor))
        for divisor in (
            lambda total: total,
            lambda total: total + 1e-9,
            lambda total: total + 1e-12,
            lambda total: total.clamp(min=1e-30),
        )
    ),
)

POLARITY = "In the mask, does True mean look or look away?"
LATE = "Did the hidden keys already take part in the division?"
SMALL = "exp(0) is 1: which score makes exp vanish?"
OPPOSITE = "bool-polarity-mha-vs-sdpa"
MASKS = (
    Fault(OPPOSITE, POLARITY, weighed(mask=lambda allowed, _: ~allowed)),
    Fault(
        OPPOSITE, POLARITY, weighed(mask=lambda allowed, _: ~allowed, fill=-torch.inf)
    ),
    Fault(
        OPPOSITE,
        POLARITY,
        by_library(lambda allowed, *_: None if allowed is None else ~allowed),
    ),
    *(Fault("mask-after-softmax", LATE, weighed(late=x)) for x in (0.0, -torch.inf)),
    *(Fault("mask-fill-near-zero", SMALL, weighed(fill=x)) for x in (0.0, -1.0, -10.0)),
    Fault(
        "zero-one-mask-added",
        "A mask is added to the scores: does adding 1 forbid anything?",
        with_mask_added(Tensor.float),
    ),
    Fault(
        "inf-times-zero-mask",
        "What is zero times infinity in floating point?",
        with_mask_added(lambda allowed: (~allowed).float() * -torch.inf),
    ),
)

HIDDEN = "Which key may a query not read, and what in your code hides it?"
FIRST = "Without a mask, how many keys may the first query read?"
NOTHING = "What should a query return when it may look at nothing?"
TURNED = "Are the rows of `allowed` queries or keys?"


def triangle(queries: Tensor, keys: Tensor, offset: int | None = None) -> Tensor:
    """Give the causal mask of these queries and keys."""
    return causal_mask(queries.shape[-2], keys.shape[-2], offset)


def rows_of_padding(allowed: Tensor, scores: Tensor) -> Tensor:
    """Hide queries where a mask of one row hides keys."""
    return allowed.mT[..., : scores.shape[-2], :] if allowed.shape[-2] == 1 else allowed


def views_the_keys(queries, keys, values, allowed=None, bias=None):
    """Let the keys' numbers stay where they are, and rename the axes."""
    turned = keys.reshape(*keys.shape[:2], keys.shape[3], keys.shape[2])
    return by_hand(queries, turned.mT, values, allowed, bias)


GIVEN_MASKS = (  # where the caller gives `allowed`, of whatever shape
    Fault("no-causal-mask", HIDDEN, weighed(mask=lambda *_: None)),
    *(
        Fault(
            "always-causal",
            FIRST,
            by_library(lambda allowed, q, k, n=n: combine(allowed, triangle(q, k, n))),
        )
        for n in (None, 0)
    ),
    Fault("fully-masked-row-nan", NOTHING, weighed(fill=-torch.inf)),
    Fault("mask-transposed", TURNED, weighed(mask=lambda allowed, _: allowed.mT)),
    Fault("mask-transposed", TURNED, weighed(mask=rows_of_padding)),
    Fault(
        "mask-not-broadcast",
        "Which axes of `allowed` may be 1 long, or not be there?",
        weighed(mask=lambda allowed, scores: allowed.reshape(1, 1, *scores.shape[-2:])),
    ),
    Fault(
        "keys-viewed-not-transposed",
        "Did the numbers of each key move, or only the labels on the axes?",
        views_the_keys,
    ),
)

FAULTS = (*SCALES, *SOFTMAXES, *MASKS, *GIVEN_MASKS)
