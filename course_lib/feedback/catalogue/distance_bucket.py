"""What goes wrong in distance_bucket: near exactly, far roughly."""

import math

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def distance_bucket(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    found = [one(d, half, max_distance) for d in distances.flatten().tolist()]
    return torch.tensor(found).view(distances.shape)


def one(distance, half, max_distance):
    if distance < half:
        return distance
    ratio = math.log(distance / half) / math.log(max_distance / half)
    return min(half + math.floor(half * ratio), 2 * half - 1)


def chosen(distances, half, far, n_buckets):
    """Small distances as they are, of the rest the far rows with their cap."""
    return torch.where(distances < half, distances, far.clamp(max=n_buckets - 1))


def ratios(distances, half, max_distance):
    return (distances.clamp(min=half) / half).log() / math.log(max_distance / half)


def use(answer, *args, **kwargs) -> torch.Tensor:
    """Call it; say so where rows are whole and yet floats."""
    rows = torch.as_tensor(written(answer(*args, **kwargs)))
    if rows.is_floating_point() and bool((rows == rows.round()).all()):
        raise TypeError("these rows are floats; rows of a table are asked for by int")
    return rows


task = Task(
    "distance_bucket",
    asks="for each distance its row: itself below n_buckets / 2, from there rows that "
    "share the way to max_distance in equal ratios, at most n_buckets - 1.",
    lesson="04_positions",
    reference=distance_bucket,
    use=use,
    read="3. Count the steps",
)


@task.inputs
def probes(draw: Draw):
    # None of these lies on an edge of its buckets, where rounding decides.
    far = torch.tensor([4, 5, 7, 9, 13, 21, 30, 37, 50, 63])[draw.order(10)]
    yield Probe("near ones, 8 rows", torch.tensor([3, 0, 2, 1]), 8, 64)
    yield Probe("farther ones, 8 rows", torch.tensor([5, 13, 20, 40]), 8, 64)
    yield Probe("very far ones", 70 + draw.ints(0, 900, 3), 8, 64)
    yield Probe("at the ends", torch.tensor([4, 64, 3, 65]), 8, 64)
    yield Probe("near and far, mixed", torch.cat([far, draw.ints(0, 4, 3)]), 8, 64)
    yield Probe("a table", draw.ints(0, 300, 5, 7))
    usual = torch.cat([draw.order(200)[:58], torch.tensor([112, 113])])
    yield Probe("a row, as asked without more", usual)
    yield Probe("other sizes", draw.ints(0, 200, 3, 11), n_buckets=10, max_distance=90)


@task.property("rows-of-the-table", "How many rows has the table?")
def within(values) -> bool:
    far = values["very far ones"]
    return bool(((far >= 0) & (far < 8)).all())


@task.property("whole-rows", "Can a table be asked for row 4.6?")
def whole(values) -> bool:
    return all(bool((value == value.round()).all()) for value in values.values())


@task.property("grows", "Should a farther key ever have a smaller row?")
def monotone(values) -> bool:
    return bool((values["farther ones, 8 rows"].diff() >= 0).all())


@task.mistake(
    "rounded-to-nearest", "Row 5 holds 8 to 15: which row does your code give to 13?"
)
def nearest(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + (half * ratios(distances, half, max_distance)).round().long()
    return chosen(distances, half, far, n_buckets)


@task.mistake(
    "rounded-to-nearest", "Row 5 holds 8 to 15: which row does your code give to 13?"
)
def rounded_up(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + (half * ratios(distances, half, max_distance)).ceil().long()
    return chosen(distances, half, far, n_buckets)


@task.mistake("no-cap", "How many rows has the table, and which is the last?")
def beyond_the_table(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + (half * ratios(distances, half, max_distance)).long()
    return torch.where(distances < half, distances, far)


@task.mistake("no-cap", "How many rows has the table, and which is the last?")
def capped_by_distance(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    near = distances.clamp(max=max_distance)
    far = half + (half * ratios(near, half, max_distance)).long()
    return torch.where(distances < half, distances, far)


@task.mistake(
    "equal-steps", "From 4 to 64 in four rows: equal steps of 15, or equal ratios?"
)
def linear(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + half * (distances - half) // (max_distance - half)
    return chosen(distances, half, far, n_buckets)


@task.mistake(
    "half-not-added", "Which rows are left for the far ones, when the near have theirs?"
)
def from_row_zero(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = (half * ratios(distances, half, max_distance)).long()
    return chosen(distances, half, far, n_buckets)


@task.mistake("near-not-exact", "Which row has a distance of 1?")
def logarithm_everywhere(distances, n_buckets=32, max_distance=128):
    share = (1 + distances).log() / math.log(1 + max_distance)
    return (n_buckets * share).long().clamp(max=n_buckets - 1)


@task.mistake(
    "logarithm-not-from-half", "Where do the ratios begin: at distance 1 or at h?"
)
def from_distance_one(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    share = distances.clamp(min=1).log() / math.log(max_distance)
    return chosen(distances, half, half + (half * share).long(), n_buckets)


@task.mistake(
    "logarithm-not-from-half", "Where do the ratios begin: at distance 1 or at h?"
)
def half_only_above(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    share = (distances.clamp(min=half) / half).log() / math.log(max_distance)
    return chosen(distances, half, half + (half * share).long(), n_buckets)


@task.mistake("too-many-far-rows", "How many rows are left for the far distances?")
def all_rows_for_the_far(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + (n_buckets * ratios(distances, half, max_distance)).long()
    return chosen(distances, half, far, n_buckets)


@task.mistake("sizes-fixed", "What if the table has another number of rows?")
def always_the_default(distances, n_buckets=32, max_distance=128):
    return distance_bucket(distances)


@task.mistake("cut-off-only", "May distances 5 and 6 share a row?")
def clamped_distance(distances, n_buckets=32, max_distance=128):
    return distances.clamp(max=n_buckets - 1)


@task.mistake("not-rounded", "Can a table be asked for row 4.6?")
def left_as_a_fraction(distances, n_buckets=32, max_distance=128):
    half = n_buckets // 2
    far = half + half * ratios(distances, half, max_distance)
    return chosen(distances, half, far, n_buckets)
