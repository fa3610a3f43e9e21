"""What goes wrong in sink_mask: a window that keeps the first keys."""

import torch

from course_lib.feedback.adapters.masks import use_mask
from course_lib.feedback.task import Draw, Probe, Task


def sink_mask(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return (key <= query) & ((query - key < window) | (key < n_sinks))


def places(n_queries, offset):
    n_keys = offset + n_queries
    return offset + torch.arange(n_queries)[:, None], torch.arange(n_keys)[None, :]


task = Task(
    "sink_mask",
    asks="(query, key), True for the last `window` keys up to a query's own and for the "
    "first `n_sinks` keys, never for a later one.",
    lesson="02_masks",
    reference=sink_mask,
    use=use_mask,
)


@task.inputs
def probes(draw: Draw):
    n = draw.size(6, 9)
    yield Probe("window 2 and one sink", n, 2, 1)
    yield Probe("window 3 and no sink", n + 1, 3, 0)
    yield Probe("window 1 and two sinks", n, 1, 2)
    yield Probe("more sinks than queries", 4, 1, 7)
    yield Probe("a window longer than the row", 5, 11, 1)
    yield Probe("three queries after others", 3, 2, 1, n)
    yield Probe("one query after others, by name", 1, 3, 2, offset=n + 3)


@task.property("causality", "May a query read a sink that comes after it?")
def no_future(values) -> bool:
    return not values["more sinks than queries"].triu(1).any()


@task.mistake(
    "sinks-in-the-future", "At query 0, which of the sinks are not written yet?"
)
def sinks_are_always_readable(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return ((key <= query) & (query - key < window)) | (key < n_sinks)


@task.mistake("window-off-by-one", "How many keys does a window of 1 hold, and which?")
def one_key_too_many(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window + 1, n_sinks, offset)


@task.mistake("window-off-by-one", "How many keys does a window of 1 hold, and which?")
def one_key_too_few(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window - 1, n_sinks, offset)


@task.mistake("sinks-forgotten", "May the last query read key 0?")
def window_only(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window, 0, offset)


@task.mistake("window-forgotten", "How many keys may a late query read?")
def causal_only(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return key <= query


@task.mistake(
    "chunk-mask-without-offset",
    "Query i stands at offset + i: which keys are near that place?",
)
def offset_ignored(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    query = query - offset
    return (key <= query) & ((query - key < window) | (key < n_sinks))


@task.mistake("or-for-and", "Say the rule aloud: where is an 'and', where an 'or'?")
def sinks_must_be_near(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return (key <= query) & (query - key < window) & (key < n_sinks)


@task.mistake("sinks-off-by-one", "With one sink, which key is it?")
def one_sink_too_many(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window, n_sinks + 1, offset)


@task.mistake("no-causal-mask", "May a query read a key that comes after it?")
def near_on_both_sides(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return ((query - key).abs() < window) | (key < n_sinks)


@task.mistake("causal-diagonal-masked", "Is a query's own key among the last `window`?")
def blind_to_itself(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    return sink_mask(n_queries, window, n_sinks, offset) & (key < query)


@task.mistake("causal-diagonal-masked", "Is a query's own key among the last `window`?")
def window_ends_before_itself(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    near = (key < query) & (query - key <= window)
    return near | ((key <= query) & (key < n_sinks))


@task.mistake("sinks-off-by-one", "With one sink, which key is it?")
def sinks_from_one(n_queries, window, n_sinks, offset=0):
    query, key = places(n_queries, offset)
    sink = (key >= 1) & (key <= n_sinks)
    return (key <= query) & ((query - key < window) | sink)


@task.mistake(
    "sinks-share-the-window", "Do the sinks take places away from the window?"
)
def one_budget(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window - n_sinks, n_sinks, offset)


@task.mistake(
    "chunk-mask-without-offset", "How many keys are there, and how many queries?"
)
def square_of_queries(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window, n_sinks)


@task.mistake(
    "all-positions-as-queries",
    "Which rows are asked for: all positions, or the new ones?",
)
def square_of_keys(n_queries, window, n_sinks, offset=0):
    return sink_mask(offset + n_queries, window, n_sinks)


@task.mistake(
    "bool-polarity-mha-vs-sdpa", "In this course, does True mean look or look away?"
)
def true_hides(n_queries, window, n_sinks, offset=0):
    return ~sink_mask(n_queries, window, n_sinks, offset)


@task.mistake("mask-axes-swapped", "Which axis is the queries: rows or columns?")
def key_by_query(n_queries, window, n_sinks, offset=0):
    return sink_mask(n_queries, window, n_sinks, offset).mT
