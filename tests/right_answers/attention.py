"""Right answers to attention."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("filled with the smallest finite number")
def finite_fill(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.size(-1))
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


@right("filled with -inf, empty rows set to 0")
def infinite_fill(queries, keys, values, allowed=None, bias=None, need_weights=False):
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
    scores = scores * queries.shape[-1] ** -0.5
    if bias is not None:
        scores = scores + bias
    if allowed is not None:
        scores = scores.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    outputs = torch.einsum("bhqk,bhkd->bhqd", weights, values)
    return (outputs, weights) if need_weights else outputs


@right("torch's kernel, weights read off an identity")
def kernel(queries, keys, values, allowed=None, bias=None, need_weights=False):
    mask = allowed
    if bias is not None:
        mask = bias.to(queries.dtype)
        if allowed is not None:
            mask = mask.masked_fill(~allowed, float("-inf"))
    out = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    if not need_weights:
        return out
    eye = torch.eye(keys.size(2), dtype=values.dtype).expand(*keys.shape[:2], -1, -1)
    return out, F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)


@right("exponentials of allowed keys only, then divided")
def masked_exponentials(
    queries, keys, values, allowed=None, bias=None, need_weights=False
):
    scores = (queries.float() @ keys.float().mT) / queries.shape[-1] ** 0.5
    if bias is not None:
        scores = scores + bias
    if allowed is None:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool)
    allowed = allowed.expand_as(scores)
    scores = scores.masked_fill(~allowed, torch.finfo(torch.float32).min)
    e = (scores - scores.amax(-1, keepdim=True)).exp() * allowed
    weights = (e / e.sum(-1, keepdim=True).clamp(min=1e-20)).to(values.dtype)
    return weights @ values, weights if need_weights else None


@right("an additive mask of 0 and -30000")
def additive(queries, keys, values, allowed=None, bias=None, need_weights=False):
    q, k = queries.double(), keys.double()
    scores = torch.matmul(q, k.transpose(2, 3)).div(math.sqrt(q.shape[-1]))
    if allowed is not None:
        scores = scores + torch.where(allowed, 0.0, -30000.0)
    if bias is not None:
        scores = scores + bias
    weights = torch.softmax(scores, dim=-1).to(values.dtype)
    return torch.matmul(weights, values), weights


@right("one query at a time")
def loop(queries, keys, values, allowed=None, bias=None, need_weights=False):
    b, h, n, d = queries.shape
    shape = (b, h, n, keys.shape[2])
    allowed = torch.ones(shape).bool() if allowed is None else allowed.expand(shape)
    bias = torch.zeros(shape) if bias is None else bias.expand(shape)
    outputs, weights = [], []
    for i in range(n):
        s = (keys * queries[:, :, i : i + 1]).sum(-1) / math.sqrt(d) + bias[:, :, i]
        s = s.masked_fill(~allowed[:, :, i], -1e9)
        w = torch.softmax(s, -1).to(values.dtype)
        weights.append(w)
        outputs.append((w.unsqueeze(-1) * values).sum(-2))
    return torch.stack(outputs, 2), torch.stack(weights, 2)
