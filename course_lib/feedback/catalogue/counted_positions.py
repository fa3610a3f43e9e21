"""What goes wrong in counted_positions: prompts of different lengths in a batch."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def counted_positions(is_real):
    found = torch.zeros(is_real.shape, dtype=torch.long)
    for row, real in zip(found, is_real, strict=True):
        row[real] = torch.arange(int(real.sum()))
    return found


def use(answer, is_real):
    """Call it; padding may have any position that a table of this length has."""
    found = torch.as_tensor(written(answer(is_real)))
    if found.is_floating_point():
        raise TypeError(
            "these positions are floats; rows of a table are asked for by int"
        )
    if found.shape != is_real.shape:
        return found
    free = ~is_real & (found >= 0) & (found < is_real.shape[1])
    return found.masked_fill(free, 0)


task = Task(
    "counted_positions",
    asks="(batch, position) int: in each row the real tokens count 0, 1, 2, ...; padding "
    "has any position from 0 to one less than the number of places.",
    lesson="04_positions",
    reference=counted_positions,
    use=use,
    read="2. Number the lines",
)


def rows(n, *padding):
    """(batch, n) bool: so much padding on the left, and on the right, of each row."""
    places = torch.arange(n)
    return torch.stack(
        [(places >= left) & (places < n - right) for left, right in padding]
    )


@task.inputs
def probes(draw: Draw):
    n = draw.size(7, 10)
    yield Probe("two places of padding on the left", rows(5, (2, 0)))
    yield Probe("no padding", rows(draw.size(6, 9), (0, 0)))
    yield Probe("padding on the right", rows(4, (0, draw.size(1, 3))))
    yield Probe("three prompts", rows(6, (0, 0), (3, 0), (1, 0)))
    yield Probe("padding on both sides", rows(n, (2, 1), (1, 3)))
    yield Probe("each side once", rows(n, (4, 0), (0, 2), (0, 0), (1, 0)))
    yield Probe("a row without a token", rows(5, (5, 0), (4, 0), (1, 0)))


@task.property("first-is-zero", "Which position has the first real token of each row?")
def first_is_zero(values) -> bool:
    found = values["three prompts"]
    return bool(found[0, 0] == 0 and found[1, 3] == 0 and found[2, 1] == 0)


@task.property(
    "rows-of-the-table", "Is the position of each place one that the table has?"
)
def in_the_table(values) -> bool:
    return all(
        bool(((value >= 0) & (value < value.shape[1])).all())
        for value in values.values()
    )


@task.mistake(
    "left-pad-positions", "Which position has the first real token of the short prompt?"
)
def as_found(is_real):
    return torch.arange(is_real.shape[1]).expand_as(is_real)


@task.mistake(
    "counted-from-one", "How many real tokens stand *before* the first real token?"
)
def not_less_one(is_real):
    return is_real.cumsum(-1)


@task.mistake(
    "negative-positions",
    "What does a table give for row -1, and who would ask for it?",
    "6. One interface",
)
def padding_is_minus_one(is_real):
    return is_real.cumsum(-1) - 1


@task.mistake(
    "negative-positions",
    "What does a table give for row -1, and who would ask for it?",
    "6. One interface",
)
def moved_as_a_whole(is_real):
    first = is_real.long().argmax(-1, keepdim=True)
    return torch.arange(is_real.shape[1]) - first


@task.mistake("counted-along-the-batch", "Which axis holds the places of one prompt?")
def over_rows(is_real):
    return (is_real.cumsum(0) - 1).clamp(min=0)


@task.mistake(
    "counted-from-the-end", "Which token of a prompt has position 0: the first or last?"
)
def from_the_last(is_real):
    return (is_real.flip(-1).cumsum(-1).flip(-1) - 1).clamp(min=0)


@task.mistake("one-shift-for-all", "Has every row as much padding as the first?")
def shift_of_row_zero(is_real):
    first = int(is_real[0].long().argmax())
    return (torch.arange(is_real.shape[1]) - first).clamp(min=0).expand_as(is_real)


@task.mistake("one-shift-for-all", "Has every row as much padding as the first?")
def largest_shift(is_real):
    first = int(is_real.long().argmax(-1).max())
    return (torch.arange(is_real.shape[1]) - first).clamp(min=0).expand_as(is_real)


@task.mistake(
    "right-padding-counted", "Does padding *after* a token change its position?"
)
def all_padding_is_on_the_left(is_real):
    padding = (~is_real).sum(-1, keepdim=True)
    return (torch.arange(is_real.shape[1]) - padding).clamp(min=0)


@task.mistake("padding-counted", "What should be counted: real tokens or padding?")
def counts_padding(is_real):
    return ((~is_real).cumsum(-1) - 1).clamp(min=0)
