"""What goes wrong in half_norm: squares that do not fit into 16 bits."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def half_norm(x, gain, eps=1e-6):
    wide = x.double()
    size = wide.pow(2).mean(-1, keepdim=True).add(eps).sqrt()
    return (wide / size * gain.double()).to(x.dtype)


def use_norm(answer, x, gain, *eps) -> dict:
    """Call the answer; read its dtype and its numbers."""
    normed = written(answer(x, gain, *eps))
    return {"dtype": str(normed.dtype).removeprefix("torch."), "numbers": normed}


task = Task(
    "half_norm",
    asks="RMSNorm in the dtype of x, exact up to that dtype's rounding, for large and "
    "for tiny numbers.",
    lesson="07_block",
    reference=half_norm,
    use=use_norm,
    read="2. RMSNorm",
)


@task.inputs
def probes(draw: Draw):
    def case(label, x, eps=1e-6):
        dtype = getattr(torch, label.partition(",")[0])
        tolerance = 2e-2 if dtype == torch.bfloat16 else 2e-3
        gain = 1 + draw.normal(x.shape[-1]).abs()
        given = x.to(dtype), gain.to(dtype), *([eps] if eps else [])
        return Probe(label, *given, tolerance=tolerance)

    yield case("float16, numbers near 500", 500 + 50 * draw.normal(1, 3))
    yield case("float16, numbers near 20000", 20000 * draw.normal(2, 7).clamp(-2, 2))
    tiny = 1e-4 * (1 + draw.normal(2, 3).abs())
    yield case("float16, tiny numbers", tiny, eps=1e-8)
    zeros = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    yield case("float16, a row of zeros", zeros)
    yield case("float16, one 500 among seven", 500 * torch.eye(7)[draw.order(7)[:2]])
    yield case("float16, wide", 300 * draw.normal(2, 64))
    yield case("bfloat16", 300 * draw.normal(2, 5))
    yield case("bfloat16, two texts", 300 * draw.normal(2, 3, 64))
    shifted = 0.2 + draw.normal(2, 5) / 10
    yield case("float32, eps counts", shifted, eps=0.02)
    yield case("float32, no eps given", shifted / 100, eps=None)


@task.property("dtype-kept", "Which dtype has x, and which your result?")
def dtype_kept(values) -> bool:
    return all(
        value["dtype"] == label.partition(",")[0] for label, value in values.items()
    )


GPU = "On a GPU"


@task.mistake(
    "squares-overflow", "The largest float16 is 65504: what is the square of 500?", GPU
)
def as_it_was(x, gain, eps=1e-6):
    mean_square = (x * x).mean(-1, keepdim=True)
    return x / (mean_square + eps).sqrt() * gain


@task.mistake(
    "converted-too-late",
    "In which dtype was the square computed, before you widened it?",
    GPU,
)
def widens_the_squares(x, gain, eps=1e-6):
    mean_square = (x * x).float().mean(-1, keepdim=True)
    return (x / (mean_square + eps).sqrt() * gain).to(x.dtype)


@task.mistake(
    "converted-too-late", "Which step overflows: the square, or the mean?", GPU
)
def widens_the_mean(x, gain, eps=1e-6):
    mean_square = (x * x).mean(-1, keepdim=True).float()
    return (x / (mean_square + eps).sqrt() * gain).to(x.dtype)


@task.mistake(
    "narrowed-too-early",
    "The mean square of numbers near 500: does it fit into float16, and its root?",
    GPU,
)
def narrows_the_mean_square(x, gain, eps=1e-6):
    mean_square = x.float().square().mean(-1, keepdim=True).to(x.dtype)
    return x / (mean_square + eps).sqrt() * gain


@task.mistake("result-of-another-dtype", "Which dtype does the next layer expect?")
def stays_wide(x, gain, eps=1e-6):
    wide = x.float()
    return wide / (wide.square().mean(-1, keepdim=True) + eps).sqrt() * gain.float()


@task.mistake("numbers-clamped", "May a norm change numbers above 255?")
def clamps(x, gain, eps=1e-6):
    small = x.clamp(-255, 255)
    mean_square = (small * small).mean(-1, keepdim=True)
    return x / (mean_square + eps).sqrt() * gain


@task.mistake("numbers-clamped", "May a norm change numbers above 255?")
def clamps_everywhere(x, gain, eps=1e-6):
    return as_it_was(x.clamp(-255, 255), gain, eps)


@task.mistake("numbers-clamped", "May a norm change numbers above 255?")
def norms_the_clamped(x, gain, eps=1e-6):
    wide = x.clamp(-255, 255).float()
    size = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / size).to(x.dtype) * gain


@task.mistake(
    "overflow-hidden", "Is the mean square really the largest number that fits?", GPU
)
def replaces_infinity(x, gain, eps=1e-6):
    mean_square = (x * x).mean(-1, keepdim=True).nan_to_num(posinf=65504.0)
    return x / (mean_square + eps).sqrt() * gain


@task.mistake(
    "eps-outside-the-root",
    "Is eps added to the mean square, or to its root?",
    "Definition",
)
def adds_eps_later(x, gain, eps=1e-6):
    wide = x.float()
    size = wide.square().mean(-1, keepdim=True).sqrt() + eps
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake("eps-forgotten", "What is eps for, and when does it count?", "Definition")
def without_eps(x, gain, eps=1e-6):
    wide = x.float()
    size = wide.square().mean(-1, keepdim=True).sqrt()
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake("eps-forgotten", "What is 1e-8 in float16?", "Definition")
def narrow_eps(x, gain, eps=1e-6):
    return half_norm(x, gain, torch.tensor(eps, dtype=x.dtype).item())


SCALED = "eps stands beside a mean square: that of x, or of what you made of x?"


@task.mistake("eps-beside-scaled-squares", SCALED, "Definition")
def divides_by_the_largest_first(x, gain, eps=1e-6):
    wide = x.float()
    wide = wide / wide.abs().amax(-1, keepdim=True)
    size = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake("eps-beside-scaled-squares", SCALED, "Definition")
def divides_unless_it_is_zero(x, gain, eps=1e-6):
    wide = x.float()
    wide = wide / wide.abs().amax(-1, keepdim=True).clamp(min=1e-12)
    size = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake(
    "eps-raised",
    "How large is the mean square of the tiny numbers, beside your eps?",
    "Definition",
)
def larger_eps(x, gain, eps=1e-6):
    return half_norm(x, gain, max(eps, 1e-5))


@task.mistake(
    "gain-forgotten", "What is the normed vector multiplied by?", "Definition"
)
def no_gain(x, gain, eps=1e-6):
    return half_norm(x, torch.ones_like(gain), eps)


@task.mistake("layer-norm", "Does RMSNorm subtract a mean?", "Definition")
def centres(x, gain, eps=1e-6):
    wide = x.float()
    wide = wide - wide.mean(-1, keepdim=True)
    size = (wide.square().mean(-1, keepdim=True) + eps).sqrt()
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake("root-forgotten", "By what is x divided: the mean square, or its root?")
def no_root(x, gain, eps=1e-6):
    wide = x.float()
    size = wide.square().mean(-1, keepdim=True) + eps
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake("sum-for-mean", "Is the sum of the squares divided by d_model?")
def sums(x, gain, eps=1e-6):
    wide = x.float()
    size = (wide.square().sum(-1, keepdim=True) + eps).sqrt()
    return (wide / size * gain.float()).to(x.dtype)


@task.mistake(
    "mean-over-positions", "Does a norm work on each position alone?", "Definition"
)
def one_mean_for_all(x, gain, eps=1e-6):
    wide = x.float()
    return (wide / (wide.square().mean() + eps).sqrt() * gain.float()).to(x.dtype)
