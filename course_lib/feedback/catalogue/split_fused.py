"""What goes wrong in split_fused: three projections in one matrix."""

import torch

from course_lib.feedback.adapters.answers import several
from course_lib.feedback.task import Draw, Probe, Task


def split_fused(fused, n_heads):
    parts = fused.unflatten(-1, (n_heads, 3, -1))  # (batch, position, head, 3, d_head)
    return parts.permute(3, 0, 2, 1, 4).unbind(0)


def use(answer, fused, n_heads) -> dict:
    """Call it and name the three parts."""
    queries, keys, values = several(answer(fused, n_heads), 3, stack_ndim=5)
    return {"queries": queries, "keys": keys, "values": values}


task = Task(
    "split_fused",
    asks="queries, keys, values, each (batch, head, position, d_head), out of a width "
    "that holds query, key and value of head 0, then those of head 1, and so on.",
    lesson="03_attention",
    reference=split_fused,
    use=use,
    read="5. Cut into heads",
)


def places(draw, batch, n, width):
    """(batch, position, width): hundreds name the position, the rest the feature."""
    rows = 100 * torch.arange(n * batch).view(batch, n, 1) + torch.arange(width)
    return rows.float() + draw.size(1, 5)


@task.inputs
def probes(draw: Draw):
    yield Probe("one position, two heads of width 1", places(draw, 1, 1, 6), 2)
    yield Probe("two heads of width 1", places(draw, 1, 2, 6), 2)
    yield Probe("one head", places(draw, 1, 3, 6), 1)
    yield Probe("three heads of width 2", places(draw, 1, 2, 18), 3)
    yield Probe("as many heads as positions", draw.normal(1, 5, 15), 5)
    yield Probe("a batch", draw.normal(2, 5, 24), 4)
    yield Probe("heads of width 7", draw.normal(3, 2, 63), 3)


LAYOUT = "Whose numbers stand first in the width: all queries, or all of head 0?"


@task.property("each-number-once", "Is each number of the width in one part, once?")
def each_once(values) -> bool:
    parts = values["two heads of width 1"].values()
    numbers = torch.cat([part.flatten() for part in parts])
    return len(numbers.unique()) == len(numbers) == 12


@task.property("a-position-at-a-time", "Does a head's row hold one position only?")
def hundreds(values) -> bool:
    parts = values["three heads of width 2"].values()
    return all(bool((part.diff(dim=-1).abs() < 50).all()) for part in parts)


@task.mistake("fused-qkv-layout", LAYOUT)
def as_found(fused, n_heads):
    return tuple(
        part.unflatten(-1, (n_heads, -1)).transpose(1, 2) for part in fused.chunk(3, -1)
    )


@task.mistake(
    "numbers-dealt-in-threes",
    "Does one *number* in three belong to the queries, or one *block* in three?",
)
def every_third_number(fused, n_heads):
    parts = fused.unflatten(-1, (n_heads, -1, 3))
    return parts.permute(4, 0, 2, 1, 3).unbind(0)


@task.mistake(
    "heads-split-by-view",
    "view never moves data: which axes are neighbours in memory?",
    "Misconceptions",
)
def asked_for_the_shape(fused, n_heads):
    batch, n, width = fused.shape
    return fused.reshape(batch, n_heads, n, width // n_heads).chunk(3, -1)


@task.mistake(
    "heads-not-moved", "Which axis must stand before the positions, and does it?"
)
def not_transposed(fused, n_heads):
    return fused.unflatten(-1, (n_heads, 3, -1)).unbind(-2)


@task.mistake(
    "parts-out-of-order", "Which of the three stands first in a head, which second?"
)
def keys_first(fused, n_heads):
    queries, keys, values = split_fused(fused, n_heads)
    return keys, queries, values


@task.mistake(
    "parts-out-of-order", "Which of the three stands first in a head, which second?"
)
def values_before_keys(fused, n_heads):
    queries, keys, values = split_fused(fused, n_heads)
    return queries, values, keys


@task.mistake(
    "parts-out-of-order", "Which of the three stands first in a head, which second?"
)
def values_first(fused, n_heads):
    return split_fused(fused, n_heads)[::-1]


@task.mistake("cut-along-positions", "Which axis holds query, key and value?")
def wrong_axis(fused, n_heads):
    return fused.unflatten(-1, (n_heads, -1)).transpose(1, 2).tensor_split(3, -2)


@task.mistake(
    "merged-again", "Should the heads come side by side again, or on an axis of theirs?"
)
def heads_joined(fused, n_heads):
    return tuple(x.transpose(1, 2).flatten(-2) for x in split_fused(fused, n_heads))


@task.mistake("axes-swapped", "Which axis should come last: positions or features?")
def transposed(fused, n_heads):
    return tuple(x.transpose(-2, -1) for x in split_fused(fused, n_heads))
