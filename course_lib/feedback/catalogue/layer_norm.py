"""What goes wrong in layer_norm."""

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.norms import layer_norm

task = Task(
    "layer_norm",
    asks="(x - mean) / sqrt(variance + eps) * gain + bias, over the last axis, with the "
    "variance divided by d_model.",
    lesson="07_block",
    reference=layer_norm,
    read="1. The ruler, by hand",
)

AXIS = "How many numbers describe one token, and over which do you average?"
UNBIASED = "Do you divide by n or by n - 1?"
EPS = "Is eps added to the variance, or to its root?"
ROOT = "Is the spread of a token its variance, or the root of that?"
MEAN = "What is the mean of a token's numbers after your norm, before gain and bias?"
LEARNED = "What do gain and bias do to each of the numbers, and in which order?"


@task.inputs
def probes(draw: Draw):
    def learned(d_model):
        return 1 + draw.normal(d_model), draw.normal(d_model)

    one, none = torch.ones(4), torch.zeros(4)
    yield Probe("1, 0, 0, 0 with gain 1", torch.tensor([1.0, 0.0, 0.0, 0.0]), one, none)
    yield Probe("three numbers", 5 + 2 * draw.normal(3), *learned(3))
    x, (gain, bias) = draw.normal(2, 3, 5), learned(5)
    longer = torch.cat([x, 4 * draw.normal(2, 2, 5)], 1)
    yield Probe("two rows of three tokens", x, gain, bias)
    yield Probe("the same, two tokens longer", longer, gain, bias)
    yield Probe("its first row alone", x[:1], gain, bias)
    yield Probe("as many tokens as numbers", draw.normal(2, 4, 4), *learned(4))
    yield Probe("an eps of 0.5", draw.normal(2, 3), *learned(3), eps=0.5)
    yield Probe("small numbers", 3e-3 * draw.normal(2, 6), *learned(6))
    yield Probe("all numbers equal", torch.full((1, 4), 7.0), *learned(4))
    yield Probe("far from 0", 5000 + draw.normal(2, 8), *learned(8), tolerance=2e-2)


@task.property("each-token-alone", AXIS)
def longer_text_changes_nothing(values) -> bool:
    short, long = (
        values["two rows of three tokens"],
        values["the same, two tokens longer"],
    )
    return torch.allclose(short, long[:, :3], atol=1e-4)


@task.property("batch-independence", "Does a row look at the other rows of its batch?")
def a_row_alone_is_the_same(values) -> bool:
    batch, alone = values["two rows of three tokens"], values["its first row alone"]
    return torch.allclose(batch[:1], alone, atol=1e-4)


@task.property("finite", "What do you divide by when all numbers are equal?")
def finite_when_equal(values) -> bool:
    return bool(values["all numbers equal"].isfinite().all())


def normed(x, eps, axes=(-1,), correction=0):
    """Centre and scale over some axes."""
    axes = tuple(axis for axis in axes if axis >= -x.ndim)
    variance = x.var(axes, correction=correction, keepdim=True)
    return (x - x.mean(axes, keepdim=True)) / (variance + eps).sqrt()


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_text(x, gain, bias, eps=1e-5):
    return normed(x, eps, (-2,) if x.ndim > 1 else (-1,)) * gain + bias


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_text_and_the_numbers(x, gain, bias, eps=1e-5):
    return normed(x, eps, (-2, -1)) * gain + bias


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_everything(x, gain, bias, eps=1e-5):
    return normed(x, eps, (-3, -2, -1)) * gain + bias


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_batch(x, gain, bias, eps=1e-5):
    return normed(x, eps, (-x.ndim,)) * gain + bias


@task.mistake(
    "layernorm-unbiased-std", UNBIASED, read="“The standard deviation is `x.std()`.”"
)
def divides_by_one_less(x, gain, bias, eps=1e-5):
    return normed(x, eps, correction=1) * gain + bias


