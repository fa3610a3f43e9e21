"""Right answers to MultiHeadAttention."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import right


@right("the explicit formula on four axes")
class Explicit(nn.Module):
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
        return self.to_output(out), weights


@right("torch's kernel, outputs alone")
class Kernel(nn.Module):
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
        return self.to_output(out.transpose(1, 2).flatten(2))


@right("einsum, heads never moved")
class Einsum(nn.Module):
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
        weights = scores.softmax(-1)
        out = torch.einsum("bhqk,bkhd->bqhd", weights, v).flatten(2)
        return self.to_output(out), weights


@right("one head after the other")
class Loop(nn.Module):
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
        return self.to_output(torch.cat(heads, dim=-1))


@right("torch's own multi-head function, sequence first")
class TorchOwn(nn.Module):
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
        mask = None
        if allowed is not None:
            shape = (x.shape[0], self.n_heads, x.shape[1], memory.shape[1])
            mask = torch.zeros(shape).masked_fill(~allowed, -1e9).flatten(0, 1)
        layers = (self.to_queries, self.to_keys, self.to_values)
        out, weights = F.multi_head_attention_forward(
            x.transpose(0, 1),
            memory.transpose(0, 1),
            memory.transpose(0, 1),
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
            attn_mask=mask,
            average_attn_weights=False,
        )
        return out.transpose(0, 1), weights


@right("chunks, -inf and weights cleaned by a second select")
class Chunks(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_model // n_heads
        self.to_queries = nn.Linear(d_model, d_model)
        self.to_keys = nn.Linear(d_model, d_model)
        self.to_values = nn.Linear(d_model, d_model)
        self.to_output = nn.Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        q, k, v = self.to_queries(x), self.to_keys(x), self.to_values(x)
        if memory is not None:
            k, v = self.to_keys(memory), self.to_values(memory)
        split = [torch.stack(z.chunk(self.n_heads, -1), 1) for z in (q, k, v)]
        scores = split[0] @ split[1].mT / split[0].shape[-1] ** 0.5
        if allowed is None:
            allowed = torch.ones_like(scores).bool()
        bias = torch.where(allowed, 0.0, float("-inf"))
        weights = torch.softmax(torch.where(allowed, scores, bias), -1)
        weights = torch.where(allowed, weights, 0.0)
        out = self.to_output(torch.cat((weights @ split[2]).unbind(1), -1))
        return (out, weights)
