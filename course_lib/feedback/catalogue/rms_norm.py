"""What goes wrong in rms_norm."""

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.norms import rms_norm

task = Task(
    "rms_norm",
    asks="x / sqrt(mean(x^2) + eps) * gain, over the last axis.",
    lesson="07_block",
    reference=rms_norm,
    read="2. RMSNorm",
)

AXIS = "How many numbers describe one token, and over which do you average?"
EPS = "Is eps added to the mean square, or to its root?"
CENTRE = "Does this norm take the mean away first?"
GAIN = "What does the gain do to each of the numbers, and when?"


@task.inputs
def probes(draw: Draw):
    yield Probe("3 and 4 with gain 1", torch.tensor([3.0, 4.0]), torch.ones(2))
    yield Probe("three numbers", 2 + 2 * draw.normal(3), 1 + draw.normal(3))
    x, gain = draw.normal(2, 3, 5), 1 + draw.normal(5)
    longer = torch.cat([x, 4 * draw.normal(2, 2, 5)], 1)
    yield Probe("two rows of three tokens", x, gain)
    yield Probe("the same, two tokens longer", longer, gain)
    yield Probe("its first row alone", x[:1], gain)
    yield Probe("as many tokens as numbers", draw.normal(2, 4, 4), draw.normal(4))
    yield Probe("an eps of 0.5", draw.normal(2, 3), draw.normal(3), eps=0.5)
    yield Probe("small numbers", 3e-3 * draw.normal(2, 6), draw.normal(6))
    yield Probe("all numbers 0", torch.zeros(1, 4), draw.normal(4))
    yield Probe("all numbers equal", torch.full((1, 3), 7.0), draw.normal(3))


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


@task.property("finite", "What do you divide by when all numbers are 0?")
def finite_when_zero(values) -> bool:
    return bool(values["all numbers 0"].isfinite().all())


def normed(x, eps, axes=(-1,)):
    """Scale over some axes."""
    axes = tuple(axis for axis in axes if axis >= -x.ndim)
    return x / (x.square().mean(axes, keepdim=True) + eps).sqrt()


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_text(x, gain, eps=1e-5):
    return normed(x, eps, (-2,) if x.ndim > 1 else (-1,)) * gain


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_text_and_the_numbers(x, gain, eps=1e-5):
    return normed(x, eps, (-2, -1)) * gain


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_everything(x, gain, eps=1e-5):
    return normed(x, eps, (-3, -2, -1)) * gain


@task.mistake(
    "layernorm-wrong-axis", AXIS, read="“A norm takes the mean over the sequence.”"
)
def over_the_batch(x, gain, eps=1e-5):
    return normed(x, eps, (-x.ndim,)) * gain


@task.mistake("rms-centred", CENTRE)
def layer_norm_without_bias(x, gain, eps=1e-5):
    return normed(x - x.mean(-1, keepdim=True), eps) * gain


@task.mistake("rms-centred", CENTRE)
def divides_by_the_deviation(x, gain, eps=1e-5):
    return x / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() * gain


@task.mistake("rms-centred", CENTRE)
def subtracts_but_measures_from_zero(x, gain, eps=1e-5):
    root = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return (x - x.mean(-1, keepdim=True)) / root * gain


@task.mistake("layernorm-unbiased-std", "Do you divide by n or by n - 1?")
def divides_by_one_less(x, gain, eps=1e-5):
    mean_square = x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1)
    return x / (mean_square + eps).sqrt() * gain


@task.mistake("layernorm-unbiased-std", "Do you divide by n or by n - 1?")
def divides_by_std(x, gain, eps=1e-5):
    return x / (x.std(-1, keepdim=True) + eps) * gain


@task.mistake("norm-sum-not-mean", "Is the mean square a sum, or a mean?")
def length_one(x, gain, eps=1e-5):
    return x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * gain


@task.mistake("rms-of-absolute", "Is the root mean square the mean of the sizes?")
def mean_of_sizes(x, gain, eps=1e-5):
    return x / (x.abs().mean(-1, keepdim=True) + eps) * gain


@task.mistake("norm-without-root", "Which power of x do you divide by?")
def divides_by_the_mean_square(x, gain, eps=1e-5):
    return x / (x.square().mean(-1, keepdim=True) + eps) * gain


@task.mistake("square-of-mean", "First square or first average?")
def squares_the_mean(x, gain, eps=1e-5):
    return x / (x.mean(-1, keepdim=True).square() + eps).sqrt() * gain


@task.mistake("norm-multiplied", "Should a large token become larger?")
def multiplies_by_the_root(x, gain, eps=1e-5):
    return x * (x.square().mean(-1, keepdim=True) + eps).sqrt() * gain


@task.mistake("eps-outside-root", EPS)
def eps_beside_the_root(x, gain, eps=1e-5):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * gain


@task.mistake("eps-missing", "What do you divide by when all numbers are 0?")
def no_eps(x, gain, eps=1e-5):
    return normed(x, 0.0) * gain


@task.mistake("eps-ignored", "Where in your code does `eps` act?")
def eps_of_its_own(x, gain, eps=1e-5):
    return rms_norm(x, gain)


@task.mistake("eps-ignored", "Where in your code does `eps` act?")
def eps_of_its_own_smaller(x, gain, eps=1e-5):
    return rms_norm(x, gain, 1e-6)


@task.mistake("gain-missing", GAIN)
def no_gain(x, gain, eps=1e-5):
    return normed(x, eps)


@task.mistake("gain-one-added", "Is a gain of 1 no change, or twice?")
def one_plus_gain(x, gain, eps=1e-5):
    return normed(x, eps) * (1 + gain)


@task.mistake("gain-added", GAIN)
def adds_the_gain(x, gain, eps=1e-5):
    return normed(x, eps) + gain


@task.mistake("gain-before-norm", GAIN)
def gain_first(x, gain, eps=1e-5):
    return normed(x * gain, eps)


@task.mistake("gain-divides", GAIN)
def divides_by_the_gain(x, gain, eps=1e-5):
    return normed(x, eps) / gain


@task.mistake("norm-residual-added", "Who adds the residual: the norm, or the block?")
def adds_its_input(x, gain, eps=1e-5):
    return x + rms_norm(x, gain, eps)


@task.mistake(
    "keepdim-missing", "Which shape has the mean, and along which axis is it stretched?"
)
def mean_loses_its_axis(x, gain, eps=1e-5):
    return x / (x.square().mean(-1) + eps).sqrt() * gain


@task.mistake("eps-as-floor", "Does eps act on every token, or on small ones only?")
def root_of_eps_at_least(x, gain, eps=1e-5):
    return x / x.square().mean(-1, keepdim=True).clamp(min=eps).sqrt() * gain


@task.mistake("eps-as-floor", "Does eps act on every token, or on small ones only?")
def eps_at_least(x, gain, eps=1e-5):
    return x / x.square().mean(-1, keepdim=True).sqrt().clamp(min=eps) * gain


@task.mistake("eps-ignored", "Where in your code does `eps` act?")
def eps_of_the_dtype(x, gain, eps=1e-5):
    return rms_norm(x, gain, torch.finfo(x.dtype).eps)


@task.mistake("norm-fixed-axis", "Which axis holds the numbers of a lone token?")
def over_axis_two(x, gain, eps=1e-5):
    return x / (x.square().mean(2, keepdim=True) + eps).sqrt() * gain


@task.mistake("norm-missing", "How large are a token's numbers after your norm?")
def gain_alone(x, gain, eps=1e-5):
    return x * gain
