"""Right answers to relative_scores."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("a table lookup and einsum")
def lookup(queries, table, query_positions, key_positions):
    reach = (table.shape[0] - 1) // 2
    offset = key_positions[..., None, :] - query_positions[..., :, None]
    vectors = table[torch.clamp(offset, -reach, reach) + reach]
    vectors = vectors.expand(queries.shape[0], *vectors.shape[-3:])
    return torch.einsum("bhqd,bqkd->bhqk", queries, vectors)


@right("all rows scored, then gathered")
def gathered(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    b, h, n, _ = queries.shape
    q = query_positions.expand(b, n)
    k = key_positions.expand(b, key_positions.shape[-1])
    rows = (k[:, None, :] - q[:, :, None]).clamp(-reach, reach) + reach
    scores = torch.matmul(queries, table.t())
    return torch.gather(scores, 3, rows[:, None].expand(-1, h, -1, -1))


@right("one-hot rows and matrix products")
def one_hot(queries, table, query_positions, key_positions):
    reach = table.shape[0] // 2
    offset = key_positions.unsqueeze(-2) - query_positions.unsqueeze(-1)
    rows = (offset + reach).clamp(min=0, max=2 * reach)
    chosen = F.one_hot(rows, table.shape[0]).to(table.dtype)
    chosen = chosen if chosen.ndim == 3 else chosen.unsqueeze(1)
    return (queries @ table.T).unsqueeze(-2).mul(chosen).sum(-1)


@right("loops over queries and keys")
def loops(queries, table, query_positions, key_positions):
    b, h, n, _ = queries.shape
    reach = table.shape[0] // 2
    out = torch.zeros(b, h, n, key_positions.shape[-1], dtype=queries.dtype)
    for row in range(b):
        qs = query_positions if query_positions.ndim == 1 else query_positions[row]
        ks = key_positions if key_positions.ndim == 1 else key_positions[row]
        for i, q in enumerate(qs.tolist()):
            for j, k in enumerate(ks.tolist()):
                offset = min(max(k - q, -reach), reach)
                out[row, :, i, j] = queries[row, :, i] @ table[offset + reach]
    return out
