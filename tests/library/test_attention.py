"""Attention equals a loop over rows, heads and queries, and torch's, on both paths."""

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.attention import (
    MultiHeadAttention,
    attention,
    attention_scores,
    merge_heads,
    split_heads,
)
from course_lib.kv_cache import AppendCache
from course_lib.masks import causal_mask, padding_mask, window_mask
from course_lib.positions import (
    AlibiPositions,
    RelativePositions,
    RotaryPositions,
    alibi_bias,
    rotate,
)
from tests.library.families import copy_torch_attention, randomise
from tests.library.parity import (
    assert_same,
    gradients_of,
    normal,
    results_and_gradients,
)

both_paths = pytest.mark.parametrize(
    "need_weights", [False, True], ids=["fused", "explicit"]
)
all_kv_heads = pytest.mark.parametrize("kv_heads", [6, 3, 1])


def inputs(kv_heads=6, dtype=torch.float64):
    """Draw queries (2, 6, 5, 4), keys and values (2, kv_heads, 7, 4)."""
    queries = normal(2, 6, 5, 4, seed=1, dtype=dtype)
    keys = normal(2, kv_heads, 7, 4, seed=2, dtype=dtype)
    return queries, keys, normal(2, kv_heads, 7, 4, seed=3, dtype=dtype)


def some_allowed():
    """Hide about a third; query 1 of the first row may read nothing."""
    allowed = normal(2, 6, 5, 7, seed=4) < 0.5
    allowed[0, :, 1] = False
    return allowed


BIAS = normal(6, 5, 7, seed=5, dtype=torch.float64)
CASES = {
    "plain": (None, None),
    "bias": (None, BIAS),
    "window": (window_mask(5, 3, 7), None),
    "padding": (padding_mask([7, 4], 7), None),
    "padding, window and bias": (padding_mask([7, 4], 7) & window_mask(5, 3, 7), BIAS),
}


def weights_by_loop(queries, keys, allowed=None, bias=None):
    """Weigh the keys for every row, head and query alone; (batch, head, query, key)."""
    batch, n_heads, n_queries, d_head = queries.shape
    rows = []
    for b, h, i in itertools.product(range(batch), range(n_heads), range(n_queries)):
        kv_head = h // (n_heads // keys.shape[1])
        scores = (queries[b, h, i] * keys[b, kv_head]).sum(-1) / d_head**0.5
        readable = slice(None) if allowed is None else allowed[b, h, i]
        exponentials = (scores if bias is None else scores + bias[h, i])[readable].exp()
        row = torch.zeros_like(scores)
        row[readable] = exponentials / exponentials.sum()
        rows.append(row)
    return torch.stack(rows).unflatten(0, (batch, n_heads, n_queries))


def attention_by_loop(queries, keys, values, allowed=None, bias=None):
    weights = weights_by_loop(queries, keys, allowed, bias)
    shared = queries.shape[1] // values.shape[1]
    heads = [weights[:, h] @ values[:, h // shared] for h in range(queries.shape[1])]
    return torch.stack(heads, 1)


# -- the formula --------------------------------------------------------------------


@both_paths
def test_a_query_reads_the_mean_weighted_by_its_scores(need_weights):
    """Scores log 3 and 0, so weights 3/4 and 1/4 (scale-by-d-model would spoil them)."""
    queries = torch.tensor([2 * math.log(3), 0, 0, 0]).expand(1, 1, 1, 4)
    keys, values = (
        torch.eye(4)[None, None, :2],
        torch.diag(torch.tensor([4.0, 8, 0, 0])),
    )
    outputs, weights = attention(
        queries, keys, values[None, None, :2], need_weights=need_weights
    )
    torch.testing.assert_close(outputs, torch.tensor([[[[3.0, 2.0, 0.0, 0.0]]]]))
    if need_weights:
        torch.testing.assert_close(weights, torch.tensor([[[[0.75, 0.25]]]]))


@both_paths
@all_kv_heads
def test_outputs_and_gradients_equal_the_loop(need_weights, kv_heads):
    allowed = some_allowed()
    assert_same(
        lambda q, k, v, b: attention(q, k, v, allowed, b, need_weights)[0],
        lambda q, k, v, b: attention_by_loop(q, k, v, allowed, b),
        *inputs(kv_heads),
        BIAS,
    )


@all_kv_heads
def test_weights_equal_the_loop_and_are_zero_where_hidden(kv_heads):
    allowed, (queries, keys, values) = some_allowed(), inputs(kv_heads)
    weights = attention(queries, keys, values, allowed, BIAS, need_weights=True)[1]
    expected = weights_by_loop(queries, keys, allowed, BIAS)
    torch.testing.assert_close(weights, expected)
    assert (weights[~allowed] == 0).all()


def test_weights_come_only_where_they_are_asked_for():
    assert attention(*inputs())[1] is None
    weights = attention(*inputs(), need_weights=True)[1]
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 6, 5).double())


