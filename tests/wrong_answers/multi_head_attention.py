"""Wrong answers to MultiHeadAttention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import wrong


@wrong("heads-split-by-view")
class ViewsIntoHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, self.n_heads, t, self.d_head)
        k = self.to_keys(source).view(b, self.n_heads, -1, self.d_head)
        v = self.to_values(source).view(b, self.n_heads, -1, self.d_head)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("heads-split-by-view")
class ReshapesIntoHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x)
        k = self.to_keys(memory)
        v = self.to_values(memory)
        q, k, v = (
            z.reshape(z.shape[0], self.n_heads, z.shape[1], -1) for z in (q, k, v)
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("heads-merged-without-transpose")
class MergesByReshape(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("heads-merged-without-transpose")
class MergesByView(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.contiguous().view(x.shape))


@wrong("scale-by-d-model")
class RootOfModelWidth(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(c)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("scale-by-d-model")
class ScalesByInputWidth(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * x.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("no-scale")
class NoScale(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("scale-by-d-not-root")
class DividesByHeadWidth(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, -1e9)
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("no-output-projection")
class ReturnsMergedHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return out, weights


@wrong("no-output-projection")
class ProjectionThrownAway(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, -1e9)
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        out = torch.cat(heads, dim=-1)
        self.to_output(out)
        return out


@wrong("cross-attn-ignores-memory")
class ReadsItself(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("cross-attn-ignores-memory")
class MemoryOnlyIfAsLong(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None or memory.shape != x.shape:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("values-from-x")
class ValuesFromX(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(x).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("queries-from-memory")
class QueriesFromMemory(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("causal-mask-in-cross-attn")
class AlwaysTriangular(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        if memory is not None:
            triangle = torch.ones(scores.shape[-2:]).tril().bool()
            scores = scores.masked_fill(~triangle, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("causal-mask-in-cross-attn")
class CausalKernelForMemory(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        causal = memory is not x and allowed is None
        out = F.scaled_dot_product_attention(
            q, k, v, attn_mask=allowed, is_causal=causal
        )
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("always-causal")
class CausalByItself(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        if allowed is None and memory is x:
            allowed = torch.ones(x.shape[1], x.shape[1]).tril().bool()
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("no-causal-mask")
class MaskUnused(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=None)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("no-causal-mask")
class FillThrownAway(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("bool-polarity-mha-vs-sdpa")
class TrueMeansHide(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("bool-polarity-mha-vs-sdpa")
class InvertsForTheKernel(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None if allowed is None else ~allowed
        )
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("mask-after-softmax")
class MultipliesWeights(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = torch.softmax(scores, dim=-1)
        if allowed is not None:
            weights = weights * allowed
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("mask-after-softmax")
class FillsWeights(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            w = torch.softmax(s, dim=-1)
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                w = w.masked_fill(~mask, 0.0)
            heads.append(w @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("mask-fill-near-zero")
class FillsZero(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, 0)
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("mask-fill-near-zero")
class FillsTiny(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, 1e-9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("zero-one-mask-added")
class FloatMaskForTheKernel(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None if allowed is None else allowed.float()
        )
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("inf-times-zero-mask")
class TimesInfinity(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores + (~allowed).float() * -math.inf
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("softmax-wrong-dim")
class OverQueries(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-2)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("softmax-wrong-dim")
class OverHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("softmax-no-max-shift")
class RawExponentials(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        e = torch.exp(scores)
        weights = e / (e.sum(-1, keepdim=True) + 1e-9)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("fully-masked-row-nan")
class InfinityEverywhere(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -math.inf)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("fully-masked-row-nan")
class AddsInfinity(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s + torch.zeros_like(s).masked_fill(~mask, float("-inf"))
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("padding-mask-on-query-axis")
class TransposesTheMask(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed.mT, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("mask-not-broadcast")
class OneMaskForTheBatch(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            allowed = allowed.view(1, 1, *scores.shape[-2:])
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("one-layer-repeated")
class OneLinearForAll(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        layer = nn.Linear(d_model, d_model)
        self.to_queries = self.to_keys = self.to_values = layer
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("one-layer-repeated")
class ListTimesFour(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        layers = [nn.Linear(d_model, d_model)] * 4
        self.to_queries, self.to_keys, self.to_values, self.to_output = layers

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("layers-in-python-list")
class LayersInDict(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        names = ("to_queries", "to_keys", "to_values", "to_output")
        self.layers = {name: nn.Linear(d_model, d_model) for name in names}

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = (
            self.layers["to_queries"](x)
            .unflatten(-1, (self.n_heads, -1))
            .transpose(1, 2)
        )
        k = (
            self.layers["to_keys"](memory)
            .unflatten(-1, (self.n_heads, -1))
            .transpose(1, 2)
        )
        v = (
            self.layers["to_values"](memory)
            .unflatten(-1, (self.n_heads, -1))
            .transpose(1, 2)
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.layers["to_output"](out.transpose(1, 2).flatten(2))


@wrong("fused-qkv-layout")
class FusedPerHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        layers = (self.to_queries, self.to_keys, self.to_values)
        weight = torch.cat([layer.weight for layer in layers])
        bias = torch.cat([layer.bias for layer in layers])
        # The rows lie as [q | k | v], and are read as if each head had its own three.
        rows = F.linear(x, weight, bias).unflatten(-1, (self.n_heads, -1))
        q, k, v = rows.transpose(1, 2).chunk(3, dim=-1)
        if memory is not None:
            rows = F.linear(memory, weight, bias).unflatten(-1, (self.n_heads, -1))
            _, k, v = rows.transpose(1, 2).chunk(3, dim=-1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("fused-qkv-layout")
class FusedKvPerHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        kv = torch.cat((self.to_keys(memory), self.to_values(memory)), dim=-1)
        kv = kv.unflatten(-1, (self.n_heads, 2, -1)).transpose(1, 2)
        k, v = kv.unbind(-2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("keys-and-values-swapped")
class SwapsKeysAndValues(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        v = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("keys-and-values-swapped")
class UnpacksInTheWrongOrder(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, v, k = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, -1e9)
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("keys-viewed-not-transposed")
class ReshapesKeys(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = (
            q @ k.reshape(b, self.n_heads, self.d_head, -1) / math.sqrt(self.d_head)
        )
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("batch-first-mixup")
class SequenceFirst(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        t, b, c = x.shape
        q = self.to_queries(x).view(t, b, self.n_heads, -1).permute(1, 2, 0, 3)
        k = self.to_keys(source).view(-1, b, self.n_heads, q.shape[-1])
        v = self.to_values(source).view(-1, b, self.n_heads, q.shape[-1])
        k, v = k.permute(1, 2, 0, 3), v.permute(1, 2, 0, 3)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.permute(2, 0, 1, 3).reshape(t, b, c))


@wrong("batch-first-mixup")
class TorchWithoutBatchFirst(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        layers = (self.to_queries, self.to_keys, self.to_values)
        return F.multi_head_attention_forward(
            x,
            memory,
            memory,
            x.shape[-1],
            self.n_heads,
            torch.cat([layer.weight for layer in layers]),
            torch.cat([layer.bias for layer in layers]),
            None,
            None,
            False,
            0.0,
            self.to_output.weight,
            self.to_output.bias,
            attn_mask=None if allowed is None else ~allowed,
        )[0]


@wrong("one-head-only")
class OneWideHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        q, k, v = self.to_queries(x), self.to_keys(source), self.to_values(source)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if allowed is not None:
            mask = allowed.squeeze(1) if allowed.ndim == 4 else allowed
            scores = scores.masked_fill(~mask, -1e9)
        return self.to_output(torch.softmax(scores, dim=-1) @ v)


@wrong("heads-interleaved")
class StridedHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h, None, self.n_heads)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, -1e9)
            heads.append(torch.softmax(s, dim=-1) @ v[..., part])
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("no-bias")
class NoBias(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_queries = nn.Linear(d_model, d_model, bias=False)
        self.to_keys = nn.Linear(d_model, d_model, bias=False)
        self.to_values = nn.Linear(d_model, d_model, bias=False)
        self.to_output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("adds-residual")
class AddsTheStream(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return x + self.to_output(out.transpose(1, 2).flatten(2))


@wrong("sdpa-dropout-at-eval")
class KernelWithDropout(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        if memory is None:
            memory = x
        q = self.to_queries(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        k = self.to_keys(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        v = self.to_values(memory).unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        out = F.scaled_dot_product_attention(q, k, v, allowed, dropout_p=0.1)
        return self.to_output(out.transpose(1, 2).flatten(2))


@wrong("sdpa-dropout-at-eval")
class DropsWeights(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -1e9)
        weights = F.dropout(scores.softmax(-1), 0.1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("zero-one-mask-added")
class AddsTheMask(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores + allowed
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("inf-times-zero-mask")
class SubtractsInfinityTimesMask(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores - (1 - allowed.float()) * float("inf")
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("softmax-no-max-shift")
class ExponentiatesScores(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        heads = []
        q, k, v = self.to_queries(x), self.to_keys(memory), self.to_values(memory)
        for h in range(self.n_heads):
            part = slice(h * self.d_head, (h + 1) * self.d_head)
            s = q[..., part] @ k[..., part].transpose(1, 2) / self.d_head**0.5
            if allowed is not None:
                mask = allowed.expand(x.shape[0], self.n_heads, *s.shape[1:])[:, h]
                s = s.masked_fill(~mask, -1e9)
            e = s.exp()
            heads.append(e @ v[..., part] / (e.sum(-1, keepdim=True) + 1e-12))
        return self.to_output(torch.cat(heads, dim=-1))


@wrong("padding-mask-on-query-axis")
class HidesQueryRows(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed.transpose(-1, -2), -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("identity")
class ReturnsInput(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        return x.clone()


@wrong("scale-by-d-model", "no-output-projection")
class TwoSlips(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, t, self.n_heads, self.d_head).transpose(1, 2)
        k = self.to_keys(source).view(b, -1, self.n_heads, self.d_head).transpose(1, 2)
        v = (
            self.to_values(source)
            .view(b, -1, self.n_heads, self.d_head)
            .transpose(1, 2)
        )
        scores = q @ k.transpose(-2, -1) / math.sqrt(c)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).reshape(b, t, c)
        return out, weights


@wrong("heads-split-by-view", "heads-merged-without-transpose")
class ViewsBothWays(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        b, t, c = x.shape
        q = self.to_queries(x).view(b, self.n_heads, t, self.d_head)
        k = self.to_keys(source).view(b, self.n_heads, -1, self.d_head)
        v = self.to_values(source).view(b, self.n_heads, -1, self.d_head)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).reshape(b, t, c)
        return self.to_output(out), weights


@wrong("bool-polarity-mha-vs-sdpa", "cross-attn-ignores-memory")
class HidesAndForgets(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("queries", "keys", "values", "output"):
            setattr(self, f"to_{name}", nn.Linear(d_model, d_model))

    def forward(self, x, memory=None, allowed=None):
        memory = x
        h = self.n_heads
        q = self.to_queries(x).unflatten(2, (h, -1))
        k = self.to_keys(memory).unflatten(2, (h, -1))
        v = self.to_values(memory).unflatten(2, (h, -1))
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        if allowed is not None:
            scores = scores.masked_fill(allowed, -1e9)
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@wrong("projection-used-twice")
class KeysByTheQueriesLayer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def cut(self, y):
        return y.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

    def forward(self, x, memory=None, allowed=None):
        memory = x if memory is None else memory
        queries = self.cut(self.to_queries(x))
        keys = self.cut(self.to_queries(memory))
        values = self.cut(self.to_values(memory))
        scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
        if allowed is not None:
            scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
        read = scores.softmax(-1) @ values
        return self.to_output(read.transpose(1, 2).flatten(2))


@wrong("projection-used-twice")
class ValuesByTheKeysLayer(KeysByTheQueriesLayer):
    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        q, k = self.to_queries(x), self.to_keys(source)
        v = self.to_keys(source)
        q, k, v = self.cut(q), self.cut(k), self.cut(v)
        mask = None
        if allowed is not None:
            mask = torch.where(allowed, 0.0, -1e9)
        read = F.scaled_dot_product_attention(q, k, v, mask)
        return self.to_output(read.transpose(1, 2).flatten(-2))
