"""What goes wrong in mixed_inputs: the model's own choices among the true inputs."""

import torch

from course_lib.feedback.adapters.answers import use_twice
from course_lib.feedback.adapters.writing import pair_writer, random_writer
from course_lib.feedback.task import Draw, Probe, Task


def mixed_inputs(model, inputs, use_own):
    mixture = inputs.clone()
    for place in range(1, inputs.shape[1]):
        own = model(inputs)[:, place - 1].argmax(-1)
        mixture[:, place] = torch.where(use_own[:, place], own, inputs[:, place])
    return mixture


task = Task(
    "mixed_inputs",
    asks="(batch, position) ids: where use_own is True, what the model would have chosen "
    "for that place after the true inputs before it; else the true input.",
    lesson="11_training",
    reference=mixed_inputs,
    use=use_twice,
    read="1. One place to the right",
)

SHIFT = "The logits at place t choose a token: which place does it fill?"
START = "Who chooses the first input?"
PASSES = "What does the first pass read: the truth, or what was chosen before?"
ONE_PASS = "2. One pass answers every place"


@task.inputs
def probes(draw: Draw):
    first, next_one = draw.size(0, 3), 1 + draw.size(0, 2)
    ids = (first + next_one * torch.tensor([[0, 0, 2, 1]])) % 3
    one = torch.tensor([[False, False, True, False]])
    yield Probe("one own choice", pair_writer(favourites(next_one)), ids, one)
    model, (inputs, own) = random_writer(draw, 11), row(draw, 11, 4, 100, 2)
    yield Probe("all own but the start", model, inputs, own)
    yield Probe("the start as well", model, inputs, torch.ones_like(own))
    yield Probe("nothing of its own", random_writer(draw, 5), *row(draw, 5, 7, 0))
    yield Probe("half of the places", random_writer(draw, 7), *row(draw, 7, 8, 50))
    yield Probe("three rows", random_writer(draw, 11), *row(draw, 11, 5, 50, 3))
    inputs, own = row(draw, 11, 30, 40, 2)
    own[:, 0] = True
    yield Probe("many places", random_writer(draw, 11), inputs, own)
    yield Probe("only the start", random_writer(draw, 5), *row(draw, 5, 1, 0, 2))


def favourites(next_one):
    """Score ids so that after id i the likeliest is i + next_one, modulo 3."""
    return torch.full((3, 3), -1.0).fill_diagonal_(1.0).roll(next_one, 1)


def row(draw, vocab, length, percent, n_rows=1):
    """Draw inputs after a start that is not 0, and the places of own choices."""
    own = draw.ints(0, 100, n_rows, length) < percent
    own[:, 0] = False
    inputs = draw.ints(0, vocab, n_rows, length)
    inputs[:, 0] = draw.ints(1, vocab, n_rows)
    return inputs, own


@task.property("start-kept", START)
def start_kept(values) -> bool:
    asked, not_asked = values["the start as well"], values["all own but the start"]
    return asked.ndim != 2 or bool((asked[:, 0] == not_asked[:, 0]).all())


@task.mistake("choice-not-shifted", SHIFT)
def choice_of_the_same_place(model, inputs, use_own):
    return torch.where(use_own, model(inputs).argmax(-1), inputs)


@task.mistake("choice-not-shifted", SHIFT)
def choice_of_the_same_place_start_kept(model, inputs, use_own):
    found = choice_of_the_same_place(model, inputs, use_own)
    return torch.cat([inputs[:, :1], found[:, 1:]], 1)


@task.mistake("choice-shifted-to-the-left", SHIFT)
def from_the_next_place(model, inputs, use_own):
    choices = model(inputs).argmax(-1)
    own = torch.cat([choices[:, 1:], inputs[:, -1:]], 1)
    return torch.where(use_own, own, inputs)


@task.mistake("choice-shifted-to-the-left", SHIFT)
def rolled_to_the_left(model, inputs, use_own):
    return torch.where(use_own, model(inputs).argmax(-1).roll(-1, 1), inputs)


@task.mistake("choice-shifted-twice", SHIFT)
def two_places(model, inputs, use_own):
    choices = model(inputs).argmax(-1)
    own = torch.cat([inputs[:, :2], choices[:, :-2]], 1)[:, : inputs.shape[1]]
    return torch.where(use_own, own, inputs)


@task.mistake("start-replaced", START)
def rolled_around(model, inputs, use_own):
    return torch.where(use_own, model(inputs).argmax(-1).roll(1, 1), inputs)


@task.mistake("start-replaced", START)
def a_zero_in_front(model, inputs, use_own):
    choices = model(inputs).argmax(-1)
    own = torch.cat([torch.zeros_like(choices[:, :1]), choices[:, :-1]], 1)
    return torch.where(use_own, own, inputs)


@task.mistake("mask-polarity", "Does True mean the truth or the model's own choice?")
def truth_where_own_is_asked(model, inputs, use_own):
    return mixed_inputs(model, inputs, ~use_own)


@task.mistake("use-own-ignored", "At which places is the truth to stay?")
def every_place(model, inputs, use_own):
    return mixed_inputs(model, inputs, torch.ones_like(use_own))


@task.mistake("reads-its-own-choices", PASSES, ONE_PASS)
def as_if_it_wrote(model, inputs, use_own):
    mixture = inputs.clone()
    for place in range(1, inputs.shape[1]):
        own = model(mixture[:, :place])[:, -1].argmax(-1)
        mixture[:, place] = torch.where(use_own[:, place], own, inputs[:, place])
    return mixture


@task.mistake("reads-its-own-choices", PASSES, ONE_PASS)
def all_its_own_then_mixed(model, inputs, use_own):
    return torch.where(
        use_own, as_if_it_wrote(model, inputs, torch.ones_like(use_own)), inputs
    )


@task.mistake(
    "no-history", "How much of the text may the model read before it chooses?"
)
def each_token_alone(model, inputs, use_own):
    mixture = inputs.clone()
    for place in range(1, inputs.shape[1]):
        own = model(inputs[:, place - 1 : place])[:, -1].argmax(-1)
        mixture[:, place] = torch.where(use_own[:, place], own, inputs[:, place])
    return mixture


@task.mistake(
    "places-shifted-too", "At which places does use_own ask: inputs or targets?"
)
def use_own_shifted(model, inputs, use_own):
    asked = torch.cat([torch.zeros_like(use_own[:, :1]), use_own[:, :-1]], 1)
    return mixed_inputs(model, inputs, asked)


@task.mistake(
    "places-shifted-too", "At which places does use_own ask: inputs or targets?"
)
def use_own_read_at_the_target(model, inputs, use_own):
    choices = torch.where(use_own, model(inputs).argmax(-1), inputs.roll(-1, 1))
    return torch.cat([inputs[:, :1], choices[:, :-1]], 1)


@task.mistake(
    "least-likely", "Which token is the likeliest: of the largest logit or not?"
)
def the_smallest_logit(model, inputs, use_own):
    choices = model(inputs).argmin(-1)
    own = torch.cat([inputs[:, :1], choices[:, :-1]], 1)
    return torch.where(use_own, own, inputs)


@task.mistake("draws-a-choice", "Is the likeliest token asked for, or one by chance?")
def by_chance(model, inputs, use_own):
    drawn = torch.distributions.Categorical(logits=model(inputs)).sample()
    own = torch.cat([inputs[:, :1], drawn[:, :-1]], 1)
    return torch.where(use_own, own, inputs)
