"""Wrong answers to mixture_of_experts."""

import torch

from tests.answers import wrong


@wrong("weights-not-renormalised")
def softmax_first(x, router, experts, n_active):
    weights, chosen = (x @ router.T).softmax(-1).topk(n_active, -1)
    every = torch.stack([expert(x) for expert in experts], -2)
    picked = torch.take_along_dim(every, chosen[..., None], -2)
    return (weights[..., None] * picked).sum(-2)


@wrong("all-experts-used")
def no_choice(x, router, experts, n_active):
    weights = torch.softmax(x @ router.T, -1)
    return sum(weights[..., [i]] * expert(x) for i, expert in enumerate(experts))


@wrong("first-choice-only")
def argmax(x, router, experts, n_active):
    best = (x @ router.T).argmax(-1)
    out = torch.zeros_like(x)
    for i, expert in enumerate(experts):
        out = torch.where((best == i)[..., None], expert(x), out)
    return out


@wrong("equal-weights")
def average(x, router, experts, n_active):
    chosen = (x @ router.T).topk(n_active, -1).indices
    out = torch.zeros_like(x)
    for i, expert in enumerate(experts):
        out = out + (chosen == i).any(-1, keepdim=True) * expert(x) / n_active
    return out


@wrong("weights-forgotten")
def added_up(x, router, experts, n_active):
    chosen = (x @ router.T).topk(n_active, -1).indices
    out = torch.zeros_like(x)
    for i, expert in enumerate(experts):
        out = out + (chosen == i).any(-1, keepdim=True) * expert(x)
    return out


@wrong("one-choice-for-all")
def first_row_chooses(x, router, experts, n_active):
    scores = x @ router.T
    chosen = scores.view(-1, len(experts))[0].topk(n_active).indices.tolist()
    weights = scores[..., chosen].softmax(-1)
    return sum(weights[..., [n]] * experts[i](x) for n, i in enumerate(chosen))


@wrong("smallest-scores-chosen")
def sorted_upwards(x, router, experts, n_active):
    scores = x @ router.T
    order = scores.argsort(-1)[..., :n_active]
    weights = scores.gather(-1, order).softmax(-1)
    every = torch.stack([expert(x) for expert in experts], -2)
    picked = torch.take_along_dim(every, order[..., None], -2)
    return (weights[..., None] * picked).sum(-2)


@wrong("weights-before-the-bend")
def scaled_inputs(x, router, experts, n_active):
    rows = x.reshape(-1, x.shape[-1])
    scores, chosen = (rows @ router.T).topk(n_active, -1)
    weights = scores.softmax(-1)
    out = torch.zeros_like(rows)
    for i, expert in enumerate(experts):
        row, rank = (chosen == i).nonzero(as_tuple=True)
        if len(row):
            out[row] += expert(weights[row, rank, None] * rows[row])
    return out.view(x.shape)


@wrong("weights-out-of-step")
def sorted_indices(x, router, experts, n_active):
    scores, chosen = (x @ router.T).topk(n_active, -1)
    weights, chosen = scores.softmax(-1), chosen.sort(-1).values
    every = torch.stack([expert(x) for expert in experts], -2)
    picked = torch.take_along_dim(every, chosen[..., None], -2)
    return (weights[..., None] * picked).sum(-2)


@wrong("softmax-wrong-dim")
def down_the_positions(x, router, experts, n_active):
    scores, chosen = (x @ router.T).topk(n_active, -1)
    weights = scores.softmax(-1 if x.ndim == 1 else -2)
    every = torch.stack([expert(x) for expert in experts], -2)
    picked = torch.take_along_dim(every, chosen[..., None], -2)
    return (weights[..., None] * picked).sum(-2)


@wrong("hidden-with-zero")
def scattered_into_zeros(x, router, experts, n_active):
    best, chosen = (x @ router.T).topk(n_active, -1)
    scores = torch.zeros(*x.shape[:-1], len(experts)).scatter(-1, chosen, best)
    weights = scores.softmax(-1)
    return sum(weights[..., [i]] * expert(x) for i, expert in enumerate(experts))


@wrong("rank-taken-for-expert")
def never_looks_who_was_chosen(x, router, experts, n_active):
    weights = torch.topk(x @ router.T, n_active).values.softmax(-1)
    return sum(weights[..., [i]] * experts[i](x) for i in range(n_active))
