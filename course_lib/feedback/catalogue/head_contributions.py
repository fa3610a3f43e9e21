"""What goes wrong in head_contributions: what one head adds."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def head_contributions(heads, output_weight):
    n_heads = heads.shape[1]
    columns = output_weight.unflatten(1, (n_heads, -1))  # (d_model, head, d_head)
    return torch.einsum("bhpd,ohd->bhpo", heads, columns)


task = Task(
    "head_contributions",
    asks="(batch, head, position, d_model): what each head adds to to_output("
    "merge_heads(heads)), without the bias.",
    lesson="03_attention",
    reference=head_contributions,
    read="6. The module",
)


@task.inputs
def probes(draw: Draw):
    silent = draw.normal(2, 3, 5, 2)
    silent[:, 1:] = 0.0
    eye = torch.eye(4)[draw.order(4)]
    yield Probe("two heads of width 1", draw.normal(1, 2, 1, 1), draw.normal(2, 2))
    yield Probe("a weight that moves features", draw.normal(1, 2, 3, 2), eye)
    yield Probe("one head", draw.normal(1, 1, 2, 3), draw.normal(3, 3))
    yield Probe("only head 0 is not silent", silent, draw.normal(6, 6))
    yield Probe("three heads", draw.normal(2, 3, 5, 2), draw.normal(6, 6))
    yield Probe(
        "as many heads as positions", draw.normal(1, 5, 5, 3), draw.normal(15, 15)
    )
    yield Probe("as wide as many", draw.normal(2, 3, 7, 3), draw.normal(9, 9))


@task.property("silent-head", "What does a head add that has read nothing but zeros?")
def silent_head(values) -> bool:
    return not values["only head 0 is not silent"][:, 1:].any()


TRANSPOSED = "nn.Linear keeps outputs first: does a head own rows or columns of that?"


@task.mistake("weight-transposed", TRANSPOSED)
def rows_of_the_weight(heads, output_weight):
    return head_contributions(heads, output_weight.T)


@task.mistake(
    "features-dealt-out",
    "After the join, do the features of a head stand side by side?",
    "5. Cut into heads",
)
def every_second_column(heads, output_weight):
    columns = output_weight.unflatten(
        1, (-1, heads.shape[1])
    )  # (d_model, d_head, head)
    return torch.einsum("bhpd,odh->bhpo", heads, columns)


@task.mistake("one-slice-for-all", "Which features does head 1 bring to the join?")
def first_slice(heads, output_weight):
    return heads @ output_weight[:, : heads.shape[-1]].T


@task.mistake("heads-added-up", "Is what each head adds still told apart?")
def summed(heads, output_weight):
    return head_contributions(heads, output_weight).sum(1)


@task.mistake("heads-averaged", "Is the output the sum of the parts, or their mean?")
def divided(heads, output_weight):
    return head_contributions(heads, output_weight) / heads.shape[1]


@task.mistake("heads-in-reverse", "Which slice belongs to head 0?")
def last_slice_first(heads, output_weight):
    columns = output_weight.unflatten(1, (heads.shape[1], -1)).flip(1)
    return torch.einsum("bhpd,ohd->bhpo", heads, columns)


@task.mistake("axes-in-another-order", "Which axis should stand second?")
def positions_first(heads, output_weight):
    return head_contributions(heads, output_weight).transpose(1, 2)


@task.mistake(
    "heads-merged-without-transpose",
    "Whose numbers stand next to each other in memory?",
    "Misconceptions",
)
def joined_by_view(heads, output_weight):
    batch, n_heads, n, d_head = heads.shape
    found = []
    for head in range(n_heads):
        alone = torch.zeros_like(heads)
        alone[:, head] = heads[:, head]
        found.append(alone.reshape(batch, n, n_heads * d_head) @ output_weight.T)
    return torch.stack(found, 1)


@task.mistake("whole-output-each-time", "What is left when all other heads are silent?")
def all_heads_in_each(heads, output_weight):
    joined = heads.transpose(1, 2).flatten(-2) @ output_weight.T
    return joined[:, None].expand(-1, heads.shape[1], -1, -1).clone()


@task.mistake(
    "cut-after-the-product",
    "Is a slice of the *output* one head's, or have all heads been mixed there?",
)
def slices_of_the_output(heads, output_weight):
    joined = heads.transpose(1, 2).flatten(-2) @ output_weight.T
    slices = torch.zeros(*heads.shape[:3], joined.shape[-1])
    for head in range(heads.shape[1]):
        own = slice(head * heads.shape[-1], (head + 1) * heads.shape[-1])
        slices[:, head, :, own] = joined[..., own]
    return slices
