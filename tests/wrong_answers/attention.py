"""Wrong answers to attention."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("softmax-no-max-shift")
def raw_exponentials(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias
    e = torch.exp(scores)
    if allowed is not None:
        e = e * allowed
    weights = e / (e.sum(-1, keepdim=True) + 1e-9)
    return (weights @ values, weights) if need_weights else weights @ values


@wrong("softmax-no-max-shift")
def exp_after_fill(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) * keys.size(-1) ** -0.5
    scores = scores if bias is None else scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    total = scores.exp().sum(-1, keepdim=True)
    weights = scores.exp() / total.clamp(min=1e-30)
    return torch.einsum("bhqk,bhkd->bhqd", weights, values), weights


@wrong("softmax-wrong-dim")
def over_queries(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-2)
    return weights @ values, weights


@wrong("softmax-wrong-dim")
def over_heads(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.mT / queries.size(-1) ** 0.5
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = F.softmax(scores, dim=1)
    return weights @ values, weights


@wrong("no-scale")
def forgets_the_root(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    return weights @ values, weights


@wrong("no-scale")
def sdpa_scale_one(queries, keys, values, allowed=None, bias=None, need_weights=False):
    b, h, q, _ = queries.shape
    mask = torch.zeros(b, h, q, keys.shape[2], dtype=queries.dtype)
    if bias is not None:
        mask = mask + bias
    if allowed is not None:
        mask = mask.masked_fill(~allowed, float("-inf"))
    eye = torch.eye(keys.shape[2], dtype=values.dtype).expand(b, h, -1, -1)
    weights = F.scaled_dot_product_attention(queries, keys, eye, mask, scale=1.0)
    return weights @ values, weights


@wrong("scale-by-d-not-root")
def divides_by_width(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    d_k = queries.size(-1)
    scores = torch.matmul(queries, keys.transpose(-2, -1)) / d_k
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, -1)
    return torch.matmul(weights, values), weights


@wrong("scale-by-d-model")
def root_of_all_heads(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    d_model = queries.shape[1] * queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(d_model)
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("scale-by-d-model")
def width_of_merged_queries(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    c = queries.transpose(1, 2).flatten(2).size(-1)
    att = (queries * c**-0.5) @ keys.mT
    att = att + (0 if bias is None else bias)
    if allowed is not None:
        att = torch.where(allowed, att, torch.finfo(att.dtype).min)
    att = att.softmax(dim=-1)
    return att @ values, att


@wrong("scale-by-length")
def root_of_keys(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-2])
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("no-causal-mask")
def mask_unused(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("no-causal-mask")
def fill_thrown_away(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("mask-after-softmax")
def multiplies_weights(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        weights = weights * allowed
    return weights @ values, weights


@wrong("mask-after-softmax")
def fills_weights(queries, keys, values, allowed=None, bias=None, need_weights=False):
    d = keys.shape[-1]
    scores = torch.einsum("bhid,bhjd->bhij", queries, keys) / d**0.5
    weights = F.softmax(scores if bias is None else scores + bias, -1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0.0)
    out = torch.einsum("bhij,bhjd->bhid", weights, values)
    return (out, weights) if need_weights else out


@wrong("mask-fill-near-zero")
def fills_tiny(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(allowed == 0, 1e-9)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("mask-fill-near-zero")
def multiplies_scores(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.mT / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores * allowed
    weights = scores.softmax(-1)
    return weights @ values, weights


@wrong("mask-fill-near-zero")
def fills_minus_ten(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.mT / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = torch.where(allowed, scores, -10.0)
    weights = scores.softmax(-1)
    return weights @ values, weights


@wrong("zero-one-mask-added")
def adds_the_mask(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores + allowed
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("zero-one-mask-added")
def float_mask_for_sdpa(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    mask = bias
    if allowed is not None:
        mask = allowed.to(queries.dtype)
        if bias is not None:
            mask = mask + bias
    eye = torch.eye(keys.shape[2], dtype=values.dtype)
    eye = eye.expand(*keys.shape[:2], -1, -1)
    weights = F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)
    return weights @ values, weights


@wrong("inf-times-zero-mask")
def times_minus_infinity(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores + (~allowed).float() * float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("inf-times-zero-mask")
def one_minus_mask(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
    scores = scores / queries.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores - (1 - allowed.to(scores.dtype)) * math.inf
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqk,bhkd->bhqd", weights, values), weights


@wrong("bool-polarity-mha-vs-sdpa")
def true_means_hide(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("bool-polarity-mha-vs-sdpa")
def inverted_for_sdpa(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    mask = None if allowed is None else ~allowed
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    eye = torch.eye(keys.shape[2], dtype=values.dtype)
    eye = eye.expand(*keys.shape[:2], -1, -1)
    weights = F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)
    return weights @ values, weights


@wrong("fully-masked-row-nan")
def plain_fill(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("fully-masked-row-nan")
def outputs_repaired_too_late(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    # The outputs look well; the gradient of the values is NaN.
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return torch.nan_to_num(weights @ values), weights


@wrong("fully-masked-row-nan")
def additive_and_repaired(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    # Adding -inf lets NaN flow back into queries and keys.
    scores = queries @ keys.mT / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores + torch.zeros(allowed.shape, dtype=scores.dtype).masked_fill(
            ~allowed, -torch.inf
        )
    weights = torch.softmax(scores, dim=-1).nan_to_num()
    return weights @ values, weights


@wrong("is-causal-top-left-with-cache")
def any_mask_means_causal(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    eye = torch.eye(keys.shape[2], dtype=values.dtype)
    eye = eye.expand(*keys.shape[:2], -1, -1)
    if bias is not None:
        if allowed is not None:
            bias = bias.masked_fill(~allowed, -torch.inf)
        weights = F.scaled_dot_product_attention(queries, keys, eye, bias)
    else:
        weights = F.scaled_dot_product_attention(
            queries, keys, eye, is_causal=allowed is not None
        )
    return weights @ values, weights


@wrong("padding-mask-on-query-axis")
def transposes_the_mask(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        hidden = ~allowed.transpose(-2, -1)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("padding-mask-on-query-axis")
def hides_outputs(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None and allowed.ndim == 4 and allowed.shape[2] == 1:
        rows = allowed.transpose(2, 3)[:, :, : queries.shape[2]]
        scores = scores.masked_fill(~rows, torch.finfo(scores.dtype).min)
    elif allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("ignores-bias")
def bias_unused(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("ignores-bias")
def bias_or_mask(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    elif bias is not None:
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("bias-scaled-too")
def bias_before_scale(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    scores = scores / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("bias-after-softmax")
def bias_on_weights(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    if bias is not None:
        weights = weights + bias
    return weights @ values, weights


@wrong("keys-as-values")
def averages_the_keys(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ keys, weights


@wrong("keys-as-values")
def scores_from_values(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    keys, values = values, keys
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) / queries.size(-1) ** 0.5
    scores = scores if bias is None else scores + bias
    if allowed is not None:
        scores = torch.where(allowed, scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("keys-viewed-not-transposed")
def reshapes_the_keys(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    b, h, k, d = keys.shape
    scores = queries @ keys.reshape(b, h, d, k) / math.sqrt(d)
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("returns-scores-as-weights")
def scores_returned(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    out = torch.softmax(scores, dim=-1) @ values
    return (out, scores) if need_weights else out


@wrong("sdpa-dropout-at-eval")
def kernel_with_dropout(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    mask = allowed
    if bias is not None:
        mask = bias if allowed is None else bias.masked_fill(~allowed, -torch.inf)
    out = F.scaled_dot_product_attention(queries, keys, values, mask, dropout_p=0.1)
    scores = queries @ keys.mT / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return out, scores.softmax(-1)


@wrong("sdpa-dropout-at-eval")
def drops_weights(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = F.dropout(torch.softmax(scores, dim=-1), p=0.1)
    return weights @ values, weights


@wrong("input-changed-in-place")
def scales_the_queries(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    with torch.no_grad():
        queries /= math.sqrt(queries.size(-1))
    scores = queries @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("input-changed-in-place")
def fills_the_callers_bias(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is None:
        bias = torch.zeros_like(scores)
    if allowed is not None:
        bias.masked_fill_(~allowed, torch.finfo(scores.dtype).min / 2)
    weights = torch.softmax(scores + bias, dim=-1)
    return weights @ values, weights


@wrong("mask-not-broadcast")
def two_axes_expected(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        n_queries, n_keys = scores.shape[-2:]
        hidden = ~allowed.view(1, 1, n_queries, n_keys)
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("always-causal")
def causal_by_itself(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    q, k = scores.shape[-2:]
    triangle = torch.ones(q, k, dtype=torch.bool).tril(k - q)
    allowed = triangle if allowed is None else allowed & triangle
    scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("uniform-weights")
def plain_mean(queries, keys, values, allowed=None, bias=None, need_weights=False):
    shape = (*queries.shape[:-1], keys.shape[-2])
    weights = torch.ones(shape, dtype=values.dtype)
    if allowed is not None:
        weights = weights * allowed
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1)
    return weights @ values, weights


@wrong("no-scale", "mask-after-softmax")
def two_slips(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1)
    if allowed is not None:
        weights = weights * allowed
    return weights @ values, weights


@wrong("mask-fill-near-zero", "ignores-bias")
def zero_fill_no_bias(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if allowed is not None:
        scores = scores.masked_fill(~allowed, 0)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("is-causal-top-left-with-cache")
def square_mask_for_two_axes(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    # Any mask of two axes is taken for the triangle that starts at the first key.
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None and allowed.ndim == 2:
        allowed = torch.ones_like(allowed).tril()
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@wrong("head-and-position-swapped")
def heads_after_positions(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    # Written for (batch, position, head, d_head).
    scores = torch.einsum("bqhd,bkhd->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhqk,bkhd->bqhd", weights, values), weights


@wrong("scaled-twice")
def by_hand_and_by_the_kernel(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scale = queries.shape[-1] ** -0.5
    queries = queries * scale
    extra = None
    if bias is not None or allowed is not None:
        extra = torch.zeros((), dtype=queries.dtype)
        if bias is not None:
            extra = extra + bias
        if allowed is not None:
            extra = torch.where(allowed, extra, -1e9)
        extra = extra.expand(*queries.shape[:2], queries.shape[2], keys.shape[2])
    outputs = F.scaled_dot_product_attention(queries, keys, values, attn_mask=extra)
    if not need_weights:
        return outputs
    scores = queries @ keys.transpose(-2, -1) * scale
    return outputs, (scores if extra is None else scores + extra).softmax(-1)


@wrong("scaled-twice")
def scaled_queries_into_the_kernel(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    queries = queries / math.sqrt(queries.size(-1))
    scores = queries @ keys.mT
    mask = torch.zeros_like(scores)
    if bias is not None:
        mask = mask + bias
    if allowed is not None:
        mask = mask.masked_fill(~allowed, -1e9)
    out = F.scaled_dot_product_attention(queries, keys, values, mask)
    return (out, (scores + mask).softmax(-1)) if need_weights else out
