"""Wrong answers to layer_norm."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("layernorm-wrong-axis")
def over_positions(x, gain, bias, eps=1e-5):
    axis = -2 if x.ndim > 1 else -1
    mean = x.mean(axis, keepdim=True)
    var = x.var(axis, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("layernorm-wrong-axis")
def over_positions_and_features(x, gain, bias, eps=1e-5):
    shape = x.shape[-2:]
    return F.layer_norm(x, shape, eps=eps) * gain + bias


@wrong("layernorm-wrong-axis")
def over_everything(x, gain, bias, eps=1e-5):
    var = ((x - x.mean()) ** 2).mean()
    return (x - x.mean()) / (var + eps).sqrt() * gain + bias


@wrong("layernorm-wrong-axis")
def over_the_batch(x, gain, bias, eps=1e-5):
    mean, var = x.mean(0), x.var(0, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("layernorm-unbiased-std")
def std_by_default(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gain * (x - mean) / (std + eps) + bias


@wrong("layernorm-unbiased-std")
def var_by_default(x, gain, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * gain + bias


@wrong("eps-outside-root")
def eps_beside_std(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, unbiased=False)
    return (x - mean) / (std + eps) * gain + bias


@wrong("eps-outside-root")
def eps_after_the_root(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    root = torch.sqrt(centred.pow(2).mean(-1, keepdim=True))
    return centred / (root + eps) * gain + bias


@wrong("ignores-eps")
def torch_default(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, (x.shape[-1],), gain, bias)


@wrong("ignores-eps")
def no_eps(x, gain, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return (x - mean) / var.sqrt() * gain + bias


@wrong("forgets-root")
def divides_by_variance(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / (var + eps) * gain + bias


@wrong("forgets-root")
def torch_variance(x, gain, bias, eps=1e-5):
    mu = x.mean(dim=-1, keepdim=True)
    sigma = x.var(dim=-1, keepdim=True, unbiased=False)
    return gain * ((x - mu) / (sigma + eps)) + bias


@wrong("not-centred")
def as_rms_norm(x, gain, bias, eps=1e-5):
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * gain + bias


@wrong("not-centred")
def mean_kept(x, gain, bias, eps=1e-5):
    var = x.var(-1, keepdim=True, correction=0)
    return x / torch.sqrt(var + eps) * gain + bias


@wrong("variance-not-centred")
def mean_square_as_variance(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x**2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("variance-by-difference")
def difference_of_squares(x, gain, bias, eps=1e-5):
    # Far from 0 the difference of two large numbers has no digits left.
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("sum-not-mean")
def sums_the_squares(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    var = (centred**2).sum(-1, keepdim=True)
    return centred / torch.sqrt(var + eps) * gain + bias


@wrong("sum-not-mean")
def unit_length(x, gain, bias, eps=1e-5):
    return F.normalize(x - x.mean(-1, keepdim=True), dim=-1, eps=eps) * gain + bias


@wrong("ignores-gain")
def no_gain(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, gain.shape, None, bias, eps)


@wrong("ignores-bias")
def no_bias(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return gain * (x - mean) / torch.sqrt(var + eps)


@wrong("bias-before-gain")
def gain_on_the_bias(x, gain, bias, eps=1e-5):
    return (F.layer_norm(x, gain.shape, eps=eps) + bias) * gain


@wrong("bias-before-gain")
def brackets(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return gain * ((x - mean) / torch.sqrt(var + eps) + bias)


@wrong("gain-and-bias-swapped")
def swapped(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, gain.shape, bias, gain, eps)


@wrong("gain-plus-one")
def one_plus_gain(x, gain, bias, eps=1e-5):
    return F.layer_norm(x, gain.shape, None, None, eps) * (1 + gain) + bias


@wrong("only-three-axes")
def axis_two(x, gain, bias, eps=1e-5):
    mean = x.mean(2, keepdim=True)
    var = x.var(2, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("sum-without-keepdim")
def forgets_keepdim(x, gain, bias, eps=1e-5):
    mean, var = x.mean(-1), x.var(-1, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * gain + bias


@wrong("input-changed-in-place")
def centres_the_input(x, gain, bias, eps=1e-5):
    x -= x.mean(-1, keepdim=True)
    var = x.pow(2).mean(-1, keepdim=True)
    return x / torch.sqrt(var + eps) * gain + bias


@wrong("input-changed-in-place")
def underscores(x, gain, bias, eps=1e-5):
    var, mean = torch.var_mean(x, -1, keepdim=True, correction=0)
    return x.sub_(mean).mul_((var + eps).rsqrt()).mul(gain).add(bias)


@wrong("identity")
def only_gain_and_bias(x, gain, bias, eps=1e-5):
    return x * gain + bias


@wrong("layernorm-unbiased-std", "ignores-bias")
def two_slips(x, gain, bias, eps=1e-5):
    return gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


@wrong("not-centred", "forgets-root")
def rms_without_root(x, gain, bias, eps=1e-5):
    return x / ((x**2).mean(-1, keepdim=True) + eps) * gain + bias
