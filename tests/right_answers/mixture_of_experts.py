"""Right answers to mixture_of_experts."""

import torch

from tests.answers import right


@right("hidden scores, all experts on all positions")
def masked(x, router, experts, n_active):
    scores = x @ router.T
    kept = torch.zeros_like(scores).bool()
    kept = kept.scatter(-1, scores.topk(n_active, -1).indices, True)
    weights = scores.masked_fill(~kept, float("-inf")).softmax(-1)
    return sum(weights[..., [i]] * expert(x) for i, expert in enumerate(experts))


@right("every position by itself, in loops")
def loops(x, router, experts, n_active):
    outputs = []
    for row in x.reshape(-1, x.shape[-1]):
        scores = router @ row
        chosen = scores.argsort(descending=True)[:n_active].tolist()
        weights = torch.softmax(scores[chosen], 0)
        parts = [w * experts[i](row) for w, i in zip(weights, chosen, strict=True)]
        outputs.append(torch.stack(parts).sum(0))
    return torch.stack(outputs).view(x.shape)


@right("softmax over all, then divided by what was kept")
def renormalised(x, router, experts, n_active):
    weights, chosen = (x @ router.T).softmax(-1).topk(n_active, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    every = torch.stack([expert(x) for expert in experts], -2)
    picked = torch.take_along_dim(every, chosen[..., None], -2)
    return torch.einsum("...n,...nd->...d", weights, picked)


@right("only the rows that chose an expert")
def sparse(x, router, experts, n_active):
    rows = x.reshape(-1, x.shape[-1])
    scores, chosen = (rows @ router.T).topk(n_active)
    weights, outputs = scores.softmax(-1), torch.zeros_like(rows)
    for i, expert in enumerate(experts):
        hit = chosen == i
        mine = hit.any(-1)
        weight = (weights * hit).sum(-1)[mine, None]
        outputs = outputs.index_add(
            0, mine.nonzero()[:, 0], weight * expert(rows[mine])
        )
    return outputs.reshape(x.shape)
