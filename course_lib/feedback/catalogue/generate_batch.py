"""What goes wrong in generate_batch."""

import torch

from course_lib.feedback.adapters.writing import random_writer, use_generate_batch
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.generation import generate_batch

task = Task(
    "generate_batch",
    asks="for each prompt the new ids that it gets alone, up to its own end token or the "
    "budget.",
    lesson="09_sampling",
    reference=generate_batch,
    use=use_generate_batch,
    read="6. Rows of a batch",
)

PADDED = "What is the last token of the short row?"
PADDED_HEADING = "“Padding is harmless, if attention hides it.”"
TOLD = "How does the model know which tokens are padding, and on which side?"
FINISHED = "What should a finished row append?"
TOGETHER = "Who remembers that row 0 ended earlier?"
BUDGET = "With a limit of zero, how many tokens do you add?"
END = "Which id ends a row, and does it belong to it?"
ALONE = "Does a row get in the batch what it gets alone?"
HISTORY = "Which ids does the model read when it chooses the third new one?"


@task.inputs
def probes(draw: Draw):
    model = random_writer(draw, 9)
    yield Probe("one prompt", model, prompts(draw, 9, [3]), 3)
    yield Probe("prompts of one length", model, prompts(draw, 9, [2, 2]), 4)
    yield Probe("a prompt of four ids, one of one", model, prompts(draw, 9, [4, 1]), 3)
    yield Probe("a short prompt first", model, prompts(draw, 9, [2, 5, 3]), 4)
    yield Probe("a budget of 0", model, prompts(draw, 9, [2, 1]), 0)
    ending, several, eos = ends(draw, [3], 6, n_ending=1)
    yield Probe("one row ends", ending, several, 6, eos_id=eos)
    ending, several, eos = ends(draw, [3], 6, n_ending=1, ids=[0])
    yield Probe("the end token is 0", ending, several, 6, eos_id=eos)
    ending, several, eos = ends(draw, [3, 3], 9, n_ending=2)
    yield Probe("two rows end at different steps", ending, several, 9, eos_id=eos)
    ending, several, eos = ends(draw, [2, 4, 1], 7, n_ending=2)
    yield Probe("two of three rows end", ending, several[::-1], 7, eos_id=eos)


def prompts(draw, vocab, lengths):
    """Draw prompts of these lengths."""
    return [draw.ints(0, vocab, n).tolist() for n in lengths]


def ends(draw, lengths, budget, n_ending, ids=range(1, 9)):
    """Draw a model and prompts, so many of which come upon one id, the first first."""
    while True:
        model = random_writer(draw, 9)
        several = [prompt for _ in range(16) for prompt in prompts(draw, 9, lengths)]
        rows, n = write(model, several, budget, None), len(lengths)
        for start in range(0, len(rows), n):
            group = rows[start : start + n]
            for eos in ids:
                if fits(group, eos, budget, n_ending):
                    return model, several[start : start + n], eos


def fits(rows, eos, budget, n_ending) -> bool:
    """Tell whether so many rows end at eos, row 0 first, at different steps, in time."""
    steps = [row.index(eos) for row in rows if eos in row]
    if len(steps) != n_ending or len(set(steps)) < n_ending or eos not in rows[0]:
        return False
    in_time = 0 < rows[0].index(eos) == min(steps) and max(steps) < budget - 2
    together = any(set(ids) == {eos} for ids in zip(*rows, strict=True))
    return in_time and together == (len(rows) == 1)


@task.property("batch-independence", ALONE)
def short_row_alone(values) -> bool:
    return all(len(row) == 4 for row in values["a short prompt first"])


@task.property("budget", BUDGET)
def budget(values) -> bool:
    return values["a budget of 0"] == [[], []]


@task.mistake("right-pad-last-logit", PADDED, PADDED_HEADING)
def last_column_right(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, side="right", place=-1)


@task.mistake("right-pad-last-logit", PADDED, PADDED_HEADING)
def last_column_right_untold(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, "right", False, place=-1)


@task.mistake("left-pad-positions", TOLD, PADDED_HEADING)
def left_untold(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, told=False)


@task.mistake("side-not-told", TOLD, PADDED_HEADING)
def left_told_right(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, told="right")


