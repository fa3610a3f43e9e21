"""What goes wrong in attention."""

import math

import torch
import torch.nn.functional as F

from course_lib.attention import attention
from course_lib.feedback.adapters.answers import repeats
from course_lib.feedback.adapters.attention import use_attention
from course_lib.feedback.families import weighing
from course_lib.feedback.families.faults import named
from course_lib.feedback.families.weighing import hide, scored, triangle, weighed
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import causal_mask, combine, padding_mask

task = Task(
    "attention",
    asks="softmax(queries keys^T / sqrt(d_head) + bias) values, over the keys that "
    "`allowed` lets each query read.",
    lesson="03_attention",
    reference=attention,
    use=use_attention,
    read="4. The function",
)

ROOT = "3. The root"
HEADINGS = {
    "scale-missing": ROOT,
    "scale-by-d-head": ROOT,
    "scale-by-d-model": "“Divide by the root of d_model.”",
    "softmax-wrong-dim": "“Softmax over either axis: the table is square.”",
}
FORMULA = "Definition"
BIAS = "Where in the formula does `bias` stand?"
NOTHING = "What should a query return when it may look at nothing, and its gradient?"
BOTH = "With a mask and a bias, do both act?"
TRIANGLE = "Is the triangle anchored at the first key or at the newest one?"
AVERAGED = "Which of the three tensors is averaged?"
ROWS = "Is a row of your scores a query or a key?"


ONE = torch.eye(2)[None, None]  # values that are read as the weights themselves


@task.inputs
def probes(draw: Draw):
    def heads(batch, n_heads, n_queries, n_keys, d_head):
        return (
            draw.normal(batch, n_heads, n_queries, d_head),
            draw.normal(batch, n_heads, n_keys, d_head),
            draw.normal(batch, n_heads, n_keys, d_head),
        )

    plain = heads(1, 1, 1, 2, 4)
    yield Probe("one query, two keys, values 1 and 10", *plain[:2], ones_and_tens())
    keys = torch.tensor([[[[2.0, 1.0], [1.0, 3.0]]]])
    shown = {"need_weights": True}
    small = torch.tensor([[[[1.0, 2.0]]]]), keys, ONE
    yield Probe("one query, two keys, with its weights", *small, **shown)
    triangle = heads(1, 1, 3, 3, 2)
    later = [x.clone() for x in triangle]
    for x in later:
        x[..., 2, :] = draw.normal(2) + 5
    yield Probe("a triangle of three", *triangle, causal_mask(3))
    yield Probe("the same, another last token", *later, causal_mask(3))
    yield Probe("more keys than queries, several heads", *heads(2, 3, 4, 5, 6))
    ones = torch.ones(1, 2, 4, 3)
    yield Probe("every value is 1", *heads(1, 2, 5, 4, 3)[:2], ones)
    yield Probe("a batch with padding", *heads(2, 3, 4, 5, 6), padding_mask([2, 5], 5))
    yield Probe("three queries after others", *heads(1, 2, 3, 5, 4), causal_mask(3, 5))
    yield Probe("all scores near -50", *far_below(draw), causal_mask(4))
    yield Probe("scores near 1000", 100 * plain[0].abs(), 20 * plain[1].abs(), plain[2])
    yield Probe("with a bias", *heads(1, 2, 3, 4, 9), bias=draw.normal(2, 3, 4))
    both = combine(causal_mask(4), padding_mask([3, 4], 4))
    yield Probe("mask and bias", *heads(2, 3, 4, 4, 5), both, draw.normal(2, 3, 4, 4))
    yield Probe("with its weights", *heads(1, 2, 3, 4, 5), **shown)
    high = 200 * draw.normal(1, 2, 4, 1) + draw.normal(1, 2, 4, 4)
    inputs = *heads(1, 2, 4, 4, 3), causal_mask(4), high
    yield Probe("with its weights, mask and bias", *inputs, **shown)
    left = combine(causal_mask(3), padding_mask([2], 3, "left"))
    yield Probe("a query that may read nothing", *heads(1, 1, 3, 3, 2), left)


def ones_and_tens():
    """Give two keys values that show the weights."""
    return torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.0, 10.0, 0.0, 0.0]])[None, None]


