"""Wrong answers to attention_with_exit."""

import math

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("exit-not-counted")
def torch_kernel(queries, keys, values, exit_scores, allowed=None):
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=allowed)


@wrong("exit-not-counted")
def added_to_all_scores(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    s = s - exit_scores.view(-1, 1, 1)
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    return torch.nan_to_num(s.softmax(-1)) @ values


@wrong("exit-not-raised")
def plus_the_score(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    e = torch.exp(s)
    return (e / (e.sum(-1, keepdim=True) + exit_scores.view(1, -1, 1, 1))) @ values


@wrong("exit-not-shifted")
def shift_of_keys_only(queries, keys, values, exit_scores, allowed=None):
    s = torch.einsum("bhqd,bhkd->bhqk", queries, keys) / queries.size(-1) ** 0.5
    if allowed is not None:
        s = s.masked_fill(~allowed, -1e9)
    e = torch.exp(s - s.max(-1, keepdim=True).values)
    w = e / (exit_scores.exp().view(-1, 1, 1) + e.sum(-1, keepdim=True))
    return w @ values


@wrong("softmax-no-max-shift")
def plain_exponentials(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.transpose(2, 3) / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    e = torch.exp(s)
    w = e / (torch.exp(exit_scores).reshape(-1, 1, 1) + e.sum(-1, keepdim=True))
    return w @ values


@wrong("exit-ignores-the-head")
def softmax_plus_one(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    s = torch.cat([s, torch.zeros_like(s[..., :1])], -1)
    return s.softmax(-1)[..., :-1] @ values


@wrong("exit-as-a-gate")
def sigmoid_of_the_exit(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    w = s.softmax(-1) * (1 - torch.sigmoid(exit_scores))[:, None, None]
    return w @ values


@wrong("exit-divided-by-the-root")
def root_at_the_end(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    exits = exit_scores.view(1, -1, 1, 1).expand(*s.shape[:3], 1)
    s = torch.cat([s, exits], dim=-1) / math.sqrt(queries.size(-1))
    return s.softmax(-1)[..., :-1] @ values


@wrong("exit-column-left-in")
def first_column_is_the_exit(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    exits = exit_scores.view(1, -1, 1, 1).expand(s.shape[0], -1, s.shape[2], 1)
    return torch.cat((exits, s), -1).softmax(-1)[..., :-1] @ values


@wrong("scale-missing")
def without_the_root(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    exits = exit_scores.view(1, -1, 1, 1).expand(*s.shape[:3], 1)
    return torch.cat([s, exits], dim=-1).softmax(-1)[..., :-1] @ values


@wrong("mask-ignored")
def no_mask(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    exits = exit_scores.view(1, -1, 1, 1).expand(*s.shape[:3], 1)
    return torch.cat([s, exits], dim=-1).softmax(-1)[..., :-1] @ values


@wrong("exit-hands-over-a-value")
def a_value_of_ones(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    exits = exit_scores.view(1, -1, 1, 1).expand(*s.shape[:3], 1)
    w = torch.cat([s, exits], dim=-1).softmax(-1)
    return w @ torch.cat([values, torch.ones_like(values[:, :, :1])], 2)


@wrong("exit-per-query")
def axes_of_the_exit(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT / math.sqrt(queries.size(-1))
    if allowed is not None:
        s = s.masked_fill(~allowed, -math.inf)
    exits = exit_scores.view(1, 1, -1, 1).expand(*s.shape[:3], 1)
    return torch.cat([s, exits], dim=-1).softmax(-1)[..., :-1] @ values


@wrong("scale-missing", "exit-not-shifted")
def two_slips(queries, keys, values, exit_scores, allowed=None):
    s = queries @ keys.mT
    if allowed is not None:
        s = s.masked_fill(~allowed, -1e9)
    e = torch.exp(s - s.max(-1, keepdim=True).values)
    return e / (exit_scores.exp().view(-1, 1, 1) + e.sum(-1, keepdim=True)) @ values
