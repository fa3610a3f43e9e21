"""Right answers to expert_parameters."""

import torch
from torch import nn

from course_lib.feed_forward import GatedFeedForward
from tests.answers import right


@right("a formula, factored")
def factored(d_model, d_ff, n_experts, n_active):
    return [d_model * (n_experts + 3 * d_ff * n) for n in (n_experts, n_active)]


@right("layers on the meta device, counted")
def counted(d_model, d_ff, n_experts, n_active):
    with torch.device("meta"):
        expert = GatedFeedForward(d_model, d_ff)
        router = nn.Linear(d_model, n_experts, bias=False)
    one = sum(p.numel() for p in expert.parameters())
    return (
        router.weight.numel() + n_experts * one,
        router.weight.numel() + n_active * one,
    )


@right("stored minus what rests")
def by_difference(d_model, d_ff, n_experts, n_active):
    stored = n_experts * (3 * d_model * d_ff + d_model)
    resting = (n_experts - n_active) * 3 * d_model * d_ff
    return torch.tensor([stored, stored - resting])