@task.mistake("new-ids-behind-padding", "Where does the new id of the short row go?")
def behind_padding(model, prompts, max_new_tokens, eos_id=None):
    rows = filled(prompts)
    return cut(write(model, rows, max_new_tokens, None), eos_id)


@task.mistake("new-ids-behind-padding", "Where does the new id of the short row go?")
def behind_padding_first_right(model, prompts, max_new_tokens, eos_id=None):
    first = write(model, prompts, min(1, max_new_tokens), None)
    if not max_new_tokens:
        return first
    rows = [row + new for row, new in zip(filled(prompts), first, strict=True)]
    rest = write(model, rows, max_new_tokens - 1, None)
    return cut([new + more for new, more in zip(first, rest, strict=True)], eos_id)


@task.mistake("new-ids-behind-padding", "Where does the new id of the short row go?")
def behind_padding_counted(model, prompts, max_new_tokens, eos_id=None):
    width = max(map(len, prompts))

    def fed(prompt, new):
        row = prompt + [0] * (width - len(prompt)) + new
        return row[: len(prompt) + len(new)]

    return write(model, prompts, max_new_tokens, eos_id, fed=fed)


@task.mistake("lengths-not-updated", "How long is a row after its first new id?")
def lengths_of_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    def fed(prompt, new):
        return (prompt + new)[len(new) :]

    return write(model, prompts, max_new_tokens, eos_id, fed=fed)


@task.mistake("padding-found-by-id", "May a prompt hold the id that you pad with?")
def zeros_are_padding(model, prompts, max_new_tokens, eos_id=None):
    def fed(prompt, new):
        row = prompt + new
        return row[row.count(0) :]

    return write(model, prompts, max_new_tokens, eos_id, fed=fed)


@task.mistake("eos-zero-is-falsy", "Is 0 an id, and what does `if 0` do?")
def zero_is_no_end(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id or None)


@task.mistake("one-row-for-all", "Whose continuation is the second row of your result?")
def first_row_for_all(model, prompts, max_new_tokens, eos_id=None):
    return [write(model, prompts, max_new_tokens, eos_id)[0] for _ in prompts]


@task.mistake("prompts-cut-to-the-shortest", ALONE)
def cut_to_the_shortest(model, prompts, max_new_tokens, eos_id=None):
    n = min(map(len, prompts))
    return write(model, [row[:n] for row in prompts], max_new_tokens, eos_id)


@task.mistake("prompts-cut-to-the-shortest", ALONE)
def ends_of_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    n = min(map(len, prompts))
    return write(model, [row[-n:] for row in prompts], max_new_tokens, eos_id)


@task.mistake("finished-rows-keep-sampling", FINISHED)
def until_all_are_finished(model, prompts, max_new_tokens, eos_id=None):
    rows = write(model, prompts, max_new_tokens, None)
    n = max(map(len, cut(rows, eos_id)))
    return [row[:n] for row in rows]


@task.mistake("eos-needs-all-rows-same-step", TOGETHER)
def never_at_the_same_step(model, prompts, max_new_tokens, eos_id=None):
    rows = write(model, prompts, max_new_tokens, None)
    for n, ids in enumerate(zip(*rows, strict=True), start=1):
        if set(ids) == {eos_id}:
            return [row[:n] for row in rows]
    return rows


@task.mistake("finished-rows-not-cut", FINISHED)
def filled_with_the_end(model, prompts, max_new_tokens, eos_id=None):
    return behind(write(model, prompts, max_new_tokens, eos_id), eos_id)


@task.mistake("finished-rows-not-cut", FINISHED)
def filled_with_zero(model, prompts, max_new_tokens, eos_id=None):
    return behind(write(model, prompts, max_new_tokens, eos_id), 0)


@task.mistake("finished-rows-not-cut", FINISHED)
def filled_with_the_end_to_the_budget(model, prompts, max_new_tokens, eos_id=None):
    return behind(write(model, prompts, max_new_tokens, eos_id), eos_id, max_new_tokens)


@task.mistake("finished-rows-not-cut", FINISHED)
def filled_with_zero_to_the_budget(model, prompts, max_new_tokens, eos_id=None):
    return behind(write(model, prompts, max_new_tokens, eos_id), 0, max_new_tokens)


