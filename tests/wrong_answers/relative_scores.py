"""Wrong answers to relative_scores."""

import math

import torch

from tests.answers import wrong


@wrong("offset-sign")
def query_minus_key(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = query_positions[..., :, None] - key_positions[..., None, :]
    vectors = table[offset.clamp(-reach, reach) + reach]
    if vectors.ndim == 3:
        return torch.einsum("bhqd,qkd->bhqk", queries, vectors)
    return torch.einsum("bhqd,bqkd->bhqk", queries, vectors)


@wrong("offset-sign")
def table_read_backwards(queries, table, query_positions, key_positions):
    reach = (len(table) - 1) // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    rows = reach - offset.clamp(-reach, reach)
    vectors = table[rows] if rows.ndim == 3 else table[rows][None]
    return (queries[:, :, :, None, :] * vectors[:, None]).sum(-1)


@wrong("offset-not-clamped")
def wraps_around(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[(offset + reach) % len(table)]
    vectors = vectors[None] if vectors.ndim == 3 else vectors
    return torch.einsum(
        "bhqd,bqkd->bhqk", queries, vectors.expand(len(queries), -1, -1, -1)
    )


@wrong("offset-not-clamped")
def runs_off_the_table(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("offset-not-clamped")
def clamped_below_only(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    rows = offset.clamp(min=-reach) + reach
    vectors = table[rows % len(table)]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("offset-not-centred")
def clamps_from_zero(queries, table, query_positions, key_positions):
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(0, table.shape[0] - 1)]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("offset-not-centred")
def negative_rows(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach)]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return torch.matmul(queries.unsqueeze(3), vectors.unsqueeze(1).mT).squeeze(3)


@wrong("table-off-by-one")
def one_row_too_far(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    rows = (offset + reach + 1).clamp(0, 2 * reach)
    vectors = table[rows]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("table-off-by-one")
def reach_too_small(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach + 1, reach - 1) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("scaled-twice")
def divides_by_root(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    scores = (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)
    return scores / math.sqrt(queries.shape[-1])


@wrong("scaled-twice")
def mean_instead_of_sum(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).mean(-1)


@wrong("decode-position-restarts")
def counts_from_zero(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    i = torch.arange(query_positions.shape[-1])[:, None]
    j = torch.arange(key_positions.shape[-1])[None]
    vectors = table[(j - i).clamp(-reach, reach) + reach]
    return torch.einsum("bhqd,qkd->bhqk", queries, vectors)


@wrong("decode-position-restarts")
def last_query_at_last_key(queries, table, query_positions, key_positions):
    reach = len(table) // 2
    n_queries, n_keys = queries.shape[2], key_positions.shape[-1]
    i = torch.arange(n_keys - n_queries, n_keys)[:, None]
    rows = (torch.arange(n_keys)[None] - i).clamp(-reach, reach) + reach
    return (queries[..., None, :] * table[rows]).sum(-1)


@wrong("distance-without-direction")
def absolute_distance(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = (key_positions[..., None, :] - query_positions[..., :, None]).abs()
    vectors = table[offset.clamp(max=reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("first-row-positions-for-all")
def first_row(queries, table, query_positions, key_positions):
    if query_positions.ndim == 2:
        query_positions = query_positions[0]
    if key_positions.ndim == 2:
        key_positions = key_positions[0]
    reach = table.shape[0] // 2
    offset = key_positions[None] - query_positions[:, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    return torch.einsum("bhqd,qkd->bhqk", queries, vectors)


@wrong("batched-positions-unsupported")
def one_axis_expected(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[None, :] - query_positions[:, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    return torch.einsum("bhqd,qkd->bhqk", queries, vectors)


@wrong("batched-positions-unsupported")
def batch_taken_for_heads(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    return (queries.unsqueeze(3) * vectors).sum(-1)


@wrong("hard-coded-size")
def reach_of_two(queries, table, query_positions, key_positions):
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-2, 2) + 2]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("query-key-swapped")
def key_by_query(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    return (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1).transpose(-2, -1)


@wrong("no-query-in-the-score")
def one_number_per_distance(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    scores = table.sum(-1)[offset.clamp(-reach, reach) + reach]
    scores = scores[:, None] if scores.ndim == 3 else scores
    return scores.expand(*queries.shape[:3], scores.shape[-1])


@wrong("same-for-all-heads")
def mean_query(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[offset.clamp(-reach, reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    mean = queries.mean(1, keepdim=True).expand_as(queries)
    return (mean.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)


@wrong("offset-sign", "scaled-twice")
def two_slips(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = query_positions[..., :, None] - key_positions[..., None, :]
    vectors = table[offset.clamp(-reach, reach) + reach]
    vectors = vectors if vectors.ndim == 4 else vectors.unsqueeze(0)
    scores = (queries.unsqueeze(3) * vectors.unsqueeze(1)).sum(-1)
    return scores * queries.shape[-1] ** -0.5


@wrong("decode-position-restarts", "offset-not-clamped")
def restarts_and_wraps(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    i = torch.arange(queries.shape[2])[:, None]
    j = torch.arange(key_positions.shape[-1])[None]
    vectors = table[(j - i + reach) % len(table)]
    return torch.einsum("bhqd,qkd->bhqk", queries, vectors)


@wrong("constant")
def zeros(queries, table, query_positions, key_positions):
    return torch.zeros(*queries.shape[:3], key_positions.shape[-1])
