"""Right answers to block."""

from functools import reduce

import torch

from tests.answers import right


@right("two lines for each order")
def two_branches(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return x + feed(feed_norm(x))
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


@right("a loop over sublayers and norms")
def loop(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for sublayer, norm in [(attend, attend_norm), (feed, feed_norm)]:
        residual = x
        if pre_norm:
            x = norm(x)
        x = residual + sublayer(x)
        if not pre_norm:
            x = norm(x)
    return x


@right("an inner function")
def inner_function(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    def add(x, sublayer, norm):
        if pre_norm:
            return torch.add(x, sublayer(norm(x)))
        return norm(torch.add(x, sublayer(x)))

    return add(add(x, attend, attend_norm), feed, feed_norm)


@right("a norm on each side, one of them the identity")
def identities(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    keep = torch.nn.Identity()
    before = (attend_norm, feed_norm) if pre_norm else (keep, keep)
    after = (keep, keep) if pre_norm else (attend_norm, feed_norm)
    h = after[0](x + attend(before[0](x)))
    return after[1](h + feed(before[1](h)))


@right("in place on a copy, a reduction")
def reduction(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    def step(stream, pair):
        f, norm = pair
        stream = stream.clone()
        stream += f(norm(stream)) if pre_norm else f(stream)
        return stream if pre_norm else norm(stream)

    return reduce(step, [(attend, attend_norm), (feed, feed_norm)], x)
