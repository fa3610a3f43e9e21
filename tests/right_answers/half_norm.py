"""Right answers to half_norm."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("float32 inside, gain last")
def widened(x, gain, eps=1e-6):
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return gain * wide.type_as(x)


@right("torch's norm in float32")
def torchs(x, gain, eps=1e-6):
    return F.rms_norm(x.float(), gain.shape, gain.float(), eps).to(x.dtype)


@right("divided by the largest number first, float64 for the rest")
def by_the_largest(x, gain, eps=1e-6):
    largest = x.abs().amax(-1, keepdim=True).double().clamp(min=1e-30)
    part = x.double() / largest
    mean_square = part.square().mean(-1, keepdim=True) + eps / largest.square()
    return (part / mean_square.sqrt() * gain.double()).to(x.dtype)


@right("a root of the length")
def by_length(x, gain, eps=1e-6):
    length = torch.linalg.vector_norm(x.float(), dim=-1, keepdim=True)
    root = torch.hypot(length / x.shape[-1] ** 0.5, torch.tensor(eps**0.5))
    return (x.float() / root * gain).to(x.dtype)
