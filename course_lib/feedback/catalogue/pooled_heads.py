"""What goes wrong in pooled_heads: fewer key heads for a trained model."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def pooled_heads(parameter, n_kv_heads, d_head):
    heads = parameter.split(d_head)
    size = len(heads) // n_kv_heads
    means = [sum(heads[i : i + size]) / size for i in range(0, len(heads), size)]
    return torch.cat(means)


task = Task(
    "pooled_heads",
    asks="(n_kv_heads * d_head, ...): each key head the mean of the consecutive heads of its "
    "group.",
    lesson="10_kv_cache",
    reference=pooled_heads,
    read="7. Fewer heads of keys and values",
)

GROUP = "Which query heads read key head 0?"
MEAN = "Over how many heads is the mean taken, and over what else?"
ROWS = "Which rows of the parameter make one head?"


@task.inputs
def probes(draw: Draw):
    yield Probe("a bias of four heads of 2, two groups", draw.normal(8), 2, 2)
    yield Probe("a weight of four heads of 3", draw.normal(12, 5), 2, 3)
    yield Probe("one key head", draw.normal(12, 7), 1, 4)
    yield Probe("as many as before", draw.normal(6, 5), 3, 2)
    yield Probe("six heads, two groups", draw.normal(30, 7), 2, 5)
    yield Probe("six heads, three groups", draw.normal(24, 5), 3, 4)
    yield Probe("nine heads, a square weight", draw.normal(18, 18), 3, 2)
    yield Probe("a bias of nine heads", draw.normal(63), 3, 7)


@task.property("size", "How many key heads are left, and how wide is each?")
def size(values) -> bool:
    return tuple(values["six heads, two groups"].shape) == (10, 7)


@task.property("mean-is-kept", MEAN)
def mean_is_kept(values) -> bool:
    return bool(values["one key head"].abs().max() < 4)


def parts(parameter, n_kv_heads, d_head):
    """Take the first axis apart: (kv_head, member, row of the head, ...)."""
    return parameter.unflatten(0, (n_kv_heads, -1, d_head))


@task.mistake("groups-interleaved", GROUP)
def every_nth_head(parameter, n_kv_heads, d_head):
    return parameter.unflatten(0, (-1, n_kv_heads, d_head)).mean(0).flatten(0, 1)


@task.mistake("rows-of-a-head-mixed", ROWS)
def rows_apart(parameter, n_kv_heads, d_head):
    return parameter.unflatten(0, (n_kv_heads, d_head, -1)).mean(2).flatten(0, 1)


@task.mistake("rows-of-a-head-mixed", ROWS)
def neighbouring_rows(parameter, n_kv_heads, d_head):
    size = len(parameter) // (n_kv_heads * d_head)
    return torch.stack([part.mean(0) for part in parameter.split(size)])


@task.mistake("features-split-first", ROWS)
def d_head_outermost(parameter, n_kv_heads, d_head):
    rows = parameter.unflatten(0, (d_head, n_kv_heads, -1)).mean(2)
    return rows.transpose(0, 1).flatten(0, 1)


@task.mistake("first-head-of-the-group", MEAN)
def first_of_each(parameter, n_kv_heads, d_head):
    return parts(parameter, n_kv_heads, d_head)[:, 0].flatten(0, 1)


@task.mistake("heads-dropped", MEAN)
def first_heads(parameter, n_kv_heads, d_head):
    return parameter[: n_kv_heads * d_head].clone()


@task.mistake("sum-for-mean", MEAN)
def summed(parameter, n_kv_heads, d_head):
    return parts(parameter, n_kv_heads, d_head).sum(1).flatten(0, 1)


@task.mistake("divided-by-the-wrong-number", MEAN)
def divided_by_groups(parameter, n_kv_heads, d_head):
    return parts(parameter, n_kv_heads, d_head).sum(1).flatten(0, 1) / n_kv_heads


@task.mistake("divided-by-the-wrong-number", MEAN)
def divided_by_all_heads(parameter, n_kv_heads, d_head):
    n_heads = len(parameter) // d_head
    return parts(parameter, n_kv_heads, d_head).sum(1).flatten(0, 1) / n_heads


@task.mistake("mean-of-all-heads", GROUP)
def all_alike(parameter, n_kv_heads, d_head):
    mean = parameter.unflatten(0, (-1, d_head)).mean(0)
    return torch.cat([mean] * n_kv_heads)


@task.mistake("mean-over-the-head", MEAN)
def one_row_a_head(parameter, n_kv_heads, d_head):
    return parts(parameter, n_kv_heads, d_head).mean(2).flatten(0, 1)


@task.mistake("copied-back-to-every-head", "How many key heads are left?")
def as_many_rows_as_before(parameter, n_kv_heads, d_head):
    groups = parts(parameter, n_kv_heads, d_head)
    return groups.mean(1, keepdim=True).expand_as(groups).flatten(0, 2)


@task.mistake("axes-not-joined", "Which shape does nn.Linear want?")
def heads_apart(parameter, n_kv_heads, d_head):
    return parts(parameter, n_kv_heads, d_head).mean(1)


@task.mistake("weights-only", "Which shape has a bias?")
def two_axes_only(parameter, n_kv_heads, d_head):
    d_model = parameter.shape[1]
    return parameter.view(n_kv_heads, -1, d_head, d_model).mean(1).reshape(-1, d_model)


@task.mistake("weights-only", "Which shape has a bias?")
def two_axes_unpacked(parameter, n_kv_heads, d_head):
    _, d_model = parameter.shape
    return parameter.view(n_kv_heads, -1, d_head, d_model).mean(1).view(-1, d_model)
