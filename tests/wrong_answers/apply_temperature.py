"""Wrong answers to apply_temperature."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("temperature-zero-divides")
def divides(logits, temperature):
    return logits / temperature


@wrong("temperature-zero-divides")
def inverse(logits, temperature):
    beta = 1.0 / temperature
    return logits * beta


@wrong("temperature-zero-keeps-ties")
def floor_under_temperature(logits, temperature):
    return logits / max(temperature, 1e-8)


@wrong("temperature-zero-keeps-ties")
def a_little_more(logits, temperature):
    eps = 1e-10
    return logits / (temperature + eps)


@wrong("temperature-zero-keeps-ties")
def all_largest(logits, temperature):
    if temperature < 1e-6:
        best = logits.max(dim=-1, keepdim=True).values
        return logits.masked_fill(logits < best, float("-inf"))
    return logits / temperature


@wrong("temperature-multiplies")
def multiplies(logits, temperature):
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits * temperature


@wrong("temperature-multiplies")
def divides_by_inverse(logits, temperature):
    if temperature < 1e-5:
        keep = F.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        return torch.where(keep, logits, -torch.inf)
    return logits / (1 / temperature)


@wrong("temperature-zero-ignored")
def zero_means_off(logits, temperature):
    if temperature == 0:
        return logits
    return logits / temperature


@wrong("temperature-zero-ignored")
def falsy(logits, temperature):
    return logits / (temperature or 1.0)


@wrong("input-changed-in-place")
def in_place(logits, temperature):
    if temperature > 0:
        logits /= temperature
        return logits
    best = logits.argmax(-1, keepdim=True)
    return torch.full_like(logits, -torch.inf).scatter(-1, best, 1.0)


@wrong("input-changed-in-place")
def overwrites_losers(logits, temperature):
    if temperature < 1e-6:
        best = logits.argmax(dim=-1, keepdim=True)
        keep = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True)
        logits[~keep] = float("-inf")
        return logits
    return logits / temperature


@wrong("returns-probabilities")
def probabilities(logits, temperature):
    if temperature == 0:
        best = logits.argmax(-1)
        return F.one_hot(best, logits.shape[-1]).to(logits.dtype)
    return torch.softmax(logits / temperature, dim=-1)


@wrong("returns-ids-at-zero")
def returns_the_token(logits, temperature):
    if temperature == 0:
        return logits.argmax(dim=-1)
    return logits / temperature


@wrong("returns-ids-at-zero")
def returns_the_token_kept(logits, temperature):
    if temperature < 1e-6:
        return torch.argmax(logits, dim=-1, keepdim=True)
    return logits / temperature


@wrong("topk-fill-not-inf")
def losers_get_zero(logits, temperature):
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, best, 1.0)
    return logits / temperature


@wrong("topk-fill-not-inf")
def multiplies_by_one_hot(logits, temperature):
    if temperature < 1e-6:
        return logits * F.one_hot(logits.argmax(-1), logits.size(-1))
    return logits / temperature


@wrong("argmax-over-batch")
def one_winner_for_all(logits, temperature):
    if temperature < 1e-6:
        out = torch.full_like(logits, float("-inf"))
        out.view(-1)[logits.argmax()] = 0.0
        return out
    return logits / temperature


@wrong("argmax-over-batch")
def global_maximum(logits, temperature):
    if temperature == 0:
        return torch.where(logits == logits.max(), logits, -torch.inf)
    return logits / temperature


@wrong("argmax-takes-last")
def last_of_equals(logits, temperature):
    if temperature == 0:
        n = logits.shape[-1]
        best = n - 1 - logits.flip(-1).argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits / temperature


@wrong("temperature-plus-one")
def one_more(logits, temperature):
    return logits / (1 + temperature)


@wrong("integer-division")
def floors(logits, temperature):
    if temperature < 1e-6:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits // temperature


@wrong("temperature-as-power")
def power(logits, temperature):
    if temperature < 1e-6:
        best = logits.argmax(-1, keepdim=True)
        return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)
    return logits ** (1 / temperature)


@wrong("temperature-ignored")
def unchanged(logits, temperature):
    return logits.clone()


@wrong("temperature-multiplies", "temperature-zero-keeps-ties")
def two_slips(logits, temperature):
    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
    return logits * temperature


@wrong("input-changed-in-place", "temperature-zero-divides")
def in_place_and_zero(logits, temperature):
    logits.div_(temperature)
    return logits


@wrong("temperature-kept-above-zero")
def a_hundredth_at_least(logits, temperature):
    return logits / max(temperature, 0.01)


@wrong("temperature-kept-above-zero")
def a_thousandth_for_zero(logits, temperature):
    temperature = torch.as_tensor(float(temperature)).clamp(min=1e-3)
    return logits / temperature
