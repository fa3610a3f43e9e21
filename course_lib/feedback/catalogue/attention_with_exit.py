"""What goes wrong in attention_with_exit: a head that may decline."""

import math

import torch

from course_lib.feedback.adapters.answers import outputs_of
from course_lib.feedback.task import Draw, Probe, Task


def attention_with_exit(queries, keys, values, exit_scores, allowed=None):
    scores = scored(queries, keys, allowed)
    exits = exit_scores[:, None, None]
    total = torch.logaddexp(scores.logsumexp(-1, keepdim=True), exits)
    return (scores - total).exp() @ values


def scored(queries, keys, allowed):
    scores = queries @ keys.mT / queries.shape[-1] ** 0.5
    return scores if allowed is None else scores.masked_fill(~allowed, -math.inf)


def use(answer, queries, keys, values, exit_scores, allowed=None):
    """Call it and take the outputs, alone or with weights."""
    return outputs_of(answer(queries, keys, values, exit_scores, allowed))


task = Task(
    "attention_with_exit",
    asks="(batch, head, query, d_head): attention in which each head's exit score joins "
    "the softmax as one more key that hands over nothing.",
    lesson="03_attention",
    reference=attention_with_exit,
    use=use,
    read="4. The function",
)


@task.inputs
def probes(draw: Draw):
    exit, query = draw.normal(1), torch.ones(1, 1, 1, 1)
    keys, values = draw.normal(1, 1, 2, 1), torch.tensor([[[[6.0], [12.0]]]])
    four = draw.normal(1, 1, 1, 4), draw.normal(1, 1, 2, 4), draw.normal(1, 1, 2, 4)
    q, k, v = (
        draw.normal(2, 3, 5, 7),
        draw.normal(2, 3, 11, 7),
        draw.normal(2, 3, 11, 7),
    )
    some, table = draw.normal(3), torch.ones(5, 11).tril(3).bool()
    empty = table.clone()
    empty[1] = False
    yield Probe("one query, two keys", query, keys, values, exit)
    yield Probe("an exit nobody takes", query, keys, values, torch.tensor([-1e4]))
    yield Probe("heads of width 4", *four, exit)
    yield Probe("one key hidden", query, keys, values, exit, torch.tensor([[1, 0]]) > 0)
    yield Probe(
        "no key readable", query, keys, values, exit, torch.tensor([[0, 0]]) > 0
    )
    yield Probe("scores near 1000", query, 1000 + keys, values, 1000 + exit)
    yield Probe("values of 1: the share that is read", q, k, torch.ones_like(v), some)
    yield Probe("three heads, a table of what may be read", q, k, v, some, table)
    yield Probe("a query in it may read nothing", q, k, v, some, empty)
    yield Probe("as many heads as queries", q[:, :, :3], k, v, some)


@task.property("reads-at-most-all", "How much weight do the keys share with the exit?")
def shares(values) -> bool:
    read = values["values of 1: the share that is read"]
    return bool(((read > 0) & (read < 1)).all())


@task.property("nothing-to-read", "Where does the weight go if no key may be read?")
def nothing(values) -> bool:
    return not values["no key readable"].any()


@task.mistake("exit-not-counted", "What do a query's weights on the keys add up to?")
def plain(queries, keys, values, exit_scores, allowed=None):
    return scored(queries, keys, allowed).softmax(-1) @ values


@task.mistake("exit-not-counted", "What do a query's weights on the keys add up to?")
def divided_again(queries, keys, values, exit_scores, allowed=None):
    weights = with_exits(queries, keys, exit_scores, allowed)
    return weights / weights.sum(-1, keepdim=True) @ values


def with_exits(queries, keys, exit_scores, allowed):
    scores = scored(queries, keys, allowed)
    exits = exit_scores[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([scores, exits], -1).softmax(-1)[..., :-1]


@task.mistake(
    "exit-not-raised", "The keys enter the sum as e to their score: and the exit?"
)
def score_in_the_sum(queries, keys, values, exit_scores, allowed=None):
    e = scored(queries, keys, allowed).exp()
    return e / (e.sum(-1, keepdim=True) + exit_scores[:, None, None]) @ values


@task.mistake(
    "exit-not-shifted",
    "Every exponential was divided by e to the largest score: the exit's, too?",
)
def only_keys_shifted(queries, keys, values, exit_scores, allowed=None):
    scores = scored(queries, keys, allowed)
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    total = e.sum(-1, keepdim=True) + exit_scores[:, None, None].exp()
    return e / total @ values


@task.mistake(
    "softmax-no-max-shift", "What does exp(1000) give, and what can be subtracted?"
)
def unshifted(queries, keys, values, exit_scores, allowed=None):
    e = scored(queries, keys, allowed).exp()
    return e / (e.sum(-1, keepdim=True) + exit_scores[:, None, None].exp()) @ values


@task.mistake(
    "exit-ignores-the-head", "Has each head its own exit, and where do you use it?"
)
def always_one(queries, keys, values, exit_scores, allowed=None):
    return attention_with_exit(
        queries, keys, values, torch.zeros_like(exit_scores), allowed
    )


@task.mistake(
    "exit-ignores-the-head", "Has each head its own exit, and where do you use it?"
)
def exit_of_head_zero(queries, keys, values, exit_scores, allowed=None):
    first = exit_scores[:1].expand(len(exit_scores))
    return attention_with_exit(queries, keys, values, first, allowed)


@task.mistake(
    "exit-as-a-gate",
    "Does a query with high scores lose as much to the exit as one with low scores?",
)
def gate(queries, keys, values, exit_scores, allowed=None):
    weights = scored(queries, keys, allowed).softmax(-1)
    return torch.sigmoid(-exit_scores)[:, None, None] * (weights @ values)


@task.mistake(
    "exit-divided-by-the-root",
    "A wider head makes a key's score larger, so the root divides it: does a wider head "
    "make the exit's score larger, too?",
)
def exits_scaled(queries, keys, values, exit_scores, allowed=None):
    root = queries.shape[-1] ** 0.5
    return attention_with_exit(queries, keys, values, exit_scores / root, allowed)


@task.mistake(
    "exit-column-left-in", "Which column of the weights is the exit's: first or last?"
)
def wrong_column_removed(queries, keys, values, exit_scores, allowed=None):
    scores = scored(queries, keys, allowed)
    exits = exit_scores[:, None, None].expand(*scores.shape[:-1], 1)
    return torch.cat([exits, scores], -1).softmax(-1)[..., :-1] @ values


@task.mistake("scale-missing", "How large is a sum of d_head products?", "3. The root")
def no_root(queries, keys, values, exit_scores, allowed=None):
    root = queries.shape[-1] ** 0.5
    return attention_with_exit(queries * root, keys, values, exit_scores, allowed)


@task.mistake("mask-ignored", "May this query read that key?")
def everything_readable(queries, keys, values, exit_scores, allowed=None):
    return attention_with_exit(queries, keys, values, exit_scores)


@task.mistake("mask-polarity", "In this exercise, does True mean look or look away?")
def hides_the_readable(queries, keys, values, exit_scores, allowed=None):
    turned = None if allowed is None else ~allowed
    return attention_with_exit(queries, keys, values, exit_scores, turned)


@task.mistake(
    "exit-per-query", "An exit for each *head*: along which axis of the scores is that?"
)
def along_the_queries(queries, keys, values, exit_scores, allowed=None):
    exits = exit_scores[:, None]  # the last axes of scores are query and key
    scores = scored(queries, keys, allowed)
    total = torch.logaddexp(scores.logsumexp(-1, keepdim=True), exits)
    return (scores - total).exp() @ values
