"""Wrong answers to top_k, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("topk-fill-not-inf")
def fills_zero(logits, k):
    kth = torch.topk(logits, min(k, logits.shape[-1])).values[..., -1, None]
    return torch.where(logits < kth, torch.zeros_like(logits), logits)


@wrong("topk-fill-not-inf")
def multiplied_by_mask(logits, k):
    ids = logits.topk(min(k, logits.size(-1)), dim=-1).indices
    mask = torch.zeros_like(logits).scatter(-1, ids, 1.0)
    return logits * mask


@wrong("topk-fill-not-inf")
def fills_tiny(logits, k):
    values, ids = logits.topk(min(k, logits.shape[-1]), dim=-1)
    return torch.full_like(logits, 1e-10).scatter(-1, ids, values)


@wrong("topk-off-by-one")
def one_too_many(logits, k):
    rank = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    return logits.masked_fill(rank > k, -torch.inf)


@wrong("topk-off-by-one")
def next_value_as_threshold(logits, k):
    if k >= logits.shape[-1]:
        return logits
    ordered = torch.sort(logits, dim=-1, descending=True).values
    return torch.where(logits < ordered[..., k : k + 1], -torch.inf, logits)


@wrong("topk-one-too-few")
def strictly_above(logits, k):
    if k >= logits.shape[-1]:
        return logits
    kth = torch.topk(logits, k).values[..., -1:]
    return torch.where(logits > kth, logits, torch.tensor(-1e9))


@wrong("topk-exceeds-vocab")
def no_limit_on_k(logits, k):
    values, _ = torch.topk(logits, k)
    return logits.masked_fill(logits < values[..., -1:], -torch.inf)


@wrong("topk-exceeds-vocab")
def sorted_and_indexed(logits, k):
    kth = logits.sort(dim=-1, descending=True).values[..., k - 1 : k]
    return torch.where(logits >= kth.expand_as(logits), logits, -torch.inf)


@wrong("topk-exceeds-vocab")
def slice_wraps_around(logits, k):
    # kthvalue would refuse; a negative index that is taken modulo does not
    vocab = logits.shape[-1]
    kth = logits.sort(dim=-1).values[..., (vocab - k) % vocab].unsqueeze(-1)
    return logits.masked_fill(logits < kth, -torch.inf)


@wrong("topk-wrong-axis")
def over_the_batch(logits, k):
    kth = torch.topk(logits, min(k, logits.shape[0]), dim=0).values[-1:]
    return logits.masked_fill(logits < kth, -torch.inf)


@wrong("one-threshold-for-all-rows")
def over_everything(logits, k):
    kth = logits.flatten().topk(min(k, logits.numel())).values[-1]
    return torch.where(logits >= kth, logits, -torch.inf)


@wrong("one-threshold-for-all-rows")
def threshold_of_the_first_row(logits, k):
    rows = logits.reshape(-1, logits.shape[-1])
    kth = rows[0].topk(min(k, rows.shape[-1])).values[-1]
    return logits.masked_fill(logits < kth, -torch.inf)


@wrong("keeps-the-smallest")
def smallest(logits, k):
    kth = logits.topk(min(k, logits.shape[-1]), largest=False).values[..., -1:]
    return logits.masked_fill(logits > kth, -torch.inf)


@wrong("keeps-the-smallest")
def mask_inverted(logits, k):
    ids = logits.topk(min(k, logits.shape[-1]), dim=-1).indices
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, True)
    return logits.masked_fill(kept, -torch.inf)


@wrong("ids-not-put-back")
def sorted_order(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    ordered[..., k:] = -torch.inf
    return ordered


@wrong("first-ids-kept")
def first_k_ids(logits, k):
    out = torch.full_like(logits, -torch.inf)
    out[..., :k] = logits[..., :k]
    return out


@wrong("shape-not-kept")
def values_only(logits, k):
    return torch.topk(logits, min(k, logits.shape[-1]), dim=-1).values


@wrong("returns-probabilities")
def normalised(logits, k):
    kth = torch.topk(logits, min(k, logits.shape[-1])).values[..., -1, None]
    return torch.softmax(logits.masked_fill(logits < kth, -torch.inf), dim=-1)


@wrong("input-changed-in-place")
def writes_into_logits(logits, k):
    kth = torch.topk(logits, min(k, logits.size(-1))).values[..., [-1]]
    logits[logits < kth] = -float("inf")
    return logits


@wrong("input-changed-in-place")
def masked_fill_underscore(logits, k):
    ids = logits.argsort(dim=-1, descending=True)[..., k:]
    return logits.scatter_(-1, ids, -torch.inf)


@wrong("k-ignored")
def always_the_best(logits, k):
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)


@wrong("nothing-removed")
def identity(logits, k):
    return logits.clone()


@wrong("topk-fill-not-inf", "topk-exceeds-vocab")
def zeros_and_no_limit(logits, k):
    values, ids = torch.topk(logits, k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, ids, values)


@wrong("topk-off-by-one", "input-changed-in-place")
def one_too_many_in_place(logits, k):
    for row in logits.view(-1, logits.shape[-1]):
        row[row.argsort(descending=True)[k + 1 :]] = -torch.inf
    return logits
