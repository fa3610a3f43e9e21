"""What goes wrong in deep_norm_stack: post-norm with a heavier rope."""

from torch import nn

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.feedback.values import show
from course_lib.norms import LayerNorm


class Turn(nn.Module):
    """A sublayer: a matrix, applied to each position."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix, requires_grad=False)

    def forward(self, x):
        return (x @ self.matrix).tanh() if len(self.matrix) > 3 else x @ self.matrix

    def __repr__(self) -> str:
        if len(self.matrix) > 3:
            return "a sublayer"
        return f"x @ {show(self.matrix.detach()).split('  ')[0]}".replace("\n", "")


class Norm(LayerNorm):
    """A layer norm that shows its gain."""

    def __repr__(self) -> str:
        return f"norm with gain {show(self.gain.detach()).split('  ')[0]}"


def deep_norm_stack(x, sublayers, norms):
    for place, sublayer in enumerate(sublayers):
        x = norms[place](x * len(norms) ** 0.25 + sublayer(x))
    return x


task = Task(
    "deep_norm_stack",
    asks="the stream after all sublayers, each followed by norm(alpha x + f(x)) with "
    "alpha = (2N)^(1/4), N the number of blocks.",
    lesson="07_block",
    reference=deep_norm_stack,
    read="5. The block",
)


@task.inputs
def probes(draw: Draw):
    def case(label, n_blocks, *shape):
        width = shape[-1]
        sublayers = [Turn(draw.normal(width, width)) for _ in range(2 * n_blocks)]
        norms = [Norm(width, eps=1e-3) for _ in range(2 * n_blocks)]
        for norm in norms:
            norm.gain.data = 1 + draw.normal(width).abs()
            norm.bias.data = draw.normal(width)
        return Probe(label, draw.normal(*shape), sublayers, norms)

    yield case("one block, one position", 1, 1, 3)
    yield case("one block, two positions", 1, 2, 4)
    yield case("two blocks", 2, 2, 5)
    yield case("three blocks, two texts", 3, 2, 3, 5)
    yield case("eight blocks", 8, 4, 7)
    yield case("24 blocks", 24, 2, 5)


@task.property("ends-with-a-norm", "What stands on the stream after the last sublayer?")
def ends_with_a_norm(values) -> bool:
    return bool((values["24 blocks"].abs() < 50).all())


def stack(x, sublayers, norms, alpha, beta=1.0):
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = norm(alpha * x + beta * sublayer(x))
    return x


@task.mistake("alpha-forgotten", "How much heavier is the rope than in post-norm?")
def plain_post_norm(x, sublayers, norms):
    return stack(x, sublayers, norms, 1.0)


@task.mistake("blocks-miscounted", "The list holds two sublayers a block: what is 2N?")
def n_instead_of_2n(x, sublayers, norms):
    return stack(x, sublayers, norms, (len(sublayers) / 2) ** 0.25)


@task.mistake("blocks-miscounted", "The list holds two sublayers a block: what is 2N?")
def four_n(x, sublayers, norms):
    return stack(x, sublayers, norms, (2 * len(sublayers)) ** 0.25)


@task.mistake("another-root", "Which root of 2N is alpha?")
def square_root(x, sublayers, norms):
    return stack(x, sublayers, norms, len(sublayers) ** 0.5)


@task.mistake("another-root", "Is 2N to the power 1 / 4 the same as 2N / 4?")
def quarter(x, sublayers, norms):
    return stack(x, sublayers, norms, len(sublayers) / 4)


@task.mistake("another-root", "2N to the power 1 / 4: is the 2 outside of the root?")
def twice_the_root(x, sublayers, norms):
    return stack(x, sublayers, norms, 2 * (len(sublayers) / 2) ** 0.25)


@task.mistake("another-root", "Is alpha above 1 or below?")
def inverse(x, sublayers, norms):
    return stack(x, sublayers, norms, len(sublayers) ** -0.25)


@task.mistake("alpha-on-the-sublayer", "Which of the two terms does alpha multiply?")
def weighs_the_sublayer(x, sublayers, norms):
    return stack(x, sublayers, norms, 1.0, len(sublayers) ** 0.25)


@task.mistake(
    "alpha-on-both", "What does a norm do with a factor before the whole sum?"
)
def weighs_the_sum(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    return stack(x, sublayers, norms, alpha, alpha)


@task.mistake(
    "alpha-on-the-sublayers-input", "What does the sublayer read: x or alpha x?"
)
def reads_the_scaled(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = len(sublayers) ** 0.25 * x
        x = norm(x + sublayer(x))
    return x


@task.mistake("pre-norm-order", "Does the norm stand in the branch, or on the stream?")
def pre_norm(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = len(sublayers) ** 0.25 * x + sublayer(norm(x))
    return x


@task.mistake("wrong-norm-instance", "Which of your norms is never used?")
def one_norm_for_all(x, sublayers, norms):
    return stack(x, sublayers, norms[:1] * len(norms), len(sublayers) ** 0.25)


@task.mistake(
    "rope-from-the-start", "Where does the rope of the second sublayer begin?"
)
def adds_the_first_input(x, sublayers, norms):
    first = len(sublayers) ** 0.25 * x
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = norm(first + sublayer(x))
    return x


@task.mistake("rope-forgotten", "If a sublayer gives 0, what becomes of the stream?")
def sublayers_only(x, sublayers, norms):
    return stack(x, sublayers, norms, 0.0)


@task.mistake("norm-before-adding", "Is the sum normed, or what is added?")
def norms_what_is_added(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = len(sublayers) ** 0.25 * x + norm(sublayer(x))
    return x


@task.mistake("norm-before-adding", "Is the sum normed, or one of its terms?")
def norms_the_rope(x, sublayers, norms):
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = norm(len(sublayers) ** 0.25 * x) + sublayer(x)
    return x
