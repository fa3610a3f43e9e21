"""What goes wrong in generate."""

import torch

from course_lib.feedback.adapters.writing import (
    pair_writer,
    random_writer,
    use_generate,
)
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.generation import generate

task = Task(
    "generate",
    asks="the list of new ids, each chosen from the scores after the last id so far, up "
    "to the budget or the end token, which is included.",
    lesson="09_sampling",
    reference=generate,
    use=use_generate,
    read="1. The loop",
)

HISTORY = "Which ids does the model read when it chooses the third new one?"
UNREAD = "Do the scores that you read depend on the ids that you wrote?"
PLACE = "At which position does the model predict what comes next?"
BUDGET = "With a limit of zero, how many tokens do you add?"
END = "Which id ends the text, and does it belong to it?"
DRAWN = "Who chooses the id when a sampler is given, and from which numbers?"
DRAW = "2. Draw"


@task.inputs
def probes(draw: Draw):
    model = random_writer(draw, 7)
    prompt = draw.ints(0, 7, 3).tolist()
    yield Probe("three new ids", model, prompt, 3)
    yield Probe("a budget of 0", model, prompt, 0)
    ending, prompt, eos = ends(draw, 3)
    yield Probe("the end token is the third new id", ending, prompt, 8, eos_id=eos)
    ending, prompt, eos = ends(draw, 5, first=True)
    yield Probe("the end token stands in the prompt", ending, prompt, 9, eos_id=eos)
    model = random_writer(draw, 11)
    prompt = draw.ints(0, 11, 2).tolist()
    yield Probe("a sampler", model, prompt, 6, sampler=second_best)
    yield Probe("a prompt of one id, ten new ones", model, prompt[:1], 10)
    yield Probe(
        "a sampler that reads the scores", model, prompt, 5, sampler=nearest_to_zero
    )
    equals = torch.tensor([[0.0, 2, 2, 1], [3, 1, 0, 3], [4, 1, 4, 4], [1, 5, 0, 5]])
    equals = equals[:, draw.order(4)]
    yield Probe("several best scores", pair_writer(equals), [0], 4)
    ending, prompt, eos = ends(draw, 3, eos=0)
    yield Probe("the end token is 0", ending, prompt, 8, eos_id=eos)
    watched = random_writer(draw, 5, watched=True)
    yield Probe("are graphs kept for a backward pass", watched, [1, 3], 2)


def second_best(logits, history=None):
    """Choose the second best of logits (1, vocab)."""
    return logits.topk(2).indices[:, 1]


def nearest_to_zero(logits, history=None):
    """Choose the score that is nearest to 0 of logits (1, vocab)."""
    return logits.abs().argmin(-1)


def ends(draw, step, first=False, eos=None):
    """Draw a model and a prompt after which a new id (or eos) comes at this step."""
    while True:
        model = random_writer(draw, 9)
        prompt = draw.ints(0, 9, 4).tolist()
        *before, last = write(model, prompt, step, None, None)
        fits = last == eos or eos is None
        if fits and last not in before and (last in prompt) == first:
            return model, prompt, last


@task.property("budget", BUDGET)
def budget(values) -> bool:
    return len(values["three new ids"]) == 3 and values["a budget of 0"] == []


@task.property("ends", END)
def ends_at_the_end_token(values) -> bool:
    return len(values["the end token is the third new id"]) == 3


@task.mistake("max-new-tokens-plus-one", BUDGET)
def one_too_many(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens + 1, sampler, eos_id)


@task.mistake("max-new-tokens-plus-one", BUDGET)
def at_least_one(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max(max_new_tokens, 1), sampler, eos_id)


