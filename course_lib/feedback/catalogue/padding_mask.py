"""What goes wrong in padding_mask."""

import torch

from course_lib.feedback.adapters.masks import use_padding_mask
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import padding_mask

task = Task(
    "padding_mask",
    asks="(batch, 1, 1, key), True where a key is real; `side` says where padding stands.",
    lesson="02_masks",
    reference=padding_mask,
    use=use_padding_mask,
    read="6. Padding",
)

POLARITY = "In your table, does True mean look or look away?"
COLUMN = "Padding must not be looked at: is that a row or a column of the score matrix?"
COUNT = "A row has 2 real tokens: which places do they have, counting from 0?"
ADDED = "If your mask is added to the scores: does adding 1 forbid anything?"


@task.inputs
def probes(draw: Draw):
    lengths = draw.order(6)[:3]
    yield Probe("lengths 1 and 3 of 3", [1, 3], 3)
    yield Probe("lengths 1 and 3 of 3, padding on the left", [1, 3], 3, side="left")
    yield Probe("lengths as a tensor", lengths, 7)
    yield Probe("lengths as a tensor, padding on the left", lengths, 7, side="left")
    yield Probe("a row of length 0", [2, 0, 4], 5)
    yield Probe("a row of length 0, padding on the left", [0, 3], 5, "left")
    yield Probe("a batch of one", [2], 4)
    yield Probe("no padding at all", [3, 3, 3, 3, 3], 3)


@task.property("counts", "How many True should a row of 1 real token hold?")
def as_many_as_are_real(values) -> bool:
    return values["lengths 1 and 3 of 3"].sum((1, 2, 3)).tolist() == [1, 3]


def right_side(lengths, n_keys):
    """Give (batch, key) bool, True where a key is real."""
    return torch.arange(n_keys) < torch.as_tensor(lengths)[:, None]


@task.mistake(
    "bool-polarity-mha-vs-sdpa", POLARITY, read='"True means the same everywhere."'
)
def true_means_hide(lengths, n_keys, side="right"):
    return ~padding_mask(lengths, n_keys, side)


@task.mistake("padding-mask-on-query-axis", COLUMN, read='"Padding hides rows."')
def hides_rows(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, side).transpose(-2, -1)


@task.mistake("padding-mask-on-query-axis", COLUMN, read='"Padding hides rows."')
def hides_rows_and_columns(lengths, n_keys, side="right"):
    real = padding_mask(lengths, n_keys, side)
    return real & real.transpose(-2, -1)


@task.mistake("padding-side-ignored", "Where in your code does `side` act?")
def right_only(lengths, n_keys, side="right"):
    return right_side(lengths, n_keys)[:, None, None]


@task.mistake("padding-side-swapped", "Padding on the right: do real keys come first?")
def sides_swapped(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, "left" if side == "right" else "right")


@task.mistake("padding-side-swapped", "Padding on the right: do real keys come first?")
def left_only(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, "left")


@task.mistake("padding-off-by-one", COUNT)
def one_too_many(lengths, n_keys, side="right"):
    more = (torch.as_tensor(lengths) + 1).clamp(max=n_keys)
    return padding_mask(more, n_keys, side)


@task.mistake("padding-off-by-one", COUNT)
def one_too_few(lengths, n_keys, side="right"):
    fewer = (torch.as_tensor(lengths) - 1).clamp(min=0)
    return padding_mask(fewer, n_keys, side)


@task.mistake("padding-off-by-one", COUNT)
def one_too_many_on_the_left(lengths, n_keys, side="right"):
    if side == "right":
        return padding_mask(lengths, n_keys)
    return padding_mask((torch.as_tensor(lengths) + 1).clamp(max=n_keys), n_keys, side)


@task.mistake("padding-off-by-one", COUNT)
def one_too_few_on_the_left(lengths, n_keys, side="right"):
    if side == "right":
        return padding_mask(lengths, n_keys)
    return padding_mask((torch.as_tensor(lengths) - 1).clamp(min=0), n_keys, side)