@both_paths
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_outputs_equal_torch_and_keep_the_dtype(need_weights, dtype):
    allowed, (queries, keys, values) = some_allowed(), inputs(6, dtype)
    outputs = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    wide = (queries.double(), keys.double(), values.double())
    expected = F.scaled_dot_product_attention(*wide, attn_mask=allowed)
    torch.testing.assert_close(outputs, expected.to(dtype), atol=1e-2, rtol=1e-2)
    if dtype != torch.bfloat16:
        torch.testing.assert_close(outputs, expected.to(dtype))


@pytest.mark.parametrize("case", CASES)
@all_kv_heads
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_fused_and_the_explicit_path_are_one(case, kv_heads, dtype):
    allowed, bias = CASES[case]
    bias = None if bias is None else bias.to(dtype)
    coarse = {"atol": 3e-2, "rtol": 3e-2} if dtype == torch.bfloat16 else {}
    assert_same(
        lambda *given: attention(*given, allowed, bias)[0],
        lambda *given: attention(*given, allowed, bias, need_weights=True)[0],
        *inputs(kv_heads, dtype),
        **coarse,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_bias_of_another_dtype_is_rounded_alike_on_both_paths(dtype):
    given, bias = inputs(3, dtype), 300 * BIAS
    fused, explicit = (attention(*given, None, bias, need) for need in (False, True))
    tolerance = 4 * torch.finfo(dtype).eps
    torch.testing.assert_close(fused[0], explicit[0], atol=tolerance, rtol=tolerance)


@both_paths
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_large_scores_in_16_bits_are_neither_rounded_nor_overflow(need_weights, dtype):
    queries, keys, values = inputs(3, dtype)
    queries, keys = queries * 300, keys * 300  # scores reach 300 000
    wide = (queries.double(), keys.double(), values.double())
    expected = F.scaled_dot_product_attention(*wide, enable_gqa=True).to(dtype)
    outputs, weights = attention(queries, keys, values, need_weights=need_weights)
    torch.testing.assert_close(outputs, expected, atol=2e-2, rtol=2e-2)
    assert weights is None or weights.dtype == dtype


@all_kv_heads
def test_scores_are_scaled_products_plus_bias(kv_heads):
    queries, keys, _ = inputs(kv_heads)
    wide = keys.repeat_interleave(6 // kv_heads, 1)
    expected = torch.einsum("bhid,bhjd->bhij", queries, wide) / 2 + BIAS
    torch.testing.assert_close(attention_scores(queries, keys, BIAS), expected)
    torch.testing.assert_close(attention_scores(queries, keys), expected - BIAS)


def test_scores_of_normal_entries_have_variance_one_whatever_the_width():
    """scale-by-d-model: the width of the head counts, not that of all heads."""
    for d_head in (4, 64):
        queries, keys = normal(3, 5, 70, d_head), normal(3, 5, 70, d_head, seed=1)
        assert 0.9 < attention_scores(queries, keys).var() < 1.1


# -- masks --------------------------------------------------------------------------


@both_paths
def test_true_means_may_read(need_weights):
    """bool-polarity-mha-vs-sdpa: with one allowed key, its value comes out."""
    queries, keys, values = inputs()
    only = torch.arange(7) == 3
    outputs = attention(queries, keys, values, only[None], need_weights=need_weights)[0]
    torch.testing.assert_close(outputs, values[:, :, 3:4].expand(2, 6, 5, 4))


@both_paths
def test_hidden_keys_keep_no_weight_however_low_the_others_are(need_weights):
    """mask-fill-near-zero: every true score is -50, and exp(0) would win."""
    queries, keys = torch.full((1, 1, 1, 4), -5.0), torch.full((1, 1, 3, 4), 5.0)
    keys[..., 2, :] = 0.0
    values = torch.tensor([1.0, 3.0, 1e6])[None, None, :, None]
    allowed = torch.tensor([[True, True, False]])
    outputs = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    torch.testing.assert_close(outputs, torch.tensor([[[[2.0]]]]))


@both_paths
def test_a_huge_hidden_score_has_no_part_in_the_sum(need_weights):
    """mask-after-softmax."""
    queries, keys, values = inputs()
    allowed = causal_mask(5, 7)
    expected = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    loud = keys.clone()
    loud[:, :, 6] = 1e4 * queries[:, :, 3]
    outputs = attention(queries, loud, values, allowed, need_weights=need_weights)[0]
    torch.testing.assert_close(outputs[:, :, :4], expected[:, :, :4])


@both_paths
def test_what_stands_in_padding_moves_no_real_row(need_weights):
    """padding-mask-on-query-axis."""
    queries, keys, values = inputs()
    allowed = padding_mask([7, 4], 7)
    expected = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    keys[1, :, 4:], values[1, :, 4:] = 1e3, -1e3
    outputs = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    torch.testing.assert_close(outputs, expected)


@both_paths
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_masks_are_finite_in_16_bits(need_weights, dtype):
    """mask-constant-overflows-half, finfo-min-summed: left padding, scores below -16."""
    queries, keys, values = inputs(6, dtype)
    keys = keys - 20 * queries[:, :, :1].sign()
    allowed = causal_mask(5, 7) & padding_mask([7, 2], 7, side="left")
    outputs = attention(queries, keys, values, allowed, need_weights=need_weights)[0]
    expected = attention_by_loop(
        *(x.double() for x in (queries, keys, values)), allowed.expand(2, 6, 5, 7)
    )
    torch.testing.assert_close(outputs.double(), expected, atol=2e-2, rtol=2e-2)


@both_paths
def test_a_bias_of_minus_infinity_hides_as_a_mask_does(need_weights):
    """inf-times-zero-mask: the additive mask holds 0 and -inf only."""
    allowed = some_allowed()
    additive = torch.zeros(2, 6, 5, 7).double().masked_fill(~allowed, -torch.inf)
    assert_same(
        lambda *given: attention(*given, bias=additive, need_weights=need_weights)[0],
        lambda *given: attention(*given, allowed, need_weights=need_weights)[0],
        *inputs(),
    )


@both_paths
@all_kv_heads
@pytest.mark.parametrize("extra", ["nothing", "bias", "padding"])
def test_causal_is_the_causal_mask(need_weights, kv_heads, extra):
    allowed = padding_mask([7, 4], 7) if extra == "padding" else None
    queries, keys, values = inputs(kv_heads)
    for n in (5, 7):  # as many keys as queries, and more
        bias = BIAS[:, :, :n] if extra == "bias" else None
        pads = None if allowed is None else allowed[..., :n]
        mask = causal_mask(5, n) if pads is None else causal_mask(5, n) & pads
        given = (queries, keys[:, :, :n], values[:, :, :n])
        flagged = attention(*given, pads, bias, need_weights, causal=True)
        masked = attention(*given, mask, bias, need_weights)
        torch.testing.assert_close(flagged, masked)


# -- a query that may read nothing --------------------------------------------------


@both_paths
@pytest.mark.parametrize("bias", [None, BIAS])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_query_without_keys_gets_zeros_and_zero_gradients(need_weights, bias, dtype):
    """fully-masked-row-nan."""
    leaves = [x.requires_grad_() for x in inputs(3, dtype)]
    bias = None if bias is None else bias.to(dtype).requires_grad_()
    outputs, weights = attention(*leaves, some_allowed(), bias, need_weights)
    gradients = gradients_of(outputs, leaves + ([] if bias is None else [bias]))
    assert (outputs[0, :, 1] == 0).all()
    assert (gradients[0][0, :, 1] == 0).all()
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert weights is None or (weights[0, :, 1] == 0).all()


@both_paths
def test_a_batch_where_nobody_may_read_is_all_zero(need_weights):
    nothing = torch.zeros(2, 1, 1, 7, dtype=torch.bool)
    for result in results_and_gradients(
        lambda *given: attention(*given, nothing, need_weights=need_weights)[0],
        *inputs(),
    ):
        assert (result == 0).all()


@both_paths
def test_queries_before_the_first_key_read_nothing(need_weights):
    queries, keys, values = inputs()
    outputs = attention(
        queries, keys[:, :, :3], values[:, :, :3], None, None, need_weights, causal=True
    )[0]
    assert (outputs[:, :, :2] == 0).all()
    torch.testing.assert_close(outputs[:, :, 2], values[:, :, 0])


@both_paths
@pytest.mark.parametrize("allowed", [None, torch.ones(5, 0, dtype=torch.bool)])
def test_without_any_key_outputs_and_gradients_are_zero(need_weights, allowed):
    queries, keys, values = inputs(3)
    results = results_and_gradients(
        lambda *given: attention(*given, allowed, need_weights=need_weights)[0],
        *(queries, keys[:, :, :0], values[:, :, :0]),
    )
    torch.testing.assert_close(results[0], torch.zeros_like(queries))
    torch.testing.assert_close(results[1], torch.zeros_like(queries))


# -- NaN behind a mask --------------------------------------------------------------

poison_somewhere = pytest.mark.parametrize(
    "poisoned", ["keys", "values", "keys and values"]
)


def with_hole(poisoned, row, head, place, hole):
    """Draw queries, keys, values with `hole` in one place; 3 key heads."""
    queries, keys, values = inputs(3)
    for name, tensor in (("keys", keys), ("values", values)):
        if name in poisoned:
            tensor[row, head, place] = hole
    return queries, keys, values


@both_paths
@poison_somewhere
def test_nan_in_padding_stays_there(need_weights, poisoned):
    """Outputs and gradients are those with 0 in the place of NaN."""

    def attend(*given):
        return attention(*given, padding_mask([7, 4], 7), BIAS, need_weights)[0]

    actual, expected = (
        results_and_gradients(attend, *with_hole(poisoned, 1, slice(None), 5, hole))
        for hole in (torch.nan, 0.0)
    )
    torch.testing.assert_close(actual, expected)


@both_paths
@poison_somewhere
def test_nan_in_the_future_does_not_reach_the_past(need_weights, poisoned):
    """Key 5 is in the future of queries 0 to 2, who stand at positions 2 to 4."""

    def attend(*given):
        return attention(*given, causal_mask(5, 7), None, need_weights)[0][:, :, :3]

    actual, expected = (
        results_and_gradients(attend, *with_hole(poisoned, 0, slice(None), 5, hole))
        for hole in (torch.nan, 0.0)
    )
    torch.testing.assert_close(actual, expected)


@both_paths
@poison_somewhere
def test_who_may_read_nan_becomes_nan_and_nobody_else(need_weights, poisoned):
    """Key head 1 is read by query heads 2 and 3."""
    given = with_hole(poisoned, 0, 1, 5, torch.nan)
    allowed = causal_mask(5, 7)
    outputs, weights = attention(*given, allowed, None, need_weights)
    readers = torch.zeros(2, 6, 5, dtype=torch.bool)
    readers[0, 2:4, 3:] = True
    clean = attention_by_loop(
        *with_hole(poisoned, 0, 1, 5, 0.0), allowed.expand(2, 6, 5, 7)
    )
    torch.testing.assert_close(outputs[~readers], clean[~readers])
    assert outputs[readers].isnan().all()
    assert weights is None or torch.equal(weights.isnan().all(-1), readers)


@both_paths
def test_a_query_of_nan_spoils_only_itself(need_weights):
    def others(*given):
        outputs = attention(*given, some_allowed(), None, need_weights)[0]
        return outputs[:, :, [0, 1, 3, 4]]

    queries, keys, values = inputs(3)
    expected = results_and_gradients(others, queries, keys, values)
    queries[:, :, 2] = torch.nan
    actual = results_and_gradients(others, queries, keys, values)
    torch.testing.assert_close(actual[0], expected[0])
    torch.testing.assert_close(actual[2:], expected[2:])
    outputs = attention(queries, keys, values, causal_mask(5, 7), None, need_weights)[0]
    assert outputs[:, :, 2].isnan().all()


@both_paths
def test_a_query_of_nan_that_may_read_nothing_is_zero(need_weights):
    """Outputs and gradients are those with 0 in the place of NaN; so are the weights."""

    def attend(*given):
        return attention(*given, some_allowed(), None, need_weights)[0]

    sides = []
    for hole in (0.0, torch.nan):
        queries, keys, values = inputs(3)
        queries[0, :, 1] = hole
        sides.append(results_and_gradients(attend, queries, keys, values))
    torch.testing.assert_close(*sides)
    weights = attention(queries, keys, values, some_allowed(), None, True)[1]
    assert (weights[0, :, 1] == 0).all()


def test_inputs_stay_as_they_were_even_around_nan():
    given = with_hole("keys and values", 1, 0, 5, torch.nan)
    copies = [x.clone() for x in given]
    for need_weights in (False, True):
        attention(*given, padding_mask([7, 4], 7), BIAS, need_weights)
    torch.testing.assert_close(given, tuple(copies), equal_nan=True, rtol=0, atol=0)


# -- what does not fit --------------------------------------------------------------

Q, K, V = inputs(3, torch.float32)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (Q, K[..., :3], V),
            r"queries \(2, 6, 5, 4\), keys \(2, 3, 7, 3\).*same d_head",
        ),
        ((Q, K, V[:, :, :5]), r"values \(2, 3, 5, 4\).*same batch, head and key axes"),
        ((Q[0], K, V), r"queries with 3 axes and keys with 4; both need the same"),
        ((Q[:, :5], K, V), r"5 query heads and 3 key heads; .* must divide"),
        ((Q, K[:1], V[:1]), r"queries \(2, 6, 5, 4\) and keys \(1, 3.*same batch"),
        ((Q, K.double(), V), r"keys of torch.float64.*the same floating dtype"),
        ((Q, K, V.double()), r"values of torch.float64.*the same floating dtype"),
        ((Q.long(), K.long(), V.long()), r"torch.int64.*the same floating dtype"),
        ((Q, K, V, torch.ones(5, 7)), r"allowed had dtype torch.float32; it is bool"),
        (
            (Q, K, V, torch.ones(7, 5) > 0),
            r"allowed had shape \(7, 5\).*\(2, 6, 5, 7\)",
        ),
        (
            (Q, K, V, torch.ones(5, 6) > 0),
            r"allowed had shape \(5, 6\).*\(2, 6, 5, 7\)",
        ),
        (
            (Q, K, V, torch.ones(1, 1, 1, 5, 7) > 0),
            r"allowed .*\(1, 1, 1, 5, 7\).*must",
        ),
        (
            (Q, K, V, None, torch.ones(5, 7).long()),
            r"bias had dtype torch.int64.*float",
        ),
        (
            (Q, K, V, None, torch.ones(3, 5, 7)),
            r"bias had shape \(3, 5, 7\).*\(2, 6, 5",
        ),
    ],
)
@both_paths
def test_what_does_not_fit_is_refused(given, message, need_weights):
    """zero-one-mask-added: a mask of numbers is refused, too."""
    with pytest.raises(ValueError, match=message):
        attention(*given, need_weights=need_weights)


