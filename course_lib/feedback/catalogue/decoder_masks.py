"""What goes wrong in decoder_masks: which text a mask speaks of."""

import torch

from course_lib.feedback.adapters.answers import several
from course_lib.feedback.adapters.masks import read_bool
from course_lib.feedback.task import Draw, Probe, Task


def decoder_masks(target, source):
    own = torch.stack([triangle(target) & (row != 0) for row in target])
    return own[:, None], (source != 0)[:, None, None]


def triangle(target):
    place = torch.arange(target.shape[1])
    return place[:, None] >= place


def use_both(answer, target, source) -> dict:
    """Call the answer; read what real queries may read, in both tables."""
    own, cross = several(answer(target, source))
    real = (target != 0)[:, :, None]
    found = {}
    for name, mask, keys in ("self", own, target), ("cross", cross, source):
        mask = read_bool(mask)
        rows, n_queries = target.shape
        # More heads than rows: no axis fits by accident.
        shape = (rows, rows + n_queries, n_queries, keys.shape[1])
        found[name] = mask.expand(shape)[:, 0] & real
    return found


task = Task(
    "decoder_masks",
    asks="two bool masks for real target positions: self-attention (target by target), "
    "and cross-attention (target by source).",
    lesson="05_cross_attention",
    reference=decoder_masks,
    use=use_both,
    read="4. Sources of different length",
)


@task.inputs
def probes(draw: Draw):
    def rows(length, *lengths):
        ids = draw.ints(1, 9, len(lengths), length)
        return ids.where(torch.arange(length) < torch.tensor(lengths)[:, None], 0)

    yield Probe("one row, 3 and 3 tokens", rows(3, 3), rows(3, 3))
    yield Probe("a padded source", rows(3, 3), rows(3, 2))
    yield Probe("a padded target", rows(3, 2), rows(3, 3))
    yield Probe("two rows, both padded", rows(4, 4, 2), rows(4, 2, 4))
    yield Probe("a longer source", rows(3, 3, 3), rows(5, 5, 5))
    yield Probe("a shorter source", rows(5, 5, 5), rows(2, 2, 2))
    yield Probe("three rows, both padded", rows(3, 2, 3, 1), rows(5, 5, 3, 4))
    yield Probe("a source of one token", rows(4, 4, 3), rows(3, 1, 3))


@task.property("causality", "May a target position read a later one?")
def no_future(values) -> bool:
    return not any(value["self"].triu(1).any() for value in values.values())


@task.property(
    "source-is-complete", "Does the first target position read all the source?"
)
def first_reads_all(values) -> bool:
    return bool(values["one row, 3 and 3 tokens"]["cross"][0, 0].all())


TRIANGLE = "“A decoder is causal, so the mask belongs here too.”"


@task.mistake(
    "nothing-repaired",
    "The source is complete, and its padding is never read: where does the code say so?",
    "Misconceptions",
)
def as_it_was(target, source):
    both = torch.ones(target.shape[1], target.shape[1]).tril().bool()
    own = both & (target != 0)[:, None, None, :]
    return own, both & (source != 0)[:, None, :, None]


@task.mistake("causal-mask-in-cross-attn", "Is the source in the future?", TRIANGLE)
def triangle_over_the_source(target, source):
    own, cross = decoder_masks(target, source)
    place = torch.arange(max(target.shape[1], source.shape[1]))
    table = place[: target.shape[1], None] >= place[: source.shape[1]]
    return own, cross & table


@task.mistake("causal-mask-in-cross-attn", "Is the source in the future?", TRIANGLE)
def targets_triangle_over_the_source(target, source):
    own, cross = decoder_masks(target, source)
    return own, cross & triangle(target)


@task.mistake(
    "padding-mask-on-query-axis",
    "Padding must not be looked at: is that a row or a column of the table?",
    "4. Sources of different length",
)
def padding_hides_rows(target, source):
    own, _ = decoder_masks(target, source)
    n_queries, n_keys = target.shape[1], source.shape[1]
    lengths = (source != 0).sum(1)
    rows = torch.arange(n_queries) < lengths[:, None]
    return own, rows[:, None, :, None].expand(-1, 1, n_queries, n_keys)


@task.mistake(
    "source-padding-read",
    "May a real target position read padding of the source?",
    "“The padding mask was for training.”",
)
def everything_of_the_source(target, source):
    own, cross = decoder_masks(target, source)
    return own, torch.ones_like(cross)


@task.mistake(
    "target-padding-in-cross",
    "Whose places are the columns of the cross-attention's table?",
    "Definition",
)
def lengths_of_the_target(target, source):
    own, _ = decoder_masks(target, source)
    lengths = (target != 0).sum(1)
    cross = torch.arange(source.shape[1]) < lengths[:, None]
    return own, cross[:, None, None]


@task.mistake(
    "no-causal-mask", "In its own text, may a position read a later one?", "Definition"
)
def no_triangle_at_all(target, source):
    _, cross = decoder_masks(target, source)
    return (target != 0)[:, None, None], cross


@task.mistake("mask-polarity", "Here, does True mean look or look away?", "Definition")
def hides_what_may_be_read(target, source):
    own, cross = decoder_masks(target, source)
    return ~own, ~cross


@task.mistake("mask-polarity", "Here, does True mean look or look away?", "Definition")
def hides_the_source(target, source):
    own, cross = decoder_masks(target, source)
    return own, ~cross


@task.mistake(
    "causal-mask-flipped",
    "Read row 0 aloud: whom may the first position see?",
    "Definition",
)
def upper_triangle(target, source):
    own, cross = decoder_masks(target, source)
    return own.mT & (target != 0)[:, None, None], cross


@task.mistake("causal-diagonal-masked", "May a position read itself?", "Definition")
def blind_to_itself(target, source):
    own, cross = decoder_masks(target, source)
    return own.tril(-1), cross


@task.mistake(
    "masks-of-the-first-row",
    "Are all sources of a batch equally long?",
    "4. Sources of different length",
)
def one_source_for_all(target, source):
    own, cross = decoder_masks(target, source)
    return own, cross[:1].expand_as(cross)


AXES = (
    "Broadcast to (batch, head, query, key): which axis does the batch of your mask "
    "meet?"
)


@task.mistake("mask-axes-missing", AXES)
def head_axis_missing(target, source):
    own, cross = decoder_masks(target, source)
    return own, cross[:, 0]


@task.mistake("mask-axes-missing", AXES)
def head_and_query_axes_missing(target, source):
    own, cross = decoder_masks(target, source)
    return own, cross[:, 0, 0]
