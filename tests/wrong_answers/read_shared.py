"""Wrong answers to read_shared."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


def visible(keys, lengths):
    """(batch, 1, 1, own) bool: positions that are real."""
    return (torch.arange(keys.shape[2]) < lengths.view(-1, 1))[:, None, None]


@wrong("two-softmaxes-added")
def two_reads(queries, shared_keys, shared_values, keys, values, lengths):
    first = F.scaled_dot_product_attention(
        queries, shared_keys.expand(len(queries), -1, -1, -1), shared_values
    )
    mask = visible(keys, lengths)
    scores = queries @ keys.transpose(-1, -2) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)
    return first + torch.nan_to_num(weights, 0.0) @ values


@wrong("padding-read")
def no_mask(queries, shared_keys, shared_values, keys, values, lengths):
    b = len(queries)
    k = torch.cat([shared_keys.expand(b, -1, -1, -1), keys], dim=2)
    v = torch.cat([shared_values.expand(b, -1, -1, -1), values], dim=2)
    return F.scaled_dot_product_attention(queries, k, v)


@wrong("mask-over-both-parts")
def mask_from_the_first_key(queries, shared_keys, shared_values, keys, values, lengths):
    b = len(queries)
    k = torch.cat([shared_keys.expand(b, -1, -1, -1), keys], dim=2)
    v = torch.cat([shared_values.expand(b, -1, -1, -1), values], dim=2)
    scores = queries @ k.mT / queries.shape[-1] ** 0.5
    scores = scores.masked_fill(~visible(k, lengths), float("-inf"))
    return scores.softmax(-1) @ v


@wrong("softmax-no-max-shift")
def by_exp(queries, shared_keys, shared_values, keys, values, lengths):
    root = queries.shape[-1] ** 0.5
    e1 = torch.exp(queries @ shared_keys.mT / root)
    e2 = torch.exp(queries @ keys.mT / root) * visible(keys, lengths)
    e2 = torch.where(visible(keys, lengths), e2, 0.0)
    top = e1 @ shared_values + e2 @ values
    return top / (e1.sum(-1, keepdim=True) + e2.sum(-1, keepdim=True))


@wrong("no-scale")
def root_forgotten(queries, shared_keys, shared_values, keys, values, lengths):
    s1 = torch.einsum("bhqd,hkd->bhqk", queries, shared_keys)
    s2 = torch.einsum("bhqd,bhkd->bhqk", queries, keys)
    s2 = s2.masked_fill(~visible(keys, lengths), float("-inf"))
    w = torch.cat((s1, s2), -1).softmax(-1)
    n = s1.shape[-1]
    return w[..., :n] @ shared_values + w[..., n:] @ values


@wrong("own-position-off-by-one")
def up_to_and_with_length(queries, shared_keys, shared_values, keys, values, lengths):
    s1 = queries @ shared_keys.mT
    s2 = queries @ keys.mT
    hidden = torch.arange(keys.shape[2])[None] > lengths[:, None]
    s2 = s2.masked_fill(hidden[:, None, None], float("-inf"))
    w = (torch.cat((s1, s2), -1) / queries.shape[-1] ** 0.5).softmax(-1)
    return w[..., : s1.shape[-1]] @ shared_values + w[..., s1.shape[-1] :] @ values


@wrong("weighted-by-positions")
def by_counts(queries, shared_keys, shared_values, keys, values, lengths):
    root, n = queries.shape[-1] ** 0.5, shared_keys.shape[1]
    a = (queries @ shared_keys.mT / root).softmax(-1) @ shared_values
    s = (queries @ keys.mT / root).masked_fill(~visible(keys, lengths), -1e30)
    b = s.softmax(-1) @ values
    share = (n / (n + lengths)).view(-1, 1, 1, 1)
    return share * a + (1 - share) * b


@wrong("padding-read-as-zeros")
def multiplied_by_the_mask(queries, shared_keys, shared_values, keys, values, lengths):
    root = queries.shape[-1] ** 0.5
    s1 = queries @ shared_keys.mT / root
    s2 = queries @ keys.mT / root * visible(keys, lengths)
    w = torch.cat((s1, s2), -1).softmax(-1)
    return w[..., : s1.shape[-1]] @ shared_values + w[..., s1.shape[-1] :] @ values


@wrong("shared-forgotten")
def own_cache(queries, shared_keys, shared_values, keys, values, lengths):
    s = queries @ keys.mT / queries.shape[-1] ** 0.5
    s = s.masked_fill(~visible(keys, lengths), float("-inf"))
    return torch.nan_to_num(s.softmax(-1)) @ values


@wrong("parts-in-another-order")
def own_cache_first(queries, shared_keys, shared_values, keys, values, lengths):
    b, n = len(queries), shared_keys.shape[1]
    k = torch.cat([keys, shared_keys.expand(b, -1, -1, -1)], dim=2)
    v = torch.cat([values, shared_values.expand(b, -1, -1, -1)], dim=2)
    return F.scaled_dot_product_attention(queries, k, v, visible(k, n + lengths))


@wrong("parts-in-another-order")
def weights_cut_at_the_wrong_place(
    queries, shared_keys, shared_values, keys, values, lengths
):
    own = (queries @ keys.mT).masked_fill(~visible(keys, lengths), float("-inf"))
    shared = torch.einsum("bhqd,hkd->bhqk", queries, shared_keys)
    w = (torch.cat((own, shared), -1) / queries.shape[-1] ** 0.5).softmax(-1)
    n = shared.shape[-1]
    return w[..., :n] @ shared_values + w[..., n:] @ values
