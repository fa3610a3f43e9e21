"""Right answers to deep_norm_stack."""

from functools import reduce

from tests.answers import right


@right("blocks of two")
def by_blocks(x, sublayers, norms):
    n_blocks = len(sublayers) // 2
    alpha = (2 * n_blocks) ** 0.25
    for block in range(n_blocks):
        for place in (2 * block, 2 * block + 1):
            x = norms[place](alpha * x + sublayers[place](x))
    return x


@right("the norm written out")
def written_out(x, sublayers, norms):
    alpha = len(sublayers) ** 0.25
    for f, norm in zip(sublayers, norms, strict=True):
        centred = alpha * x + f(x)
        centred = centred - centred.mean(-1, keepdim=True)
        size = (centred.square().mean(-1, keepdim=True) + norm.eps).sqrt()
        x = centred / size * norm.gain + norm.bias
    return x


@right("a reduction")
def reduction(x, sublayers, norms):
    alpha = (len(sublayers) ** 0.5) ** 0.5

    def add(stream, pair):
        return pair[1](pair[0](stream).add(stream, alpha=alpha))

    return reduce(add, zip(sublayers, norms, strict=True), x)