@task.mistake("first-end-stops-all", "May row 1 go on when row 0 has ended?")
def stops_all(model, prompts, max_new_tokens, eos_id=None):
    rows = write(model, prompts, max_new_tokens, eos_id)
    n = min([len(row) for row in rows if eos_id in row] or [max_new_tokens])
    return [row[:n] for row in rows]


@task.mistake("first-row-decides", "May row 1 go on when row 0 has ended?")
def as_long_as_the_first(model, prompts, max_new_tokens, eos_id=None):
    n = len(write(model, prompts, max_new_tokens, eos_id)[0])
    return [row[:n] for row in write(model, prompts, max_new_tokens, None)]


@task.mistake("max-new-tokens-plus-one", BUDGET)
def one_too_many(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens + 1, eos_id)


@task.mistake("max-new-tokens-plus-one", BUDGET)
def at_least_one(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max(max_new_tokens, 1), eos_id)


@task.mistake("returns-the-prompt", "Who wrote the first ids of your rows?")
def with_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    rows = write(model, prompts, max_new_tokens, eos_id)
    return [[*prompt, *row] for prompt, row in zip(prompts, rows, strict=True)]


@task.mistake("eos-left-out", END)
def without_the_end(model, prompts, max_new_tokens, eos_id=None):
    rows = write(model, prompts, max_new_tokens, eos_id)
    return [row[:-1] if eos_id in row else row for row in rows]


@task.mistake("eos-ignored", END)
def never_ends(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, None)


@task.mistake("first-row-only", "How many rows does your result have?")
def first_row_only(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts[:1], max_new_tokens, eos_id)


@task.mistake(
    "rows-not-put-back", "Whose continuation is the first row of your result?"
)
def longest_first(model, prompts, max_new_tokens, eos_id=None):
    return write(model, sorted(prompts, key=len)[::-1], max_new_tokens, eos_id)


@task.mistake(
    "rows-not-put-back", "Whose continuation is the first row of your result?"
)
def shortest_first(model, prompts, max_new_tokens, eos_id=None):
    return write(model, sorted(prompts, key=len), max_new_tokens, eos_id)


@task.mistake("history-not-fed", HISTORY)
def feeds_the_last_ids(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, fed=lambda p, n: n[-1:] or p)


@task.mistake("history-not-fed", HISTORY)
def feeds_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    return write(model, prompts, max_new_tokens, eos_id, fed=lambda p, n: p)


def write(
    model, prompts, budget, eos_id, side="left", told=True, place=None, fed=None
) -> list[list[int]]:
    """Write rows as asked, but for how they are padded, told and read."""
    fed = fed or (lambda prompt, new: prompt + new)
    rows = [[] for _ in prompts]
    for _ in range(budget):
        feed = [fed(list(p), new) for p, new in zip(prompts, rows, strict=True)]
        chosen = next_ids(model, feed, side, told, place)
        rows = [row + [i] for row, i in zip(rows, chosen, strict=True)]
    return cut(rows, eos_id)


@torch.no_grad()
def next_ids(model, rows, side, told, place) -> list[int]:
    """Choose the best next id of each row."""
    lengths = [len(row) for row in rows]
    tokens = torch.tensor(filled(rows, side))
    if told:
        told_side = side if told is True else told
        logits = model(tokens, lengths=lengths, side=told_side)
    else:
        logits = model(tokens)
    if side == "right" and place is None:
        return [int(logits[i, n - 1].argmax()) for i, n in enumerate(lengths)]
    return logits[:, -1].argmax(-1).tolist()


def filled(rows, side="right") -> list[list[int]]:
    """Pad rows with zeros."""
    n = max(map(len, rows))
    if side == "left":
        return [[0] * (n - len(row)) + list(row) for row in rows]
    return [list(row) + [0] * (n - len(row)) for row in rows]


def cut(rows, eos_id) -> list[list[int]]:
    """End each row at its first end token."""
    return [row[: row.index(eos_id) + 1] if eos_id in row else row for row in rows]


def behind(rows, i, n=0) -> list[list[int]]:
    """Put ids i behind the shorter rows."""
    n = max([n, *map(len, rows)]) if i is not None else 0
    return [row + [i] * (n - len(row)) for row in rows]
