"""What goes wrong in block."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def block(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    """Let two sublayers add to the stream, each with its norm before or after."""
    if pre_norm:
        x = x + attend(attend_norm(x))
        return x + feed(feed_norm(x))
    x = attend_norm(x + attend(x))
    return feed_norm(x + feed(x))


task = Task(
    "block",
    asks="x plus attention, then plus feed-forward, each with its own norm: before the "
    "sublayer if pre_norm, else after the sum.",
    lesson="07_block",
    reference=block,
    read="5. The block",
)

SILENT = "With the sublayer silent, does x pass through unchanged?"
STREAM = "How does x itself get past a sublayer?"
OWN = "Which of your norms is used twice, and which never?"
ORDER = (
    "What does the feed-forward layer read: x as it came, or what attention added to?"
)
BOTH = "With pre_norm and without it: where does the norm stand?"


# What the probes hand in; simple enough to follow with a pencil.


def times_10(x):
    return 10 * x


def plus_1(x):
    return x + 1


def minus_2(x):
    return x - 2


def squared(x):
    return x * x


def silent(x):
    return 0 * x


def unchanged(x):
    return x.clone()


def running_sum(x):
    return x.cumsum(-2)


def half(x):
    return x / 2


def centred(x):
    return x - x.mean(-1, keepdim=True)


def as_long_as_1(x):
    return x / x.norm(dim=-1, keepdim=True)


@task.inputs
def probes(draw: Draw):
    two = torch.tensor([[[2.0]]])
    yield Probe("x is 2", two, times_10, squared, plus_1, minus_2)
    yield Probe(
        "x is 2, post-norm", two, times_10, squared, plus_1, minus_2, pre_norm=False
    )
    x = draw.normal(2, 3, 4)
    yield Probe("both sublayers silent", x, silent, silent, as_long_as_1, plus_1)
    yield Probe("both silent, no norms", x, silent, silent, unchanged, unchanged)
    steps = (running_sum, squared, centred, as_long_as_1)
    yield Probe("a running sum for attention", x, *steps)
    yield Probe("a running sum, post-norm", x, *steps, False)
    yield Probe("attention alone", x, running_sum, silent, plus_1, half)
    yield Probe("feed-forward alone", x, silent, squared, plus_1, half)
    yield Probe(
        "no norms", draw.normal(1, 2, 3), times_10, squared, unchanged, unchanged
    )


@task.property("identity-when-silent", SILENT)
def silent_block_passes_x(values) -> bool:
    with_norms, without = (
        values[label] for label in ("both sublayers silent", "both silent, no norms")
    )
    return torch.allclose(with_norms, without, atol=1e-4)


@task.mistake(
    "prenorm-residual-from-normed", SILENT, "“First the norm, then all the rest.”"
)
def normed_stream(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if not pre_norm:
        return block(x, attend, feed, attend_norm, feed_norm, False)
    x = attend_norm(x)
    x = x + attend(x)
    x = feed_norm(x)
    return x + feed(x)


@task.mistake(
    "prenorm-residual-from-normed", SILENT, "“First the norm, then all the rest.”"
)
def normed_stream_in_attention(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if not pre_norm:
        return block(x, attend, feed, attend_norm, feed_norm, False)
    normed = attend_norm(x)
    x = normed + attend(normed)
    return x + feed(feed_norm(x))


@task.mistake(
    "prenorm-residual-from-normed", SILENT, "“First the norm, then all the rest.”"
)
def normed_stream_in_feed(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if not pre_norm:
        return block(x, attend, feed, attend_norm, feed_norm, False)
    x = x + attend(attend_norm(x))
    normed = feed_norm(x)
    return normed + feed(normed)


@task.mistake("residual-missing", STREAM)
def no_residual(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return feed(feed_norm(attend(attend_norm(x))))
    return feed_norm(feed(attend_norm(attend(x))))


@task.mistake("residual-missing", STREAM)
def no_residual_in_attention(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = attend(attend_norm(x))
        return x + feed(feed_norm(x))
    x = attend_norm(attend(x))
    return feed_norm(x + feed(x))


@task.mistake("residual-missing", STREAM)
def no_residual_in_feed(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return feed(feed_norm(x + attend(attend_norm(x))))
    return feed_norm(feed(attend_norm(x + attend(x))))


@task.mistake("residual-from-input", "Which stream does the second sublayer add to?")
def adds_to_the_first_x(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + feed(feed_norm(x + attend(attend_norm(x))))
    return feed_norm(x + feed(attend_norm(x + attend(x))))


@task.mistake("sublayers-in-parallel", ORDER)
def side_by_side(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + attend(attend_norm(x)) + feed(feed_norm(x))
    return feed_norm(attend_norm(x + attend(x)) + feed(x))


@task.mistake("sublayers-in-parallel", ORDER)
def side_by_side_with_one_sum(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + attend(attend_norm(x)) + feed(feed_norm(x))
    return feed_norm(attend_norm(x + attend(x) + feed(x)))


@task.mistake("sublayers-swapped", "Which sublayer comes first?")
def feed_first(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, feed, attend, feed_norm, attend_norm, pre_norm)


@task.mistake("wrong-norm-instance", OWN)
def attend_norm_twice(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, attend_norm, attend_norm, pre_norm)


@task.mistake("wrong-norm-instance", OWN)
def feed_norm_twice(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, feed_norm, feed_norm, pre_norm)


@task.mistake("wrong-norm-instance", OWN)
def norms_swapped(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, feed_norm, attend_norm, pre_norm)


@task.mistake("pre-norm-ignored", BOTH)
def always_before(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, attend_norm, feed_norm, True)


@task.mistake("pre-norm-ignored", BOTH)
def always_after(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, attend_norm, feed_norm, False)


@task.mistake("pre-norm-inverted", BOTH)
def the_other_way(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, attend_norm, feed_norm, not pre_norm)


@task.mistake(
    "postnorm-before-sum", "After which step does post-norm measure: sum or sublayer?"
)
def norm_of_the_sublayer(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return block(x, attend, feed, attend_norm, feed_norm)
    x = x + attend_norm(attend(x))
    return x + feed_norm(feed(x))


@task.mistake("norm-missing", "How many norms does your block use?")
def no_norms(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(x)
    return x + feed(x)


@task.mistake("norm-missing", "How many norms does your block use?")
def no_attend_norm(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, unchanged, feed_norm, pre_norm)


@task.mistake("norm-missing", "How many norms does your block use?")
def no_feed_norm(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return block(x, attend, feed, attend_norm, unchanged, pre_norm)


@task.mistake("norm-before-and-after", "How many norms does one sublayer get?")
def both_places(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = attend_norm(x + attend(attend_norm(x)))
    return feed_norm(x + feed(feed_norm(x)))


@task.mistake(
    "final-norm-inside", "Who norms the end of the stack: each block, or the stack?"
)
def norms_its_end(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = block(x, attend, feed, attend_norm, feed_norm, pre_norm)
    return feed_norm(x) if pre_norm else x


@task.mistake("sublayer-missing", "How many sublayers add to your stream?")
def attention_only(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return x + attend(attend_norm(x)) if pre_norm else attend_norm(x + attend(x))


@task.mistake("sublayer-missing", "How many sublayers add to your stream?")
def feed_only(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    return x + feed(feed_norm(x)) if pre_norm else feed_norm(x + feed(x))


@task.mistake("residual-of-the-block-only", STREAM)
def one_sum_for_both(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + feed(feed_norm(attend(attend_norm(x))))
    return feed_norm(x + feed(attend_norm(attend(x))))


@task.mistake("residual-multiplied", "Does a sublayer add to the stream, or scale it?")
def multiplies(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x * attend(attend_norm(x))
        return x * feed(feed_norm(x))
    x = attend_norm(x * attend(x))
    return feed_norm(x * feed(x))


@task.mistake("residual-sign", "Does a sublayer add to the stream?")
def takes_away(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = attend(attend_norm(x)) - x
        return feed(feed_norm(x)) - x
    x = attend_norm(attend(x) - x)
    return feed_norm(feed(x) - x)


@task.mistake("pre-norm-ignored", BOTH)
def feed_always_before(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(attend_norm(x)) if pre_norm else attend_norm(x + attend(x))
    return x + feed(feed_norm(x))


@task.mistake("pre-norm-ignored", BOTH)
def attend_always_before(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    x = x + attend(attend_norm(x))
    return x + feed(feed_norm(x)) if pre_norm else feed_norm(x + feed(x))


@task.mistake("norm-before-and-after", "How many norms does one sublayer get?")
def both_places_if_pre_norm(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if not pre_norm:
        return block(x, attend, feed, attend_norm, feed_norm, False)
    x = attend_norm(x + attend(attend_norm(x)))
    return feed_norm(x + feed(feed_norm(x)))


@task.mistake("residual-twice", "How often does x arrive at the end of your block?")
def adds_x_at_the_end_too(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        return x + block(x, attend, feed, attend_norm, feed_norm)
    between = attend_norm(x + attend(x))
    return feed_norm(x + between + feed(between))


@task.mistake("residual-sign", "Does a sublayer add to the stream?")
def takes_the_sublayer_away(x, attend, feed, attend_norm, feed_norm, pre_norm=True):
    if pre_norm:
        x = x - attend(attend_norm(x))
        return x - feed(feed_norm(x))
    x = attend_norm(x - attend(x))
    return feed_norm(x - feed(x))
