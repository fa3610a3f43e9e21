"""What goes wrong in shift_right."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.training import shift_right


def use(answer, targets, bos_id):
    """Call the answer; ids that are no whole numbers are shown as what they are."""
    ids = written(answer(targets, bos_id))
    return {"not whole numbers": ids} if torch.is_floating_point(ids) else ids


task = Task(
    "shift_right",
    asks="the decoder's inputs: a start token, then every target but the last; -100 "
    "becomes the start token.",
    lesson="11_training",
    reference=shift_right,
    use=use,
    read="1. One place to the right",
)

IN_FRONT = "What may the decoder have read when it predicts target t?"
EMBEDDED = "Which tensor may hold -100, and which is looked up in a table?"
START = "What stands in front of each row, and who decides which id that is?"


@task.inputs
def probes(draw: Draw):
    yield Probe("one row", draw.ints(5, 20, 1, 3), 1)
    yield Probe("two rows, another start token", draw.ints(5, 20, 2, 4), 3)
    yield Probe("one target in each of three rows", draw.ints(5, 20, 3, 1), 2)
    padded = draw.ints(5, 20, 2, 5)
    padded[0, 2:] = padded[1, 4:] = -100
    yield Probe("-100 behind the shorter row", padded, 4)
    yield Probe("a start token of 0", draw.ints(5, 20, 2, 3), 0)
    nothing = draw.ints(5, 20, 3, 4)
    nothing[1] = -100
    yield Probe("a row without targets", nothing, 2)


@task.property("starts-with-the-start-token", START)
def starts(values) -> bool:
    return bool((values["two rows, another start token"][:, 0] == 3).all())


@task.property("same-length", "How many inputs does a row of four targets need?")
def same_length(values) -> bool:
    return tuple(values["two rows, another start token"].shape) == (2, 4)


@task.mistake("decoder-input-has-ignore-index", EMBEDDED)
def leaves_the_ignored(targets, bos_id):
    return F.pad(targets[:, :-1], (1, 0), value=bos_id)


@task.mistake("ignored-becomes-another-id", EMBEDDED)
def ignored_becomes_zero(targets, bos_id):
    shifted = leaves_the_ignored(targets, bos_id)
    return shifted.masked_fill(shifted == -100, 0)


@task.mistake("labels-not-shifted", IN_FRONT)
def not_shifted(targets, bos_id):
    return targets.clone()


@task.mistake("labels-not-shifted", IN_FRONT)
def not_shifted_but_cleaned(targets, bos_id):
    return targets.masked_fill(targets == -100, bos_id)


@task.mistake("start-token-replaces-a-target", "Which of the targets is lost?")
def over_the_first_target(targets, bos_id):
    inputs = cleaned(targets, bos_id)
    inputs[:, 0] = bos_id
    return inputs


@task.mistake("start-token-replaces-a-target", "Which of the targets is lost?")
def over_the_first_target_not_cleaned(targets, bos_id):
    inputs = targets.clone()
    inputs[:, 0] = bos_id
    return inputs


@task.mistake("shifted-left", IN_FRONT)
def to_the_left(targets, bos_id):
    return cleaned(F.pad(targets[:, 1:], (0, 1), value=bos_id), bos_id)


@task.mistake("shifted-left", IN_FRONT)
def to_the_left_not_cleaned(targets, bos_id):
    return F.pad(targets[:, 1:], (0, 1), value=bos_id)


@task.mistake("shifted-left", IN_FRONT)
def rolled_to_the_left(targets, bos_id):
    return cleaned(targets.roll(-1, 1), bos_id)


@task.mistake("labels-shifted-twice", "Who shifts, and how many places?")
def two_places(targets, bos_id):
    shifted = F.pad(targets, (2, 0), value=bos_id)[:, : targets.shape[1]]
    return cleaned(shifted, bos_id)


@task.mistake("last-target-kept", "How many inputs does a row of three targets need?")
def one_too_long(targets, bos_id):
    return cleaned(F.pad(targets, (1, 0), value=bos_id), bos_id)


@task.mistake("last-target-kept", "How many inputs does a row of three targets need?")
def one_too_long_not_cleaned(targets, bos_id):
    return F.pad(targets, (1, 0), value=bos_id)


@task.mistake("start-token-missing", START)
def one_too_short(targets, bos_id):
    return cleaned(targets[:, :-1], bos_id)


@task.mistake("last-target-in-front", START)
def rolled(targets, bos_id):
    return cleaned(targets.roll(1, 1), bos_id)


@task.mistake("last-target-in-front", START)
def rolled_not_cleaned(targets, bos_id):
    return targets.roll(1, 1)


@task.mistake("start-token-in-one-row", "Does every row of the batch begin anew?")
def start_in_the_first_row(targets, bos_id):
    inputs = targets.roll(1, 1)
    inputs[0, 0] = bos_id
    return cleaned(inputs, bos_id)


@task.mistake("start-token-fixed", START)
def always_zero(targets, bos_id):
    return shift_right(targets, 0)


@task.mistake("start-token-fixed", START)
def always_one(targets, bos_id):
    return shift_right(targets, 1)


@task.mistake("shift-along-the-batch", "Which axis of targets is the position?")
def along_the_batch(targets, bos_id):
    return cleaned(F.pad(targets[:-1], (0, 0, 1, 0), value=bos_id), bos_id)


@task.mistake("shift-along-the-batch", "Which axis of targets is the position?")
def rolled_without_an_axis(targets, bos_id):
    rolled = targets.roll(1)  # runs through the rows
    rolled[0, 0] = bos_id
    return cleaned(rolled, bos_id)


@task.mistake("ids-are-floats", "Which kind of number can be looked up in a table?")
def floats(targets, bos_id):
    return shift_right(targets, bos_id).float()


@task.mistake("targets-lost", "Which targets may the decoder read?")
def only_start_tokens(targets, bos_id):
    return torch.full_like(targets, bos_id)


def cleaned(inputs, bos_id):
    """Return inputs with the start token where targets do not count."""
    return inputs.masked_fill(inputs == -100, bos_id)
