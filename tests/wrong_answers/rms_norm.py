"""Wrong answers to rms_norm."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("rms-centres")
def as_layer_norm(x, gain, eps=1e-5):
    return F.layer_norm(x, gain.shape, gain, None, eps)


@wrong("rms-centres")
def divides_by_deviation(x, gain, eps=1e-5):
    var = x.var(-1, keepdim=True, correction=0)
    return x / torch.sqrt(var + eps) * gain


@wrong("layernorm-unbiased-std")
def divides_by_std(x, gain, eps=1e-5):
    return gain * x / (x.std(-1, keepdim=True) + eps)


@wrong("layernorm-unbiased-std")
def one_fewer(x, gain, eps=1e-5):
    n = x.shape[-1]
    mean_square = (x**2).sum(-1, keepdim=True) / (n - 1)
    return x * torch.rsqrt(mean_square + eps) * gain


@wrong("sum-not-mean")
def divides_by_length(x, gain, eps=1e-5):
    return x / (x.norm(dim=-1, keepdim=True) + eps) * gain


@wrong("sum-not-mean")
def sums_the_squares(x, gain, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).sum(-1, keepdim=True) + eps) * gain


@wrong("sum-not-mean")
def torch_normalize(x, gain, eps=1e-5):
    return F.normalize(x, dim=-1, eps=eps) * gain


@wrong("layernorm-wrong-axis")
def over_positions(x, gain, eps=1e-5):
    axis = -2 if x.ndim > 1 else -1
    rms = torch.sqrt(x.pow(2).mean(dim=axis, keepdim=True) + eps)
    return x / rms * gain


@wrong("layernorm-wrong-axis")
def over_everything(x, gain, eps=1e-5):
    return x * gain / torch.sqrt((x**2).mean() + eps)


@wrong("layernorm-wrong-axis")
def first_axis(x, gain, eps=1e-5):
    return x * (x.square().mean(0) + eps).rsqrt() * gain


@wrong("eps-outside-root")
def eps_after_the_root(x, gain, eps=1e-5):
    rms = x.pow(2).mean(-1, keepdim=True).sqrt()
    return x / (rms + eps) * gain


@wrong("eps-outside-root")
def norm_over_root_of_width(x, gain, eps=1e-5):
    rms = x.norm(2, dim=-1, keepdim=True) * x.shape[-1] ** -0.5
    return gain * (x / (rms + eps))


@wrong("ignores-eps")
def torch_default(x, gain, eps=1e-5):
    return F.rms_norm(x, gain.shape, gain)


@wrong("ignores-eps")
def fixed_eps(x, gain, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain


@wrong("eps-as-floor")
def clamps(x, gain, eps=1e-5):
    rms = x.pow(2).mean(-1, keepdim=True).sqrt().clamp(min=eps)
    return x / rms * gain


@wrong("forgets-root")
def divides_by_mean_square(x, gain, eps=1e-5):
    return x / ((x**2).mean(-1, keepdim=True) + eps) * gain


@wrong("forgets-root")
def inverse_without_root(x, gain, eps=1e-5):
    return gain * x * torch.reciprocal(x.square().mean(dim=-1, keepdim=True) + eps)


@wrong("multiplies-instead-of-divides")
def times_rms(x, gain, eps=1e-5):
    return x * torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * gain


@wrong("mean-before-square")
def square_of_the_mean(x, gain, eps=1e-5):
    rms = torch.sqrt(x.mean(-1, keepdim=True) ** 2 + eps)
    return x / rms * gain


@wrong("mean-before-square")
def mean_of_absolutes(x, gain, eps=1e-5):
    return x / (x.abs().mean(-1, keepdim=True) + eps) * gain


@wrong("ignores-gain")
def no_gain(x, gain, eps=1e-5):
    return F.rms_norm(x, gain.shape, None, eps)


@wrong("gain-plus-one")
def one_plus_gain(x, gain, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (1 + gain)


@wrong("gain-before-norm")
def gain_inside(x, gain, eps=1e-5):
    x = x * gain
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@wrong("sum-without-keepdim")
def forgets_keepdim(x, gain, eps=1e-5):
    return x * torch.rsqrt((x * x).mean(-1) + eps) * gain


@wrong("only-three-axes")
def axis_two(x, gain, eps=1e-5):
    return x / torch.sqrt(x.pow(2).mean(2, keepdim=True) + eps) * gain


@wrong("input-changed-in-place")
def divides_the_input(x, gain, eps=1e-5):
    x /= torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x * gain


@wrong("input-changed-in-place")
def squares_the_input(x, gain, eps=1e-5):
    copy = x.clone()
    return copy * torch.rsqrt(x.pow_(2).mean(-1, keepdim=True) + eps) * gain


@wrong("rms-centres", "layernorm-unbiased-std")
def two_slips(x, gain, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt(x.var(-1, keepdim=True) + eps) * gain


@wrong("forgets-root", "ignores-gain")
def short_of_two_things(x, gain, eps=1e-5):
    return x / (x.pow(2).mean(-1, keepdim=True) + eps)


@wrong("identity")
def only_the_gain(x, gain, eps=1e-5):
    return x * gain
