"""Wrong answers to fed_per_turn."""

from tests.answers import wrong


@wrong("keep-ignored")
def down_to_the_limit(turns, n_system, limit, keep):
    kept, fed = [], []
    for q, a in turns:
        new = q if fed else q + n_system
        if n_system + sum(kept) + q + a > limit:
            while n_system + sum(kept) + q + a > limit:
                kept = kept[1:]
            new = sum(kept) + q
        fed.append(new)
        kept.append(q + a)
    return fed


@wrong("limit-ignored")
def always_down_to_keep(turns, n_system, limit, keep):
    kept, fed = [], []
    for q, a in turns:
        dropped = False
        while kept and n_system + sum(kept) + q + a > keep:
            kept.pop(0)
            dropped = True
        fed.append(q + (sum(kept) if dropped else 0) + (0 if fed else n_system))
        kept.append(q + a)
    return fed


@wrong("cache-kept-after-a-gap")
def only_questions(turns, n_system, limit, keep):
    return [q + (n_system if i == 0 else 0) for i, (q, a) in enumerate(turns)]


@wrong("system-fed-again")
def whole_prompt_again(turns, n_system, limit, keep):
    kept, fed = [], []
    for q, a in turns:
        new = q if fed else n_system + q
        if n_system + sum(kept) + q + a > limit:
            while kept and n_system + sum(kept) + q + a > keep:
                kept.pop(0)
            new = n_system + sum(kept) + q
        fed.append(new)
        kept.append(q + a)
    return fed


@wrong("answer-not-counted")
def room_for_the_question_only(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        again = 0
        if n_system + sum(kept) + q > limit:
            while kept and n_system + sum(kept) + q > keep:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + q + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("system-not-counted")
def turns_only(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        again = 0
        if sum(kept) + q + a > limit:
            while kept and sum(kept) + q + a > keep:
                del kept[0]
            again = sum(kept)
        fed.append(again + q + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("newest-forgotten")
def pop(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        total = n_system + sum(kept) + q + a
        again = 0
        if total > limit:
            while kept and total > keep:
                total -= kept.pop()
            again = sum(kept)
        fed.append(again + q + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("one-turn-forgotten")
def if_for_while(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        again = 0
        if n_system + sum(kept) + q + a > limit:
            if kept:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + q + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("system-never-fed")
def starts_without_the_system(turns, n_system, limit, keep):
    kept, fed = [], []
    for q, a in turns:
        again = 0
        if n_system + sum(kept) + q + a > limit:
            while kept and n_system + sum(kept) + q + a > keep:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + q)
        kept.append(q + a)
    return fed


@wrong("no-cache")
def everything(turns, n_system, limit, keep):
    kept, fed = [], []
    for q, a in turns:
        if n_system + sum(kept) + q + a > limit:
            while kept and n_system + sum(kept) + q + a > keep:
                kept.pop(0)
        fed.append(n_system + sum(kept) + q)
        kept.append(q + a)
    return fed


@wrong("limit-off-by-one")
def full_is_too_full(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        again = 0
        if n_system + sum(kept) + q + a >= limit:
            while kept and n_system + sum(kept) + q + a > keep:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + q + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("answers-fed")
def answers_too(turns, n_system, limit, keep):
    kept, fed = [], []
    for i, (q, a) in enumerate(turns):
        again = 0
        if n_system + sum(kept) + q + a > limit:
            while kept and n_system + sum(kept) + q + a > keep:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + q + a + (n_system if i == 0 else 0))
        kept.append(q + a)
    return fed


@wrong("system-not-counted", "keep-ignored")
def two_slips(turns, n_system, limit, keep):
    kept, fed = [], [n_system + turns[0][0]]
    kept.append(sum(turns[0]))
    for q, a in turns[1:]:
        again = 0
        while kept and sum(kept) + q + a > limit:
            kept.pop(0)
            again = sum(kept)
        fed.append(again + q)
        kept.append(q + a)
    return fed
