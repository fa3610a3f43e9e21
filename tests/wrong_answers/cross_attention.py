"""Wrong answers to cross_attention."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("cross-attn-ignores-memory")
def reads_itself(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (x @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (x @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(t) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("cross-attn-ignores-memory")
def memory_replaced(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    memory = x
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


@wrong("queries-from-memory")
def queries_from_memory(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(memory, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("queries-from-memory")
def roles_swapped(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq, wk, wv = (w.view(n_heads, -1, d_model) for w in (w_queries, w_keys, w_values))
    q = torch.einsum("bqc,hdc->bhqd", memory, wq)
    k = torch.einsum("bkc,hdc->bhkd", x, wk)
    v = torch.einsum("bkc,hdc->bhkd", x, wv)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if memory_lengths is not None:
        pad = torch.arange(x.shape[1]) >= memory_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("causal-mask-in-cross-attn")
def triangle_added(
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
    triangle = torch.ones(scores.shape[-2:]).tril().bool()
    scores = scores.masked_fill(~triangle, -1e9)
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("causal-mask-in-cross-attn")
def causal_kernel(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = torch.ones(x.shape[1], memory.shape[1]).tril().bool()
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
        mask = mask & real
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("causal-mask-in-cross-attn")
def reads_up_to_own_place(
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
            for i in range(len(scores)):
                scores[i, i + 1 :] = float("-inf")
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("cross-pad-mask-missing-at-decode")
def lengths_unused(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("cross-pad-mask-missing-at-decode")
def not_for_a_single_query(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None and t > 1:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("padding-mask-on-query-axis")
def hides_queries(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(t) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, :, None], -1e9)
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("padding-mask-on-query-axis")
def clears_outputs(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
    size = x.shape[-1] // n_heads
    rows = []
    for b in range(len(x)):
        n = memory.shape[1]
        heads = []
        for h in range(n_heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[b][:, part] @ k[b, :n, part].T / size**0.5
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        row = torch.cat(heads, dim=-1) @ w_output.T
        if memory_lengths is not None:
            row[int(memory_lengths[b]) :] = 0
        rows.append(row)
    return torch.stack(rows)


@wrong("padding-off-by-one")
def one_pad_read(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) <= memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("padding-off-by-one")
def last_token_lost(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq, wk, wv = (w.view(n_heads, -1, d_model) for w in (w_queries, w_keys, w_values))
    q = torch.einsum("bqc,hdc->bhqd", x, wq)
    k = torch.einsum("bkc,hdc->bhkd", memory, wk)
    v = torch.einsum("bkc,hdc->bhkd", memory, wv)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None] - 1
        scores = scores.masked_fill(pad[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("lengths-from-the-left")
def pads_expected_on_the_left(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        start = memory.shape[1] - memory_lengths
        real = torch.arange(memory.shape[1]) >= start[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("first-row-lengths-for-all")
def first_length(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
    size = x.shape[-1] // n_heads
    rows = []
    for b in range(len(x)):
        n = memory.shape[1] if memory_lengths is None else int(memory_lengths[0])
        heads = []
        for h in range(n_heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[b][:, part] @ k[b, :n, part].T / size**0.5
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("first-row-lengths-for-all")
def longest_length(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.max()
    mask = mask if mask is None else mask.expand(x.shape[1], -1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("bool-polarity-mha-vs-sdpa")
def hides_the_real(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) >= memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("bool-polarity-mha-vs-sdpa")
def fills_the_real(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq, wk, wv = (w.view(n_heads, -1, d_model) for w in (w_queries, w_keys, w_values))
    q = torch.einsum("bqc,hdc->bhqd", x, wq)
    k = torch.einsum("bkc,hdc->bhkd", memory, wk)
    v = torch.einsum("bkc,hdc->bhkd", memory, wv)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(real[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("mask-after-softmax")
def clears_weights(
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
        weights = torch.softmax(scores, dim=-1) * real[:, None, None, :]
    else:
        weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("mask-after-softmax")
def clears_values(
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
        v = v.masked_fill(pad[:, None, :, None], 0)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("mask-fill-near-zero")
def fills_zero(
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
        scores = scores.masked_fill(pad[:, None, None], 0.0)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("mask-fill-near-zero")
def clears_memory(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    if memory_lengths is not None:
        # Keys of padding become 0, and a score of 0 still has weight.
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        memory = memory * real[..., None]
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v)
    return out.transpose(1, 2).flatten(2) @ w_output.T


@wrong("zero-one-mask-added")
def float_mask(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
        mask = mask.float()
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("inf-times-zero-mask")
def times_infinity(
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
        scores = scores + (~real[:, None, None, :]) * float("-inf")
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("softmax-wrong-dim")
def over_queries(
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
        scores = scores.masked_fill(~real[:, None, None, :], -1e9)
    weights = torch.softmax(scores, dim=-2)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("softmax-wrong-dim")
def over_heads(
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
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("softmax-no-max-shift")
def raw_exponentials(
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
    e = scores.exp()
    weights = e / e.sum(-1, keepdim=True)
    out = torch.einsum("bhqk,bhkd->bqhd", weights, v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("scale-by-d-model")
def root_of_model_width(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(c)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("scale-by-d-model")
def width_of_input(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq, wk, wv = (w.view(n_heads, -1, d_model) for w in (w_queries, w_keys, w_values))
    q = torch.einsum("bqc,hdc->bhqd", x, wq)
    k = torch.einsum("bkc,hdc->bhkd", memory, wk)
    v = torch.einsum("bkc,hdc->bhkd", memory, wv)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * d_model**-0.5
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("no-scale")
def no_scale(
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
            scores = q[b][:, part] @ k[b, :n, part].T
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("scale-by-d-not-root")
def divides_by_width(
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
            scores = q[b][:, part] @ k[b, :n, part].T / size
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("heads-split-by-view")
def views_into_heads(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, n_heads, t, d)
    k = (memory @ w_keys.T).view(b, n_heads, -1, d)
    v = (memory @ w_values.T).view(b, n_heads, -1, d)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("heads-split-by-view")
def reshapes_the_memory(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).reshape(*q.shape[:2], -1, q.shape[3])
    v = F.linear(memory, w_values).reshape(k.shape)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("heads-merged-without-transpose")
def merges_by_reshape(
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
    out = (weights @ v).reshape(b, t, c)
    return out @ w_output.T


@wrong("heads-merged-without-transpose")
def merges_by_view(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.contiguous().view(x.shape), w_output)


@wrong("heads-interleaved")
def strided_heads(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
    size = x.shape[-1] // n_heads
    rows = []
    for b in range(len(x)):
        n = memory.shape[1] if memory_lengths is None else int(memory_lengths[b])
        heads = []
        for h in range(n_heads):
            part = slice(h, None, n_heads)
            scores = q[b][:, part] @ k[b, :n, part].T / size**0.5
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("no-output-projection")
def returns_merged(
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
    return out


@wrong("no-output-projection")
def output_weight_unused(
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
        rows.append(torch.cat(heads, dim=-1))
    return torch.stack(rows)


@wrong("weights-transposed")
def inputs_first(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output


@wrong("weights-transposed")
def only_the_output(
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
        rows.append(torch.cat(heads, dim=-1) @ w_output)
    return torch.stack(rows)


@wrong("weights-transposed")
def einsum_letters_swapped(
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
    return torch.einsum("bqhd,hdc->bqc", out, w_output.view(n_heads, -1, d_model))


@wrong("keys-and-values-swapped")
def swaps_the_weights(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("keys-and-values-swapped")
def unpacks_in_the_wrong_order(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, v, k = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
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


@wrong("batch-first-mixup", "cross-pad-mask-missing-at-decode")
def sequence_first(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    t, b, c = x.shape
    q = (x @ w_queries.T).view(t, b, n_heads, -1).permute(1, 2, 0, 3)
    k = (memory @ w_keys.T).reshape(-1, b, n_heads, c // n_heads).permute(1, 2, 0, 3)
    v = (memory @ w_values.T).reshape(-1, b, n_heads, c // n_heads).permute(1, 2, 0, 3)
    out = F.scaled_dot_product_attention(q, k, v)
    return out.permute(2, 0, 1, 3).reshape(t, b, c) @ w_output.T


@wrong("fused-qkv-layout")
def fused_per_head(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    kv = F.linear(memory, torch.cat((w_keys, w_values)))
    k, v = kv.unflatten(-1, (n_heads, -1)).transpose(1, 2).chunk(2, dim=-1)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("one-head-only")
def one_wide_head(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries.T, memory @ w_keys.T, memory @ w_values.T
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None]
        scores = scores.masked_fill(pad[:, None], -torch.inf)
    return torch.softmax(scores, dim=-1) @ v @ w_output.T


@wrong("adds-residual")
def adds_the_stream(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return x + F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("memory-cut-to-queries")
def as_long_as_x(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    memory = memory[:, : x.shape[1]]
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("sdpa-dropout-at-eval")
def kernel_with_dropout(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q = F.linear(x, w_queries).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    k = F.linear(memory, w_keys).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    v = F.linear(memory, w_values).unflatten(-1, (n_heads, -1)).transpose(1, 2)
    mask = None
    if memory_lengths is not None:
        mask = torch.arange(memory.shape[1]) < memory_lengths.view(-1, 1, 1, 1)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=0.1)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong("zero-one-mask-added")
def adds_the_mask(
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
        scores = scores + real[:, None, None, :]
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("inf-times-zero-mask")
def subtracts_infinity_times_mask(
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
        scores = scores - pad[:, None, None].float() * math.inf
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("softmax-no-max-shift")
def exponentiates_scores(
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
            e = torch.exp(scores)
            heads.append(e @ v[b, :n, part] / (e.sum(-1, keepdim=True) + 1e-9))
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("sdpa-dropout-at-eval")
def drops_weights(
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
            heads.append(F.dropout(scores.softmax(dim=-1), 0.1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1) @ w_output.T)
    return torch.stack(rows)


@wrong("fused-qkv-layout")
def halves_of_each_head(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    d_model = x.shape[-1]
    wq = w_queries.view(n_heads, -1, d_model)
    q = torch.einsum("bqc,hdc->bhqd", x, wq)
    w = torch.cat((w_keys, w_values)).view(n_heads, 2, -1, d_model)
    k, v = torch.einsum("bkc,hsdc->sbhkd", memory, w)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * q.shape[-1] ** -0.5
    if memory_lengths is not None:
        pad = torch.arange(memory.shape[1]) >= memory_lengths[:, None]
        scores = scores.masked_fill(pad[:, None, None], -1e9)
    out = torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), v)
    return torch.einsum("bqhd,chd->bqc", out, w_output.view(d_model, n_heads, -1))


@wrong("identity")
def returns_input(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    return x.clone()


@wrong("cross-pad-mask-missing-at-decode", "scale-by-d-model")
def two_slips(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_keys.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(c)
    weights = torch.softmax(scores, dim=-1)
    out = (weights @ v).transpose(1, 2).reshape(b, t, c)
    return out @ w_output.T


@wrong("weights-transposed", "no-output-projection")
def transposed_and_unprojected(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    q, k, v = x @ w_queries, memory @ w_keys, memory @ w_values
    size = x.shape[-1] // n_heads
    rows = []
    for b in range(len(x)):
        n = memory.shape[1] if memory_lengths is None else int(memory_lengths[b])
        heads = []
        for h in range(n_heads):
            part = slice(h * size, (h + 1) * size)
            scores = q[b][:, part] @ k[b, :n, part].T / size**0.5
            heads.append(scores.softmax(dim=-1) @ v[b, :n, part])
        rows.append(torch.cat(heads, dim=-1))
    return torch.stack(rows)


@wrong("projection-used-twice")
def keys_by_the_values_table(
    x, memory, w_queries, w_keys, w_values, w_output, n_heads, memory_lengths=None
):
    b, t, c = x.shape
    d = c // n_heads
    q = (x @ w_queries.T).view(b, t, n_heads, d).transpose(1, 2)
    k = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    v = (memory @ w_values.T).view(b, -1, n_heads, d).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if memory_lengths is not None:
        real = torch.arange(memory.shape[1]) < memory_lengths[:, None]
        scores = scores.masked_fill(~real[:, None, None, :], -1e9)
    out = torch.softmax(scores, dim=-1) @ v
    return out.transpose(1, 2).reshape(b, t, c) @ w_output.T
