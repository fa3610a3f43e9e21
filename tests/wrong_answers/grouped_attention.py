"""Wrong answers to grouped_attention, each with its mistake."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("kv-heads-tiled")
def repeat_instead(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat(1, n_groups, 1, 1)
    values = values.repeat(1, n_groups, 1, 1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("kv-heads-tiled")
def group_axis_first(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_heads // n_kv, n_kv, n_queries, d_head)
    scores = torch.einsum("bgkqd,bktd->bgkqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bgkqt,bktd->bgkqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("kv-heads-tiled")
def modulo(queries, keys, values, allowed=None):
    kv = torch.arange(queries.shape[1]) % keys.shape[1]
    keys, values = keys[:, kv], values[:, kv]
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("values-not-grouped-like-keys")
def values_tiled(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat(1, n_groups, 1, 1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("one-kv-head-for-all")
def first_kv_head(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys[:, :1].expand(-1, n_groups * keys.shape[1], -1, -1)
    values = values[:, :1].expand_as(keys)
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("one-kv-head-for-all")
def mean_of_kv_heads(queries, keys, values, allowed=None):
    keys = keys.mean(1, keepdim=True)
    values = values.mean(1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("queries-averaged")
def one_query_per_group(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    scores = scores.mean(dim=2, keepdim=True).expand_as(scores)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("heads-merged-without-transpose")
def groups_end_up_in_the_middle(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkqgd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("heads-merged-without-transpose")
def axes_left_swapped(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    outputs = outputs.flatten(1, 2).transpose(1, 2)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("heads-split-by-view")
def viewed_not_transposed(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_queries, -1, d_head).transpose(2, 3)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("scale-by-d-model")
def root_of_the_width(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = (
        queries
        @ keys.transpose(-2, -1)
        / math.sqrt(queries.shape[1] * queries.shape[-1])
    )
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("scale-by-d-model")
def width_of_all_heads(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = (
        torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / (n_heads * d_head) ** 0.5
    )
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("not-scaled")
def no_scale(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("root-forgotten")
def divided_by_d_head(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("scale-by-n-keys")
def root_of_the_keys(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-2])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("softmax-wrong-dim")
def over_queries(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-2) @ values


@wrong("softmax-wrong-dim")
def over_groups(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.softmax(scores, dim=2).nan_to_num(0.0)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("softmax-no-max-shift")
def raw_exponentials(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    weights = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    return weights @ values


@wrong("softmax-no-max-shift")
def exp_and_sum(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -torch.inf)
    weights = torch.exp(scores)
    weights /= weights.sum(-1, keepdim=True)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("no-causal-mask")
def mask_unread(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return scores.softmax(dim=-1) @ values


@wrong("no-causal-mask")
def masked_fill_result_dropped(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("mask-after-softmax")
def zeroed_weights(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    weights = scores.softmax(dim=-1)
    if allowed is not None:
        weights = weights.masked_fill(~allowed, 0.0)
    return weights @ values


@wrong("mask-after-softmax")
def weights_times_mask(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        allowed = allowed.reshape(scores.shape)
    weights = torch.softmax(scores, dim=-1)
    weights = weights if allowed is None else weights * allowed
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("mask-fill-near-zero")
def filled_with_zero(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, 0.0)
    return scores.softmax(dim=-1) @ values


@wrong("mask-fill-near-zero")
def filled_with_tiny(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, 1e-9)
    return scores.softmax(dim=-1) @ values


@wrong("mask-fill-near-zero")
def multiplied_scores(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores * allowed
    return scores.softmax(dim=-1) @ values


@wrong("bool-polarity-mha-vs-sdpa")
def true_hides(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    allowed = None if allowed is None else ~allowed
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("bool-polarity-mha-vs-sdpa")
def fills_the_allowed(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("zero-one-mask-added")
def float_mask(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    allowed = None if allowed is None else allowed.float()
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("zero-one-mask-added")
def mask_added_to_scores(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores + allowed
    return scores.softmax(dim=-1) @ values


@wrong("inf-times-zero-mask")
def hidden_times_inf(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores + (~allowed).float() * -torch.inf
    return scores.softmax(dim=-1) @ values


@wrong("inf-times-zero-mask")
def one_minus_allowed(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    if allowed is not None:
        allowed = (1 - allowed.float()) * float("-inf")
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("is-causal-top-left-with-cache")
def is_causal(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    causal = allowed is not None
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)


@wrong("chunk-mask-without-offset")
def own_triangle(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        triangle = torch.ones_like(scores).tril().bool()
        scores = scores.masked_fill(~triangle, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("chunk-mask-without-offset")
def places_compared(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    if allowed is not None:
        places = torch.arange(keys.shape[2])
        allowed = places <= torch.arange(queries.shape[2])[:, None]
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("padding-mask-on-query-axis")
def mask_transposed(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        hidden = ~allowed.mT
        if hidden.shape[-2] not in (1, scores.shape[-2]):
            hidden = ~allowed
        scores = scores.masked_fill(hidden, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("sdpa-dropout-at-eval")
def dropout_always(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    return F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=allowed, dropout_p=0.1
    )


@wrong("mask-of-first-head-for-all")
def one_mask_per_batch(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1:3]
    grouped = queries.reshape(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) / d_head**0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = scores.masked_fill(~allowed[:, :1, None], -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", weights, values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@wrong("input-changed-in-place")
def scales_the_queries(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = torch.repeat_interleave(keys, n_groups, dim=1)
    values = torch.repeat_interleave(values, n_groups, dim=1)
    queries *= queries.shape[-1] ** -0.5
    return F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=allowed, scale=1.0
    )


@wrong("kv-heads-tiled", "scale-by-d-model")
def tiled_and_flat(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat(1, n_groups, 1, 1)
    values = values.repeat(1, n_groups, 1, 1)
    scores = (
        queries
        @ keys.transpose(-2, -1)
        / math.sqrt(queries.shape[1] * queries.shape[-1])
    )
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e9)
    return scores.softmax(dim=-1) @ values


@wrong("not-scaled", "bool-polarity-mha-vs-sdpa")
def unscaled_and_inverted(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1)
    if allowed is not None:
        scores = scores.masked_fill(allowed, -1e9)
    return scores.softmax(dim=-1) @ values