# -- splitting and merging ----------------------------------------------------------


def test_head_h_of_a_token_is_its_h_th_slice():
    """heads-split-by-view."""
    x = normal(2, 5, 21)
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 7)
    for head, token in itertools.product(range(3), range(5)):
        expected = x[:, token, 7 * head : 7 * (head + 1)]
        assert torch.equal(heads[:, head, token], expected)


def test_splitting_copies_nothing():
    x = normal(2, 5, 21)
    assert split_heads(x, 3).data_ptr() == x.data_ptr()


def test_merging_puts_the_heads_of_a_token_side_by_side():
    """heads-merged-without-transpose."""
    heads = normal(2, 3, 5, 7)
    merged = merge_heads(heads)
    assert merged.shape == (2, 5, 21)
    for head, token in itertools.product(range(3), range(5)):
        actual = merged[:, token, 7 * head : 7 * (head + 1)]
        assert torch.equal(actual, heads[:, head, token])


@pytest.mark.parametrize("n_heads", [0, 4, -3])
def test_heads_that_do_not_divide_the_width_are_refused(n_heads):
    message = rf"split_heads was given width 21 and {n_heads} heads; .*must divide"
    with pytest.raises(ValueError, match=message):
        split_heads(normal(2, 5, 21), n_heads)


# -- the module ---------------------------------------------------------------------

