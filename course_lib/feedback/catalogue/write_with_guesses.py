"""What goes wrong in write_with_guesses: several tokens a pass."""

import torch

from course_lib.feedback.adapters.answers import Named, written
from course_lib.feedback.adapters.writing import pair_writer, random_writer
from course_lib.feedback.task import Draw, Probe, Task


def use(answer, model, prompt_ids, guess, max_new_tokens, eos_id=None) -> dict:
    """Let an answer write; read the ids and count the passes."""
    passes = []

    def count(*_):
        passes.append(1)
        if len(passes) > 60:
            raise RuntimeError("60 passes: does each of them write something?")

    model.decoder.register_forward_pre_hook(count)
    ids = written(answer(model, prompt_ids, guess, max_new_tokens, eos_id))
    return {"ids": [int(i) for i in ids], "passes": len(passes)}


def write_with_guesses(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = [*prompt_ids, *new]
        guesses = guess(ids)
        logits = model(torch.tensor([ids + guesses]))[0]
        for place, guessed in enumerate([*guesses, None], len(ids) - 1):
            new.append(int(logits[place].argmax()))
            if new[-1] == eos_id or new[-1] != guessed:
                break
    return new[:max_new_tokens]


def first_that_differs(guesses, own):
    """Count the guesses before the first wrong one."""
    equal = [a == b for a, b in zip(guesses, own, strict=False)]
    return [*equal, False].index(False)


def write(
    model,
    prompt_ids,
    guess,
    max_new_tokens,
    eos_id,
    accept=first_that_differs,
    take=lambda guesses, own, n: own[: n + 1],
    asked=lambda prompt, new: prompt + new,
    done=lambda new, eos_id: eos_id is not None and eos_id in new,
    shift=-1,
    ends=True,
    trims=True,
):
    """Write; a mistake exchanges one of the steps."""
    prompt, new = list(prompt_ids), []
    while len(new) < max_new_tokens and not done(new, eos_id):
        guesses = guess(asked(prompt, new))
        fed = torch.tensor([prompt + new + guesses])
        own = model(fed)[0, len(prompt) + len(new) + shift :].argmax(-1).tolist()
        new = new + take(guesses, own, accept(guesses, own))
        if ends and eos_id in new:
            new = new[: new.index(eos_id) + 1]
    return new[:max_new_tokens] if trims else new


task = Task(
    "write_with_guesses",
    asks="the new ids of greedy search, in passes that each write the right guesses up to "
    "the first wrong one and one id more.",
    lesson="13_chat",
    reference=write_with_guesses,
    use=use,
    read="On a GPU",
)

TRUST = "The guesses are 5, 6, 9, and the model would write 5, 6, 7: what is written?"
PLACE = "The logits of which place say whether the first guess is right?"
MORE = "What comes behind the accepted guesses: in which pass was that known?"
FIRST = "What was the model's choice behind a wrong guess made of?"
PASSES = "How many passes does it take to judge five guesses?"
BUDGET = "Guesses come in any number: who counts the ids that are written?"
END = "Can the end token be one of the guesses?"
STOP = "3. Where to stop"
FIRMLY = "“It answers firmly, so it knows.”"  # it reads the logits of a whole answer
TEXT = "What does `guess` need to know: the new ids, or the whole text?"


@task.inputs
def probes(draw: Draw):
    step = torch.full((4, 4), -1.0)
    step[torch.arange(4), (torch.arange(4) + 1 + draw.size(0, 2)) % 4] = 1.0
    model = pair_writer(step)
    a, b = greedy(model, [0], 2)
    wrong = Named(f"always [{a}, {b}, {b}]", lambda ids: [a, b, b])
    yield Probe("two right guesses and a wrong one", model, [0], wrong, 3)
    wrong = Named(f"always [{a}, {a}, {b}]", lambda ids: [a, a, b])
    yield Probe("a wrong guess, and what follows it", model, [0], wrong, 4)
    yield Probe("no guesses", model, [0], Named("never", lambda ids: []), 4)
    model, prompt = random_writer(draw, 7), draw.ints(0, 7, 3).tolist()
    yield Probe("all guesses right", model, prompt, oracle(model, 2), 7)
    yield Probe("more guesses than needed", model, prompt, oracle(model, 9), 4)
    yield Probe("a budget of 0", model, prompt, oracle(model, 3), 0)
    yield Probe("the last one wrong", model, prompt, oracle(model, 4, [3]), 11)
    yield Probe("one wrong in the middle", model, prompt, oracle(model, 5, [2]), 13)
    yield Probe("the first one wrong", model, prompt, oracle(model, 3, [0]), 6)
    model, ids, end = ending(draw, prompt)
    yield Probe("an end among guesses", model, prompt, oracle(model, 6), 20, ids[end])
    again = [*prompt, ids[end]], oracle(model, 3, [1])
    yield Probe("an end token in the prompt", model, *again, 6, ids[end])
    yield Probe("what followed the last id before", *repeating(draw), LOOKUP, 20)


def ending(draw, prompt):
    """Draw a model whose third to fifth id comes the first time: an end in a pass."""
    while True:
        ids = greedy(model := random_writer(draw, 29), prompt, 9)
        for place in (4, 3, 2):
            if ids[place] not in ids[:place]:
                return model, ids, place


def greedy(model, prompt, n):
    """Write n ids one by one."""
    return write(model, prompt, lambda ids: [], n, None)


def oracle(model, n, wrong=()):
    """Guess n ids right, but for those at the places that are wrong."""

    def guess(ids):
        found = greedy(model, ids, n)
        return [(x + 1) % 7 if i in wrong else x for i, x in enumerate(found)]

    name = f"{n} ids, right" + (f" but for number {wrong[0] + 1}" if wrong else "")
    return Named(name, guess)


def look_up(ids):
    """Guess the three ids that followed the last id when it came before."""
    *before, last = ids
    places = [i for i, token in enumerate(before) if token == last]
    return ids[places[-1] + 1 : places[-1] + 4] if places else []


LOOKUP = Named("what followed the last id before", look_up)


def repeating(draw):
    """Draw a model that soon writes in a circle, and a prompt."""
    return pair_writer(2 * draw.normal(9, 9)), draw.ints(0, 9, 2).tolist()


@task.property("same-text-as-without", TRUST)
def same_text(values) -> bool:
    one, other = values["all guesses right"]["ids"], values["more guesses than needed"]
    return one[:4] == other["ids"]


@task.property("fewer-passes", PASSES)
def fewer_passes(values) -> bool:
    return values["all guesses right"]["passes"] < 5


@task.property("budget", BUDGET)
def budget(values) -> bool:
    return len(values["more guesses than needed"]["ids"]) == 4


def known(id, hint, read=None, **changed):
    """Add a mistake: the loop with one step exchanged."""

    def answer(model, prompt_ids, guess, max_new_tokens, eos_id=None):
        return write(model, prompt_ids, guess, max_new_tokens, eos_id, **changed)

    answer.__name__ = "_".join(changed)
    task.mistake(id, hint, read)(answer)


def in_all(guesses, own):
    return sum(a == b for a, b in zip(guesses, own, strict=False))


def all_or_none(guesses, own):
    return len(guesses) if guesses == own[:-1] else 0


def own_only_if_none(guesses, own, n):
    return own[:n] or own[:1]


def wrong_one_too(guesses, own, n):
    return guesses[: n + 1] or own[:1]


known("guesses-trusted", TRUST, accept=lambda guesses, own: len(guesses))
known("guesses-trusted", TRUST, take=lambda guesses, own, n: guesses + own[-1:])
known("wrong-guess-written", TRUST, take=wrong_one_too)
known("own-choice-left-out", MORE, take=own_only_if_none)
known("last-choice-for-the-next", FIRST, take=lambda g, own, n: g[:n] + own[-1:])
known("equal-places-counted", FIRST, accept=in_all)
known("all-or-nothing", PASSES, accept=all_or_none)
known("one-guess-a-pass", PASSES, accept=lambda g, own: int(g[:1] == own[:1]))
known("one-place-late", PLACE, FIRMLY, shift=0)
known("one-place-early", PLACE, FIRMLY, shift=-2)
known("one-id-a-pass", PASSES, accept=lambda guesses, own: 0)
known("eos-among-guesses-missed", END, STOP, ends=False)
known(
    "eos-among-guesses-missed",
    END,
    STOP,
    ends=False,
    done=lambda new, e: new[-1:] == [e],
)
known("max-new-tokens-exceeded", BUDGET, trims=False)
known("new-ids-only", TEXT, asked=lambda prompt, new: new or prompt[-1:])


@task.mistake("own-choice-left-out", MORE)
def another_pass_for_it(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = [*prompt_ids, *new]
        guesses = guess(ids)
        own = model(torch.tensor([ids + guesses]))[0, len(ids) - 1 :].argmax(-1)
        right = guesses[: first_that_differs(guesses, own.tolist())]
        last = model(torch.tensor([ids + right]))[0, -1].argmax()
        new += [*right, int(last)]
        new = new[: new.index(eos_id) + 1] if eos_id in new else new
    return new[:max_new_tokens]


@task.mistake("eos-in-the-prompt-ends", "Is an end token in the prompt one of yours?")
def ended_by_the_prompt(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    if eos_id in prompt_ids:
        return []
    return write(model, prompt_ids, guess, max_new_tokens, eos_id)


@task.mistake("returns-the-prompt", "Who wrote the first ids of your result?")
def with_the_prompt(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    return list(prompt_ids) + write(model, prompt_ids, guess, max_new_tokens, eos_id)


@task.mistake("end-token-left-out", "Did the model write the end token?", STOP)
def without_the_end(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = write(model, prompt_ids, guess, max_new_tokens, eos_id)
    return new[:-1] if eos_id in new else new
