"""What goes wrong in cross_attention."""

from itertools import permutations

import torch

from course_lib.attention import attention, merge_heads, split_heads
from course_lib.feedback.adapters.answers import outputs_of, repeats, settled
from course_lib.feedback.families import heads, weighing
from course_lib.feedback.families.faults import named
from course_lib.feedback.families.heads import Steps
from course_lib.feedback.families.weighing import by_library, triangle, weighed
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import combine, padding_mask


def cross_attention(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    """Let each position of x read the memory, in several heads."""
    queries = split_heads(x @ w_queries.T, n_heads)
    keys = split_heads(memory @ w_keys.T, n_heads)
    values = split_heads(memory @ w_values.T, n_heads)
    allowed = None
    if memory_lengths is not None:
        allowed = padding_mask(memory_lengths, memory.shape[1])
    return merge_heads(attention(queries, keys, values, allowed)[0]) @ w_output.T


def use(answer, *args, **kwargs):
    """Call the answer; take the outputs where it gives weights, too."""
    return settled(lambda: outputs_of(answer(*args, **kwargs)))


task = Task(
    "cross_attention",
    asks="(batch, query, d_model): each position of x asks, the memory is read, in n_heads "
    "heads, without its padding; weights as nn.Linear holds them, no biases.",
    lesson="05_cross_attention",
    reference=cross_attention,
    use=use,
    read="3. The module",
)

SOURCE = "Where in this line does the source sentence enter?"
FUTURE = "Is the source sentence in the future?"
PADDING = "Which places of the memory are no words, and who hides them?"
COLUMN = "Padding must not be looked at: is that a row or a column of the score matrix?"
WEIGHT = "nn.Linear holds (outputs, inputs): which side of x does its weight stand on?"
ASKS = "Who asks, and who is read?"
COUNTED = "A source of 2 words: which places hold them?"
EACH = "Does each source keep its own length?"
SWAPPED = "Which of the tables makes what is averaged?"
OWN = "“Keys and values come from the decoder's own stream.”"
CAUSAL = "“A decoder is causal, so the mask belongs here too.”"
TRAINING = "“The padding mask was for training.”"
LENGTHS = "4. Sources of different length"
HEADINGS = {"softmax-wrong-dim": "2. A rectangle"}


@task.inputs
def probes(draw: Draw):
    def case(batch, n_queries, n_keys, d_model):
        x, memory = (
            draw.normal(batch, n_queries, d_model),
            draw.normal(batch, n_keys, d_model),
        )
        return x, memory, *(draw.normal(d_model, d_model) for _ in range(4))

    plain = [torch.eye(2)] * 4
    few = draw.normal(1, 1, 2), draw.normal(1, 2, 2)
    yield Probe("one query, two keys, weights of 1", *few, *plain, 1)
    yield Probe("three queries, two keys", *case(1, 3, 2, 2), 1)
    yield Probe("two heads", *case(1, 2, 3, 4), 2)
    yield Probe("as many queries as keys", *case(2, 3, 3, 4), 2)
    yield Probe("a batch, three heads", *case(2, 4, 5, 6), 3)
    ragged = case(2, 3, 6, 4)
    lengths = torch.tensor([2, 5])
    yield Probe("sources of 2 and 5 words", *ragged, 2, lengths)
    alone = (ragged[0][:1], ragged[1][:1, :2], *ragged[2:])
    yield Probe("the source of 2 words alone", *alone, 2)
    loud = list(case(2, 4, 3, 6))
    loud[1][0, 1:] = 30.0
    yield Probe("loud padding", *loud, 2, memory_lengths=torch.tensor([1, 3]))
    changed = (ragged[0], 1 + ragged[1], *ragged[2:])
    yield Probe("another memory", *changed, 2, lengths)
    single = torch.tensor([1, 4])
    yield Probe("one query, sources of 1 and 4 words", *case(2, 1, 4, 6), 3, single)
    yield Probe("scores near 1000", 40 + few[0], 40 + few[1], *plain, 1)


@task.property("repeatable", "Does the same input give the same output twice?")
def no_chance(values) -> bool:
    return repeats(values)


@task.property("reads-the-memory", SOURCE)
def memory_matters(values) -> bool:
    one, other = values["sources of 2 and 5 words"], values["another memory"]
    return not torch.allclose(one, other, atol=1e-4)


@task.property("batch-independence", PADDING)
def short_source_alone_is_the_same(values) -> bool:
    batch, alone = (
        values["sources of 2 and 5 words"],
        values["the source of 2 words alone"],
    )
    return torch.allclose(batch[:1], alone, atol=1e-4)


def real_words(lengths, n_keys):
    """Mask padding without a check of lengths, as an answer does by hand."""
    return torch.arange(n_keys) < lengths[:, None, None, None]


def known(id, hint, read=None, steps=None, mask=real_words):
    """Enter a wrong answer: the right one with another step or mask."""
    steps = steps or Steps()

    def answer(x, memory, w_q, w_k, w_v, w_o, n_heads, memory_lengths=None):
        layers = [lambda given, w=w: given @ w.T for w in (w_q, w_k, w_v)]
        allowed = None
        if memory_lengths is not None and mask is not None:
            allowed = mask(memory_lengths, steps.source(x, memory)[0].shape[1])
        return steps.read(x, memory, layers, n_heads, allowed) @ w_o.T

    task.mistake(id, hint, read)(named(answer, id))


for fault in (*weighing.SCALES, *weighing.SOFTMAXES):
    known(fault.id, fault.hint, HEADINGS.get(fault.id), Steps(attend=fault.step))
for fault in weighing.MASKS:
    known(fault.id, fault.hint, LENGTHS, Steps(attend=fault.step))
for fault in heads.CUTS:
    known(fault.id, fault.hint, steps=fault.step)


ITSELF = Steps(source=lambda x, memory: (x, x))
known("cross-attn-ignores-memory", SOURCE, OWN, ITSELF)
known("cross-attn-ignores-memory", SOURCE, OWN, ITSELF, mask=None)
known(
    "cross-attn-values-from-x", SOURCE, OWN, Steps(source=lambda x, memory: (memory, x))
)
known(
    "cross-attn-keys-from-x", SOURCE, OWN, Steps(source=lambda x, memory: (x, memory))
)
known(
    "queries-from-memory",
    ASKS,
    steps=Steps(asks=lambda x, memory: memory, source=lambda x, memory: (x, x)),
    mask=None,
)
known("queries-from-memory", ASKS, steps=Steps(asks=lambda x, memory: memory))


def only_for_several_queries(allowed, queries, keys):
    """Forget the padding where one token is decoded."""
    return None if queries.shape[-2] == 1 else allowed


MISSING = "cross-pad-mask-missing-at-decode"
known(MISSING, PADDING, TRAINING, mask=None)
known(MISSING, PADDING, TRAINING, Steps(attend=by_library(only_for_several_queries)))


def with_triangle(offset):
    """Give steps with a causal mask that has no place here."""
    return Steps(
        attend=by_library(
            lambda allowed, queries, keys: combine(
                triangle(queries, keys, offset), allowed
            )
        )
    )


known("causal-mask-in-cross-attn", FUTURE, CAUSAL, with_triangle(0))
known("causal-mask-in-cross-attn", FUTURE, CAUSAL, with_triangle(None))


def query_rows(allowed, scores):
    """Hide, by the source's lengths, the places of the target."""
    return allowed[..., : scores.shape[-2]].mT.expand(-1, -1, *scores.shape[-2:])


ROWS = "padding-mask-on-query-axis"
TURNED = weighed(mask=lambda allowed, scores: allowed.mT)
known(ROWS, COLUMN, LENGTHS, Steps(attend=TURNED))
known(ROWS, COLUMN, LENGTHS, Steps(attend=weighed(mask=query_rows)))


@task.mistake(ROWS, COLUMN, LENGTHS)
def clears_places_of_the_target(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    weights = (w_queries, w_keys, w_values, w_output)
    outputs = cross_attention(x, memory, *weights, n_heads)
    if memory_lengths is None:
        return outputs
    n_queries = x.shape[1]
    real = padding_mask(memory_lengths.clamp(max=n_queries), n_queries)
    return outputs * real[:, 0].mT


def one_too_many(lengths, n_keys):
    """Let the first place of padding be read."""
    return padding_mask((lengths + 1).clamp(max=n_keys), n_keys)


def one_too_few(lengths, n_keys):
    """Hide the last word of each source, too."""
    return padding_mask((lengths - 1).clamp(min=0), n_keys)


UNREAD_IS_0 = Steps(attend=by_library(lambda allowed, *_: allowed))
known("padding-off-by-one", COUNTED, LENGTHS, mask=one_too_many)
known("padding-off-by-one", COUNTED, LENGTHS, mask=one_too_few)
known("padding-off-by-one", COUNTED, LENGTHS, UNREAD_IS_0, mask=one_too_few)
known(
    "padding-side-swapped",
    "On which side do the real words stand?",
    LENGTHS,
    mask=lambda lengths, n_keys: padding_mask(lengths, n_keys, "left"),
)
known(
    "source-cut-to-longest",
    EACH,
    mask=lambda lengths, n: padding_mask(lengths[:1].expand(len(lengths)), n),
)
known(
    "source-cut-to-longest",
    EACH,
    LENGTHS,
    mask=lambda lengths, n: padding_mask(lengths.max().expand(len(lengths)), n),
)


def cut_short(queries, keys, values, allowed):
    """Read from the values what the padding's places, cleared, leave of them."""
    if allowed is None:
        return attention(queries, keys, values)[0]
    real = allowed.mT
    return attention(queries, keys * real, values * real)[0]


known("mask-fill-near-zero", weighing.SMALL, LENGTHS, Steps(attend=cut_short))


def with_weights(id, hint, change):
    """Enter the right answer, given other tables than it should be."""

    def answer(x, memory, w_q, w_k, w_v, w_o, n_heads, memory_lengths=None):
        weights = change(w_q, w_k, w_v, w_o, n_heads)
        return cross_attention(x, memory, *weights, n_heads, memory_lengths)

    task.mistake(id, hint)(named(answer, id))


def rows_by_head(w_q, w_k, w_v, w_o, n_heads):
    """Take keys' and values' rows from one table, head by head."""
    rows = torch.cat([w_k, w_v]).unflatten(0, (n_heads, 2, -1))
    return w_q, rows[:, 0].flatten(0, 1), rows[:, 1].flatten(0, 1), w_o


with_weights("weight-transposed", WEIGHT, lambda *w: [table.T for table in w[:4]])
with_weights("weight-transposed", WEIGHT, lambda q, k, v, o, _: (q, k, v, o.T))
with_weights("layers-swapped", SWAPPED, lambda q, k, v, o, _: (q, v, k, o))
with_weights("layers-swapped", SWAPPED, lambda q, k, v, o, _: (k, q, v, o))
TABLES = ("w_queries", "w_keys", "w_values", "w_output")
for idle, used in permutations(range(4), 2):
    with_weights(
        "projection-used-twice",
        f"Change {TABLES[idle]}: does your output move?",
        lambda *w, idle=idle, used=used: [
            w[used if i == idle else i] for i in range(4)
        ],
    )
with_weights("fused-qkv-layout", "In what order were these rows stacked?", rows_by_head)
with_weights(
    "no-output-projection",
    "Which table lets the heads talk to each other?",
    lambda q, k, v, o, _: (q, k, v, torch.eye(len(o))),
)


@task.mistake("residual-inside", "Who adds the residual: this function, or the block?")
def adds_its_input(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    weights = (w_queries, w_keys, w_values, w_output)
    return x + cross_attention(x, memory, *weights, n_heads, memory_lengths)


@task.mistake("heads-split-by-view", heads.VIEW)
def views_the_memory(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    batch, n_keys, d_model = memory.shape
    shape = batch, n_heads, n_keys, d_model // n_heads
    queries = split_heads(x @ w_queries.T, n_heads)
    keys, values = ((memory @ w.T).reshape(shape) for w in (w_keys, w_values))
    allowed = None
    if memory_lengths is not None:
        allowed = padding_mask(memory_lengths, n_keys)
    return merge_heads(attention(queries, keys, values, allowed)[0]) @ w_output.T


@task.mistake(
    "memory-cut-to-queries", "Must the source be as long as the target?", LENGTHS
)
def as_long_as_the_target(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    memory = memory[:, : x.shape[1]]
    if memory_lengths is not None:
        memory_lengths = memory_lengths.clamp(max=memory.shape[1])
    weights = (w_queries, w_keys, w_values, w_output)
    return cross_attention(x, memory, *weights, n_heads, memory_lengths)
