"""What goes wrong in relative_scores."""

import math

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.positions import relative_scores

task = Task(
    "relative_scores",
    asks="(batch, head, query, key): each query times the row of `table` for the offset "
    "key - query; the middle row stands for 0, the outermost rows for all beyond.",
    lesson="04_positions",
    reference=relative_scores,
    read="3. Count the steps",
)

SIGN = "A key stands one step before the query: above or below the middle row?"
FAR = "Which row serves a key farther away than the table reaches?"
REACH = "How many steps from the middle is the last row of this table?"
MIDDLE = "Which row of the table stands for a distance of 0?"
DIRECTION = "Do a key before the query and one after it share a row?"
PLACES = "Where in your code do the positions that were handed in act?"
ROWS = "Does each row of the batch have its own positions?"


@task.inputs
def probes(draw: Draw):
    def case(batch, n_heads, n_queries, reach, d_head):
        queries = draw.normal(batch, n_heads, n_queries, d_head)
        return queries, draw.normal(2 * reach + 1, d_head)

    table = torch.tensor([[-1.0], [0.0], [10.0]])
    one = torch.ones(1, 1, 1, 1)
    beside = torch.tensor([4, 5, 6])
    yield Probe("one query at 5, keys beside it", one, table, torch.tensor([5]), beside)
    three = torch.arange(3)
    tokens = case(1, 1, 3, 2, 2)
    yield Probe("three tokens", *tokens, three, three)
    yield Probe("the same, 100 later", *tokens, three + 100, three + 100)
    six = torch.arange(6)
    yield Probe("a text longer than the table", *case(1, 2, 6, 2, 3), six, six)
    late = torch.tensor([7, 8])
    yield Probe("two queries after others", *case(2, 3, 2, 3, 4), late, torch.arange(9))
    gaps = torch.tensor([0, 3, 4, 9, 11])
    yield Probe("keys with gaps", *case(1, 2, 2, 5, 4), torch.tensor([9, 12]), gaps)
    each = torch.tensor([[0, 1, 2], [4, 5, 7]])
    yield Probe("positions of each row", *case(2, 3, 3, 2, 4), each, each)
    new = torch.tensor([[4], [6]])
    keys = torch.tensor([[0, 1, 2, 4], [1, 2, 4, 6]])
    yield Probe("one new query in each row", *case(2, 2, 1, 3, 5), new, keys)


@task.property("shift-invariance", "Does it matter where the text starts?")
def distance_alone_matters(values) -> bool:
    early, late = values["three tokens"], values["the same, 100 later"]
    return torch.allclose(early, late, atol=1e-4)


def look_up(queries, table, rows):
    """Multiply queries with the rows (query, key) or (batch, query, key)."""
    vectors = table[rows]
    vectors = vectors[:, None] if rows.ndim == 3 else vectors
    return (queries[..., None, :] * vectors).sum(-1)


def offsets(query_positions, key_positions):
    """Count the steps from query to key."""
    return key_positions[..., None, :] - query_positions[..., :, None]


@task.mistake("relative-sign", SIGN)
def query_minus_key(queries, table, query_positions, key_positions):
    return relative_scores(queries, table, -query_positions, -key_positions)


@task.mistake("relative-clamp-missing", FAR)
def wraps_around(queries, table, query_positions, key_positions):
    rows = offsets(query_positions, key_positions) + len(table) // 2
    return look_up(queries, table, rows)


@task.mistake("relative-clamp-missing", FAR)
def modulo_the_rows(queries, table, query_positions, key_positions):
    rows = offsets(query_positions, key_positions) + len(table) // 2
    return look_up(queries, table, rows % len(table))


@task.mistake("relative-far-keys-zero", FAR)
def nothing_for_far_keys(queries, table, query_positions, key_positions):
    near = offsets(query_positions, key_positions).abs() <= len(table) // 2
    near = near[:, None] if near.ndim == 3 else near
    return relative_scores(queries, table, query_positions, key_positions) * near


