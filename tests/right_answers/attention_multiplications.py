"""Right answers to attention_multiplications."""

import torch

from tests.answers import right


@right("head by head")
def head_by_head(n, d_model, n_heads, causal=False):
    d_head = d_model // n_heads
    cells = n * (n + 1) // 2 if causal else n * n
    one_head = 3 * n * d_model * d_head + 2 * cells * d_head
    return n_heads * one_head + n * d_model * d_model


@right("factored")
def factored(n, d_model, n_heads, causal=False):
    keys_per_query = (n + 1) / 2 if causal else n
    return 2 * n * d_model * (2 * d_model + keys_per_query)


@right("the mask counted, in a tensor")
def mask_counted(n, d_model, n_heads, causal=False):
    mask = torch.ones(n, n)
    mask = mask.tril() if causal else mask
    return 4 * n * d_model * d_model + 2 * d_model * mask.sum().long()