@task.mistake(
    "padding-left-counts-from-start",
    "Five places, two real tokens, padding on the left: where does the first token stand?",
)
def hides_as_many_as_are_real(lengths, n_keys, side="right"):
    if side == "right":
        return padding_mask(lengths, n_keys)
    return (torch.arange(n_keys) >= torch.as_tensor(lengths)[:, None])[:, None, None]


AXES = "Scores have the axes batch, head, query, key: where do your axes land?"


@task.mistake("mask-axes-missing", AXES)
def batch_and_key_only(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, side)[:, 0, 0]


@task.mistake("mask-axes-missing", AXES)
def one_axis_missing(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, side)[:, 0]


@task.mistake("mask-axes-missing", AXES)
def axes_in_front(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, side)[:, 0, 0][None, None]


@task.mistake(
    "padding-to-longest-row",
    "The longest row may be padded, too: how wide should the table be?",
)
def as_wide_as_the_longest(lengths, n_keys, side="right"):
    longest = int(torch.as_tensor(lengths).max())
    return padding_mask(lengths, longest, side)


@task.mistake("zero-one-mask-added", ADDED, read='"Set hidden scores to 0."')
def ones_and_zeros(lengths, n_keys, side="right"):
    return padding_mask(lengths, n_keys, side).float()


@task.mistake(
    "inf-times-zero-mask",
    "What is zero times infinity in floating point?",
    read="1. Hide one key, by hand",
)
def multiplies_by_minus_infinity(lengths, n_keys, side="right"):
    return (~padding_mask(lengths, n_keys, side)).float() * -torch.inf


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    read='"Set hidden scores to 0."',
)
def adds_nearly_nothing(lengths, n_keys, side="right"):
    return (~padding_mask(lengths, n_keys, side)).float() * -1e-9


@task.mistake("padding-first-row-for-all", "Has each row of your table its own length?")
def length_of_the_first_row(lengths, n_keys, side="right"):
    first = [int(lengths[0])] * len(lengths)
    return padding_mask(first, n_keys, side)


@task.mistake(
    "empty-row-not-empty",
    "How many keys does a row of length 0 let you read?",
    read='"A query that may read nothing does no harm."',
)
def at_least_one(lengths, n_keys, side="right"):
    return padding_mask(torch.as_tensor(lengths).clamp(min=1), n_keys, side)


@task.mistake(
    "empty-row-not-empty",
    "How many keys does a row of length 0 let you read?",
    read='"A query that may read nothing does no harm."',
)
def counts_from_the_end(lengths, n_keys, side="right"):
    table = torch.zeros(len(lengths), 1, 1, n_keys, dtype=torch.bool)
    for row, length in zip(table[:, 0, 0], lengths, strict=True):
        if side == "right":
            row[: int(length)] = True
        else:
            row[-int(length) :] = True  # -0 is 0, the whole row
    return table


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    read='"Set hidden scores to 0."',
)
def adds_minus_one(lengths, n_keys, side="right"):
    return (~padding_mask(lengths, n_keys, side)).float() * -1.0


@task.mistake(
    "slice-of-the-last-zero",
    "A full row has no padding: which places are its last 0?",
)
def hides_the_last_places(lengths, n_keys, side="right"):
    table = torch.ones(len(lengths), 1, 1, n_keys, dtype=torch.bool)
    for row, length in zip(table[:, 0, 0], lengths, strict=True):
        n_padded = n_keys - int(length)
        if side == "right":
            row[-n_padded:] = False  # -0 is 0, the whole row
        else:
            row[:n_padded] = False
    return table


@task.mistake(
    "lengths-as-tensor-only", "Which of your steps does a list of numbers not have?"
)
def wants_a_tensor(lengths, n_keys, side="right"):
    return padding_mask(lengths.view(-1), n_keys, side)
