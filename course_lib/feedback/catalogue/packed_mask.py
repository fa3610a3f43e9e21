"""What goes wrong in packed_mask: several documents in one row."""

import torch

from course_lib.feedback.adapters.masks import use_mask
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import may_read


def packed_mask(document_ids):
    place = torch.arange(len(document_ids))
    before = place[:, None] >= place
    return before & (document_ids[:, None] == document_ids)


task = Task(
    "packed_mask",
    asks="(query, key), True where a position reads itself or what came before it in its "
    "own document.",
    lesson="02_masks",
    reference=packed_mask,
    use=use_mask,
)


@task.inputs
def probes(draw: Draw):
    ids = 2 + draw.order(7)  # in any order, and none is 0 or 1
    lengths = 1 + draw.ints(1, 4, 7)
    first = torch.tensor([2, 3])
    yield Probe("documents of 2 and 3", ids[:2].repeat_interleave(first))
    yield Probe("one document", ids[:1].repeat(3 + draw.size(0, 3)))
    yield Probe("three documents", ids[:3].repeat_interleave(lengths[:3]))
    yield Probe("documents of one token", ids[:4])
    yield Probe("ids of 0 and -1", torch.tensor([0, 0, 5, 5, 5, -1]))
    yield Probe("seven documents", ids.repeat_interleave(lengths))


@task.property("causality", "May a query read a key that comes after it?")
def no_future(values) -> bool:
    return not any(table.triu(1).any() for table in values.values())


@task.property("separate-documents", "Which document does this key belong to?")
def nothing_from_the_first_document(values) -> bool:
    return not values["documents of 2 and 3"][2:, :2].any()


@task.mistake(
    "documents-not-separated", "Does a position of the second document read the first?"
)
def causal_only(document_ids):
    return torch.ones(len(document_ids), len(document_ids)).tril().bool()


@task.mistake(
    "no-causal-mask", "May a token read one that comes after it in its document?"
)
def same_document_only(document_ids):
    return document_ids[:, None] == document_ids


@task.mistake(
    "causal-mask-flipped",
    "Read row 0 of your table aloud: whom may the first token see?",
)
def future_of_the_document(document_ids):
    return packed_mask(document_ids).T


@task.mistake("causal-diagonal-masked", "May a token read itself?")
def blind_to_itself(document_ids):
    return packed_mask(document_ids).tril(-1)


@task.mistake("ids-compared-by-order", "Are the ids of later documents always larger?")
def later_documents_read_earlier(document_ids):
    place = torch.arange(len(document_ids))
    return (place[:, None] >= place) & (document_ids[:, None] >= document_ids)


@task.mistake("or-for-and", "Must both conditions hold, or is one of them enough?")
def either_condition(document_ids):
    place = torch.arange(len(document_ids))
    return (place[:, None] >= place) | (document_ids[:, None] == document_ids)


@task.mistake(
    "neighbours-only", "Which earlier tokens of its document does a token read?"
)
def two_documents_of_fixed_length(document_ids):
    table = packed_mask(document_ids)
    return table.triu(-1)


@task.mistake(
    "causal-diagonal-masked", "Which key is the last that position 0 may read?"
)
def one_ahead(document_ids):
    return (document_ids[:, None] == document_ids).tril(1)


@task.mistake("ids-as-positions", "Does an id say *where* a position stands?")
def ids_handed_to_may_read(document_ids):
    return may_read(document_ids, document_ids)


@task.mistake("ids-as-padding", "What does an id of -1 mean here?")
def negative_ids_read_nothing(document_ids):
    return packed_mask(document_ids) & (document_ids >= 0)


@task.mistake(
    "positions-restart-only",
    "Two documents both have a position 0: does that tell them apart?",
)
def positions_restart(document_ids):
    place = packed_mask(document_ids).sum(-1) - 1
    return may_read(place, place)


@task.mistake(
    "bool-polarity-mha-vs-sdpa", "In this course, does True mean look or look away?"
)
def true_hides(document_ids):
    return ~packed_mask(document_ids)
