"""Wrong answers to block."""

from tests.answers import wrong


@wrong("prenorm-residual-from-normed")
def keeps_the_normed(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = attend_norm(x)
        x = x + attend(x)
        x = feed_norm(x)
        return x + feed(x)
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


@wrong("prenorm-residual-from-normed")
def normed_on_both_sides(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for sublayer, norm in ((attend, attend_norm), (feed, feed_norm)):
        if pre_norm:
            n = norm(x)
            x = n + sublayer(n)
        else:
            x = norm(x + sublayer(x))
    return x


@wrong("prenorm-residual-from-normed")
def only_the_second(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if not pre_norm:
        x = attend_norm(x + attend(x))
        return feed_norm(x + feed(x))
    h = x + attend(attend_norm(x))
    h = feed_norm(h)
    return h + feed(h)


@wrong("wrong-norm-instance")
def first_norm_twice(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return x + feed(attend_norm(x))
    x = attend_norm(x + attend(x))
    return attend_norm(x + feed(x))


@wrong("wrong-norm-instance")
def norms_swapped(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(feed_norm(x))
        return x + feed(attend_norm(x))
    x = feed_norm(x + attend(x))
    return attend_norm(x + feed(x))


@wrong("wrong-norm-instance")
def second_norm_twice(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for sublayer in (attend, feed):
        y = sublayer(feed_norm(x)) if pre_norm else sublayer(x)
        x = x + y if pre_norm else feed_norm(x + y)
    return x


@wrong("no-residual")
def no_skip(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return feed(feed_norm(attend(attend_norm(x))))
    return feed_norm(feed(attend_norm(attend(x))))


@wrong("no-residual")
def no_second_skip(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return feed(feed_norm(x))
    x = attend_norm(x + attend(x))
    return feed_norm(feed(x))


@wrong("ignores-pre-norm")
def always_before(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(attend_norm(x))
    return x + feed(feed_norm(x))


@wrong("ignores-pre-norm")
def always_after(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


@wrong("ignores-pre-norm")
def half_of_it(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(attend_norm(x)) if pre_norm else attend_norm(x + attend(x))
    return x + feed(feed_norm(x))


@wrong("pre-norm-inverted")
def the_other_way_round(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = attend_norm(x + attend(x))
        return feed_norm(x + feed(x))
    x = x + attend(attend_norm(x))
    return x + feed(feed_norm(x))


@wrong("norm-before-adding")
def norm_of_the_sublayer(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return x + feed(feed_norm(x))
    x = x + attend_norm(attend(x))
    return x + feed_norm(feed(x))


@wrong("norm-before-adding")
def norms_what_is_added(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for f, norm in [(attend, attend_norm), (feed, feed_norm)]:
        x = x + (f(norm(x)) if pre_norm else norm(f(x)))
    return x


@wrong("sublayers-in-parallel")
def both_read_x(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + attend(attend_norm(x)) + feed(feed_norm(x))
    return feed_norm(attend_norm(x + attend(x)) + feed(x))


@wrong("sublayers-in-parallel")
def feed_reads_the_old(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        h = x + attend(attend_norm(x))
        return h + feed(feed_norm(x))
    h = attend_norm(x + attend(x))
    return feed_norm(h + feed(x))


@wrong("second-residual-from-input")
def adds_the_input_again(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        h = x + attend(attend_norm(x))
        return x + feed(feed_norm(h))
    h = attend_norm(x + attend(x))
    return feed_norm(x + feed(h))


@wrong("second-residual-from-input")
def kept_skip(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    skip = x
    for f, norm in ((attend, attend_norm), (feed, feed_norm)):
        x = skip + f(norm(x)) if pre_norm else norm(skip + f(x))
    return x


@wrong("residual-added-twice")
def input_at_the_end(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        h = x + attend(attend_norm(x))
        return x + h + feed(feed_norm(h))
    h = attend_norm(x + attend(x))
    return feed_norm(x + h + feed(h))


@wrong("sublayers-swapped")
def feeds_first(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + feed(feed_norm(x))
        return x + attend(attend_norm(x))
    x = feed_norm(x + feed(x))
    return attend_norm(x + attend(x))


@wrong("norm-forgotten")
def feed_without_norm(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return x + feed(x)
    x = attend_norm(x + attend(x))
    return x + feed(x)


@wrong("norm-forgotten")
def attend_without_norm(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(x)
    return x + feed(feed_norm(x)) if pre_norm else feed_norm(x + feed(x))


@wrong("final-norm-in-block")
def norm_at_the_end(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x + attend(attend_norm(x))
        return feed_norm(x + feed(feed_norm(x)))
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


@wrong("final-norm-in-block")
def before_and_after(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for f, norm in ((attend, attend_norm), (feed, feed_norm)):
        x = norm(x + f(norm(x) if pre_norm else x))
    return x


@wrong("input-changed-in-place")
def plus_equals(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x += attend(attend_norm(x))
        x += feed(feed_norm(x))
        return x
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


@wrong("input-changed-in-place")
def adds_into_x(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    for f, norm in ((attend, attend_norm), (feed, feed_norm)):
        if pre_norm:
            x = x.add_(f(norm(x)))
        else:
            x = norm(x.add_(f(x)))
    return x


@wrong("residual-minus")
def subtracts(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x - attend(attend_norm(x))
        return x - feed(feed_norm(x))
    x = attend_norm(x - attend(x))
    return feed_norm(x - feed(x))


@wrong("prenorm-residual-from-normed", "wrong-norm-instance")
def two_slips(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = attend_norm(x)
        x = x + attend(x)
        x = attend_norm(x)
        return x + feed(x)
    x = attend_norm(x + attend(x))
    return attend_norm(x + feed(x))


@wrong("ignores-pre-norm", "no-residual")
def plain_chain(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return feed(feed_norm(attend(attend_norm(x))))


@wrong("identity")
def returns_input(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return x.clone()