@task.mistake("relative-middle-missing", MIDDLE)
def no_middle(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(-reach, reach)
    return look_up(queries, table, rows)


@task.mistake("relative-direction-lost", DIRECTION)
def distance_without_sign(queries, table, query_positions, key_positions):
    rows = offsets(query_positions, key_positions).abs().clamp(max=len(table) - 1)
    return look_up(queries, table, rows)


@task.mistake("relative-direction-lost", DIRECTION)
def distance_from_the_middle(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).abs().clamp(max=reach) + reach
    return look_up(queries, table, rows)


@task.mistake("relative-off-by-one", MIDDLE)
def one_row_up(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(-reach, reach) + reach - 1
    return look_up(queries, table, rows)


@task.mistake("relative-off-by-one", MIDDLE)
def one_row_down(queries, table, query_positions, key_positions):
    rows = offsets(query_positions, key_positions) + len(table) // 2 + 1
    return look_up(queries, table, rows.clamp(0, len(table) - 1))


@task.mistake("relative-reach", REACH)
def reaches_one_too_short(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(1 - reach, reach - 1) + reach
    return look_up(queries, table, rows)


@task.mistake("decode-position-restarts", PLACES, "“One new token: its position is 0.”")
def counts_for_itself(queries, table, query_positions, key_positions):
    places = torch.arange(query_positions.shape[-1])
    return relative_scores(
        queries, table, places, torch.arange(key_positions.shape[-1])
    )


@task.mistake("decode-position-restarts", PLACES, "“One new token: its position is 0.”")
def counts_back_from_the_last_key(queries, table, query_positions, key_positions):
    keys = torch.arange(key_positions.shape[-1])
    places = keys[len(keys) - query_positions.shape[-1] :]
    return relative_scores(queries, table, places, keys)


@task.mistake("positions-first-row-for-all", ROWS)
def first_rows_positions(queries, table, query_positions, key_positions):
    if query_positions.ndim == 2:
        query_positions, key_positions = query_positions[0], key_positions[0]
    return relative_scores(queries, table, query_positions, key_positions)


@task.mistake(
    "relative-no-room-for-heads", "Which axes meet: batch with batch, or head?"
)
def no_axis_for_heads(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(-reach, reach) + reach
    return (queries[..., None, :] * table[rows]).sum(-1)


@task.mistake(
    "relative-scaled", "Who divides by the root: this function, or its caller?"
)
def divides_by_the_root(queries, table, query_positions, key_positions):
    scores = relative_scores(queries, table, query_positions, key_positions)
    return scores / math.sqrt(queries.shape[-1])


@task.mistake("relative-ignores-query", "Does every query ask the table the same?")
def table_alone(queries, table, query_positions, key_positions):
    return relative_scores(0 * queries + 1, table, query_positions, key_positions)


@task.mistake("relative-axes-swapped", "Is a row of your table a query or a key?")
def keys_by_queries(queries, table, query_positions, key_positions):
    scores = relative_scores(queries, table, query_positions, key_positions)
    return scores.transpose(-2, -1)


@task.mistake("relative-table-by-key", "Does the row depend on the key alone?")
def absolute_places(queries, table, query_positions, key_positions):
    zeros = torch.zeros_like(query_positions)
    return relative_scores(queries, table, zeros, key_positions)


@task.mistake("relative-table-by-key", "Does the row depend on the key alone?")
def first_rows_for_first_keys(queries, table, query_positions, key_positions):
    rows = 0 * offsets(query_positions, key_positions)
    rows = rows + key_positions[..., None, :].clamp(max=len(table) - 1)
    return look_up(queries, table, rows)


@task.mistake("relative-reach", REACH)
def two_steps_always(queries, table, query_positions, key_positions):
    return look_up(
        queries, table, offsets(query_positions, key_positions).clamp(-2, 2) + 2
    )


@task.mistake("relative-clamp-missing", FAR)
def clamps_one_side(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(min=-reach) + reach
    return look_up(queries, table, rows)


@task.mistake("relative-clamp-missing", FAR)
def clamps_the_other_side(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    rows = offsets(query_positions, key_positions).clamp(max=reach) + reach
    return look_up(queries, table, rows)


@task.mistake("relative-middle-missing", MIDDLE)
def clamps_from_zero(queries, table, query_positions, key_positions):
    rows = offsets(query_positions, key_positions).clamp(0, len(table) - 1)
    return look_up(queries, table, rows)


@task.mistake(
    "relative-scaled", "Who divides by the root: this function, or its caller?"
)
def divides_by_the_width(queries, table, query_positions, key_positions):
    scores = relative_scores(queries, table, query_positions, key_positions)
    return scores / queries.shape[-1]


@task.mistake(
    "relative-no-room-for-heads", "Which axes meet: batch with batch, or head?"
)
def one_axis_of_positions(queries, table, query_positions, key_positions):
    rows = key_positions[None] - query_positions[:, None]
    reach = len(table) // 2
    vectors = table[rows.clamp(-reach, reach) + reach]
    return torch.einsum("bhqd,qkd->bhqk", queries, vectors)


@task.mistake("relative-heads-averaged", "Does each head ask with its own query?")
def averages_the_heads(queries, table, query_positions, key_positions):
    queries = queries.mean(1, keepdim=True).expand_as(queries)
    return relative_scores(queries, table, query_positions, key_positions)


@task.mistake("relative-scores-empty", "Where in your code is the table read?")
def nothing_at_all(queries, table, query_positions, key_positions):
    return relative_scores(0 * queries, table, query_positions, key_positions)
