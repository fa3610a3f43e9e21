"""What goes wrong in inputs_and_targets."""

import torch

from course_lib.feedback.adapters.answers import several
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.training import inputs_and_targets


def use(answer, *args, **kwargs) -> dict:
    """Call the answer; name its two results."""
    inputs, targets = several(answer(*args, **kwargs), stack_ndim=3)
    return {"inputs": inputs, "targets": targets}


task = Task(
    "inputs_and_targets",
    asks="(inputs, targets), one place apart; targets are -100 at padding, which "
    "`lengths` tells, not an id.",
    lesson="11_training",
    reference=inputs_and_targets,
    use=use,
    read="1. One place to the right",
)

AHEAD = "Which token is position t supposed to predict?"
TWICE = "How far is target t from input t, and who shifts once more?"
PADDING = "Is predicting padding an achievement?"
CODE = "Do label and loss agree on the code for 'skip'?"
EDGE = (
    "A row of three real tokens: how many real targets has it, and which is the last?"
)
BY_ID = "If the end token and padding share an id, how is the end ever learned?"
BY_ID_HEADING = "“Padding is what has the padding id.”"


@task.inputs
def probes(draw: Draw):
    yield Probe("one row, all real", draw.ints(5, 20, 1, 4))
    short = draw.ints(5, 20, 1, 4)
    short[0, 2:] = 2
    yield Probe("three real tokens; end and padding are 2", short, [3])
    ragged = draw.ints(5, 20, 3, 5)
    ragged[1, 2:] = ragged[2, 4:] = 0
    yield Probe("three rows, padded with 0", ragged, torch.tensor([5, 2, 4]))
    yield Probe("two rows, all real", draw.ints(5, 20, 2, 3))
    nearly = draw.ints(5, 20, 3, 4)
    nearly[1:, 1:] = 7
    yield Probe("a row of one token and an empty one", nearly, lengths=[4, 1, 0])
    inside = draw.ints(5, 20, 2, 6)
    inside[0, 1] = inside[1, 2] = 0
    inside[0, 4:] = inside[1, 5:] = 0
    yield Probe("the padding's id inside the text", inside, [4, 5])


@task.property("one-place-apart", AHEAD)
def one_place_apart(values) -> bool:
    row = values["one row, all real"]
    return bool((row["inputs"][:, 1:] == row["targets"][:, :-1]).all())


@task.property("padding-does-not-count", PADDING)
def padding_does_not_count(values) -> bool:
    targets = values["a row of one token and an empty one"]["targets"]
    return bool((targets[1:] == -100).all())


@task.mistake("labels-not-shifted", AHEAD)
def not_shifted(tokens, lengths=None):
    return tokens[:, :-1], hidden(tokens, lengths)[:, :-1]


@task.mistake("labels-not-shifted", AHEAD)
def not_cut(tokens, lengths=None):
    return tokens, hidden(tokens, lengths)


@task.mistake("labels-shifted-twice", TWICE)
def two_places_apart(tokens, lengths=None):
    return tokens[:, :-2], hidden(tokens, lengths)[:, 2:]


@task.mistake("labels-shifted-twice", TWICE)
def two_places_apart_filled(tokens, lengths=None):
    targets = torch.full_like(tokens[:, 1:], -100)
    targets[:, :-1] = hidden(tokens, lengths)[:, 2:]
    return tokens[:, :-1], targets


@task.mistake("loss-on-padding", PADDING)
def ignores_lengths(tokens, lengths=None):
    return tokens[:, :-1], tokens[:, 1:]


@task.mistake("pad-equals-eos", BY_ID, BY_ID_HEADING)
def padding_is_zero(tokens, lengths=None):
    return tokens[:, :-1], tokens[:, 1:].masked_fill(tokens[:, 1:] == 0, -100)


@task.mistake("pad-equals-eos", BY_ID, BY_ID_HEADING)
def padding_is_zero_where_lengths_are(tokens, lengths=None):
    return ignores_lengths(tokens) if lengths is None else padding_is_zero(tokens)


