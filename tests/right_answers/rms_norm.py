"""Right answers to rms_norm."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("rsqrt of the mean square")
def with_rsqrt(x, gain, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gain


@right("torch's function")
def torch_own(x, gain, eps=1e-5):
    return F.rms_norm(x, (x.shape[-1],), gain, eps)


@right("the vector's length over the root of the width")
def by_length(x, gain, eps=1e-5):
    n = x.shape[-1]
    length = torch.hypot(x.norm(dim=-1, keepdim=True), torch.tensor((n * eps) ** 0.5))
    return gain * x * n**0.5 / length


@right("einsum, computed in float64")
def with_einsum(x, gain, eps=1e-5):
    wide = x.double()
    mean_square = torch.einsum("...d,...d->...", wide, wide) / x.shape[-1]
    return (
        torch.einsum("...d,...->...d", wide, (mean_square + eps) ** -0.5).to(x) * gain
    )


@right("vector by vector in a loop")
def loop(x, gain, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.size(-1)):
        mean_square = sum(value * value for value in row.tolist()) / len(row)
        rows.append(row / (mean_square + eps) ** 0.5 * gain)
    return torch.stack(rows).view(x.shape)
