"""Right answers to trapezoid_rate."""

import torch

from tests.answers import right


@right("two ifs and the smaller")
def two_ifs(step, n_steps, peak, warmup_steps, cooldown_steps):
    rates = [peak]
    if warmup_steps:
        rates.append(peak * (step + 1) / warmup_steps)
    if cooldown_steps:
        rates.append(peak * (n_steps - step) / cooldown_steps)
    return min(rates)


@right("the whole table, and one of its numbers")
def table(step, n_steps, peak, warmup_steps, cooldown_steps):
    rates = torch.full((n_steps,), peak)
    for i in range(min(warmup_steps, n_steps)):
        rates[i] = peak * (i + 1) / warmup_steps
    for i in range(min(cooldown_steps, n_steps)):
        place = n_steps - 1 - i
        rates[place] = min(rates[place].item(), peak * (i + 1) / cooldown_steps)
    return rates[step]


@right("infinite where there is no slope")
def infinite(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = (step + 1) / warmup_steps if warmup_steps else float("inf")
    down = (n_steps - step) / cooldown_steps if cooldown_steps else float("inf")
    return peak * min(up, down, 1)


@right("clamped tensors")
def clamped(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = torch.tensor((step + 1) / max(warmup_steps, 1)).clamp(max=1)
    down = torch.tensor((n_steps - step) / max(cooldown_steps, 1)).clamp(max=1)
    return peak * torch.minimum(up, down)
