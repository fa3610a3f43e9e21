"""What goes wrong in grouped_attention."""

import torch
import torch.nn.functional as F

from course_lib.attention import attention
from course_lib.feedback.task import Draw, Probe, Task


def grouped_attention(queries, keys, values, allowed=None):
    """Let several query heads read one head of keys and values.

    Args:
        queries: (batch, head, query, d_head).
        keys: (batch, kv_head, key, d_head); head h reads h // (head / kv_head).
        values: the same shape as keys.
        allowed: bool, broadcasts to (batch, head, query, key), True = may read.

    Returns:
        (batch, head, query, d_head).

    Source: Ainslie et al. (2023), arXiv:2305.13245, section 2.2.

    >>> tuple(grouped_attention(torch.ones(2, 6, 5, 4), *torch.ones(2, 2, 3, 7, 4)).shape)
    (2, 6, 5, 4)
    """
    n_shared = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_shared, 1)
    values = values.repeat_interleave(n_shared, 1)
    return attention(queries, keys, values, allowed)[0]


def use(answer, *args, **kwargs):
    """Call the answer; of (outputs, weights) take the outputs."""
    torch.manual_seed(0)  # so that chance, which has no place here, can be recognised
    result = answer(*args, **kwargs)
    return result[0] if isinstance(result, tuple) else result


task = Task(
    "grouped_attention",
    asks="outputs (batch, head, query, d_head), where head h reads kv_head "
    "h // (n_heads // n_kv_heads).",
    lesson="10_kv_cache",
    reference=grouped_attention,
    use=use,
    read="7. Fewer heads of keys and values",
)

WHICH = "Heads 0 to 3 share kv_heads 0 and 1: who reads whose?"
SCALE = "How many products are summed in one score?"
MOVED = "Did the numbers move, or only the names of the axes?"
MASK = "What does `allowed` say, and when does it have to speak?"


@task.inputs
def probes(draw: Draw):
    yield Probe("four heads, two kv_heads, one key", *one_key(draw))
    yield Probe("six heads, two kv_heads", *heads(draw, 1, 6, 2, 3, 5, 7))
    yield Probe("three heads share one kv_head", *heads(draw, 2, 3, 1, 2, 4, 5))
    yield Probe("as many kv_heads as heads", *heads(draw, 2, 3, 3, 4, 2, 5))
    causal = torch.ones(5, 5).tril().bool()
    yield Probe("causal", *heads(draw, 2, 4, 2, 5, 5, 3), allowed=causal)
    real = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 1]]).bool()[:, None, None]
    queries, keys, values = heads(draw, 2, 6, 3, 3, 4, 5)
    yield Probe("padding", queries, keys, values, allowed=real)
    each = draw.ints(0, 2, 2, 4, 3, 5).bool()
    each[..., 0] = True
    yield Probe("a mask for each head", *heads(draw, 2, 4, 2, 3, 5, 3), allowed=each)
    low = torch.full((1, 1, 1, 5), -9.0)
    queries = low.expand(1, 4, 2, 5) + draw.normal(1, 4, 2, 5)
    keys = 9 + draw.normal(1, 2, 3, 5)
    some = torch.tensor([[1, 1, 0], [0, 1, 1]]).bool()
    values = draw.normal(1, 2, 3, 5)
    yield Probe("very negative scores, a mask", queries, keys, values, allowed=some)


def heads(draw, batch, n_heads, n_kv_heads, n_queries, n_keys, d_head):
    """Draw queries, keys and values."""
    kept = (batch, n_kv_heads, n_keys, d_head)
    queries = draw.normal(batch, n_heads, n_queries, d_head)
    return 2 * queries, draw.normal(*kept), draw.normal(*kept)


def one_key(draw):
    """Draw queries, keys and values of width 1 with one key: outputs are its values."""
    return heads(draw, 1, 4, 2, 1, 1, 1)


@task.property("shape", "How many heads have the outputs?")
def shape_of_the_queries(values) -> bool:
    return tuple(values["causal"].shape) == (2, 4, 5, 3)


@task.property("groups-share-values", WHICH)
def neighbours_share(values) -> bool:
    outputs = values["four heads, two kv_heads, one key"][0, :, 0, 0]
    return bool((outputs[0] - outputs[1]).abs() < 1e-5)


