"""What goes wrong in split_heads."""

import torch

from course_lib.attention import split_heads
from course_lib.feedback.task import Draw, Probe, Task

task = Task(
    "split_heads",
    asks="(batch, position, d_model) cut into (batch, head, position, d_head): head h of a "
    "position is the h-th slice of its numbers.",
    lesson="03_attention",
    reference=split_heads,
    read="5. Cut into heads",
)

VIEW = "view never moves data: which numbers of a token are neighbours in memory?"
SLICE = "Which numbers of a token belong to head 0: the first ones, or every n-th?"
ORDER = "In the result, which axis counts the heads and which the positions?"
COUNT = "Is n_heads the number of heads, or the width of one?"


@task.inputs
def probes(draw: Draw):
    yield Probe("two positions, two heads of 2", torch.arange(8.0).view(1, 2, 4), 2)
    yield Probe("three positions, two heads", draw.normal(1, 3, 4), 2)
    yield Probe("two rows, three heads of 4", draw.normal(2, 5, 12), 3)
    yield Probe("as many positions as heads", draw.normal(2, 3, 6), 3)
    yield Probe("heads of width 1", draw.normal(3, 2, 5), 5)
    yield Probe("one head", draw.normal(2, 3, 4), 1)
    yield Probe("one position", draw.normal(2, 1, 6), 2)


@task.property("shape", ORDER)
def four_axes(values) -> bool:
    return tuple(values["two rows, three heads of 4"].shape) == (2, 3, 5, 4)


@task.property("own-numbers", "Whose numbers does the first position of a head hold?")
def a_position_keeps_its_numbers(values) -> bool:
    found = values["two positions, two heads of 2"]
    return sorted(found[0, :, 0].flatten().tolist()) == [0.0, 1.0, 2.0, 3.0]


@task.mistake("heads-split-by-view", VIEW, read="“`view` cuts the heads.”")
def views_straight(x, n_heads):
    batch, n_positions, d_model = x.shape
    return x.reshape(batch, n_heads, n_positions, d_model // n_heads)


@task.mistake("heads-split-by-view", VIEW, read="“`view` cuts the heads.”")
def views_and_turns_back(x, n_heads):
    batch, n_positions, d_model = x.shape
    x = x.reshape(batch, n_heads, d_model // n_heads, n_positions)
    return x.transpose(-2, -1)


@task.mistake("heads-interleaved", SLICE)
def every_nth_number(x, n_heads):
    batch, n_positions, d_model = x.shape
    return x.reshape(batch, n_positions, d_model // n_heads, n_heads).permute(
        0, 3, 1, 2
    )


@task.mistake("heads-not-transposed", ORDER)
def position_before_head(x, n_heads):
    return x.unflatten(-1, (n_heads, -1))


@task.mistake("heads-wrong-axes", ORDER)
def position_last(x, n_heads):
    return split_heads(x, n_heads).transpose(-2, -1)


@task.mistake("heads-wrong-axes", ORDER)
def batch_and_head_swapped(x, n_heads):
    return split_heads(x, n_heads).transpose(0, 1)


@task.mistake("heads-wrong-axes", ORDER)
def last_two_swapped(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(-2, -1)


@task.mistake("heads-count-for-width", COUNT)
def n_heads_wide(x, n_heads):
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@task.mistake("heads-folded-into-batch", "Do the heads of two rows stay apart?")
def one_axis_for_batch_and_head(x, n_heads):
    return split_heads(x, n_heads).flatten(0, 1)


@task.mistake("heads-reversed", "Which slice of a token is head 0?")
def last_slice_first(x, n_heads):
    return split_heads(x, n_heads).flip(1)


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def first_row_only(x, n_heads):
    return split_heads(x, n_heads)[:1]


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def forgets_the_batch(x, n_heads):
    _, n_positions, d_model = x.shape
    return x.reshape(1, n_positions, n_heads, d_model // n_heads).transpose(1, 2)


def cut_into(fixed):
    """Make an answer that cuts into a fixed number of heads."""

    def answer(x, n_heads):
        batch, n_positions, d_model = x.shape
        x = x.reshape(batch, n_positions, fixed, d_model // fixed)
        return x.transpose(1, 2)

    answer.__name__ = f"always_{fixed}_heads"
    return answer


for fixed in (2, 3, 4):
    task.mistake("heads-of-fixed-number", "Where in your code does n_heads act?")(
        cut_into(fixed)
    )


@task.mistake("heads-copied", "How many numbers go in, and how many come out?")
def every_head_gets_all(x, n_heads):
    return x[:, None].expand(-1, n_heads, -1, -1)


@task.mistake("heads-cut-from-text", "What is cut: the text, or each token's numbers?")
def cuts_the_text(x, n_heads):
    batch, n_positions, d_model = x.shape
    missing = -n_positions % n_heads
    padded = torch.cat([x, x.new_zeros(batch, missing, d_model)], 1)
    return padded.reshape(batch, n_heads, -1, d_model)


@task.mistake("heads-all-the-first", "Which numbers of a token does head 1 get?")
def first_slice_for_all(x, n_heads):
    return split_heads(x, n_heads)[:, :1].expand(-1, n_heads, -1, -1)
