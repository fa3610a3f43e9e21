"""Wrong answers to half_norm."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("squares-overflow")
def powers(x, gain, eps=1e-6):
    rms = torch.sqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)
    return gain * (x / rms)


@wrong("converted-too-late")
def widens_the_mean(x, gain, eps=1e-6):
    mean_square = (x * x).mean(-1, keepdim=True).float()
    return (x / (mean_square + eps).sqrt() * gain).to(x.dtype)


@wrong("converted-too-late")
def mean_in_float32(x, gain, eps=1e-6):
    mean_square = (x * x).mean(-1, keepdim=True, dtype=torch.float32)
    return (x.float() * torch.rsqrt(mean_square + eps)).to(x.dtype) * gain


@wrong("narrowed-too-early")
def back_before_the_root(x, gain, eps=1e-6):
    mean_square = (x.float() ** 2).mean(-1, keepdim=True)
    return x / torch.sqrt(mean_square.to(x.dtype) + eps) * gain


@wrong("result-of-another-dtype")
def float32_out(x, gain, eps=1e-6):
    x = x.float()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * gain


@wrong("result-of-another-dtype")
def torch_in_float32(x, gain, eps=1e-6):
    return F.rms_norm(x.float(), gain.shape, gain.float(), eps)


@wrong("numbers-clamped")
def cut_at_255(x, gain, eps=1e-6):
    x = x.clamp(-255, 255)
    return x / ((x * x).mean(-1, keepdim=True) + eps).sqrt() * gain


@wrong("overflow-hidden")
def largest_instead(x, gain, eps=1e-6):
    squares = (x * x).mean(-1, keepdim=True)
    squares = torch.where(squares.isinf(), torch.finfo(x.dtype).max, squares)
    return x / (squares + eps).sqrt() * gain


@wrong("eps-outside-the-root")
def eps_after(x, gain, eps=1e-6):
    wide = x.float()
    rms = wide.square().mean(-1, keepdim=True).sqrt()
    return (wide / (rms + eps)).to(x.dtype) * gain


@wrong("layer-norm")
def torchs_layer_norm(x, gain, eps=1e-6):
    return F.layer_norm(x.float(), gain.shape, gain.float(), None, eps).to(x.dtype)


@wrong("result-of-another-dtype")
def always_float16(x, gain, eps=1e-6):
    wide = x.float()
    normed = F.rms_norm(wide, wide.shape[-1:], gain.float(), eps)
    return normed.half()


@wrong("gain-forgotten")
def leaves_out_the_gain(x, gain, eps=1e-6):
    return F.rms_norm(x.float(), x.shape[-1:], eps=eps).to(x.dtype)


@wrong("eps-raised")
def a_safer_eps(x, gain, eps=1e-6):
    eps = eps if eps > 1e-5 else 1e-5
    return F.rms_norm(x.float(), gain.shape, gain.float(), eps).to(x.dtype)


@wrong("eps-forgotten")
def eps_as_a_tensor(x, gain, eps=1e-6):
    eps = torch.full_like(x[..., :1], eps)
    scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps.float())
    return (x.float() * scale * gain.float()).to(x.dtype)


@wrong("eps-beside-scaled-squares")
def largest_taken_out(x, gain, eps=1e-6):
    largest = x.abs().amax(-1, keepdim=True).float()
    scaled = x.float() / largest
    root = (scaled.square().mean(-1, keepdim=True) + eps).sqrt()
    return (scaled / root).to(x.dtype) * gain


@wrong("eps-beside-scaled-squares")
def largest_taken_out_if_there_is_one(x, gain, eps=1e-6):
    peak = x.abs().max(dim=-1, keepdim=True).values.float()
    peak = torch.where(peak == 0, torch.ones_like(peak), peak)
    small = x.float() / peak
    small = small * torch.rsqrt(small.pow(2).mean(-1, keepdim=True) + eps)
    return (small * gain.float()).to(x.dtype)