@task.mistake("kv-heads-tiled", WHICH)
def tiled(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    return attention(
        queries, keys.repeat(1, n, 1, 1), values.repeat(1, n, 1, 1), allowed
    )[0]


@task.mistake("kv-heads-tiled", WHICH)
def keys_right_values_tiled(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n, 1)
    return attention(queries, keys, values.repeat(1, n, 1, 1), allowed)[0]


@task.mistake("kv-heads-tiled", WHICH)
def values_right_keys_tiled(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    values = values.repeat_interleave(n, 1)
    return attention(queries, keys.repeat(1, n, 1, 1), values, allowed)[0]


@task.mistake("heads-not-shared", "How many kv_heads are there for so many heads?")
def not_shared(queries, keys, values, allowed=None):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    return weights(scores, allowed) @ values


@task.mistake("first-kv-head-only", WHICH)
def first_kv_head_only(queries, keys, values, allowed=None):
    return grouped_attention(queries, keys[:, :1], values[:, :1], allowed)


@task.mistake("kv-heads-averaged", WHICH)
def averaged(queries, keys, values, allowed=None):
    keys, values = keys.mean(1, keepdim=True), values.mean(1, keepdim=True)
    return grouped_attention(queries, keys, values, allowed)


@task.mistake("repeated-along-keys", "Which axis is repeated?")
def one_output_per_kv_head(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    return grouped_attention(queries[:, ::n], keys, values, allowed)


@task.mistake("scale-missing", SCALE)
def unscaled(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, 1.0)


@task.mistake("scale-by-d-model", SCALE)
def by_d_model(queries, keys, values, allowed=None):
    width = queries.shape[1] * queries.shape[-1]
    return read(queries, keys, values, allowed, width**0.5)


@task.mistake("scale-by-d-model", SCALE)
def by_kv_width(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, (keys.shape[1] * keys.shape[-1]) ** 0.5)


@task.mistake("scale-by-d-head", "By how much is a score divided in all?")
def without_root(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, queries.shape[-1])


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do weights add to 1?"
)
def over_queries(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, queries.shape[-1] ** 0.5, dim=-2)


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do weights add to 1?"
)
def over_heads(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, queries.shape[-1] ** 0.5, dim=1)


@task.mistake("softmax-missing", "What do the weights of one query add up to?")
def no_softmax(queries, keys, values, allowed=None):
    scores, values = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    scores = scores if allowed is None else scores.masked_fill(~allowed, 0.0)
    return scores @ values


@task.mistake("mask-ignored", MASK)
def mask_ignored(queries, keys, values, allowed=None):
    return grouped_attention(queries, keys, values)


@task.mistake("bool-polarity-mha-vs-sdpa", "Does True mean look, or look away?")
def polarity(queries, keys, values, allowed=None):
    return read(queries, keys, values, None if allowed is None else ~allowed)


@task.mistake(
    "mask-after-softmax", "Did the hidden keys already take part in the division?"
)
def mask_afterwards(queries, keys, values, allowed=None):
    scores, values = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    shares = scores.softmax(-1)
    return (shares if allowed is None else shares * allowed) @ values


@task.mistake("mask-fill-near-zero", "exp(0) is 1: which score makes exp vanish?")
def filled_with_zero(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, fill=0.0)


@task.mistake("mask-fill-near-zero", "exp(0) is 1: which score makes exp vanish?")
def filled_with_minus_one(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, fill=-1.0)


@task.mistake("zero-one-mask-added", "Does adding 1 to a score forbid anything?")
def added(queries, keys, values, allowed=None):
    scores, values = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    return (scores if allowed is None else scores + allowed.float()).softmax(
        -1
    ) @ values


@task.mistake("always-causal", MASK)
def always_causal(queries, keys, values, allowed=None):
    causal = torch.ones(queries.shape[2], keys.shape[2]).tril().bool()
    return read(queries, keys, values, causal)


@task.mistake("always-causal", MASK)
def causal_if_there_is_a_mask(queries, keys, values, allowed=None):
    if allowed is None:
        return grouped_attention(queries, keys, values)
    return always_causal(queries, keys, values)


@task.mistake("mask-of-the-first-head", "Has each head a mask of its own?")
def mask_of_the_first_head(queries, keys, values, allowed=None):
    first = allowed[:, :1] if allowed is not None and allowed.ndim == 4 else allowed
    return grouped_attention(queries, keys, values, first)


@task.mistake(
    "mask-transposed", "Which axis of the mask is the query, and which the key?"
)
def square_mask_transposed(queries, keys, values, allowed=None):
    if allowed is not None and allowed.shape[-1] == queries.shape[2]:
        allowed = allowed.mT
    return grouped_attention(queries, keys, values, allowed)


@task.mistake("inf-times-zero-mask", "What is zero times infinity?")
def infinity_times_the_mask(queries, keys, values, allowed=None):
    scores, values = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    if allowed is not None:
        scores = scores - torch.inf * (~allowed).float()
    return scores.softmax(-1) @ values


@task.mistake("softmax-no-max-shift", "What does exp(-200) give, and a sum of those?")
def raw_exponentials(queries, keys, values, allowed=None):
    scores, values = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    scores = scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)
    shares = scores.exp()
    return shares / shares.sum(-1, keepdim=True) @ values