X, MEMORY = normal(2, 5, 33), normal(2, 7, 33, seed=1)


def torch_pair(**options):
    """Build an nn.MultiheadAttention and ours with the same numbers: width 33, 3 heads."""
    theirs = nn.MultiheadAttention(33, 3, batch_first=True)
    theirs = randomise(theirs, seed=2).train()  # train: the plain path
    ours = MultiHeadAttention(33, 3, **options)
    copy_torch_attention(ours, theirs)
    return ours, theirs


MASKS = {
    "nothing hidden": ({}, {}),
    "causal": (dict(allowed=causal_mask(5, 7)), dict(attn_mask=~causal_mask(5, 7))),
    "padding": (
        dict(allowed=padding_mask([7, 4], 7)),
        dict(key_padding_mask=~padding_mask([7, 4], 7)[:, 0, 0]),
    ),
    "both": (
        dict(allowed=padding_mask([7, 4], 7) & causal_mask(5, 7)),
        dict(
            attn_mask=~causal_mask(5, 7),
            key_padding_mask=~padding_mask([7, 4], 7)[:, 0, 0],
        ),
    ),
    "bias": (dict(bias=BIAS[0].float()), dict(attn_mask=BIAS[0].float())),
}


@both_paths
@pytest.mark.parametrize("case", MASKS)
@pytest.mark.filterwarnings("ignore:Support for mismatched")
def test_the_module_equals_torch_reading_a_memory(case, need_weights):
    ours, theirs = torch_pair()
    reading, their_reading = MASKS[case]
    assert_same(
        lambda x, m: ours(x, m, need_weights=need_weights, **reading)[0],
        lambda x, m: theirs(x, m, m, need_weights=False, **their_reading)[0],
        X,
        MEMORY,
    )


