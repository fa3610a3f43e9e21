"""Right answers to exact_share."""

import torch

from tests.answers import right


@right("a dict of sources")
def by_dict(logits, targets, sources):
    pred = logits.argmax(-1).tolist()
    ok = {}
    for p, t, s in zip(pred, targets.tolist(), sources.tolist(), strict=True):
        pairs = [(a, b) for a, b in zip(p, t, strict=True) if b != -100]
        ok.setdefault(s, []).append(all(a == b for a, b in pairs))
    return sum(any(found) for found in ok.values()) / len(ok)


@right("a table of sources and rows")
def by_table(logits, targets, sources):
    misses = (logits.argmax(-1).ne(targets) & targets.ne(-100)).sum(-1)
    table = sources.unique()[:, None] == sources
    return (table & (misses == 0)).any(-1).double().mean()


@right("likeliest ids put where nothing counts")
def filled(logits, targets, sources):
    likeliest = logits.max(-1).indices
    row = (torch.where(targets < 0, likeliest, targets) == likeliest).prod(-1)
    _, places = sources.unique(return_inverse=True)
    best = torch.zeros(int(places.max()) + 1).scatter_reduce(
        0, places, row.float(), "amax"
    )
    return best.mean().item()


@right("the largest logit is that of the target")
def by_gather(logits, targets, sources):
    asked = logits.gather(-1, targets.clamp(min=0)[..., None])[..., 0]
    hit = (asked >= logits.amax(-1)) | (targets == -100)
    right_sources = {int(s) for s, row in zip(sources, hit, strict=True) if row.all()}
    return len(right_sources) / len({int(s) for s in sources})
