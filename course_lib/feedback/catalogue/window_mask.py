"""What goes wrong in window_mask."""

import torch

from course_lib.feedback.adapters.masks import use_mask
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import causal_mask, window_mask

task = Task(
    "window_mask",
    asks="(query, key), True where a query may read a key: the last `window` keys up to "
    "its own place, itself counted.",
    lesson="02_masks",
    reference=window_mask,
    use=use_mask,
    read="7. A window",
)

COUNT = "A window of 1: how many keys does a query read, and which?"
FUTURE = "How far does your window reach to the right of the query?"
PAST = "Query i sits at absolute position past + i: which keys come before that?"
ADDED = "If your mask is added to the scores: does adding 1 forbid anything?"


@task.inputs
def probes(draw: Draw):
    n = draw.size(4, 7)
    yield Probe("four tokens, a window of 2", 4, 2)
    yield Probe("a window of 1", 3, 1)
    yield Probe("a window of 3", n + 2, 3)
    yield Probe("a window wider than the text", n, n + 3)
    yield Probe("one query after others", 1, 3, n_keys=n + 1)
    yield Probe("three queries after others", 3, 2, n + 4)
    yield Probe("an offset of 1", 3, 2, n + 4, 1)
    yield Probe("an offset of 0", 3, 2, n + 4, 0)
    yield Probe("an offset of 2, by name", 4, 3, n_keys=n + 5, offset=2)


@task.property("causality", "May a query read a key that comes after it?")
def no_future(values) -> bool:
    return not values["four tokens, a window of 2"].triu(1).any()


@task.property("window-width", COUNT)
def as_many_as_the_window(values) -> bool:
    return int(values["a window of 3"][-1].sum()) == 3


def parts(n_queries, n_keys, offset):
    """Give the distance of each key behind its query, (query, key)."""
    n_keys = n_queries + (offset or 0) if n_keys is None else n_keys
    offset = n_keys - n_queries if offset is None else offset
    return torch.arange(n_queries)[:, None] + offset - torch.arange(n_keys)


@task.mistake("window-off-by-one", COUNT)
def one_more(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window + 1, n_keys, offset)


@task.mistake("window-off-by-one", COUNT)
def one_fewer(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind >= 0) & (behind < window - 1)


@task.mistake("causal-diagonal-masked", "Does a query read itself?")
def blind_to_itself(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind > 0) & (behind <= window)


@task.mistake("causal-diagonal-masked", "Does a query read itself?")
def blind_to_itself_and_shorter(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind > 0) & (behind < window)


@task.mistake("window-not-causal", FUTURE)
def reads_all_that_comes(n_queries, window, n_keys=None, offset=None):
    return parts(n_queries, n_keys, offset) < window


@task.mistake("window-not-causal", FUTURE)
def both_sides(n_queries, window, n_keys=None, offset=None):
    return parts(n_queries, n_keys, offset).abs() < window


@task.mistake("window-not-causal", FUTURE)
def both_sides_one_more(n_queries, window, n_keys=None, offset=None):
    return parts(n_queries, n_keys, offset).abs() <= window


@task.mistake("window-not-causal", FUTURE)
def half_on_each_side(n_queries, window, n_keys=None, offset=None):
    return parts(n_queries, n_keys, offset).abs() <= window // 2


@task.mistake("causal-mask-flipped", "Read row 0 aloud: whom may the first token see?")
def looks_ahead(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind <= 0) & (behind > -window)


@task.mistake("window-ignored", "Which key has become too old for the last query?")
def causal_only(n_queries, window, n_keys=None, offset=None):
    return causal_mask(n_queries, n_keys, offset)


@task.mistake("window-hides-the-near", "Are the near keys read, or the far ones?")
def reads_the_old_only(n_queries, window, n_keys=None, offset=None):
    return parts(n_queries, n_keys, offset) >= window


@task.mistake(
    "bool-polarity-mha-vs-sdpa", "In your table, does True mean look or look away?"
)
def true_means_hide(n_queries, window, n_keys=None, offset=None):
    return ~window_mask(n_queries, window, n_keys, offset)


BLOCKS = "Does the window move with the query, or stand still for a while?"


@task.mistake("window-of-blocks", BLOCKS)
def reads_its_block(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    keys = torch.arange(behind.shape[1])
    return (behind >= 0) & ((behind + keys) // window == keys // window)


@task.mistake("window-of-blocks", BLOCKS)
def the_last_keys_for_all(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    n_keys = behind.shape[1]
    return (behind >= 0) & (torch.arange(n_keys) >= n_keys - window)


@task.mistake("chunk-mask-without-offset", PAST, read="5. New queries, old keys")
def anchored_at_the_first_key(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries if n_keys is None else n_keys
    return window_mask(n_queries, window, n_keys, 0)


@task.mistake("chunk-mask-without-offset", PAST, read="5. New queries, old keys")
def default_offset_of_0(n_queries, window, n_keys=None, offset=None):
    n_keys = n_queries if n_keys is None else n_keys
    return window_mask(n_queries, window, n_keys, offset or 0)


@task.mistake("chunk-mask-without-offset", PAST, read="5. New queries, old keys")
def triangle_alone_without_offset(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind < window) & torch.ones_like(behind).tril().bool()


@task.mistake("chunk-mask-without-offset", PAST, read="5. New queries, old keys")
def window_alone_without_offset(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind >= 0) & torch.ones_like(behind).triu(1 - window).bool()


@task.mistake("chunk-mask-without-offset", PAST, read="5. New queries, old keys")
def always_a_square(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window)


@task.mistake(
    "offset-ignored",
    "Which of your arguments has no part in the result?",
    read="5. New queries, old keys",
)
def last_query_at_the_last_key(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window, n_keys)


@task.mistake("zero-one-mask-added", ADDED, read='"Set hidden scores to 0."')
def ones_and_zeros(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window, n_keys, offset).float()


@task.mistake(
    "mask-axes-swapped",
    "One query and five keys: how many rows has your table?",
    read="4. The one question",
)
def key_by_query(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window, n_keys, offset).T


@task.mistake(
    "inf-times-zero-mask",
    "What is zero times infinity in floating point?",
    read="1. Hide one key, by hand",
)
def multiplies_by_minus_infinity(n_queries, window, n_keys=None, offset=None):
    return (~window_mask(n_queries, window, n_keys, offset)).float() * -torch.inf


SMALL = "exp(0) is 1: which score makes exp vanish?"


@task.mistake("mask-fill-near-zero", SMALL, read='"Set hidden scores to 0."')
def adds_nearly_nothing(n_queries, window, n_keys=None, offset=None):
    return (~window_mask(n_queries, window, n_keys, offset)).float() * -1e-9


@task.mistake("mask-fill-near-zero", SMALL, read='"Set hidden scores to 0."')
def adds_minus_one(n_queries, window, n_keys=None, offset=None):
    return (~window_mask(n_queries, window, n_keys, offset)).float() * -1.0


@task.mistake("zero-offset-as-missing", "Is an offset of 0 an offset that is missing?")
def zero_counts_as_missing(n_queries, window, n_keys=None, offset=None):
    return window_mask(n_queries, window, n_keys, offset or None)


@task.mistake("causal-diagonal-masked", "Does a query read the key after it?")
def sees_the_next(n_queries, window, n_keys=None, offset=None):
    behind = parts(n_queries, n_keys, offset)
    return (behind >= -1) & (behind < window)
