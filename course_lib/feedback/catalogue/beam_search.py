"""What goes wrong in beam_search."""

import math

import torch

from course_lib.feedback.adapters.writing import (
    pair_writer,
    random_writer,
    use_beam_search,
)
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.generation import beam_search

task = Task(
    "beam_search",
    asks="[(new ids, score)], best first; a score is the sum of log-probabilities "
    "divided by length ** length_penalty; finished beams are kept and compete.",
    lesson="09_sampling",
    reference=beam_search,
    use=use_beam_search,
    read="7. Beams",
)

START = "How many different hypotheses exist before the first token?"
PARENTS = "Beam 0 now continues old beam 2: whose memory does it hold?"
LOGS = "Probabilities multiply: what do you add?"
OWN = "Does each hypothesis use its own length, and is the penalty used at all?"
FIRST = "Could an unfinished beam still win?"
FIRST_HEADING = "“The first finished beam has won.”"
AFTER = "What may follow the end of a sentence?"
KEPT = "Where does a finished hypothesis wait for the others?"
COMPETE = "From how many candidates are the next beams chosen?"
BY = "By which number do a finished and an unfinished beam compete?"
READ = "Which ids does the model read when it scores the third new one?"
BUDGET = "With a limit of one, how many tokens do you add?"


@task.inputs
def probes(draw: Draw):
    model = pair_writer(2 * draw.normal(4, 4))
    yield Probe("a budget of one", model, [1], 2, 1, 0)
    model = pair_writer(1.5 * draw.normal(3, 3))
    yield Probe("so many beams that none is lost", model, [1, 2], 20, 3, 0)
    yield Probe("the same, a length penalty of 0", model, [1, 2], 20, 3, 0, 0.0)
    yield Probe("the same, a length penalty of 2", model, [1, 2], 20, 3, 0, 2.0)
    model = random_writer(draw, 4)
    yield Probe("a model that reads all ids", model, [1, 3, 2], 20, 3, 0)
    model = telling(draw, [2], 2, 3, {"rank": sums})
    yield Probe("a finished beam among longer ones", model, [2], 2, 3, 0)
    model = telling(draw, [1, 3], 2, 4)
    yield Probe("two beams", model, [1, 3], 2, 4, 0)
    model = telling(draw, [2], 3, 4)
    yield Probe("three beams", model, [2], 3, 4, 0)


@task.property("best-first", "Which end of the list is the best?")
def best_first(values) -> bool:
    found = [[beam["score"] for beam in value] for value in values.values()]
    return all(scores == sorted(scores, reverse=True) for scores in found)


@task.property("beams-differ", START)
def beams_differ(values) -> bool:
    found = [[tuple(beam["ids"]) for beam in value] for value in values.values()]
    return all(len(set(ids)) == len(ids) for ids in found)


def telling(draw, prompt, n_beams, budget, *faults):
    """Draw a model for which the ways to write a right beam search agree."""

    def row_of(prompt, ids):
        return table[(prompt + ids)[-1]]

    faults = faults or [{"stop": "best"}, {"parents": False}, {"children": 1}]
    while True:
        model = pair_writer(2 * draw.normal(5, 5))
        table = model.decoder.embedding.weight.detach().log_softmax(-1).tolist()
        ask = dict(n_beams=n_beams, budget=budget, eos=0, power=1.0)
        right = search(row_of, prompt, **ask)
        others = (search(row_of, prompt, **ask, **fault) for fault in faults)
        if any(other == right for other in others):
            continue
        ways = (search(row_of, prompt, pool=pool, **ask) for pool in (1, 2))
        if all(way == right for way in ways):
            return model


def sums(ids, total, n):
    """Compare beams by their sums, however long they are."""
    return total


def search(
    row_of,
    prompt,
    n_beams,
    budget,
    eos,
    power,
    pool=0,
    copies=1,
    stop="",
    parents=True,
    children=None,
    again=False,
    score=None,
    rank=None,
    adds=True,
    keeps=True,
):
    """Search as asked, but for one thing; row_of(prompt, ids) gives the scores."""
    score = score or (lambda ids, total, n: total / max(len(ids), 1) ** power)
    rank = rank or score
    beams, finished = [([], 0.0)] * copies, []
    for n in range(1, budget + 1):
        over = [] if again else [b for b in beams if b[0] and b[0][-1] == eos]
        going = [beam for beam in beams if beam not in over] if over else beams
        found = []
        for ids, total in going:
            row = row_of(prompt, ids)
            best = sorted(range(len(row)), key=lambda i: -row[i])[
                : children if n > 1 else None
            ]
            found += [(ids + [i], adds * total + row[i]) for i in best]
        candidates = over + found if keeps else found
        if not candidates:
            break
        candidates.sort(key=lambda c: -rank(*c, n))
        beams = candidates[:n_beams]
        if not parents and n > 1:  # the new id goes behind the row's own ids
            beams = [
                (going[min(row, len(going) - 1)][0] + ids[-1:], total)
                if len(ids) == n
                else (ids, total)
                for row, (ids, total) in enumerate(beams)
            ]
        if pool:
            finished += [beam for beam in beams if beam[0][-1] == eos]
            beams = [c for c in candidates if c[0][-1] != eos][:n_beams]
            if pool == 1 and len(finished) >= n_beams:
                break
        if stop == "lost":
            beams = [beam for beam in beams if beam[0][-1] != eos]
        ends = [ids[-1] == eos for ids, _ in beams]
        if (stop == "best" and ends[:1] == [True]) or (stop == "any" and any(ends)):
            break
        if not again and all(ends):
            break
    beams = sorted(beams + finished, key=lambda c: -score(*c, n))[:n_beams]
    return [(ids, score(ids, total, n)) for ids, total in beams]


