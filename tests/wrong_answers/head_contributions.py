"""Wrong answers to head_contributions."""

import torch

from tests.answers import wrong


@wrong("weight-transposed")
def slices_of_rows(heads, output_weight):
    n_heads, d_head = heads.shape[1], heads.shape[3]
    parts = []
    for h in range(n_heads):
        parts.append(heads[:, h] @ output_weight[h * d_head : (h + 1) * d_head])
    return torch.stack(parts, dim=1)


@wrong("weight-transposed")
def einsum_other_way(heads, output_weight):
    w = output_weight.view(heads.size(1), heads.size(3), -1)
    return torch.einsum("bhtd,hdo->bhto", heads, w)


@wrong("features-dealt-out")
def strided_columns(heads, output_weight):
    n_heads = heads.shape[1]
    parts = [heads[:, h] @ output_weight[:, h::n_heads].T for h in range(n_heads)]
    return torch.stack(parts, 1)


@wrong("features-dealt-out")
def reshaped_on_the_wrong_side(heads, output_weight):
    b, h, t, d = heads.shape
    w = output_weight.T.reshape(d, h, h * d).transpose(0, 1)
    return heads @ w


@wrong("one-slice-for-all")
def columns_of_head_zero(heads, output_weight):
    d_head = heads.size(-1)
    return heads @ output_weight[:, 0:d_head].transpose(0, 1)


@wrong("heads-added-up")
def output_without_bias(heads, output_weight):
    b, h, t, d = heads.shape
    return heads.transpose(1, 2).reshape(b, t, h * d) @ output_weight.T


@wrong("heads-averaged")
def mean_of_heads(heads, output_weight):
    b, h, t, d = heads.shape
    w = output_weight.T.view(h, d, h * d)
    return torch.matmul(heads, w) / h


@wrong("axes-in-another-order")
def positions_second(heads, output_weight):
    b, h, t, d = heads.shape
    w = output_weight.view(h * d, h, d)
    return torch.einsum("bhtd,ohd->btho", heads, w)


@wrong("heads-merged-without-transpose")
def mask_then_view(heads, output_weight):
    b, h, t, d = heads.shape
    parts = []
    for i in range(h):
        keep = torch.zeros(1, h, 1, 1)
        keep[0, i] = 1.0
        parts.append((heads * keep).reshape(b, t, h * d) @ output_weight.T)
    return torch.stack(parts, dim=1)


@wrong("cut-after-the-product")
def output_cut_into_heads(heads, output_weight):
    b, h, t, d = heads.shape
    out = heads.transpose(1, 2).reshape(b, t, h * d) @ output_weight.T
    parts = torch.zeros(b, h, t, h * d)
    for i in range(h):
        parts[:, i, :, i * d : (i + 1) * d] = out[:, :, i * d : (i + 1) * d]
    return parts


@wrong("not-projected")
def padded_with_zeros(heads, output_weight):
    b, h, t, d = heads.shape
    parts = torch.zeros(b, h, t, h * d)
    for i in range(h):
        parts[:, i, :, i * d : (i + 1) * d] = heads[:, i]
    return parts


@wrong("weight-transposed", "axes-in-another-order")
def two_slips(heads, output_weight):
    w = output_weight.view(heads.size(1), heads.size(3), -1)
    return torch.einsum("bhtd,hdo->btho", heads, w)
