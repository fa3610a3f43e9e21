"""Right answers to count_parameters, each in its own style."""

import math

import torch
from torch import nn

from course_lib.decoder import Decoder
from tests.answers import right


@right("a sum of products")
def formula(config):
    d, b = config.d_model, int(config.bias)
    d_kv = d // config.n_heads * config.n_kv_heads
    norm = d + (d * b if config.norm == "layer" else 0)
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) + d * (config.d_ff + b)
    if config.gated:
        feed += config.d_ff * (d + b)
    block = norm + attention + norm + feed
    if config.cross_attention:
        block += norm + attention
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@right("builds the decoder and counts")
def built(config):
    return sum(p.numel() for p in Decoder(config).parameters())


@right("a list of shapes")
def shapes(config):
    d, f = config.d_model, config.d_ff
    kv = config.n_kv_heads * config.d_head
    attention = [(d, d), (kv, d), (kv, d), (d, d)]
    feed = [(f, d), (f, d), (d, f)] if config.gated else [(f, d), (d, f)]
    n_attentions = 2 if config.cross_attention else 1
    linears = attention * n_attentions + feed
    sizes = [size for size in linears for _ in range(config.n_layers)]
    if config.bias:
        sizes += [(outputs,) for outputs, _ in sizes]
    norms = (n_attentions + 1) * config.n_layers + (1 if config.pre_norm else 0)
    sizes += [(d,)] * norms
    if config.norm == "layer" and config.bias:
        sizes += [(d,)] * norms
    sizes += [(config.vocab_size, d)] * (1 if config.tie_weights else 2)
    if config.positions == "learned":
        sizes.append((config.max_length, d))
    return sum(math.prod(size) for size in sizes)


@right("modules of torch on the meta device")
def laid_out(config):
    d, bias = config.d_model, config.bias
    kv = d * config.n_kv_heads // config.n_heads

    def norm():
        layer = config.norm == "layer"
        return nn.LayerNorm(d, bias=bias) if layer else nn.RMSNorm(d)

    def linear(n_in, n_out):
        return nn.Linear(n_in, n_out, bias=bias)

    def heads():
        return [linear(d, d), linear(d, kv), linear(d, kv), linear(d, d), norm()]

    with torch.device("meta"):
        parts = [nn.Embedding(config.vocab_size, d)]
        if config.positions == "learned":
            parts.append(nn.Embedding(config.max_length, d))
        for _ in range(config.n_layers):
            parts += heads() + [norm(), linear(d, config.d_ff), linear(config.d_ff, d)]
            parts += heads() if config.cross_attention else []
            parts += [linear(d, config.d_ff)] if config.gated else []
        parts += [norm()] if config.pre_norm else []
        if not config.tie_weights:
            parts.append(nn.Linear(d, config.vocab_size, bias=False))
        return sum(p.numel() for p in nn.ModuleList(parts).parameters())
