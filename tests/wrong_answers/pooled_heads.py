"""Wrong answers to pooled_heads."""

import torch

from tests.answers import wrong


@wrong("groups-interleaved")
def strided(parameter, n_kv_heads, d_head):
    heads = parameter.reshape(-1, d_head, *parameter.shape[1:])
    return torch.cat([heads[i::n_kv_heads].mean(0) for i in range(n_kv_heads)])


@wrong("first-head-of-the-group")
def keeps_one(parameter, n_kv_heads, d_head):
    heads = list(parameter.split(d_head, dim=0))
    size = len(heads) // n_kv_heads
    return torch.cat(heads[::size])


@wrong("sum-for-mean")
def added_up(parameter, n_kv_heads, d_head):
    heads = parameter.split(d_head)
    size = len(heads) // n_kv_heads
    out = []
    for g in range(n_kv_heads):
        total = torch.zeros_like(heads[0])
        for head in heads[g * size : (g + 1) * size]:
            total += head
        out.append(total)
    return torch.cat(out)


@wrong("rows-of-a-head-mixed")
def d_head_too_early(parameter, n_kv_heads, d_head):
    rest = parameter.shape[1:]
    return parameter.reshape(n_kv_heads * d_head, -1, *rest).mean(1)


@wrong("axes-not-joined")
def three_axes(parameter, n_kv_heads, d_head):
    return parameter.view(n_kv_heads, -1, d_head, *parameter.shape[1:]).mean(1)


@wrong("mean-of-all-heads")
def the_same_for_all(parameter, n_kv_heads, d_head):
    mean = parameter.view(-1, d_head, *parameter.shape[1:]).mean(0)
    return mean.repeat(n_kv_heads, *[1] * (parameter.ndim - 1))


@wrong("weights-only")
def four_axes(parameter, n_kv_heads, d_head):
    n, d_model = parameter.shape
    groups = parameter.reshape(n_kv_heads, n // n_kv_heads // d_head, d_head, d_model)
    return groups.mean(dim=1).reshape(n_kv_heads * d_head, d_model)


@wrong("copied-back-to-every-head")
def same_size_as_before(parameter, n_kv_heads, d_head):
    groups = parameter.unflatten(0, (n_kv_heads, -1, d_head))
    pooled = groups.mean(1)
    return pooled.repeat_interleave(groups.shape[1], 0).flatten(0, 1)


@wrong("heads-dropped")
def slice_of_the_first(parameter, n_kv_heads, d_head):
    return parameter[: d_head * n_kv_heads] + 0
