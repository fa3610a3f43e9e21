"""What goes wrong in read_shared: one beginning for all rows of a batch."""

import math

import torch

from course_lib.attention import attention
from course_lib.feedback.adapters.answers import outputs_of
from course_lib.feedback.task import Draw, Probe, Task


def read_shared(queries, shared_keys, shared_values, keys, values, lengths):
    outputs = []
    for row, n in enumerate(lengths.tolist()):
        joined = (
            torch.cat([shared, own[row, :, :n]], 1)[None]
            for shared, own in ((shared_keys, keys), (shared_values, values))
        )
        outputs.append(attention(queries[row : row + 1], *joined)[0])
    return torch.cat(outputs)


def use_read(answer, *args):
    """Call it; read outputs, or (outputs, weights)."""
    return outputs_of(answer(*args))


task = Task(
    "read_shared",
    asks="(batch, head, 1, d_head): attention over the shared positions and each row's own "
    "first `lengths` positions, as if in one cache.",
    lesson="10_kv_cache",
    reference=read_shared,
    use=use_read,
    read="1. One step, by hand",
)

ONE = "How much weight do both parts hand out together?"
PADDING = "What stands behind a row's own positions, and who reads it?"
PADDING_HEADING = "“It runs, and the text is fluent.”"
SHARED = "Which positions do all rows read?"
SCALE = "By what is a score divided before the softmax?"
ORDER = "In which order did you join the two parts?"


@task.inputs
def probes(draw: Draw):
    def sides(batch, n_heads, shared, own, d_head, scale=1.0):
        return (
            scale * draw.normal(batch, n_heads, 1, d_head),
            draw.normal(n_heads, shared, d_head),
            draw.normal(n_heads, shared, d_head),
            draw.normal(batch, n_heads, own, d_head),
            draw.normal(batch, n_heads, own, d_head),
        )

    full = torch.tensor
    yield Probe(
        "one row, one head, 2 shared and 1 own", *sides(1, 1, 2, 1, 2), full([1])
    )
    yield Probe("one row, 1 of 2 own is real", *sides(1, 1, 1, 2, 2), full([1]))
    yield Probe("one row, two heads", *sides(1, 2, 5, 3, 4), full([3]))
    yield Probe("three rows", *sides(3, 2, 4, 5, 7), full([5, 5, 5]))
    yield Probe("rows of different lengths", *sides(3, 2, 5, 7, 4), full([2, 7, 4]))
    yield Probe("a row without own positions", *sides(2, 3, 4, 5, 6), full([0, 3]))
    padded = sides(2, 3, 5, 6, 4)
    for own in padded[3:]:
        own[0, :, 2:] = 1e4
    yield Probe("large padding", *padded, full([2, 6]))
    yield Probe("scores in the thousands", *sides(2, 2, 7, 3, 5, 3000.0), full([3, 1]))
    queries, *others = sides(2, 2, 5, 4, 6, 3000.0)
    low = -queries.abs() - 1000, others[0].abs(), others[1], others[2].abs(), others[3]
    yield Probe("all scores in the thousands below 0", *low, full([2, 4]))
    twice = sides(2, 1, 6, 6, 3)
    twice[3][:], twice[4][:] = twice[1], twice[2]
    yield Probe("own positions like the shared ones", *twice, full([6, 2]))


@task.property("padding-is-not-read", PADDING)
def padding_is_not_read(values) -> bool:
    return bool(values["large padding"].abs().max() < 100)


@task.property("finite", "What does exp of a score in the thousands give?")
def all_finite(values) -> bool:
    return all(bool(value.isfinite().all()) for value in values.values())


def tables(queries, shared_keys, keys, lengths, hide=True):
    """Give both tables of scores, the padding hidden."""
    root = math.sqrt(queries.shape[-1])
    own = queries @ keys.mT / root
    if hide:
        padding = torch.arange(keys.shape[2]) >= lengths[:, None, None, None]
        own = own.masked_fill(padding, -math.inf)
    return queries @ shared_keys.mT / root, own


def mixed(to_shared, to_own, shared_values, values):
    """Take one softmax over both tables and mix both parts."""
    weights = torch.cat([to_shared, to_own], -1).softmax(-1)
    n = shared_values.shape[1]
    return weights[..., :n] @ shared_values + weights[..., n:] @ values


def apart(queries, shared_keys, shared_values, keys, values, lengths):
    """Read each part with a softmax of its own; a part of nothing gives 0."""
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    own = to_own.softmax(-1).nan_to_num(0.0) @ values
    return to_shared.softmax(-1) @ shared_values, own


@task.mistake("two-softmaxes-added", ONE)
def added(*sides):
    shared, own = apart(*sides)
    return shared + own


@task.mistake("two-softmaxes-averaged", ONE)
def averaged(*sides):
    shared, own = apart(*sides)
    return (shared + own) / 2


@task.mistake("weighted-by-positions", "Is a longer part read more for its length?")
def weighted_by_positions(*sides):
    shared, own = apart(*sides)
    n, lengths = sides[1].shape[1], sides[5][:, None, None, None]
    return (n * shared + lengths * own) / (n + lengths)


@task.mistake("shared-forgotten", SHARED)
def own_only(*sides):
    return apart(*sides)[1]