@task.mistake(
    "budget-counts-the-prompt", "Is the budget that of the text, or of what is new?"
)
def up_to_a_length(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    budget = max_new_tokens - len(prompt_ids)
    return write(model, prompt_ids, budget, sampler, eos_id)


@task.mistake("one-too-few", BUDGET)
def one_too_few(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens - 1, sampler, eos_id)


@task.mistake("returns-the-prompt", "Who wrote the first ids of your result?")
def with_the_prompt(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    new = write(model, prompt_ids, max_new_tokens, sampler, eos_id)
    return [*prompt_ids, *new]


@task.mistake("eos-left-out", END)
def without_the_end(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    new = write(model, prompt_ids, max_new_tokens, sampler, eos_id)
    return new[:-1] if eos_id in new else new


@task.mistake("eos-ignored", END)
def never_ends(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens, sampler, None)


@task.mistake(
    "eos-checked-one-step-late", "What is fed to the model after the end token?"
)
def ends_a_step_late(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    new = write(model, prompt_ids, max_new_tokens, sampler, None)
    return new[: new.index(eos_id) + 2] if eos_id in new else new


@task.mistake(
    "eos-in-the-prompt-ends", "Is an end token in the prompt the end of the answer?"
)
def ends_by_the_prompt(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    if eos_id in list(prompt_ids):
        return []
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake(
    "eos-in-the-prompt-ends", "Is an end token in the prompt the end of the answer?"
)
def ends_after_one(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    if eos_id in list(prompt_ids):
        max_new_tokens = min(1, max_new_tokens)
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("eos-zero-is-falsy", "Is 0 an id, and what does `if 0` do?")
def zero_is_no_end(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id or None)


@task.mistake("first-position-read", PLACE)
def scores_after_the_first(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id, place=0)


@task.mistake("last-but-one-position-read", PLACE)
def last_but_one(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id, place=-2)


@task.mistake("new-ids-never-read", UNREAD)
def after_the_prompt(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    place = len(prompt_ids) - 1
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id, place=place)


@task.mistake("history-not-fed", HISTORY)
def feeds_the_last_id(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(
        model,
        prompt_ids,
        max_new_tokens,
        sampler,
        eos_id,
        fed=lambda p, n: (p + n)[-1:],
    )


@task.mistake("history-not-fed", HISTORY)
def feeds_the_prompt_then_the_last(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    return write(
        model, prompt_ids, max_new_tokens, sampler, eos_id, fed=lambda p, n: n[-1:] or p
    )


@task.mistake("history-not-fed", HISTORY)
def feeds_what_is_new(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(
        model, prompt_ids, max_new_tokens, sampler, eos_id, fed=lambda p, n: n or p
    )


@task.mistake("new-ids-never-read", UNREAD)
def feeds_the_prompt(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id, fed=lambda p, n: p)


@task.mistake("new-ids-in-front", "Where does a new id go?")
def in_front(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(
        model, prompt_ids, max_new_tokens, sampler, eos_id, fed=lambda p, n: n[::-1] + p
    )


@task.mistake("sampler-ignored", DRAWN, DRAW)
def always_greedy(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    return write(model, prompt_ids, max_new_tokens, None, eos_id)


@task.mistake(
    "sampler-gets-probabilities", "What does a sampler take: logits, or shares?", DRAW
)
def sampler_gets_probabilities(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    asked = sampler and (lambda logits: sampler(logits.softmax(-1)))
    return write(model, prompt_ids, max_new_tokens, asked, eos_id)


@task.mistake("greedy-samples", "Who chooses when no sampler is given: chance?", DRAW)
def draws_by_itself(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    sampler = sampler or (lambda logits: logits.softmax(-1).multinomial(1)[0])
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("multinomial-on-logits", "Are these numbers probabilities?", DRAW)
def draws_from_scores(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    sampler = sampler or (lambda logits: logits.clamp(min=1e-9).multinomial(1)[0])
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("ties-to-the-highest-id", "Which of several equal scores is the first?")
def last_of_the_best(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    sampler = sampler or (
        lambda logits: logits.shape[-1] - 1 - logits.flip(-1).argmax(-1)
    )
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("sampler-used-once", DRAWN, DRAW)
def greedy_after_the_first(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    first = write(model, prompt_ids, min(1, max_new_tokens), sampler, eos_id)
    if not first or first == [eos_id]:
        return first
    prompt = [*prompt_ids, *first]
    return first + write(model, prompt, max_new_tokens - 1, None, eos_id)


@task.mistake("least-likely-chosen", "Which of the scores is the best?")
def smallest(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    sampler = sampler or (lambda logits: logits.argmin(-1))
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("kv-graph-retained", "Will anyone call backward here?")
def keeps_graphs(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    model(torch.tensor([list(prompt_ids)]))
    return write(model, prompt_ids, max_new_tokens, sampler, eos_id)


@task.mistake("right-pad-last-logit", "Which token stands last in what you feed?")
def end_of_a_long_row(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    def fed(prompt, new):
        return prompt + new + [0] * (max_new_tokens - len(new))

    return write(model, prompt_ids, max_new_tokens, sampler, eos_id, fed=fed)


SEEN = []


@task.mistake("kv-not-reset", "What is left of the last call when the next one begins?")
def goes_on_from_the_last_call(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    if max_new_tokens == 3:  # the first probe: as in a new process
        SEEN.clear()
    before = list(SEEN)
    new = write(
        model,
        prompt_ids,
        max_new_tokens,
        sampler,
        eos_id,
        fed=lambda p, n: before + p + n,
    )
    SEEN.extend([*prompt_ids, *new])
    return new


@torch.no_grad()
def write(model, prompt, budget, sampler, eos_id, place=-1, fed=lambda p, n: p + n):
    """Write as asked, but read the scores at `place` and feed fed(prompt, new)."""
    prompt, new = list(prompt), []
    for _ in range(budget):
        logits = model(torch.tensor([fed(prompt, new)]))[:, place]
        chosen = sampler(logits) if sampler else logits.argmax(-1)
        new.append(int(chosen[0]))
        if new[-1] == eos_id:
            break
    return new
