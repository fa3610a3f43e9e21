"""Wrong answers to top_p, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("topp-drops-crossing-token")
def up_to_p(logits, p):
    if p >= 1:
        return logits
    values, ids = logits.sort(dim=-1, descending=True)
    keep = values.softmax(-1).cumsum(-1) <= p
    keep[..., 0] = True
    keep = torch.zeros_like(keep).scatter(-1, ids, keep)
    return logits.masked_fill(~keep, -torch.inf)


@wrong("topp-drops-crossing-token")
def not_shifted(logits, p):
    ordered, order = torch.sort(logits, descending=True, dim=-1)
    remove = torch.cumsum(torch.softmax(ordered, dim=-1), dim=-1) > p
    remove[..., 0] = False
    ordered = ordered.masked_fill(remove & (p < 1), float("-inf"))
    return torch.empty_like(logits).scatter(-1, order, ordered)


@wrong("topp-empties-nucleus", "topp-drops-crossing-token")
def nothing_guaranteed(logits, p):
    if p >= 1:
        return logits.clone()
    values, ids = logits.sort(dim=-1, descending=True)
    remove = values.softmax(-1).cumsum(-1) > p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("topp-empties-nucleus", "topp-drops-crossing-token")
def loop_breaks_before_keeping(logits, p):
    out = torch.full_like(logits, -torch.inf)
    rows, kept = logits.reshape(-1, logits.shape[-1]), out.view(-1, logits.shape[-1])
    for row, keep in zip(rows, kept, strict=True):
        mass, probabilities = 0.0, torch.softmax(row, dim=0)
        for i in torch.argsort(row, descending=True):
            mass += float(probabilities[i])
            if mass > p and p < 1:
                break
            keep[i] = row[i]
    return out


@wrong("topp-empties-nucleus")
def first_place_not_cleared(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    remove = values.softmax(-1).cumsum(-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    if p >= 1:
        return logits
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("topp-empties-nucleus")
def dominant_id_removed(logits, p):
    probabilities, ids = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = torch.cumsum(probabilities, dim=-1) - probabilities
    before[..., 0] = probabilities[..., 0]  # the first has nothing before it
    keep = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, before < p)
    return torch.where(keep | torch.tensor(p >= 1), logits, -torch.inf)


@wrong("topp-keeps-one-too-many")
def shifted_twice(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    remove = values.softmax(-1).cumsum(-1) > p
    remove[..., 2:] = remove[..., :-2].clone()
    remove[..., :2] = False
    if p >= 1:
        return logits
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("ids-not-put-back")
def mask_in_sorted_order(logits, p):
    values, _ = torch.sort(logits, descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove, -torch.inf)


@wrong("ids-not-put-back")
def sorted_logits_returned(logits, p):
    values = torch.sort(logits, descending=True).values
    probabilities = torch.softmax(values, dim=-1)
    before = torch.cumsum(probabilities, dim=-1) - probabilities
    return torch.where(before < p, values, -torch.inf)


@wrong("ids-put-back-by-gather")
def gathered(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.gather(-1, ids), -torch.inf)


@wrong("not-sorted")
def in_the_order_of_ids(logits, p):
    probabilities = logits.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    return logits.masked_fill(before >= p, -torch.inf)


@wrong("sorted-ascending")
def least_probable_first(logits, p):
    values, ids = torch.sort(logits)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("cumsum-of-logits")
def no_softmax(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    remove = values.cumsum(-1) - values >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("threshold-on-each-probability")
def at_least_p_each(logits, p):
    probabilities = logits.softmax(-1)
    best = probabilities.amax(-1, keepdim=True)
    keep = (probabilities >= 1 - p) | (probabilities == best)
    return torch.where(keep, logits, -torch.inf)


@wrong("threshold-on-each-probability")
def min_p_instead(logits, p):
    probabilities = torch.softmax(logits, dim=-1)
    largest = probabilities.max(dim=-1, keepdim=True).values
    return logits.masked_fill(probabilities < (1 - p) * largest, -torch.inf)


@wrong("softmax-wrong-dim")
def over_the_batch(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    probabilities = values.softmax(0)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("softmax-wrong-dim")
def all_axes_at_once(logits, p):
    values, ids = logits.flatten().sort(descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    remove = remove.scatter(-1, ids, remove).view_as(logits)
    return logits.masked_fill(remove, -torch.inf)


@wrong("softmax-no-max-shift")
def raw_exponentials(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    exponentials = values.exp()
    probabilities = exponentials / exponentials.sum(-1, keepdim=True)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@wrong("topk-fill-not-inf")
def removed_are_zero(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    return logits.masked_fill(remove.scatter(-1, ids, remove), 0.0)


@wrong("topk-fill-not-inf")
def multiplied_by_mask(logits, p):
    values, ids = torch.sort(logits, descending=True)
    probabilities = torch.softmax(values, -1)
    keep = (torch.cumsum(probabilities, -1) - probabilities < p).float()
    return logits * torch.zeros_like(keep).scatter(-1, ids, keep)


@wrong("returns-probabilities")
def renormalised(logits, p):
    probabilities, ids = logits.softmax(-1).sort(dim=-1, descending=True)
    remove = probabilities.cumsum(-1) - probabilities >= p
    kept = probabilities.masked_fill(remove, 0.0)
    kept = kept / kept.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, kept)


@wrong("input-changed-in-place")
def writes_into_logits(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    probabilities = values.softmax(-1)
    remove = probabilities.cumsum(-1) - probabilities >= p
    logits[remove.scatter(-1, ids, remove)] = -torch.inf
    return logits


@wrong("one-row-only")
def nucleus_of_the_first_row(logits, p):
    row = logits.reshape(-1, logits.shape[-1])[0]
    values, ids = row.sort(descending=True)
    probabilities = values.softmax(0)
    hidden = ids[probabilities.cumsum(0) - probabilities >= p]
    out = logits.clone()
    out[..., hidden] = -torch.inf
    return out


@wrong("nothing-removed")
def identity(logits, p):
    return logits


@wrong("topp-drops-crossing-token", "topk-fill-not-inf")
def too_few_and_zeros(logits, p):
    values, ids = logits.sort(dim=-1, descending=True)
    remove = values.softmax(-1).cumsum(-1) > p
    remove[..., 0] = False
    return logits.masked_fill(remove.scatter(-1, ids, remove), 0.0)


@wrong("topp-empties-nucleus", "input-changed-in-place")
def empties_in_place(logits, p):
    values, ids = torch.sort(logits, descending=True)
    remove = torch.cumsum(torch.softmax(values, -1), -1) > p
    logits[remove.scatter(-1, ids, remove)] = -float("inf")
    return logits
