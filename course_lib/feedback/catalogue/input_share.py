"""What goes wrong in input_share: what is left of the input at the top of a stack."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def input_share(n_sublayers, size, pre_norm):
    own, others = 1.0, 0.0  # squares that come from the input, and from sublayers
    for _ in range(n_sublayers):
        others += size**2
        if not pre_norm:
            own, others = own / (own + others), others / (own + others)
    return own / (own + others)


task = Task(
    "input_share",
    asks="the part, 0 to 1, that the input has in the squares of the stream after "
    "n_sublayers.",
    lesson="07_block",
    reference=input_share,
    read="6. Five stacks before the first step",
)


@task.inputs
def probes(draw: Draw):
    def case(label, n, size, pre_norm):
        return Probe(label, n, size, pre_norm, tolerance=1e-6)

    def some():
        return round(0.3 + float(torch.rand(1, generator=draw.generator)), 2)

    yield case("pre-norm, three sublayers of size 2", 3, 2.0, True)
    yield case("pre-norm, two sublayers", 2, some(), True)
    yield case("post-norm, two sublayers", 2, some(), False)
    yield case("pre-norm, deep", 40 + draw.size(0, 20), some(), True)
    yield case("post-norm, six sublayers", 6, some(), False)
    yield case("post-norm, many small steps", 20, 0.2, False)
    yield case("no sublayer", 0, some(), False)


@task.property("a-share", "Can a share be above 1?")
def at_most_one(values) -> bool:
    return all(0 <= value <= 1 for value in values.values())


@task.property("nothing-added", "With no sublayer at all, what is the input's share?")
def nothing_added(values) -> bool:
    return values["no sublayer"] == 1


@task.mistake(
    "orders-swapped", "In which order does a norm scale the input down again?"
)
def orders_swapped(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, size, not pre_norm)


@task.mistake(
    "ignores-pre-norm", "What happens to the input's part when the sum is normed?"
)
def always_pre(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, size, True)


@task.mistake("ignores-pre-norm", "In pre-norm, does a norm stand on the stream?")
def always_post(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, size, False)


@task.mistake(
    "sizes-added-not-squares",
    "Two vectors at a right angle, of lengths 3 and 4: how long is their sum?",
    "8. The end of the rope",
)
def sizes_added(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, size**0.5, pre_norm)


@task.mistake(
    "root-of-the-share", "Is a share of the squares asked for, or of the lengths?"
)
def root(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, size, pre_norm) ** 0.5


@task.mistake(
    "blocks-taken-for-sublayers", "Is n the number of blocks, or of sublayers?"
)
def twice_as_many(n_sublayers, size, pre_norm):
    return input_share(2 * n_sublayers, size, pre_norm)


@task.mistake("one-sublayer-only", "How often is something added?")
def one_step(n_sublayers, size, pre_norm):
    return input_share(min(n_sublayers, 1), size, pre_norm)


@task.mistake("size-not-share", "Did you compute how large the stream is?")
def growth(n_sublayers, size, pre_norm):
    return 1 / input_share(n_sublayers, size, pre_norm)


@task.mistake(
    "share-of-the-sublayers", "Whose part is this: the input's or the rest's?"
)
def the_rest(n_sublayers, size, pre_norm):
    return 1 - input_share(n_sublayers, size, pre_norm)


@task.mistake("one-norm-at-the-end", "How many norms does the input pass in post-norm?")
def size_counts_once(n_sublayers, size, pre_norm):
    if pre_norm:
        return 1 / (1 + n_sublayers * size**2)
    return 1 / (1 + size ** (2 * n_sublayers)) if n_sublayers else 1.0


@task.mistake(
    "one-norm-too-few",
    "Two sublayers in post-norm: how many sums, and how many norms?",
)
def last_sum_not_normed(n_sublayers, size, pre_norm):
    if pre_norm:
        return input_share(n_sublayers, size, True)
    return (1 + size**2) ** (1 - n_sublayers)


@task.mistake(
    "sublayers-are-one",
    "How many vectors are added: one of n times the size, or n?",
    "8. The end of the rope",
)
def all_in_one_direction(n_sublayers, size, pre_norm):
    if pre_norm:
        return 1 / (1 + (n_sublayers * size) ** 2)
    return input_share(n_sublayers, size, pre_norm)


@task.mistake("size-ignored", "Sublayers of size 2 add four times the squares: where?")
def all_of_size_one(n_sublayers, size, pre_norm):
    return input_share(n_sublayers, 1.0, pre_norm)


@task.mistake(
    "unchanged-taken-for-all",
    "In pre-norm the input reaches the top unchanged: does it stand there alone?",
    "8. The end of the rope",
)
def nothing_beside_it(n_sublayers, size, pre_norm):
    return 1.0 if pre_norm else input_share(n_sublayers, size, False)