def rows_of(model, form=lambda row: row.log_softmax(-1), read=lambda p, ids: p + ids):
    """Make row_of: the scores after the ids that are read, in some form."""
    known = {}

    def row_of(prompt, ids):
        fed = tuple(read(prompt, ids))
        if fed not in known:
            with torch.no_grad():
                row = model(torch.tensor([fed]))[0, -1].double()
            known[fed] = form(row).tolist()
        return known[fed]

    return row_of


def fault(form=None, read=None, **changes):
    """Make a beam search with one thing changed."""

    def wrong(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
        extra = {key: value for key, value in changes.items() if key != "more"}
        if extra.get("copies"):
            extra["copies"] = n_beams
        if "score" in extra:
            rule = extra["score"]
            extra["score"] = lambda ids, total, n: rule(
                ids, total, n, length_penalty, len(prompt_ids), eos_id
            )
        budget = max_new_tokens + changes.get("more", 0)
        given = {"form": form, "read": read}
        row_of = rows_of(model, **{key: how for key, how in given.items() if how})
        return search(
            row_of, list(prompt_ids), n_beams, budget, eos_id, length_penalty, **extra
        )

    return wrong


def mistake(id, hint, read=None):
    """Enter a changed search, or a change of the right results."""

    def enter(answer=None, **changes):
        task.mistake(id, hint, read)(answer or fault(**changes))

    return enter


def result_changed(change):
    """Make a right search whose results are changed afterwards."""

    def wrong(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
        ask = (n_beams, max_new_tokens, eos_id, length_penalty)
        found = fault()(model, prompt_ids, *ask)
        return change(found, list(prompt_ids), *ask)

    return wrong


mistake("beam-identical-start", START)(copies=True)
mistake("beam-cache-not-reordered", PARENTS)(parents=False)
mistake("beam-adds-probabilities", LOGS)(form=lambda row: row.softmax(-1))
mistake("beam-adds-probabilities", LOGS)(form=lambda row: row)
mistake("beam-length-norm-cancels", OWN)(
    score=lambda ids, total, n, power, prompt, eos: total / n**power
)
mistake("length-penalty-ignored", OWN)(
    score=lambda ids, total, n, power, prompt, eos: total
)
mistake("length-penalty-ignored", OWN)(
    score=lambda ids, total, n, power, prompt, eos: total / max(len(ids), 1)
)
mistake("length-penalty-multiplies", "Is a long sentence to be punished twice?")(
    score=lambda ids, total, n, power, prompt, eos: total * len(ids) ** power
)
mistake("length-counts-the-prompt", "Who wrote the prompt?")(
    score=lambda ids, total, n, power, prompt, eos: total / (len(ids) + prompt) ** power
)
mistake("length-without-eos", "Has the end token a probability, and is it counted?")(
    score=lambda ids, total, n, power, prompt, eos: (
        total / max(len(ids) - (ids[-1:] == [eos]), 1) ** power
    )
)
mistake("length-penalty-is-a-factor", "Is the penalty a power, or a factor?")(
    score=lambda ids, total, n, power, prompt, eos: total / (len(ids) * power or 1)
)
mistake("beam-stops-at-first-eos", FIRST, FIRST_HEADING)(stop="best")
mistake("beam-stops-at-first-eos", FIRST, FIRST_HEADING)(stop="any")
mistake("beam-expands-after-eos", AFTER)(again=True)
mistake("finished-beams-lost", KEPT)(stop="lost")
mistake("finished-beams-lost", KEPT)(keeps=False)
mistake("length-penalty-only-at-the-end", BY)(rank=sums)
mistake("score-not-accumulated", "Of which ids is the score the sum?")(adds=False)
mistake("context-lost", READ)(read=lambda prompt, ids: ids or prompt)
mistake("context-lost", READ)(read=lambda prompt, ids: (prompt + ids)[-1:])
mistake("score-is-a-probability", "Is the score of a beam a logarithm?")(
    result_changed(lambda found, *_: [(ids, math.exp(score)) for ids, score in found])
)
mistake("beams-do-not-compete", COMPETE)(children=1)
mistake("max-new-tokens-plus-one", BUDGET)(more=1)
mistake("eos-left-out", "Does the end token belong to the new ids?")(
    result_changed(
        lambda found, prompt, n, budget, eos, power: [
            (ids[:-1] if ids[-1] == eos else ids, score) for ids, score in found
        ]
    )
)
mistake("returns-the-prompt", "Who wrote the first ids of your result?")(
    result_changed(
        lambda found, prompt, *_: [(prompt + ids, score) for ids, score in found]
    )
)
mistake("worst-first", "Which end of the list is the best?")(
    result_changed(lambda found, *_: found[::-1])
)
mistake("best-only", "How many continuations are asked for?")(
    result_changed(lambda found, *_: found[:1])
)
mistake("score-not-divided", OWN)(
    result_changed(
        lambda found, prompt, n, budget, eos, power: [
            (ids, score * len(ids) ** power) for ids, score in found
        ]
    )
)
mistake("sign-missing", "Can the logarithm of a probability be above 0?")(
    result_changed(lambda found, *_: [(ids, -score) for ids, score in found])
)
mistake("finished-only", "What becomes of what is unfinished at the budget?")(
    result_changed(
        lambda found, prompt, n, budget, eos, power: [
            (ids, score) for ids, score in found if ids[-1] == eos
        ]
    )
)