@task.mistake("pad-equals-eos", BY_ID, BY_ID_HEADING)
def padding_is_two(tokens, lengths=None):
    return tokens[:, :-1], tokens[:, 1:].masked_fill(tokens[:, 1:] == 2, -100)


@task.mistake("pad-equals-eos", BY_ID, BY_ID_HEADING)
def padding_is_the_last_id(tokens, lengths=None):
    targets = tokens[:, 1:]
    if lengths is None:
        return tokens[:, :-1], targets
    pad = tokens[int(torch.as_tensor(lengths).argmin()), -1]
    return tokens[:, :-1], targets.masked_fill(targets == pad, -100)


@task.mistake("ignore-index-mismatch", CODE)
def marks_with_minus_one(tokens, lengths=None):
    inputs, targets = inputs_and_targets(tokens, lengths)
    return inputs, targets.masked_fill(targets == -100, -1)


@task.mistake("ignore-index-mismatch", CODE)
def marks_with_zero(tokens, lengths=None):
    inputs, targets = inputs_and_targets(tokens, lengths)
    return inputs, targets.masked_fill(targets == -100, 0)


@task.mistake("ignore-index-mismatch", CODE)
def marks_with_a_hundred(tokens, lengths=None):
    inputs, targets = inputs_and_targets(tokens, lengths)
    return inputs, targets.masked_fill(targets == -100, 100)


@task.mistake("target-mask-off-by-one", EDGE)
def one_padding_counts(tokens, lengths=None):
    return tokens[:, :-1], hidden(tokens, lengths, first=-1)[:, 1:]


@task.mistake("target-mask-off-by-one", EDGE)
def last_target_lost(tokens, lengths=None):
    return tokens[:, :-1], hidden(tokens, lengths, first=1)[:, 1:]


@task.mistake("inputs-and-targets-swapped", "Which of the two is fed?")
def swapped(tokens, lengths=None):
    return inputs_and_targets(tokens, lengths)[::-1]


@task.mistake(
    "decoder-input-has-ignore-index", "Which tensor may hold -100, and which is fed?"
)
def hides_both(tokens, lengths=None):
    marked = hidden(tokens, lengths)
    return marked[:, :-1], marked[:, 1:]


@task.mistake("last-input-kept", "What is fed last, and is its successor known?")
def inputs_not_cut(tokens, lengths=None):
    return tokens, hidden(tokens, lengths)[:, 1:]


@task.mistake("cut-along-the-batch", "Which axis of tokens is the position?")
def along_the_batch(tokens, lengths=None):
    return tokens[:-1], hidden(tokens, lengths)[1:]


@task.mistake("one-length-for-all-rows", "Whose length do you read for row 1?")
def longest_for_all(tokens, lengths=None):
    if lengths is not None:
        lengths = [int(max(lengths))] * len(tokens)
    return inputs_and_targets(tokens, lengths)


@task.mistake("one-length-for-all-rows", "Whose length do you read for row 1?")
def first_for_all(tokens, lengths=None):
    if lengths is not None:
        lengths = [int(lengths[0])] * len(tokens)
    return inputs_and_targets(tokens, lengths)


@task.mistake("last-target-wraps-around", "What follows the last token of a row?")
def rolled(tokens, lengths=None):
    ends = None if lengths is None else torch.as_tensor(lengths) - 1
    return tokens, hidden(tokens.roll(-1, 1), ends)


@task.mistake("cut-to-the-shortest", "What becomes of the end of a long row?")
def cut_to_the_shortest(tokens, lengths=None):
    n = tokens.shape[1] if lengths is None else max(int(min(lengths)), 2)
    return tokens[:, : n - 1], tokens[:, 1:n]


def hidden(tokens, lengths, first=0):
    """Return tokens with -100 from place length - first of each row on."""
    if lengths is None:
        return tokens.clone()
    ends = torch.as_tensor(lengths)[:, None] - first
    return tokens.masked_fill(torch.arange(tokens.shape[1]) >= ends, -100)
