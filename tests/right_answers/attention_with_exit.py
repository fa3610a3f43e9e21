"""Right answers to attention_with_exit."""

import math

import torch
import torch.nn.functional as F

from tests.answers import right


@right("one more key and a value of 0, by an additive mask")
def torch_kernel(queries, keys, values, exit_scores, allowed=None):
    b, h, n, d = queries.shape
    keys = torch.cat([keys, torch.zeros(b, h, 1, d)], 2)
    values = torch.cat([values, torch.zeros(b, h, 1, values.shape[-1])], 2)
    added = torch.zeros(h, n, keys.shape[2])
    if allowed is not None:
        added[..., :-1] = added[..., :-1].masked_fill(~allowed, -math.inf)
    added[..., -1] = exit_scores[:, None]
    return F.scaled_dot_product_attention(queries, keys, values, attn_mask=added)


@right("the largest of all, the exit among them")
def shifted_by_hand(queries, keys, values, exit_scores, allowed=None):
    scores = torch.einsum("bhqd,bhkd->bhqk", queries, keys) / queries.shape[-1] ** 0.5
    if allowed is not None:
        scores = torch.where(allowed, scores, torch.tensor(-math.inf))
    exits = exit_scores.view(1, -1, 1, 1)
    largest = torch.maximum(scores.amax(-1, keepdim=True), exits)
    e = (scores - largest).exp()
    weights = e / (e.sum(-1, keepdim=True) + (exits - largest).exp())
    return weights @ values


@right("outputs and weights")
def with_weights(queries, keys, values, exit_scores, allowed=None):
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, torch.finfo(scores.dtype).min)
    exits = exit_scores[None, :, None, None].expand(*scores.shape[:-1], 1)
    weights = torch.cat([exits, scores], -1).softmax(-1)[..., 1:]
    return weights @ values, weights


@right("the usual outputs, times the share that the exit leaves")
def two_steps(queries, keys, values, exit_scores, allowed=None):
    scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -1e30)
    share = torch.sigmoid(
        scores.logsumexp(-1, keepdim=True) - exit_scores[:, None, None]
    )
    return share * (scores.softmax(-1) @ values)
