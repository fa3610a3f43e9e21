"""What goes wrong in causal_mask."""

import torch

from course_lib.feedback.adapters.masks import use_mask
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import causal_mask

task = Task(
    "causal_mask",
    asks="(query, key), True where a query may read a key: its own place and all before.",
    lesson="02_masks",
    reference=causal_mask,
    use=use_mask,
    read="5. New queries, old keys",
)

FLIPPED = "Print the 4×4 mask and read row 0 aloud: whom may the first token see?"
ITSELF = "How many keys does the first token have, counting itself?"
PAST = "Query i sits at absolute position past + i: which keys come before that?"
ADDED = "If your mask is added to the scores: does adding 1 forbid anything?"


@task.inputs
def probes(draw: Draw):
    n = draw.size(3, 6)
    yield Probe("a square", n)
    yield Probe("one token", 1)
    yield Probe("one query after others", 1, n + 2)
    yield Probe("three queries after others", 3, n + 4)
    yield Probe("more queries than keys before them", n + 3, n + 5)
    yield Probe("an offset of 0", 3, n + 4, 0)
    yield Probe("an offset of 2, by name", 4, n_keys=n + 5, offset=2)


@task.property("causality", "May a query read a key that comes after it?")
def no_future(values) -> bool:
    return not values["a square"].triu(1).any()


@task.mistake("causal-mask-flipped", FLIPPED, read="2. The causal mask, cell by cell")
def keeps_the_future(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).triu(offset).bool()


@task.mistake("causal-mask-flipped", FLIPPED, read="2. The causal mask, cell by cell")
def true_means_hide(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).triu(offset + 1).bool()


@task.mistake("causal-diagonal-masked", ITSELF, read="3. The same without a loop")
def blind_to_itself(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset - 1).bool()


@task.mistake("chunk-mask-without-offset", PAST)
def anchored_at_the_first_key(n_queries, n_keys=None, offset=None):
    n_keys, _ = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril().bool()


@task.mistake("causal-diagonal-masked", ITSELF, read="3. The same without a loop")
def sees_the_next(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset + 1).bool()


@task.mistake("chunk-mask-without-offset", PAST)
def default_offset_of_0(n_queries, n_keys=None, offset=None):
    n_keys, _ = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset or 0).bool()


@task.mistake("chunk-mask-without-offset", PAST)
def always_a_square(n_queries, n_keys=None, offset=None):
    return torch.ones(n_queries, n_queries).tril().bool()


@task.mistake(
    "offset-ignored",
    "Which of your arguments has no part in the result?",
)
def last_query_at_the_last_key(n_queries, n_keys=None, offset=None):
    n_keys, _ = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()


@task.mistake(
    "offset-sign",
    "Do keys before the first query move the staircase to the right or to the left?",
)
def staircase_to_the_left(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(-offset).bool()


@task.mistake(
    "no-causal-mask",
    "Which cell of your table says no?",
    read="2. The causal mask, cell by cell",
)
def all_may_read_all(n_queries, n_keys=None, offset=None):
    n_keys, _ = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).bool()


@task.mistake(
    "only-itself",
    "What does the third token know about the first two?",
    read="2. The causal mask, cell by cell",
)
def reads_its_own_place_only(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset).triu(offset).bool()


@task.mistake(
    "mask-axes-swapped",
    "One query and five keys: how many rows has your table?",
    read="4. The one question",
)
def key_by_query(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset).bool().T


@task.mistake(
    "mask-axes-swapped",
    "One query and five keys: how many rows has your table?",
    read="4. The one question",
)
def rows_of_keys(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_keys, n_queries).tril(offset).bool()


@task.mistake("zero-one-mask-added", ADDED, read='"Set hidden scores to 0."')
def ones_and_zeros(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).tril(offset)


@task.mistake("zero-one-mask-added", ADDED, read='"Set hidden scores to 0."')
def square_of_ones_and_zeros(n_queries, n_keys=None, offset=None):
    return torch.ones(n_queries, n_queries).tril()


@task.mistake(
    "inf-times-zero-mask",
    "What is zero times infinity in floating point?",
    read="1. Hide one key, by hand",
)
def multiplies_by_minus_infinity(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).triu(offset + 1) * -torch.inf


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    read='"Set hidden scores to 0."',
)
def adds_nearly_nothing(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).triu(offset + 1) * -1e-9


@task.mistake(
    "mask-fill-near-zero",
    "exp(0) is 1: which score makes exp vanish?",
    read='"Set hidden scores to 0."',
)
def adds_minus_one(n_queries, n_keys=None, offset=None):
    n_keys, offset = filled(n_queries, n_keys, offset)
    return torch.ones(n_queries, n_keys).triu(offset + 1) * -1.0


def filled(n_queries, n_keys, offset):
    """Fill in the defaults as causal_mask does."""
    n_keys = n_queries if n_keys is None else n_keys
    return n_keys, n_keys - n_queries if offset is None else offset


@task.mistake("zero-offset-as-missing", "Is an offset of 0 an offset that is missing?")
def zero_counts_as_missing(n_queries, n_keys=None, offset=None):
    return causal_mask(n_queries, n_keys, offset or None)
