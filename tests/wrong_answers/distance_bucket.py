"""Wrong answers to distance_bucket."""

import math

import torch

from tests.answers import wrong


@wrong("rounded-to-nearest")
def rounds(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.float().clamp(min=1)
    rows = h + torch.round(h * torch.log(d / h) / math.log(max_distance / h))
    rows = torch.minimum(rows.long(), torch.tensor(n_buckets - 1))
    return torch.where(distances < h, distances, rows)


@wrong("no-cap")
def leaves_the_table(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    rows = []
    for d in distances.flatten().tolist():
        if d < h:
            rows.append(d)
        else:
            rows.append(h + int(h * math.log(d / h) / math.log(max_distance / h)))
    return torch.tensor(rows).reshape(distances.shape)


@wrong("no-cap")
def distance_capped_instead(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.clamp(max=max_distance)
    rows = h + (h * (d / h).log() / math.log(max_distance / h)).floor()
    return torch.where(distances < h, distances, rows.long())


@wrong("equal-steps")
def evenly(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    width = (max_distance - h) / h
    rows = h + ((distances - h) / width).long()
    return torch.where(distances < h, distances, rows).clamp(max=n_buckets - 1)


@wrong("half-not-added")
def far_from_zero(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    ratio = torch.log(distances.clamp(min=1) / h) / math.log(max_distance / h)
    rows = (h * ratio).long().clamp(max=n_buckets - 1)
    return torch.where(distances < h, distances, rows)


@wrong("logarithm-not-from-half")
def log_of_the_distance(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.clamp(min=1).float()
    rows = h + (h * d.log() / math.log(max_distance)).long()
    return torch.where(distances < h, distances, rows.clamp(max=n_buckets - 1))


@wrong("too-many-far-rows")
def all_buckets(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = torch.maximum(distances, torch.tensor(h)) / h
    rows = h + (d.log() / math.log(max_distance / h) * n_buckets).long()
    return torch.where(distances < h, distances, rows.clamp(max=n_buckets - 1))


@wrong("sizes-fixed")
def t_five_sizes(distances, n_buckets=32, max_distance=128):
    d = torch.maximum(distances, torch.tensor(16))
    rows = 16 + (torch.log(d / 16) / math.log(8) * 16).long()
    return torch.where(distances < 16, distances, rows.clamp(max=31))


@wrong("cut-off-only")
def clipped(distances, n_buckets=32, max_distance=128):
    return torch.minimum(distances, torch.full_like(distances, n_buckets - 1))


@wrong("not-rounded")
def fractions(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.clamp(min=h) / h
    rows = h + h * d.log() / math.log(max_distance / h)
    return torch.where(distances < h, distances.float(), rows).clamp(max=n_buckets - 1)


@wrong("branch-on-the-whole-tensor")
def all_or_nothing(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    if (distances < h).all():
        return distances
    d = distances.clamp(min=h) / h
    rows = h + (h * d.log() / math.log(max_distance / h)).long()
    return rows.clamp(max=n_buckets - 1)


@wrong("no-cap", "half-not-added")
def two_slips(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    d = distances.clamp(min=h) / h
    rows = (n_buckets * d.log() / math.log(max_distance / h)).long()
    return torch.where(distances < h, distances, rows)


@wrong("floats-returned")
def floor_alone(distances, n_buckets=32, max_distance=128):
    h = n_buckets // 2
    share = (distances.clamp(min=1) / h).log() / math.log(max_distance / h)
    far = torch.clamp(h + (h * share).floor(), max=n_buckets - 1)
    return torch.where(distances < h, distances.float(), far)
