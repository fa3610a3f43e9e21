"""What goes wrong in fuse_passages: several sources as one memory."""

import torch

from course_lib.attention import attention
from course_lib.feedback.adapters.answers import several
from course_lib.feedback.adapters.masks import read_bool
from course_lib.feedback.task import Draw, Probe, Task


def fuse_passages(memory, lengths):
    fused = torch.cat(memory.unbind(1), 1)
    place = torch.arange(memory.shape[2])
    real = torch.cat([place < row[:, None] for row in lengths.unbind(1)], 1)
    return fused, real[:, None, None]


def use_memory(answer, memory, lengths) -> dict:
    """Call the answer; read its memory with queries of 0: the order of places is free."""
    fused, allowed = several(answer(memory, lengths))
    allowed = read_bool(allowed)
    keys = fused[:, None].expand(-1, 2, -1, -1)
    # More queries than rows, so that a mask without their axis fits nowhere.
    queries = torch.zeros(len(memory), 2, len(memory) + 4, memory.shape[-1])
    outputs, weights = attention(queries, keys, keys, allowed, need_weights=True)
    return {
        "places that may be read": (weights[:, 0, 0] > 0).sum(-1),
        "their mean": outputs[:, 0, 0],
    }


task = Task(
    "fuse_passages",
    asks="one memory (batch, places, d_model) of all passages, and a bool mask for it; "
    "compared is what may be read.",
    lesson="05_cross_attention",
    reference=fuse_passages,
    use=use_memory,
    read="4. Sources of different length",
)


@task.inputs
def probes(draw: Draw):
    def passages(*shape):
        # Each feature tells which it is: ones, and hundreds.
        return draw.ints(1, 10, *shape, 2) * torch.tensor([1.0, 100.0])

    yield Probe("two passages, both full", passages(1, 2, 3), torch.tensor([[3, 3]]))
    yield Probe("the first is padded", passages(1, 2, 3), torch.tensor([[1, 3]]))
    yield Probe("the last is padded", passages(1, 2, 3), torch.tensor([[3, 1]]))
    yield Probe("two rows", passages(2, 2, 2), torch.tensor([[1, 2], [2, 1]]))
    some = torch.tensor([[2, 5, 3], [4, 1, 5]])
    yield Probe("two rows of three passages", passages(2, 3, 5), some)
    yield Probe("an empty passage", passages(1, 3, 4), torch.tensor([[2, 0, 3]]))
    yield Probe("one passage", passages(3, 1, 4), torch.tensor([[3], [4], [1]]))
    spoiled = passages(2, 3, 5)
    padding = torch.arange(5) >= some[..., None]
    spoiled[padding] = torch.nan
    yield Probe("NaN in the padding", spoiled, some)


@task.property(
    "all-places-kept", "Two full passages of 3 places: how many places may be read?"
)
def six_places(values) -> bool:
    return values["two passages, both full"]["places that may be read"].tolist() == [6]


@task.property(
    "vectors-whole", "Is each place of your memory one vector of one passage?"
)
def features_stay_apart(values) -> bool:
    mean = values["two passages, both full"]["their mean"]
    return bool((mean[:, 0] < 10).all() and (mean[:, 1] > 99).all())


@task.property("padding-moves-nothing", "Which keys of your memory are padding?")
def finite_beside_nan(values) -> bool:
    return bool(values["NaN in the padding"]["their mean"].isfinite().all())


@task.mistake(
    "padding-only-at-the-end",
    "In the fused memory, where does the padding of the first passage stand?",
)
def counts_all_real_places(memory, lengths):
    fused, _ = fuse_passages(memory, lengths)
    return fused, (torch.arange(fused.shape[1]) < lengths.sum(1, keepdim=True))[
        :, None, None
    ]


@task.mistake("padding-read", "Which places of the memory must nobody read?")
def no_mask(memory, lengths):
    fused, allowed = fuse_passages(memory, lengths)
    return fused, torch.ones_like(allowed)


@task.mistake(
    "padding-zeroed",
    "What weight does a key of 0 get: none, or that of a score of 0?",
    "2. A rectangle",
)
def zeros_for_padding(memory, lengths):
    fused, allowed = fuse_passages(memory, lengths)
    return fused.masked_fill(~allowed[:, 0, 0, :, None], 0.0), torch.ones_like(allowed)


@task.mistake(
    "mask-out-of-step",
    "Do place 1 of the memory and place 1 of the mask come from the same passage?",
)
def places_before_passages(memory, lengths):
    _, allowed = fuse_passages(memory, lengths)
    return memory.transpose(1, 2).flatten(1, 2), allowed


@task.mistake(
    "mask-out-of-step",
    "Do place 1 of the memory and place 1 of the mask come from the same passage?",
)
def mask_in_another_order(memory, lengths):
    fused, _ = fuse_passages(memory, lengths)
    real = torch.arange(memory.shape[2])[:, None] < lengths[:, None]
    return fused, real.flatten(1)[:, None, None]


@task.mistake("one-length-for-all", "Are all passages of a row equally long?")
def lengths_of_the_first(memory, lengths):
    return fuse_passages(memory, lengths[:, :1].expand_as(lengths))


@task.mistake("one-length-for-all", "Are all passages of a row equally long?")
def longest_length(memory, lengths):
    return fuse_passages(memory, lengths.amax(1, keepdim=True).expand_as(lengths))


@task.mistake("passages-added", "Should two passages share one place of the memory?")
def sum_of_passages(memory, lengths):
    place = torch.arange(memory.shape[2])
    real = place < lengths[..., None]
    added = memory.masked_fill(~real[..., None], 0.0).sum(1)
    return added, real.any(1)[:, None, None]


@task.mistake("rows-mixed", "Whose passages does the second row of the batch read?")
def passages_of_other_rows(memory, lengths):
    mixed = memory.transpose(0, 1).reshape(memory.shape)
    return fuse_passages(mixed, lengths.T.reshape(lengths.shape))


@task.mistake("one-passage-only", "Which passages does the memory hold?")
def first_passage(memory, lengths):
    return fuse_passages(memory[:, :1], lengths[:, :1])


@task.mistake("length-off-by-one", "Is place `length` real, when they count from 0?")
def one_place_too_many(memory, lengths):
    return fuse_passages(memory, lengths + 1)


@task.mistake("mask-polarity", "Here, does True mean look or look away?", "Definition")
def hides_the_real_places(memory, lengths):
    fused, allowed = fuse_passages(memory, lengths)
    return fused, ~allowed


@task.mistake(
    "mask-axes-missing",
    "Broadcast to (batch, head, query, key): which two axes does your mask lack?",
)
def rows_taken_for_queries(memory, lengths):
    fused, allowed = fuse_passages(memory, lengths)
    return fused, allowed[:, 0, 0]


@task.mistake("passages-added", "Should two passages share one place of the memory?")
def mean_of_passages(memory, lengths):
    real = torch.arange(memory.shape[2]) < lengths.amax(1, keepdim=True)
    return memory.mean(1), real[:, None, None]
