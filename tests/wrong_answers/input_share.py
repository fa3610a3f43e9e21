"""Wrong answers to input_share."""

from tests.answers import wrong


@wrong("orders-swapped")
def the_other_order(n_sublayers, size, pre_norm):
    if pre_norm:
        return (1 + size**2) ** -n_sublayers
    return 1 / (1 + n_sublayers * size**2)


@wrong("ignores-pre-norm")
def one_sum(n_sublayers, size, pre_norm):
    return 1 / (1 + n_sublayers * size * size)


@wrong("ignores-pre-norm")
def one_product(n_sublayers, size, pre_norm):
    share = 1.0
    for _ in range(n_sublayers):
        share = share / (1 + size**2)
    return share


@wrong("sizes-added-not-squares")
def plain_sizes(n_sublayers, size, pre_norm):
    return 1 / (1 + n_sublayers * size) if pre_norm else (1 + size) ** -n_sublayers


@wrong("root-of-the-share")
def part_of_the_length(n_sublayers, size, pre_norm):
    if pre_norm:
        return (1 + n_sublayers * size**2) ** -0.5
    return (1 + size**2) ** (-n_sublayers / 2)


@wrong("blocks-taken-for-sublayers")
def two_a_block(n_sublayers, size, pre_norm):
    n = 2 * n_sublayers
    return 1 / (1 + n * size**2) if pre_norm else 1 / (1 + size**2) ** n


@wrong("size-not-share")
def how_large(n_sublayers, size, pre_norm):
    return 1 + n_sublayers * size**2 if pre_norm else (1 + size**2) ** n_sublayers


@wrong("share-of-the-sublayers")
def what_was_added(n_sublayers, size, pre_norm):
    if pre_norm:
        return n_sublayers * size**2 / (1 + n_sublayers * size**2)
    return 1 - 1 / (1 + size**2) ** n_sublayers


@wrong("one-sublayer-only")
def a_single_step(n_sublayers, size, pre_norm):
    return 1 / (1 + size**2) if n_sublayers else 1.0


@wrong("sublayers-are-one")
def n_times_the_size(n_sublayers, size, pre_norm):
    if pre_norm:
        return 1 / (1 + (n_sublayers * size) ** 2)
    return 1 / (1 + size**2) ** n_sublayers


@wrong("size-ignored")
def counts_sublayers(n_sublayers, size, pre_norm):
    return 1 / (1 + n_sublayers) if pre_norm else 0.5**n_sublayers


@wrong("one-norm-too-few")
def first_sum_not_counted(n_sublayers, size, pre_norm):
    if pre_norm:
        return 1 / (1 + n_sublayers * size**2)
    squares = 1 + size**2
    return squares / squares**n_sublayers
