"""Right answers to rms_norm_backward."""

import torch

from tests.answers import right


@right("the two parts with a power of the root")
def two_parts(x, gain, slopes, eps=1e-5):
    r = torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    h = slopes * gain
    dot = (h * x).sum(-1, keepdim=True)
    dx = h / r - x * dot / (x.shape[-1] * r**3)
    return dx, torch.einsum("...d,...d->d", slopes, x / r)


@right("the table of all slopes, (d_model, d_model) for each position")
def jacobian(x, gain, slopes, eps=1e-5):
    width = x.shape[-1]
    r = (x.square().mean(-1) + eps).sqrt()[..., None, None]
    table = torch.eye(width) / r - x[..., :, None] * x[..., None, :] / (width * r**3)
    dx = ((slopes * gain)[..., None, :] @ table)[..., 0, :]
    return dx, (slopes * x / r[..., 0]).reshape(-1, width).sum(0)


@right("position by position")
def loop(x, gain, slopes, eps=1e-5):
    for_x, for_gain = [], torch.zeros_like(gain)
    width = x.shape[-1]
    for row, slope in zip(x.reshape(-1, width), slopes.reshape(-1, width), strict=True):
        root = ((row @ row) / width + eps) ** 0.5
        normed = row / root
        inner = slope * gain
        for_x.append((inner - normed * (inner @ normed) / width) / root)
        for_gain = for_gain + slope * normed
    return torch.stack(for_x).view(x.shape), for_gain


@right("autograd of the formula")
def autograd(x, gain, slopes, eps=1e-5):
    x, gain = x.clone().requires_grad_(), gain.clone().requires_grad_()
    y = x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain
    y.backward(slopes)
    return x.grad, gain.grad
