"""Wrong answers to deep_norm_stack."""

from tests.answers import wrong


@wrong("alpha-forgotten")
def ordinary(x, sublayers, norms):
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(x + f(x))
    return x


@wrong("blocks-miscounted")
def half_the_length(x, sublayers, norms):
    n_blocks = len(sublayers) // 2
    alpha = n_blocks**0.25
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(alpha * x + f(x))
    return x


@wrong("blocks-miscounted")
def length_is_n(x, sublayers, norms):
    alpha = (2 * len(sublayers)) ** (1 / 4)
    for i in range(len(sublayers)):
        x = norms[i](alpha * x + sublayers[i](x))
    return x


@wrong("another-root")
def bracket_slip(x, sublayers, norms):
    alpha = len(sublayers) ** 1 / 4  # a quarter of the length
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(alpha * x + f(x))
    return x


@wrong("another-root")
def root(x, sublayers, norms):
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(len(norms) ** 0.5 * x + f(x))
    return x


@wrong("alpha-on-the-sublayer")
def heavier_branch(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(x + alpha * f(x))
    return x


@wrong("alpha-on-both")
def brackets(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(alpha * (x + f(x)))
    return x


@wrong("alpha-on-the-sublayers-input")
def scaled_first(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    for f, norm in zip(sublayers, norms, strict=True):
        x = alpha * x
        x = norm(x + f(x))
    return x


@wrong("pre-norm-order")
def norm_in_the_branch(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    for f, norm in zip(sublayers, norms, strict=True):
        x = alpha * x + f(norm(x))
    return x


@wrong("wrong-norm-instance")
def first_norm(x, sublayers, norms):
    alpha, norm = len(sublayers) ** 0.25, norms[0]
    for f in sublayers:
        x = norm(alpha * x + f(x))
    return x


@wrong("rope-from-the-start")
def residual_kept(x, sublayers, norms):
    residual = len(sublayers) ** 0.25 * x
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(residual + f(x))
    return x


@wrong("another-root")
def power_before_product(x, sublayers, norms):
    n_blocks = len(sublayers) // 2
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(2 * n_blocks**0.25 * x + f(x))
    return x


@wrong("rope-forgotten")
def no_way_around(x, sublayers, norms):
    for f, norm in zip(sublayers, norms, strict=True):
        x = norm(f(x))
    return x
