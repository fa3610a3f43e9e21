"""What goes wrong in merge_heads."""

import torch

from course_lib.attention import merge_heads
from course_lib.feedback.task import Draw, Probe, Task

task = Task(
    "merge_heads",
    asks="(batch, head, position, d_head) put back into (batch, position, d_model): the "
    "heads of a position side by side.",
    lesson="03_attention",
    reference=merge_heads,
    read="5. Cut into heads",
)

MOVED = "Before you flatten, whose numbers stand next to each other in memory?"
SIDE = "Do the heads of a position stand side by side, or shuffled into each other?"


@task.inputs
def probes(draw: Draw):
    yield Probe("two heads of 2, two positions", torch.arange(8.0).view(1, 2, 2, 2))
    yield Probe("two heads, three positions", draw.normal(1, 2, 3, 2))
    yield Probe("two rows, three heads of 4", draw.normal(2, 3, 5, 4))
    yield Probe("as many positions as heads", draw.normal(2, 3, 3, 2))
    yield Probe("heads of width 1", draw.normal(3, 5, 2, 1))
    yield Probe("one head", draw.normal(2, 1, 3, 4))
    yield Probe(
        "heads as split_heads makes them", draw.normal(2, 5, 3, 4).transpose(1, 2)
    )


@task.property("shape", "How wide is a position when its heads stand side by side?")
def three_axes(values) -> bool:
    return tuple(values["two rows, three heads of 4"].shape) == (2, 5, 12)


@task.property("own-numbers", "Whose numbers does the first position hold?")
def a_position_keeps_its_numbers(values) -> bool:
    found = values["two heads of 2, two positions"]
    return sorted(found[0, 0].tolist()) == [0.0, 1.0, 4.0, 5.0]


@task.mistake("heads-merged-without-transpose", MOVED)
def reshapes_straight(x):
    batch, n_heads, n_positions, d_head = x.shape
    return x.reshape(batch, n_positions, n_heads * d_head)


@task.mistake("heads-merged-without-transpose", MOVED)
def moves_the_wrong_axes(x):
    batch, n_heads, n_positions, d_head = x.shape
    return x.transpose(-2, -1).reshape(batch, n_positions, n_heads * d_head)


@task.mistake("view-of-a-transposed", "Can view read numbers that do not lie in a row?")
def views_what_was_moved(x):
    batch, n_heads, n_positions, d_head = x.shape
    return x.transpose(1, 2).view(batch, n_positions, n_heads * d_head)


@task.mistake("heads-interleaved", SIDE)
def shuffles_heads(x):
    return x.permute(0, 2, 3, 1).flatten(-2)


@task.mistake("heads-summed", "How many numbers had a position before it was cut?")
def adds_heads(x):
    return x.sum(1)


@task.mistake("heads-summed", "How many numbers had a position before it was cut?")
def averages_heads(x):
    return x.mean(1)


@task.mistake("heads-summed", "How many numbers had a position before it was cut?")
def takes_the_first_head(x):
    return x[:, 0]


@task.mistake("heads-not-flattened", "How many axes has the residual stream?")
def four_axes(x):
    return x.transpose(1, 2)


@task.mistake("heads-wrong-axes-flattened", "Which two axes become one?")
def positions_and_width(x):
    return x.flatten(-2)


@task.mistake("heads-wrong-axes-flattened", "Which two axes become one?")
def heads_and_positions(x):
    return x.flatten(1, 2)


@task.mistake("heads-wrong-axes-flattened", "Which two axes become one?")
def batch_and_positions(x):
    return x.transpose(1, 2).flatten(-2).flatten(0, 1)


@task.mistake("heads-wrong-axes-flattened", "Which two axes become one?")
def positions_last(x):
    return x.transpose(1, 2).flatten(-2).transpose(-2, -1)


@task.mistake("heads-reversed", "Which head's numbers come first?")
def last_head_first(x):
    return merge_heads(x.flip(1))


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def forgets_the_batch(x):
    _, n_heads, n_positions, d_head = x.shape
    return x.transpose(1, 2).reshape(1, n_positions, n_heads * d_head)


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def first_row_only(x):
    return merge_heads(x[:1])


@task.mistake("heads-taken-from-batch", "Which axis of the input counts the heads?")
def rows_side_by_side(x):
    return merge_heads(x.transpose(0, 1))


@task.mistake("heads-of-fixed-number", "Where in your code is the number of heads?")
def two_heads_always(x):
    return torch.cat([x[:, 0], x[:, 1]], -1)


@task.mistake("heads-of-fixed-number", "Where in your code is the number of heads?")
def three_heads_always(x):
    return torch.cat([x[:, head] for head in range(3)], -1)
