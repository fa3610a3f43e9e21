"""Right answers to cross_attention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import right


@right("the explicit formula with -inf")
def explicit(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@right("torch's kernel with a boolean mask")
def kernel(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@right("einsum on weights cut into heads")
def einsum_everywhere(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq, wk, wv = (w.view(n_heads, -1, d_model) for w in (w_queries, w_keys, w_values))
    q = torch.einsum("bqc,hdc->bhqd", x, wq)
    k = torch.einsum("bkc,hdc->bhkd", memory, wk)
    v = torch.einsum("bkc,hdc->bhkd", memory, wv)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@right("each row and head alone, the memory cut to its length")
def loops(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
    size = x.shape[-1] // n_heads
    rows = []
    for b in range(len(x)):
        n = memory.shape[1] if memory_lengths is None else int(memory_lengths[b])
        heads = []
        for h in range(n_heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[b][:, part] @ k[b, :n, part].T / size**0.5
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@right("torch's module, True = hide")
def torch_module(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    layer = nn.MultiheadAttention(x.shape[-1], n_heads, bias=False, batch_first=True)
    layer.in_proj_weight = nn.Parameter(torch.cat((w_queries, w_keys, w_values)))
    layer.out_proj.weight = nn.Parameter(w_output)
    pad = None
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None]
    return layer(x, memory, memory, key_padding_mask=pad)[0]