@both_paths
def test_the_gradients_of_all_parameters_equal_torch(need_weights):
    """fused-qkv-layout: torch keeps queries, keys and values in one matrix."""
    ours, theirs = torch_pair()
    outputs, _ = ours(X, causal=True, need_weights=need_weights)
    expected, _ = theirs(X, X, X, attn_mask=~causal_mask(5), need_weights=False)
    torch.testing.assert_close(outputs, expected)
    actual = gradients_of(outputs, list(ours.parameters()))
    weight, bias, *last = gradients_of(expected, list(theirs.parameters()))
    torch.testing.assert_close(torch.cat(actual[0:6:2]), weight)
    torch.testing.assert_close(torch.cat(actual[1:6:2]), bias)
    torch.testing.assert_close(actual[6:], tuple(last))


@pytest.mark.parametrize("case", MASKS)
@pytest.mark.filterwarnings("ignore:Support for mismatched")
def test_the_weights_equal_those_of_torch(case):
    ours, theirs = torch_pair()
    reading, their_reading = MASKS[case]
    _, weights = ours(X, MEMORY, need_weights=True, **reading)
    _, expected = theirs(X, MEMORY, MEMORY, average_attn_weights=False, **their_reading)
    torch.testing.assert_close(weights, expected)
    assert ours(X, MEMORY, **reading)[1] is None