@task.mistake("scale-by-n-keys", SCALE)
def by_the_number_of_keys(queries, keys, values, allowed=None):
    return read(queries, keys, values, allowed, keys.shape[2] ** 0.5)


@task.mistake(
    "softmax-wrong-dim", "For one query, over which axis do weights add to 1?"
)
def over_the_group(queries, keys, values, allowed=None):
    scores, each = scored(queries, keys, values, queries.shape[-1] ** 0.5)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    grouped = scores.unflatten(1, (keys.shape[1], -1)).softmax(2)
    return grouped.nan_to_num(0.0).flatten(1, 2) @ each


@task.mistake("heads-merged-without-transpose", MOVED)
def query_axis_in_the_middle(queries, keys, values, allowed=None):
    outputs = grouped_attention(queries, keys, values, allowed)
    grouped = outputs.unflatten(1, (keys.shape[1], -1)).transpose(2, 3)
    return grouped.reshape(outputs.shape)


@task.mistake("heads-merged-without-transpose", MOVED)
def query_axis_in_front(queries, keys, values, allowed=None):
    outputs = grouped_attention(queries, keys, values, allowed)
    return outputs.transpose(1, 2).reshape(outputs.shape)


@task.mistake("heads-split-by-view", MOVED)
def groups_cut_through_the_queries(queries, keys, values, allowed=None):
    batch, _, n_queries, d_head = queries.shape
    parts = queries.reshape(batch, keys.shape[1], n_queries, -1, d_head)
    queries = parts.transpose(2, 3).flatten(1, 2)
    return grouped_attention(queries, keys, values, allowed)


@task.mistake("queries-averaged", "Do the heads of a group look for the same?")
def one_query_for_the_group(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    mean = queries.unflatten(1, (-1, n)).mean(2, keepdim=True).expand(-1, -1, n, -1, -1)
    return grouped_attention(mean.flatten(1, 2), keys, values, allowed)


@task.mistake("sdpa-dropout-at-eval", "Who tells a function that training is over?")
def dropout(queries, keys, values, allowed=None):
    n = queries.shape[1] // keys.shape[1]
    keys, values = keys.repeat_interleave(n, 1), values.repeat_interleave(n, 1)
    return F.scaled_dot_product_attention(queries, keys, values, allowed, 0.1)


def scored(queries, keys, values, scale):
    """Return the scores, and the values of each head."""
    n = queries.shape[1] // keys.shape[1]
    keys, values = keys.repeat_interleave(n, 1), values.repeat_interleave(n, 1)
    return queries @ keys.transpose(-2, -1) / scale, values


def weights(scores, allowed, dim=-1, fill=-torch.inf):
    """Hide scores, then turn them into weights."""
    scores = scores if allowed is None else scores.masked_fill(~allowed, fill)
    return scores.softmax(dim)


def read(queries, keys, values, allowed, scale=None, dim=-1, fill=-torch.inf):
    """Attend as asked, but for the scale, the axis or the fill."""
    scale = queries.shape[-1] ** 0.5 if scale is None else scale
    scores, values = scored(queries, keys, values, scale)
    return weights(scores, allowed, dim, fill) @ values
