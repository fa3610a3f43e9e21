"""Right answers to top_p, each in its own style."""

import torch

from tests.answers import right


@right("mass before each id, stable sort")
def mass_before(logits, p):
    order = logits.argsort(dim=-1, descending=True, stable=True)
    probabilities = logits.gather(-1, order).softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before < p)
    return torch.where(kept | torch.tensor(p >= 1), logits, -torch.inf)


@right("cumulative mass shifted by one place")
def shifted(logits, p):
    if p >= 1.0:
        return logits.clone()
    values, ids = torch.sort(logits, descending=True)
    remove = torch.cumsum(torch.softmax(values, dim=-1), dim=-1) >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    remove = remove.scatter(-1, ids, remove)
    return logits.masked_fill(remove, float("-inf"))


@right("ascending order, as transformers does")
def ascending(logits, p):
    values, ids = torch.sort(logits, descending=False)
    mass = values.softmax(dim=-1).cumsum(dim=-1)
    remove = mass <= (1 - p) if p < 1 else torch.zeros_like(mass, dtype=torch.bool)
    remove[..., -1:] = False
    return logits.masked_fill(remove.scatter(-1, ids, remove), -torch.inf)


@right("loop over rows")
def loops(logits, p):
    out = torch.full_like(logits, -1e9).reshape(-1, logits.shape[-1])
    rows = logits.reshape(out.shape)
    for row, kept in zip(rows, out, strict=True):
        mass, probabilities = 0.0, row.double().softmax(-1)
        for i in probabilities.argsort(descending=True, stable=True).tolist():
            kept[i] = row[i]
            mass += probabilities[i].item()
            if mass >= p and p < 1:
                break
    return out.reshape(logits.shape)


@right("each id asks how much mass is above it, without a sort")
def pairwise(logits, p):
    probabilities = logits.double().softmax(-1)
    mine, other = probabilities.unsqueeze(-1), probabilities.unsqueeze(-2)
    ids = torch.arange(logits.shape[-1])
    ahead = (other > mine) | ((other == mine) & (ids < ids[:, None]))
    above = torch.where(ahead, other, 0.0).sum(-1)
    return logits if p == 1 else logits.masked_fill(above >= p, -torch.inf)