@both_paths
@pytest.mark.parametrize("kv_heads", [1, 2])
def test_query_heads_share_key_heads_in_order(kv_heads, need_weights):
    grouped = randomise(MultiHeadAttention(24, 6, kv_heads), seed=3)
    plain = randomise(MultiHeadAttention(24, 6), seed=4)
    for name, parameter in grouped.state_dict().items():
        if "keys" in name or "values" in name:
            heads = parameter.unflatten(0, (kv_heads, 4))
            parameter = heads.repeat_interleave(6 // kv_heads, 0).flatten(0, 1)
        plain.state_dict()[name].copy_(parameter)
    assert_same(
        lambda x: grouped(x, need_weights=need_weights)[0],
        lambda x: plain(x, need_weights=need_weights)[0],
        normal(2, 5, 24),
    )


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ({}, 4 * (24 * 24 + 24)),
        ({"bias": False}, 4 * 24 * 24),
        ({"n_kv_heads": 2, "bias": False}, 2 * 24 * 24 + 2 * 24 * 8),
    ],
)
def test_four_projections_have_parameters(options, parameters):
    """no-output-projection."""
    heads = MultiHeadAttention(24, 6, **options)
    assert sum(p.numel() for p in heads.parameters()) == parameters


def test_a_row_alone_equals_the_row_in_a_batch():
    """batch-first-mixup."""
    ours, _ = torch_pair()
    together, _ = ours(X, causal=True)
    for row in range(2):
        alone, _ = ours(X[row : row + 1], causal=True)
        torch.testing.assert_close(together[row], alone[0])


