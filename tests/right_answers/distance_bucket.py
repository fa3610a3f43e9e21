"""Right answers to distance_bucket."""

import math

import torch

from tests.answers import right


@right("a plain loop")
def loop(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    rows = []
    for d in distances.flatten().tolist():
        row = d
        if d >= h:
            row = h + int(h * math.log(d / h) / math.log(max_distance / h))
        rows.append(min(row, n_buckets - 1))
    return torch.tensor(rows).reshape(distances.shape)


@right("edges of the ranges, searched")
def edges(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    ratio = (max_distance / h) ** (1 / h)
    starts = [h * ratio**k for k in range(1, h)]
    far = h + torch.bucketize(distances.double(), torch.tensor(starts).double())
    return torch.where(distances < h, distances, far)


@right("the far ones written over")
def written_over(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    rows, far = distances.clone(), distances >= h
    share = torch.log(distances[far].double() / h) / math.log(max_distance / h)
    rows[far] = torch.floor(h + h * share).long().clamp(max=n_buckets - 1)
    return rows


@right("the larger of two, in floats up to the end")
def as_floats(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.float()
    share = (d.clamp(min=1) / h).log() / math.log(max_distance / h)
    far = torch.clamp(h + (h * share).floor(), max=n_buckets - 1)
    return torch.where(d < h, d, far).long()
