"""Right answers to grouped_attention, each in its own style."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("repeat_interleave and matmul")
def repeated(queries, keys, values, allowed=None):
    n_groups = queries.shape[1] // keys.shape[1]
    keys = keys.repeat_interleave(n_groups, dim=1)
    values = values.repeat_interleave(n_groups, dim=1)
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    return scores.softmax(-1) @ values


@right("torch's kernel with enable_gqa")
def fused(queries, keys, values, allowed=None):
    return F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=allowed, enable_gqa=True
    )


@right("five axes and einsum")
def five_axes(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv, n_keys = keys.shape[1], keys.shape[2]
    grouped = queries.view(batch, n_kv, n_heads // n_kv, n_queries, d_head)
    scores = torch.einsum("bkgqd,bktd->bkgqt", grouped, keys) * d_head**-0.5
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, n_keys)
        scores = torch.where(allowed.reshape(scores.shape), scores, -1e9)
    outputs = torch.einsum("bkgqt,bktd->bkgqd", torch.softmax(scores, -1), values)
    return outputs.reshape(batch, n_heads, n_queries, d_head)


@right("a loop over heads, additive mask (A1)")
def head_by_head(queries, keys, values, allowed=None):
    n_heads, n_kv = queries.shape[1], keys.shape[1]
    mask = 0.0
    if allowed is not None:
        shape = (len(queries), n_heads, queries.shape[2], keys.shape[2])
        mask = torch.zeros(shape).masked_fill(~allowed, -1e9)
    outputs = []
    for head in range(n_heads):
        kv = head // (n_heads // n_kv)
        scores = queries[:, head] @ keys[:, kv].mT / queries.shape[-1] ** 0.5
        scores = scores + (mask[:, head] if allowed is not None else 0.0)
        outputs.append(torch.softmax(scores, dim=-1) @ values[:, kv])
    return torch.stack(outputs, dim=1)


@right("groups of queries on one long query axis")
def folded(queries, keys, values, allowed=None):
    batch, n_heads, n_queries, d_head = queries.shape
    n_kv = keys.shape[1]
    long = queries.reshape(batch, n_kv, -1, d_head)
    if allowed is not None:
        allowed = allowed.expand(batch, n_heads, n_queries, keys.shape[2])
        allowed = allowed.reshape(batch, n_kv, -1, keys.shape[2])
    outputs = F.scaled_dot_product_attention(long, keys, values, attn_mask=allowed)
    return outputs.reshape(batch, n_heads, n_queries, d_head)
