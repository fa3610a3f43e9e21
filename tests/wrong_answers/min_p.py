"""Wrong answers to min_p, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("minp-absolute-threshold")
def p_itself(logits, p):
    return logits.masked_fill(logits.softmax(-1) < p, -torch.inf)


@wrong("minp-absolute-threshold")
def p_itself_but_the_best_stays(logits, p):
    probabilities = torch.softmax(logits, dim=-1)
    best = probabilities == probabilities.max(dim=-1, keepdim=True).values
    return torch.where(best | (probabilities >= p), logits, float("-inf"))


@wrong("threshold-on-logits")
def share_of_the_largest_logit(logits, p):
    largest = logits.amax(-1, keepdim=True)
    return torch.where(logits >= p * largest, logits, -torch.inf)


@wrong("threshold-on-logits")
def p_not_turned_into_a_log(logits, p):
    best = logits.max(dim=-1, keepdim=True).values
    return logits.masked_fill(logits < best - p, -torch.inf)


@wrong("threshold-on-logits")
def share_of_the_log_probability(logits, p):
    scores = logits.log_softmax(-1)
    return logits.masked_fill(scores < p * scores.amax(-1, keepdim=True), -torch.inf)


@wrong("top-p-instead")
def nucleus(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("one-minus-p")
def share_turned_round(logits, p):
    probabilities = logits.softmax(-1)
    least = (1 - p) * probabilities.amax(-1, keepdim=True)
    return torch.where(probabilities >= least, logits, -torch.inf)


@wrong("keeps-the-smallest")
def comparison_turned_round(logits, p):
    probabilities = logits.softmax(-1)
    least = p * probabilities.amax(-1, keepdim=True)
    return logits.masked_fill(probabilities >= least, -torch.inf)


@wrong("topk-fill-not-inf")
def removed_are_zero(logits, p):
    probabilities = torch.softmax(logits, dim=-1)
    keep = probabilities >= p * probabilities.amax(-1, keepdim=True)
    return torch.where(keep, logits, torch.zeros_like(logits))


@wrong("topk-fill-not-inf")
def multiplied_by_mask(logits, p):
    probabilities = logits.softmax(-1)
    return logits * (probabilities >= p * probabilities.max(-1, True)[0]).float()


@wrong("softmax-wrong-dim")
def over_the_first_axis(logits, p):
    probabilities = torch.softmax(logits, dim=0)
    least = p * probabilities.amax(-1, keepdim=True)
    return logits.masked_fill(probabilities < least, -torch.inf)


@wrong("one-threshold-for-all-rows")
def largest_of_the_batch(logits, p):
    probabilities = logits.softmax(-1)
    return logits.masked_fill(probabilities < p * probabilities.max(), -torch.inf)


@wrong("one-threshold-for-all-rows")
def largest_of_the_first_row(logits, p):
    probabilities = torch.softmax(logits, dim=-1)
    best = probabilities.reshape(-1, logits.shape[-1])[0].max()
    return torch.where(probabilities >= p * best, logits, -torch.inf)


@wrong("softmax-no-max-shift")
def raw_exponentials(logits, p):
    exponentials = torch.exp(logits)
    keep = exponentials >= p * exponentials.max(dim=-1, keepdim=True).values
    return logits.masked_fill(~keep, -torch.inf)


@wrong("returns-probabilities")
def renormalised(logits, p):
    probabilities = logits.softmax(-1)
    keep = probabilities >= p * probabilities.amax(-1, keepdim=True)
    kept = torch.where(keep, probabilities, 0.0)
    return kept / kept.sum(-1, keepdim=True)


@wrong("input-changed-in-place")
def writes_into_logits(logits, p):
    probabilities = logits.softmax(-1)
    logits[probabilities < p * probabilities.amax(-1, keepdim=True)] = -torch.inf
    return logits


@wrong("nothing-removed")
def identity(logits, p):
    return logits


@wrong("shape-not-kept")
def kept_values_only(logits, p):
    probabilities = logits.softmax(-1)
    return logits[probabilities >= p * probabilities.amax(-1, keepdim=True)]


@wrong("minp-absolute-threshold", "topk-fill-not-inf")
def p_itself_and_zeros(logits, p):
    return logits.masked_fill(torch.softmax(logits, dim=-1) < p, 0.0)


@wrong("one-threshold-for-all-rows", "input-changed-in-place")
def batch_threshold_in_place(logits, p):
    probabilities = logits.softmax(-1)
    return logits.masked_fill_(probabilities < p * probabilities.max(), -torch.inf)
