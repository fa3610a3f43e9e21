"""Right answers to pooled_heads."""

import torch

from tests.answers import right


@right("groups by chunk, heads by view")
def chunks(parameter, n_kv_heads, d_head):
    rest = parameter.shape[1:]
    groups = parameter.chunk(n_kv_heads, dim=0)
    return torch.cat([group.view(-1, d_head, *rest).mean(0) for group in groups])


@right("a matrix that averages")
def by_matrix(parameter, n_kv_heads, d_head):
    size = parameter.shape[0] // n_kv_heads // d_head
    mean = torch.eye(n_kv_heads).repeat_interleave(size, 1) / size
    pool = torch.kron(mean, torch.eye(d_head))
    return pool @ parameter


@right("row by row")
def row_by_row(parameter, n_kv_heads, d_head):
    size = len(parameter) // (n_kv_heads * d_head)
    rows = []
    for g in range(n_kv_heads):
        for r in range(d_head):
            members = [parameter[(g * size + m) * d_head + r] for m in range(size)]
            rows.append(sum(members) / size)
    return torch.stack(rows)


@right("einsum of the grouped axes")
def grouped(parameter, n_kv_heads, d_head):
    flat = parameter.reshape(n_kv_heads, -1, d_head, parameter[0].numel())
    mean = torch.einsum("gmrx->grx", flat) / flat.shape[1]
    return mean.reshape(n_kv_heads * d_head, *parameter.shape[1:])
