"""What goes wrong in rms_norm_backward: the gradient of a norm, by hand."""

import torch

from course_lib.feedback.adapters.answers import several
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.norms import rms_norm


def rms_norm_backward(x, gain, slopes, eps=1e-5):
    with torch.enable_grad():
        x, gain = (part.clone().requires_grad_() for part in (x, gain))
        # A scalar: for grad's own grad_outputs torch imports sympy, which takes a second.
        loss = (rms_norm(x, gain, eps) * slopes).sum()
        return torch.autograd.grad(loss, (x, gain))


def use_backward(answer, x, gain, slopes, *eps) -> dict:
    """Call the answer; read its two gradients by name."""
    for_x, for_gain = several(answer(x, gain, slopes, *eps))
    return {"for x": for_x, "for gain": for_gain}


task = Task(
    "rms_norm_backward",
    asks="the gradients of the loss for x, in its shape, and for gain, (d_model,).",
    lesson="07_block",
    reference=rms_norm_backward,
    use=use_backward,
    read="2. RMSNorm",
)


@task.inputs
def probes(draw: Draw):
    def case(label, *shape, size=1.0, eps=1e-5, gain=None):
        gain = 1 + draw.normal(shape[-1]).abs() if gain is None else gain
        x, slopes = size * draw.normal(*shape), draw.normal(*shape)
        return Probe(label, x, gain, slopes, *([eps] if eps else []))

    yield case("one position of width 2, gain 1", 1, 2, gain=torch.ones(2))
    yield case("one position of width 2", 1, 2)
    yield case("two positions", 2, 3)
    yield case("two texts", 2, 3, 5)
    yield case("large numbers", 4, 3, size=50.0)
    yield case("small numbers, eps counts", 2, 3, size=0.1, eps=0.01)
    yield case("tiny numbers, no eps given", 2, 2, 3, size=0.003, eps=None)
    yield case("a wide vector", 3, 33)


@task.property("one-slope-a-gain", "How many gains are there, for how many positions?")
def one_slope_a_gain(values) -> bool:
    return all(value["for gain"].ndim == 1 for value in values.values())


def parts(x, gain, slopes, eps):
    """The normed vector, its root mean square, and the slopes before the gain."""
    root = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    return x / root, root, slopes * gain


def for_gain(x, gain, slopes, eps):
    normed, _, _ = parts(x, gain, slopes, eps)
    return (slopes * normed).flatten(0, -2).sum(0)


@task.mistake(
    "root-taken-for-constant",
    "When one number of x grows, does the root mean square stay the same?",
)
def divides_only(x, gain, slopes, eps=1e-5):
    _, root, inner = parts(x, gain, slopes, eps)
    return inner / root, for_gain(x, gain, slopes, eps)


@task.mistake("gain-forgotten", "Through which factor do the slopes go back first?")
def no_gain(x, gain, slopes, eps=1e-5):
    normed, root, _ = parts(x, gain, slopes, eps)
    back = (slopes - normed * (slopes * normed).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "gain-forgotten",
    "Does gain stand in both parts: the direct one, and the one through the root?",
)
def gain_in_the_direct_part(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner - normed * (slopes * normed).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "sum-for-mean", "The root holds a mean of d_model squares: what is its slope?"
)
def sums(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner - normed * (inner * normed).sum(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "correction-not-normed",
    "A mean square of 2,500: is the correction made of x, or of x / root?",
)
def raw_x_in_the_correction(x, gain, slopes, eps=1e-5):
    _, root, inner = parts(x, gain, slopes, eps)
    back = (inner - x * (inner * x).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "sign-of-the-correction",
    "If x grows along itself, the normed vector stays: which sign does that need?",
)
def plus(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner + normed * (inner * normed).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake("root-forgotten", "Ten times x: how does the gradient for x change?")
def not_divided(x, gain, slopes, eps=1e-5):
    normed, _, inner = parts(x, gain, slopes, eps)
    back = inner - normed * (inner * normed).mean(-1, keepdim=True)
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "layer-norms-gradient", "Does RMSNorm subtract the mean of x?", "Definition"
)
def also_centres(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = inner - normed * (inner * normed).mean(-1, keepdim=True)
    back = (back - inner.mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake("gain-gradient-of-x", "What does gain multiply: x, or the normed x?")
def unnormed_for_gain(x, gain, slopes, eps=1e-5):
    back, _ = rms_norm_backward(x, gain, slopes, eps)
    return back, (slopes * x).flatten(0, -2).sum(0)


@task.mistake(
    "gain-gradient-averaged", "One gain serves all positions: do their slopes add up?"
)
def averages_for_gain(x, gain, slopes, eps=1e-5):
    back, whole = rms_norm_backward(x, gain, slopes, eps)
    return back, whole / (x.numel() // x.shape[-1])


@task.mistake(
    "gain-gradient-per-position",
    "How many gains are there, and for how many positions?",
)
def not_summed(x, gain, slopes, eps=1e-5):
    back, _ = rms_norm_backward(x, gain, slopes, eps)
    normed, _, _ = parts(x, gain, slopes, eps)
    return back, slopes * normed


@task.mistake(
    "gain-gradient-per-position",
    "Positions may have two axes, text and place: over which must the slopes add up?",
)
def sums_one_axis(x, gain, slopes, eps=1e-5):
    back, _ = rms_norm_backward(x, gain, slopes, eps)
    normed, _, _ = parts(x, gain, slopes, eps)
    return back, (slopes * normed).sum(0)


@task.mistake("gain-twice", "Does the slope for gain hold gain itself?")
def gain_in_its_own_gradient(x, gain, slopes, eps=1e-5):
    back, whole = rms_norm_backward(x, gain, slopes, eps)
    return back, whole * gain


@task.mistake("eps-forgotten", "When does eps count, and where does it stand?")
def no_eps(x, gain, slopes, eps=1e-5):
    return rms_norm_backward(x, gain, slopes, 0.0)


@task.mistake("order-swapped", "Which gradient comes first?")
def gain_first(x, gain, slopes, eps=1e-5):
    return rms_norm_backward(x, gain, slopes, eps)[::-1]


@task.mistake(
    "correction-not-normed",
    "The second part, along n or along x? And the mean: of h n, or of h x?",
)
def raw_x_outside(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner - x * (inner * normed).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "correction-not-normed",
    "The second part, along n or along x? And the mean: of h n, or of h x?",
)
def raw_x_inside(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner - normed * (inner * x).mean(-1, keepdim=True)) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "mean-over-positions", "Does one position's slope depend on another position?"
)
def mean_of_everything(x, gain, slopes, eps=1e-5):
    normed, root, inner = parts(x, gain, slopes, eps)
    back = (inner - normed * (inner * normed).mean()) / root
    return back, for_gain(x, gain, slopes, eps)


@task.mistake(
    "slopes-for-gain-alone", "y = g n: by how much does y change when g grows by 1?"
)
def bias_gradient_for_gain(x, gain, slopes, eps=1e-5):
    back, _ = rms_norm_backward(x, gain, slopes, eps)
    return back, slopes.flatten(0, -2).sum(0)
