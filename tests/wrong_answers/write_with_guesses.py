"""Wrong answers to write_with_guesses."""

import torch

from course_lib.generation import generate
from tests.answers import wrong


def choices(model, ids, guesses):
    """What the model would write after ids, and after each guess."""
    logits = model(torch.tensor([ids + guesses]))[0]
    return logits[len(ids) - 1 :].argmax(-1).tolist()


def closed(new, max_new_tokens, eos_id):
    """Cut behind the end token and at the budget."""
    if eos_id in new:
        new = new[: new.index(eos_id) + 1]
    return new[:max_new_tokens]


@wrong("guesses-trusted")
def no_comparison(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        new += guesses
        new.append(choices(model, ids, guesses)[-1])
        new = closed(new, max_new_tokens, eos_id)
    return new


@wrong("wrong-guess-written")
def keeps_the_wrong_one(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        for i, g in enumerate(guesses):
            new.append(g)
            if g != own[i]:
                break
        else:
            new.append(own[-1])
        new = closed(new, max_new_tokens, eos_id)
    return new


@wrong("own-choice-left-out")
def bonus_forgotten(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = 0
        while n < len(guesses) and guesses[n] == own[n]:
            n += 1
        new += guesses[:n] if n > 0 else [own[0]]
        new = closed(new, max_new_tokens, eos_id)
    return new


@wrong("last-choice-for-the-next")
def bonus_from_the_end(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = 0
        for a, b in zip(guesses, own, strict=False):
            if a != b:
                break
            n += 1
        new = closed([*new, *guesses[:n], own[-1]], max_new_tokens, eos_id)
    return new


@wrong("equal-places-counted")
def counts_matches(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = int((torch.tensor(guesses) == torch.tensor(own[: len(guesses)])).sum())
        new = closed(new + own[: n + 1], max_new_tokens, eos_id)
    return new


@wrong("all-or-nothing")
def only_if_all_are_right(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        new += own if own[:-1] == guesses else own[:1]
        new = closed(new, max_new_tokens, eos_id)
    return new


@wrong("one-id-a-pass")
def plain_greedy(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    return generate(model, prompt_ids, max_new_tokens, eos_id=eos_id, cache=False)


@wrong("one-place-late")
def forgets_the_minus_one(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = model(torch.tensor([ids + guesses]))[0, len(ids) :].argmax(-1).tolist()
        n = 0
        while n < min(len(own), len(guesses)) and guesses[n] == own[n]:
            n += 1
        new = closed(new + own[: n + 1], max_new_tokens, eos_id)
    return new


@wrong("eos-among-guesses-missed")
def last_id_only(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and (not new or new[-1] != eos_id):
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = 0
        while n < len(guesses) and guesses[n] == own[n]:
            n += 1
        new = (new + own[: n + 1])[:max_new_tokens]
    return new


@wrong("max-new-tokens-exceeded")
def budget_checked_before(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = 0
        while n < len(guesses) and guesses[n] == own[n]:
            n += 1
        new = closed(new + own[: n + 1], len(new) + n + 1, eos_id)
    return new


@wrong("returns-the-prompt")
def whole_text(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    ids = list(prompt_ids)
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        guesses = guess(ids + new)
        own = choices(model, ids + new, guesses)
        n = 0
        while n < len(guesses) and guesses[n] == own[n]:
            n += 1
        new = closed(new + own[: n + 1], max_new_tokens, eos_id)
    return ids + new


@wrong("own-choice-left-out", "eos-among-guesses-missed")
def two_slips(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and (not new or new[-1] != eos_id):
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        own = choices(model, ids, guesses)
        n = 0
        while n < len(guesses) and guesses[n] == own[n]:
            n += 1
        new = (new + own[: max(n, 1)])[:max_new_tokens]
    return new