def far_below(draw):
    """Give queries and keys whose every score lies near -50."""
    direction = torch.full((1, 1, 1, 4), 5.0)
    queries = direction + 0.1 * draw.normal(1, 2, 4, 4)
    keys = -direction + 0.1 * draw.normal(1, 2, 4, 4)
    return queries, keys, draw.normal(1, 2, 4, 4)


@task.property("repeatable", "Does the same input give the same output twice?")
def no_chance(values) -> bool:
    return repeats(values)


@task.property("finite", NOTHING)
def finite_beside_an_empty_query(values) -> bool:
    found = values["a query that may read nothing"]
    return all(bool(part.isfinite().all()) for part in found.values())


@task.property("causality", "May the first two queries read the third token?")
def early_queries_stay(values) -> bool:
    before, after = (
        values[label]
        for label in ("a triangle of three", "the same, another last token")
    )
    return torch.allclose(before[..., :2, :], after[..., :2, :], atol=1e-4)


@task.property("weights-sum-to-one", weighing.AXIS)
def mean_of_ones_is_one(values) -> bool:
    found = values["every value is 1"]
    return torch.allclose(found, torch.ones_like(found), atol=1e-4)


def known(id, hint, read=None):
    """Enter a wrong answer; what it is called with ends before need_weights."""

    def take(attend):
        def answer(queries, keys, values, allowed=None, bias=None, need_weights=False):
            return attend(queries, keys, values, allowed, bias)

        return task.mistake(id, hint, read)(named(answer, id))

    return take


for fault in weighing.FAULTS:
    known(fault.id, fault.hint, HEADINGS.get(fault.id))(fault.step)


def minus_infinity(scores, allowed):
    """Add minus infinity to hidden scores."""
    if allowed is None:
        return scores
    return scores + torch.zeros(allowed.shape).masked_fill(~allowed, -torch.inf)


known("scale-by-n-keys", weighing.SCALE, ROOT)(
    weighed(root=lambda queries, keys: math.sqrt(keys.shape[-2]))
)
known("scale-multiplied", "Should the root make the scores larger?", ROOT)(
    weighed(root=lambda queries, keys: queries.shape[-1] ** -0.5)
)
known("mask-fill-positive", "Which sign has a score that makes exp vanish?")(
    weighed(fill=1e9)
)
known("mask-first-row-for-all", "Does each row of the batch have its own mask?")(
    weighed(mask=lambda allowed, _: allowed[:1] if allowed.ndim == 4 else allowed)
)


@known("fully-masked-row-nan", NOTHING)
def nan_wiped_off_the_weights(queries, keys, values, allowed, bias):
    weights = minus_infinity(scored(queries, keys, bias), allowed).softmax(-1)
    return weights.nan_to_num(0.0) @ values


@known("fully-masked-row-nan", NOTHING)
def nan_wiped_off_the_outputs(queries, keys, values, allowed, bias):
    weights = minus_infinity(scored(queries, keys, bias), allowed).softmax(-1)
    return (weights @ values).nan_to_num(0.0)


@known("fully-masked-row-nan", NOTHING)
def nan_wiped_off_after_a_fill(queries, keys, values, allowed, bias):
    weights = hide(scored(queries, keys, bias), allowed, -torch.inf).softmax(-1)
    return (weights @ values).nan_to_num(0.0)


@known("scale-after-softmax", "Does dividing weights sharpen or shrink them?")
def root_after_the_softmax(queries, keys, values, allowed, bias):
    weights = hide(scored(queries, keys, bias, lambda *_: 1.0), allowed).softmax(-1)
    return weights / math.sqrt(queries.shape[-1]) @ values


@known("softmax-missing", "What do the weights of one query add up to?")
def scores_as_weights(queries, keys, values, allowed, bias):
    return hide(scored(queries, keys, bias), allowed, 0.0) @ values


@known("is-causal-top-left-with-cache", TRIANGLE)
def kernel_draws_the_triangle(queries, keys, values, allowed, bias):
    causal = allowed is not None
    mask = None if causal else bias
    return F.scaled_dot_product_attention(queries, keys, values, mask, is_causal=causal)


@known("is-causal-top-left-with-cache", TRIANGLE)
def own_triangle_for_every_table(queries, keys, values, allowed, bias):
    if allowed is not None and allowed.ndim == 2:
        allowed = triangle(queries, keys, 0)
    return attention(queries, keys, values, allowed, bias)[0]


