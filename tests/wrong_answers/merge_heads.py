"""Wrong answers to merge_heads."""

import torch

from tests.answers import wrong


@wrong("heads-merged-without-transpose")
def straight_reshape(x):
    b, h, t, d = x.shape
    return x.reshape(b, t, h * d)


@wrong("heads-merged-without-transpose")
def contiguous_first(x):
    b, h, t, d = x.shape
    return x.contiguous().view(b, t, h * d)


@wrong("heads-merged-without-transpose")
def transpose_thrown_away(x):
    x.transpose(1, 2)
    return x.flatten(1).unflatten(1, (x.shape[2], -1))


@wrong("heads-interleaved")
def heads_innermost(x):
    return x.permute(0, 2, 3, 1).flatten(2)


@wrong("heads-interleaved")
def stacks_last(x):
    b, h, t, d = x.shape
    return torch.stack(list(x.unbind(1)), dim=-1).reshape(b, t, h * d)


@wrong("heads-summed")
def adds_heads(x):
    return x.sum(dim=1)


@wrong("heads-summed")
def averages_heads(x):
    return x.mean(1)


@wrong("view-after-transpose")
def views_a_transposed(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).view(b, t, h * d)


@wrong("only-first-head")
def drops_the_rest(x):
    return x[:, 0]


@wrong("heads-along-positions")
def one_after_the_other(x):
    return torch.cat(x.unbind(dim=1), dim=1)


@wrong("heads-along-positions")
def flattens_heads_and_positions(x):
    return x.flatten(1, 2)


@wrong("heads-taken-from-batch")
def iterates_the_batch(x):
    return torch.cat(list(x), dim=-1)


@wrong("heads-taken-from-batch")
def permutes_the_batch(x):
    return x.permute(1, 2, 0, 3).flatten(2)


@wrong("heads-not-flattened")
def stops_after_the_transpose(x):
    return x.transpose(1, 2)


@wrong("position-and-width-swapped")
def swaps_the_last_two(x):
    b, h, t, d = x.shape
    return x.transpose(2, 3).reshape(b, t, h * d)


@wrong("head-order-reversed")
def last_head_first(x):
    return torch.cat(x.flip(1).unbind(1), dim=-1)


@wrong("only-batch-one")
def batch_lost(x):
    return x[0].transpose(0, 1).flatten(1).unsqueeze(0)


@wrong("hard-coded-size")
def three_heads(x):
    return torch.cat([x[:, 0], x[:, 1], x[:, 2]], dim=-1)


@wrong("heads-interleaved", "only-batch-one")
def two_slips(x):
    return x[:1].permute(0, 2, 3, 1).flatten(2)


@wrong("heads-merged-without-transpose", "head-order-reversed")
def reversed_and_reshaped(x):
    b, h, t, d = x.shape
    return x.flip(1).reshape(b, t, h * d)