@task.mistake(
    "layernorm-unbiased-std", UNBIASED, read="“The standard deviation is `x.std()`.”"
)
def std_as_it_is(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (x.std(-1, keepdim=True) + eps) * gain + bias


@task.mistake(
    "layernorm-unbiased-std", UNBIASED, read="“The standard deviation is `x.std()`.”"
)
def std_without_eps(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / x.std(-1, keepdim=True) * gain + bias


@task.mistake("eps-outside-root", EPS)
def eps_beside_the_root(x, gain, bias, eps=1e-5):
    spread = x.std(-1, correction=0, keepdim=True) + eps
    return (x - x.mean(-1, keepdim=True)) / spread * gain + bias


@task.mistake("eps-missing", "What do you divide by when all numbers are equal?")
def no_eps(x, gain, bias, eps=1e-5):
    return normed(x, 0.0) * gain + bias


@task.mistake("eps-ignored", "Where in your code does `eps` act?")
def eps_of_its_own(x, gain, bias, eps=1e-5):
    return layer_norm(x, gain, bias)


@task.mistake("eps-squared", EPS)
def eps_squared(x, gain, bias, eps=1e-5):
    return normed(x, eps**2) * gain + bias


@task.mistake("norm-without-root", ROOT)
def divides_by_the_variance(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (x.var(-1, correction=0, keepdim=True) + eps) * gain + bias


@task.mistake("norm-not-centred", MEAN)
def rms_instead(x, gain, bias, eps=1e-5):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain + bias


@task.mistake("norm-not-centred", MEAN)
def mean_in_the_spread_only(x, gain, bias, eps=1e-5):
    return x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() * gain + bias


@task.mistake(
    "norm-spread-not-centred", "Is the variance measured from the mean, or from 0?"
)
def mean_in_the_numerator_only(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain + bias


@task.mistake("norm-not-scaled", "How far do a token's numbers spread after your norm?")
def centres_only(x, gain, bias, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) * gain + bias


@task.mistake("norm-sum-not-mean", "Is the variance a sum of squares, or their mean?")
def length_one(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().sum(-1, keepdim=True) + eps).sqrt() * gain + bias


@task.mistake("gain-missing", LEARNED)
def no_gain(x, gain, bias, eps=1e-5):
    return normed(x, eps) + bias


@task.mistake("bias-missing", LEARNED)
def no_bias(x, gain, bias, eps=1e-5):
    return normed(x, eps) * gain


@task.mistake("gain-and-bias-missing", LEARNED)
def neither(x, gain, bias, eps=1e-5):
    return normed(x, eps)


@task.mistake("bias-before-gain", LEARNED)
def adds_before_it_multiplies(x, gain, bias, eps=1e-5):
    return (normed(x, eps) + bias) * gain


@task.mistake("gain-and-bias-swapped", LEARNED)
def swapped(x, gain, bias, eps=1e-5):
    return normed(x, eps) * bias + gain


@task.mistake("gain-one-added", "Is a gain of 1 no change, or twice?")
def one_plus_gain(x, gain, bias, eps=1e-5):
    return normed(x, eps) * (1 + gain) + bias


@task.mistake("gain-before-norm", LEARNED)
def gain_first(x, gain, bias, eps=1e-5):
    return normed(x * gain + bias, eps)


@task.mistake("norm-residual-added", "Who adds the residual: the norm, or the block?")
def adds_its_input(x, gain, bias, eps=1e-5):
    return x + layer_norm(x, gain, bias, eps)


@task.mistake(
    "keepdim-missing", "Which shape has the mean, and along which axis is it stretched?"
)
def mean_loses_its_axis(x, gain, bias, eps=1e-5):
    centred = x - x.mean(-1)
    return centred / (x.var(-1, correction=0) + eps).sqrt() * gain + bias


@task.mistake(
    "variance-by-difference",
    "Which digits are left when two large and nearly equal numbers are subtracted?",
)
def mean_of_squares_less_square_of_mean(x, gain, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) / (variance + eps).sqrt() * gain + bias


@task.mistake("norm-fixed-axis", "Which axis holds the numbers of a lone token?")
def over_axis_two(x, gain, bias, eps=1e-5):
    centred = x - x.mean(2, keepdim=True)
    variance = centred.square().mean(2, keepdim=True)
    return centred / (variance + eps).sqrt() * gain + bias


@task.mistake("norm-missing", "How far do a token's numbers spread after your norm?")
def gain_and_bias_alone(x, gain, bias, eps=1e-5):
    return x * gain + bias
