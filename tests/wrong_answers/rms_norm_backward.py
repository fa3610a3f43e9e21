"""Wrong answers to rms_norm_backward."""

import torch

from tests.answers import wrong


@wrong("root-taken-for-constant")
def simple_division(x, gain, slopes, eps=1e-5):
    rms = torch.sqrt((x**2).mean(-1, keepdim=True) + eps)
    n = x / rms
    return slopes * gain / rms, (slopes * n).reshape(-1, x.shape[-1]).sum(0)


@wrong("gain-forgotten")
def slopes_straight(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n = x / r
    dx = (slopes - n * (slopes * n).mean(-1, keepdim=True)) / r
    return dx, (slopes * n).flatten(0, -2).sum(0)


@wrong("sum-for-mean")
def dot_product(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    h = slopes * gain
    dot = (h * x).sum(-1, keepdim=True)
    return h / r - x * dot / r**3, (slopes * x / r).flatten(0, -2).sum(0)


@wrong("correction-not-normed")
def forgets_the_squared_root(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    h = slopes * gain
    dx = h / r - x * (h * x).mean(-1, keepdim=True) / r
    return dx, (slopes * x / r).flatten(0, -2).sum(0)


@wrong("sign-of-the-correction")
def adds(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    h = slopes * gain
    dx = h / r + x * (h * x).mean(-1, keepdim=True) / r**3
    return dx, (slopes * x / r).flatten(0, -2).sum(0)


@wrong("root-forgotten")
def projection_only(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    along = (h * n).mean(-1, keepdim=True)
    return h - along * n, (slopes * n).flatten(0, -2).sum(0)


@wrong("layer-norms-gradient")
def textbook(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    mean, along = h.mean(-1, keepdim=True), (h * n).mean(-1, keepdim=True)
    return (h - mean - along * n) / r, (slopes * n).flatten(0, -2).sum(0)


@wrong("gain-gradient-of-x")
def plain_x_for_gain(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    dx = (h - n * (h * n).mean(-1, keepdim=True)) / r
    return dx, (slopes * x).flatten(0, -2).sum(0)


@wrong("gain-gradient-averaged")
def mean_for_gain(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    dx = (h - n * (h * n).mean(-1, keepdim=True)) / r
    return dx, (slopes * n).flatten(0, -2).mean(0)


@wrong("gain-gradient-per-position")
def first_axis_only(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    dx = (h - n * (h * n).mean(-1, keepdim=True)) / r
    return dx, slopes * n


@wrong("eps-forgotten")
def exact_root(x, gain, slopes, eps=1e-5):
    r = x.square().mean(-1, keepdim=True).sqrt()
    n, h = x / r, slopes * gain
    dx = (h - n * (h * n).mean(-1, keepdim=True)) / r
    return dx, (slopes * n).flatten(0, -2).sum(0)


@wrong("gain-gradient-per-position")
def sums_the_batch_only(x, gain, slopes, eps=1e-5):
    r = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    n, h = x / r, slopes * gain
    dx = (h - n * (h * n).mean(-1, keepdim=True)) / r
    return dx, (slopes * n).sum(0)


@wrong("gain-forgotten")
def gain_in_one_of_two(x, gain, slopes, eps=1e-5):
    r = torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    direct = slopes * gain / r
    through_r = x * (slopes * x).mean(-1, keepdim=True) / r**3
    return direct - through_r, (slopes * x / r).flatten(0, -2).sum(0)


@wrong("one-tensor-returned")
def for_x_alone(x, gain, slopes, eps=1e-5):
    r = torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    h = slopes * gain
    return h / r - x * (h * x).mean(-1, keepdim=True) / r**3