@both_paths
def test_the_future_cannot_change_the_past(need_weights):
    """no-causal-mask."""
    ours, _ = torch_pair()
    changed = X.clone()
    changed[:, 3] += 1
    before, after = (
        ours(x, causal=True, need_weights=need_weights)[0] for x in (X, changed)
    )
    torch.testing.assert_close(after[:, :3], before[:, :3], rtol=0, atol=0)
    assert ((after - before)[:, 3:].abs().amax(-1) > 1e-4).all()


def test_without_positions_order_does_not_matter():
    ours, _ = torch_pair()
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(ours(X[:, order])[0], ours(X)[0][:, order])


@both_paths
def test_padding_of_nan_reaches_no_real_row(need_weights):
    ours, _ = torch_pair()
    x, memory = X.clone(), MEMORY.clone()
    x[1, 3:], memory[1, 4:] = torch.nan, torch.nan
    for given, real in (((x,), [5, 3]), ((X, memory), [7, 4])):
        clean = [part.nan_to_num() for part in given]
        allowed = padding_mask(real, given[-1].shape[1])
        outputs, expected = (
            ours(*parts, allowed=allowed, need_weights=need_weights)[0]
            for parts in (given, clean)
        )
        torch.testing.assert_close(outputs[0], expected[0])
        torch.testing.assert_close(outputs[1, :3], expected[1, :3])


# -- positions ----------------------------------------------------------------------

AT = torch.tensor([3, 4, 5, 9, 11])


def placed(scheme, **options):
    """Build a module with a scheme (width 24, 3 heads of 8), and what it projects."""
    heads = randomise(MultiHeadAttention(24, 3, scheme=scheme, **options), seed=5)
    x = normal(2, 5, 24, seed=6)
    parts = (heads.to_queries, heads.to_keys, heads.to_values)
    return heads, x, *(part(x).unflatten(2, (-1, 8)).transpose(1, 2) for part in parts)


@both_paths
def test_rotary_turns_queries_and_keys_but_not_values(need_weights):
    heads, x, queries, keys, values = placed(RotaryPositions(8))
    turned = (rotate(part, AT, pairing="half") for part in (queries, keys))
    expected = F.scaled_dot_product_attention(*turned, values)
    outputs, _ = heads(x, positions=AT, need_weights=need_weights)
    torch.testing.assert_close(outputs, heads.to_output(merge_heads(expected)))


@both_paths
def test_the_bias_of_a_scheme_and_a_given_bias_add_up(need_weights):
    heads, x, *projected = placed(AlibiPositions(3))
    for given in (None, normal(3, 5, 5, seed=7)):
        mask = alibi_bias(3, AT, AT) + (0 if given is None else given)
        expected = F.scaled_dot_product_attention(*projected, attn_mask=mask)
        outputs, _ = heads(x, positions=AT, bias=given, need_weights=need_weights)
        torch.testing.assert_close(outputs, heads.to_output(merge_heads(expected)))


@both_paths
def test_a_relative_table_is_added_to_the_keys(need_weights):
    """Shaw et al. (2018), eq. 4: scores = q (k + a)^T / sqrt(d_head)."""
    scheme = RelativePositions(8, max_distance=2)
    heads, x, queries, keys, values = placed(scheme)
    offsets = (AT[None] - AT[:, None]).clamp(-2, 2) + 2
    shifted = keys[:, :, None] + scheme.table[offsets]  # (batch, head, query, key, d)
    scores = torch.einsum("bhid,bhijd->bhij", queries, shifted) / math.sqrt(8)
    expected = heads.to_output(merge_heads(scores.softmax(-1) @ values))
    outputs, _ = heads(x, positions=AT, need_weights=need_weights)
    torch.testing.assert_close(outputs, expected)


# -- caches and memory --------------------------------------------------------------