@known("bias-ignored", BIAS, FORMULA)
def no_bias(queries, keys, values, allowed, bias):
    return attention(queries, keys, values, allowed)[0]


@known("bias-scaled", BIAS, FORMULA)
def root_divides_the_bias_too(queries, keys, values, allowed, bias):
    if bias is not None:
        bias = bias / math.sqrt(queries.shape[-1])
    return attention(queries, keys, values, allowed, bias)[0]


@known("bias-after-softmax", BIAS, FORMULA)
def bias_on_the_weights(queries, keys, values, allowed, bias):
    weights = hide(scored(queries, keys), allowed).softmax(-1)
    return (weights if bias is None else weights + bias) @ values


@known("bias-sign", BIAS, FORMULA)
def bias_taken_away(queries, keys, values, allowed, bias):
    return attention(queries, keys, values, allowed, None if bias is None else -bias)[0]


@known("bias-instead-of-mask", BOTH)
def mask_or_bias(queries, keys, values, allowed, bias):
    allowed = allowed if bias is None else None
    return attention(queries, keys, values, allowed, bias)[0]


@known("bias-instead-of-mask", BOTH)
def bias_or_mask(queries, keys, values, allowed, bias):
    bias = bias if allowed is None else None
    return attention(queries, keys, values, allowed, bias)[0]


@known("keys-as-values", AVERAGED)
def averages_keys(queries, keys, values, allowed, bias):
    return attention(queries, keys, keys, allowed, bias)[0]


@known("keys-as-values", AVERAGED)
def keys_for_values_and_values_for_keys(queries, keys, values, allowed, bias):
    return attention(queries, values, keys, allowed, bias)[0]


@known("queries-and-keys-swapped", ROWS)
def keys_ask(queries, keys, values, allowed, bias):
    return hide(scored(keys, queries, bias), allowed).softmax(-1) @ values


@known("queries-and-keys-swapped", ROWS)
def weights_transposed(queries, keys, values, allowed, bias):
    return hide(scored(queries, keys, bias), allowed).softmax(-1).mT @ values


@known("weights-returned", "Is a weight already what the query has read?")
def weights_alone(queries, keys, values, allowed, bias):
    return hide(scored(queries, keys, bias), allowed).softmax(-1)


@known("plain-mean", "Which key is read more where a query matches it well?")
def averages_what_is_allowed(queries, keys, values, allowed, bias):
    return attention(0 * queries, keys, values, allowed, bias)[0]


@known(
    "keys-transposed-wrongly", "Which two axes change places in a product of tables?"
)
def swaps_all_axes(queries, keys, values, allowed, bias):
    return weighing.by_hand(queries, keys.flip(1).flip(0), values, allowed, bias)


@known("heads-after-positions", "Which axis counts the heads, and which the positions?")
def heads_on_the_third_axis(queries, keys, values, allowed, bias):
    queries, keys, values = (x.transpose(1, 2) for x in (queries, keys, values))
    return weighing.by_hand(queries, keys, values, allowed, bias).transpose(1, 2)


@known(
    "sdpa-dropout-at-eval",
    "A function has no eval mode: who tells it training is over?",
)
def drops_always(queries, keys, values, allowed, bias):
    mask = minus_infinity(0.0 if bias is None else bias, allowed)
    mask = None if allowed is None and bias is None else mask
    return F.scaled_dot_product_attention(queries, keys, values, mask, dropout_p=0.1)


@task.mistake("scaled-twice", weighing.TWICE, ROOT)
def scales_queries_for_the_kernel(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    queries = queries / math.sqrt(queries.shape[-1])
    outputs = attention(queries, keys, values, allowed, bias)[0]
    scores = hide(scored(queries, keys, bias, lambda *_: 1.0), allowed)
    return (outputs, scores.softmax(-1)) if need_weights else outputs


@task.mistake(
    "scores-returned-as-weights",
    "What do the weights that you hand back add up to, for each query?",
)
def hands_scores_back(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = hide(scored(queries, keys, bias), allowed)
    outputs = scores.softmax(-1) @ values
    return (outputs, scores) if need_weights else outputs
