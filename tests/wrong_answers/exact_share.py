"""Wrong answers to exact_share."""

import torch

from tests.answers import wrong


@wrong("padding-never-hit")
def sources_added_only(logits, targets, sources):
    row = (logits.argmax(-1) == targets).all(-1)
    found = {}
    for s, ok in zip(sources.tolist(), row.tolist(), strict=True):
        found[s] = found.get(s, False) or ok
    return sum(found.values()) / len(found)


@wrong("rows-for-sources")
def padding_mended_only(logits, targets, sources):
    pred = logits.argmax(-1)
    wrong_ids = (pred != targets) & (targets != -100)
    return (wrong_ids.sum(-1) == 0).float().mean().item()


@wrong("all-references-wanted")
def and_instead_of_or(logits, targets, sources):
    pred = logits.argmax(-1)
    row = ((pred == targets) + (targets == -100)).all(-1)
    ok = dict.fromkeys(sources.tolist(), True)
    for i, s in enumerate(sources.tolist()):
        ok[s] = ok[s] and bool(row[i])
    return sum(ok.values()) / len(ok)


@wrong("all-references-wanted")
def dict_overwrites(logits, targets, sources):
    row = ((logits.argmax(-1) == targets) | (targets < 0)).all(-1)
    ok = dict(zip(sources.tolist(), row.tolist(), strict=True))
    return sum(ok.values()) / len(ok)


@wrong("sources-counted-by-number")
def zeros_for_all_numbers(logits, targets, sources):
    row = ((logits.argmax(-1) == targets) | (targets == -100)).all(-1)
    count = torch.zeros(int(sources.max()) + 1)
    count.index_add_(0, sources, row.float())
    return (count > 0).float().mean().item()


@wrong("right-rows-by-sources")
def counts_twice(logits, targets, sources):
    row = ((logits.argmax(-1) == targets) | (targets == -100)).all(-1)
    return row.sum().item() / len(set(sources.tolist()))


@wrong("right-rows-by-sources")
def divides_by_rows(logits, targets, sources):
    row = ((logits.argmax(-1) == targets) | (targets == -100)).all(-1)
    return len(set(sources[row].tolist())) / len(sources)


@wrong("share-of-ids")
def token_accuracy(logits, targets, sources):
    real = targets != -100
    pred = logits.argmax(-1)
    return (pred[real] == targets[real]).float().mean().item()


@wrong("padding-counts-as-right")
def mean_of_all_places(logits, targets, sources):
    hit = (logits.argmax(-1) == targets) | (targets == -100)
    return hit.float().mean().item()


@wrong("any-id-for-all")
def any_on_the_wrong_axis(logits, targets, sources):
    hit = logits.argmax(-1) == targets
    right = hit.any(dim=1)
    return len(sources[right].unique()) / len(sources.unique())


@wrong("labels-shifted-twice")
def shifts_by_hand(logits, targets, sources):
    pred, labels = logits[:, :-1].argmax(-1), targets[:, 1:]
    row = ((pred == labels) | (labels == -100)).all(-1)
    return len(sources[row].unique()) / len(sources.unique())


@wrong("number-for-share")
def forgets_to_divide(logits, targets, sources):
    row = ((logits.argmax(-1) == targets) | (targets == -100)).all(-1)
    return len(sources[row].unique())


@wrong("padding-never-hit", "rows-for-sources")
def unchanged(logits, targets, sources):
    return (logits.argmax(-1) == targets).all(-1).float().mean().item()