@task.mistake("own-forgotten", "Which positions belong to one row alone?")
def shared_only(*sides):
    return apart(*sides)[0]


@task.mistake("padding-read", PADDING, PADDING_HEADING)
def lengths_ignored(queries, shared_keys, shared_values, keys, values, lengths):
    both = tables(queries, shared_keys, keys, lengths, hide=False)
    return mixed(*both, shared_values, values)


@task.mistake(
    "padding-read-as-zeros",
    "exp(0) is 1: which score makes exp vanish?",
    PADDING_HEADING,
)
def padding_scores_zero(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    to_own = to_own.masked_fill(to_own == -math.inf, 0.0)
    return mixed(to_shared, to_own, shared_values, values)


@task.mistake(
    "padding-only-a-little-low", "May a real score be lower still?", PADDING_HEADING
)
def padding_scores_minus_a_thousand(
    queries, shared_keys, shared_values, keys, values, lengths
):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    to_own = to_own.masked_fill(to_own == -math.inf, -1000.0)
    return mixed(to_shared, to_own, shared_values, values)


@task.mistake(
    "lengths-count-the-shared-ones", "Do lengths count the shared positions, too?"
)
def lengths_over_both(queries, shared_keys, shared_values, keys, values, lengths):
    fewer = (lengths - shared_keys.shape[1]).clamp(min=0)
    return read_shared(queries, shared_keys, shared_values, keys, values, fewer)


@task.mistake("mask-over-both-parts", "Do lengths count the shared positions, too?")
def mask_over_both(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths, hide=False)
    scores = torch.cat([to_shared, to_own], -1)
    places = torch.arange(scores.shape[-1])
    scores = scores.masked_fill(places >= lengths[:, None, None, None], -math.inf)
    n = shared_keys.shape[1]
    return mixed(scores[..., :n], scores[..., n:], shared_values, values)


@task.mistake("own-position-off-by-one", "Which is the last position of its own?")
def one_less(queries, shared_keys, shared_values, keys, values, lengths):
    fewer = (lengths - 1).clamp(min=0)
    return read_shared(queries, shared_keys, shared_values, keys, values, fewer)


@task.mistake("own-position-off-by-one", "Which is the last position of its own?")
def one_more(queries, shared_keys, shared_values, keys, values, lengths):
    return read_shared(queries, shared_keys, shared_values, keys, values, lengths + 1)


@task.mistake("no-scale", SCALE)
def not_divided(queries, *sides):
    return read_shared(queries * math.sqrt(queries.shape[-1]), *sides)


@task.mistake("scale-by-d-model", SCALE)
def all_heads(queries, *sides):
    return read_shared(queries / math.sqrt(queries.shape[1]), *sides)


@task.mistake("softmax-no-max-shift", "What does exp of a score in the thousands give?")
def plain_exponentials(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    shared, own = to_shared.exp(), to_own.exp()
    total = shared.sum(-1, keepdim=True) + own.sum(-1, keepdim=True)
    return (shared @ shared_values + own @ values) / total


@task.mistake("each-part-shifted-by-itself", "Is the same number taken off both parts?")
def own_maximum_each(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    shared = (to_shared - to_shared.amax(-1, keepdim=True)).exp()
    own = (to_own - to_own.amax(-1, keepdim=True)).exp().nan_to_num(0.0)
    total = shared.sum(-1, keepdim=True) + own.sum(-1, keepdim=True)
    return (shared @ shared_values + own @ values) / total


@task.mistake("row-zero-for-all", "Whose own cache does the second row read?")
def first_rows_cache(queries, shared_keys, shared_values, keys, values, lengths):
    own = keys[:1].expand_as(keys), values[:1].expand_as(values)
    return read_shared(queries, shared_keys, shared_values, *own, lengths)


@task.mistake("one-part-not-scaled", SCALE)
def shared_not_divided(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    to_shared = to_shared * math.sqrt(queries.shape[-1])
    return mixed(to_shared, to_own, shared_values, values)


@task.mistake("one-part-not-scaled", SCALE)
def own_not_divided(queries, shared_keys, shared_values, keys, values, lengths):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    return mixed(
        to_shared, to_own * math.sqrt(queries.shape[-1]), shared_values, values
    )


@task.mistake("parts-in-another-order", ORDER)
def own_first_masked_as_shared_first(
    queries, shared_keys, shared_values, keys, values, lengths
):
    n, n_own = shared_keys.shape[1], keys.shape[2]
    to_shared, to_own = tables(queries, shared_keys, keys, lengths, hide=False)
    hidden = torch.arange(n_own + n) >= (n + lengths)[:, None, None, None]
    scores = torch.cat([to_own, to_shared], -1).masked_fill(hidden, -math.inf)
    return mixed(scores[..., n_own:], scores[..., :n_own], shared_values, values)


@task.mistake("parts-in-another-order", ORDER)
def own_first_cut_as_shared_first(
    queries, shared_keys, shared_values, keys, values, lengths
):
    to_shared, to_own = tables(queries, shared_keys, keys, lengths)
    both = torch.cat([to_own, to_shared], -1)
    n = shared_keys.shape[1]
    return mixed(both[..., :n], both[..., n:], shared_values, values)
