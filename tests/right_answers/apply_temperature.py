"""Right answers to apply_temperature."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("a branch for 0, the rest filled with -inf")
def branch(logits, temperature):
    if temperature == 0:
        winner = logits.argmax(dim=-1, keepdim=True)
        out = torch.full_like(logits, float("-inf"))
        return out.scatter(-1, winner, logits.gather(-1, winner))
    return logits / temperature


@right("a threshold, and 0 for the winner")
def threshold(logits, temperature):
    if temperature < 1e-6:
        winner = F.one_hot(logits.argmax(-1), num_classes=logits.size(-1))
        return torch.log(winner.to(logits.dtype))
    return logits * (1.0 / temperature)


@right("row by row in a loop")
def loop(logits, temperature):
    out = logits.clone()
    for row in out.view(-1, logits.shape[-1]):
        if temperature > 1e-7:
            row /= temperature
            continue
        values = row.tolist()
        winner = values.index(max(values))
        for i in range(len(values)):
            if i != winner:
                row[i] = -torch.inf
    return out


@right("the mask by comparison of ids")
def by_ids(logits, temperature):
    if temperature <= 1e-6:
        ids = torch.arange(logits.shape[-1])
        keep = ids == logits.argmax(-1)[..., None]
        return torch.where(keep, logits, -torch.inf)
    return torch.div(logits, temperature)


@right("tiny temperatures on logits shifted by their maximum")
def shifted(logits, temperature):
    if temperature == 0:
        order = torch.sort(logits, dim=-1, descending=True, stable=True).indices
        hidden = torch.ones_like(logits).scatter(-1, order[..., :1], 0.0).bool()
        return logits.masked_fill(hidden, -torch.inf)
    if temperature < 1e-4:
        logits = logits - logits.amax(-1, keepdim=True)
    return logits / temperature