@pytest.mark.parametrize("chunk", [1, 3, 5])
@pytest.mark.parametrize("kv_heads", [3, 1])
@pytest.mark.parametrize(
    "scheme", [None, RotaryPositions(8), AlibiPositions(3), RelativePositions(8, 2)]
)
def test_chunks_with_a_cache_equal_the_whole(chunk, kv_heads, scheme):
    """is-causal-top-left-with-cache, chunk-mask-without-offset,
    decode-position-restarts."""
    heads, x, *_ = placed(scheme, n_kv_heads=kv_heads, layer=1)
    whole, _ = heads(x, positions=torch.arange(5), causal=True)
    cache = AppendCache(2, n_layers=2, n_kv_heads=kv_heads, d_head=8, max_length=5)
    for start in range(0, 5, chunk):
        end = min(start + chunk, 5)
        at, allowed = torch.arange(start, end), causal_mask(end - start, end)
        outputs, _ = heads(x[:, start:end], None, allowed, at, cache=cache)
        torch.testing.assert_close(outputs, whole[:, start:end])


def test_a_module_fills_the_layer_of_the_cache_that_is_its_own():
    heads, x, *_ = placed(None, layer=1)
    cache = AppendCache(2, n_layers=3, n_kv_heads=3, d_head=8, max_length=5)
    heads(x, cache=cache)
    assert [counts[0] for counts in cache._counts] == [0, 5, 0]


def test_cross_attention_reads_the_memory_and_teaches_it():
    """cross-attn-ignores-memory."""
    cross, _ = torch_pair(cross=True)
    memory = MEMORY.clone().requires_grad_()
    outputs, _ = cross(X, memory)
    (gradient,) = gradients_of(outputs, [memory])
    assert (gradient.abs().amax(-1) > 0).all()
    other, _ = cross(X, MEMORY.flip(-1))
    assert ((other - outputs).abs().amax(-1) > 1e-4).all()


def test_the_memory_is_projected_once():
    """cross-kv-recomputed."""
    cross, _ = torch_pair(cross=True, layer=1)
    calls = []
    for part in (cross.to_keys, cross.to_values):
        part.register_forward_hook(lambda *_: calls.append(1))
    cache = AppendCache(2, n_layers=2, n_kv_heads=3, d_head=11, max_length=5)
    whole, _ = cross(X, MEMORY)
    calls.clear()
    first, _ = cross(X[:, :2], MEMORY, cache=cache)
    rest, _ = cross(X[:, 2:], None, cache=cache)
    torch.testing.assert_close(torch.cat((first, rest), 1), whole)
    assert len(calls) == 2


def test_a_memory_given_for_one_call_is_read_instead_of_x():
    ours, theirs = torch_pair()
    expected, _ = theirs(X, MEMORY, MEMORY)
    torch.testing.assert_close(ours(X, MEMORY)[0], expected)
    with_cross, _ = torch_pair(cross=True)
    torch.testing.assert_close(with_cross(X, MEMORY)[0], expected)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((7, 2), "d_model=7, n_heads=2, n_kv_heads=2; n_heads must divide d_model"),
        ((24, 6, 4), "n_heads=6, n_kv_heads=4; .*n_kv_heads n_heads"),
        ((24, 0), "n_heads=0.*must divide"),
        ((24, 6, 0), "n_kv_heads=0.*must divide"),
    ],
)
def test_head_counts_that_do_not_divide_are_refused(sizes, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(*sizes)


@pytest.mark.parametrize(
    ("options", "given", "message"),
    [
        (
            {"cross": True},
            (X,),
            "no memory and no cache.*pass memory at the first call",
        ),
        ({}, (X[..., :32],), r"given x \(2, 5, 32\); it needs .*d_model 33"),
        ({}, (X[0, 0],), r"given x \(33,\); it needs .*d_model 33"),
        ({}, (X, MEMORY[..., 1:]), r"given memory \(2, 7, 32\); it needs .*d_model 33"),
        ({}, (X, MEMORY[:1]), r"queries \(2, 3, 5, 11\) and keys \(1, 3.*same batch"),
        ({}, (X, None, torch.ones(5, 7) > 0), r"allowed had shape \(5, 7\).*broadcast"),
        ({"scheme": AlibiPositions(3)}, (X,), "got no positions; pass some"),
    ],
)
def test_inputs_that_the_module_cannot_read_are_refused(options, given, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadAttention(33, 3, **options)(*given)


def test_a_cache_that_remembers_no_memory_does_not_replace_one():
    cache = AppendCache(2, n_layers=1, n_kv_heads=3, d_head=11, max_length=5)
    with pytest.raises(ValueError, match="got no memory and no cache that remembers"):
        MultiHeadAttention(33, 3, cross=True)(X, cache=cache)
