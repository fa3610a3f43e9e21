"""What goes wrong in fed_per_turn: a full conversation that forgets."""

from collections import deque

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def fed_per_turn(turns, n_system, limit, keep):
    there, in_cache, fed = deque(), 0, []
    for question, answer in turns:
        in_all = in_cache + question + answer + n_system * (not fed)
        if in_all > limit:
            while there and in_all > keep:
                in_all -= there.popleft()
            in_cache = n_system
        there.append(question + answer)
        fed.append(in_all - answer - in_cache)
        in_cache = in_all
    return fed


def use(answer, turns, n_system, limit, keep) -> list[float]:
    """Call it and read the numbers."""
    return [float(n) for n in written(answer(turns, n_system, limit, keep))]


task = Task(
    "fed_per_turn",
    asks="the tokens fed before each answer, where a talk that would exceed `limit` forgets "
    "its oldest turns until `keep` holds.",
    lesson="13_chat",
    reference=fed_per_turn,
    use=use,
    read="5. When the room is full",
)

TWO = "Which limit says *whether* to forget, and which says how much?"
AGAIN = "Some turns are forgotten: what becomes of the later ones, and of their keys?"
SYSTEM = "Where are the system's keys and values before each turn?"
ROOM = "What must fit into the limit by the end of the turn?"
FULL = "A talk fills the limit to the last token: is it too long?"
OLDEST = "Which turns are the first to go?"
CACHED = "Answers are written token by token: who feeds them a second time?"
ENOUGH = "Is one turn less always enough?"
CACHE = "4. Turns on one cache"


@task.inputs
def probes(draw: Draw):
    yield Probe("three turns, room enough", [(5, 10), (4, 7), (6, 9)], 10, 90, 70)
    yield Probe("just enough is forgotten", [(5, 10)] * 6, 10, 60, 60)
    yield Probe("more is forgotten", [(5, 10)] * 6, 10, 60, 40)
    yield Probe("filled to the last token", [(5, 15)] * 4, 20, 60, 60)
    yield Probe("a long turn first", [(5, 20), (5, 5), (5, 5), (5, 20)], 10, 60, 55)
    yield Probe("a long question", [(3, 5), (2, 9), (4, 6), (40, 8), (3, 4)], 7, 70, 60)
    yield Probe("nothing is small enough", [(9, 8), (11, 7), (30, 12)], 9, 60, 20)
    yield Probe("one turn, above what is kept", [(20, 25)], 13, 80, 30)
    for name, limit, keep in (("many", 150, 90), ("many others", 200, 200)):
        sizes = zip(draw.ints(3, 25, 20), draw.ints(4, 35, 20), strict=True)
        turns = [(int(question), int(answer)) for question, answer in sizes]
        yield Probe(f"{name} turns", turns, 10 + draw.size(0, 15), limit, keep)


@task.property("only-what-is-new", "With room enough: what does a later turn feed?")
def only_what_is_new(values) -> bool:
    return values["three turns, room enough"][1:] == [4, 6]


@task.property("forgets-less-often", TWO)
def forgets_less_often(values) -> bool:
    return sum(values["more is forgotten"]) < sum(values["just enough is forgotten"])


def rules(id, hint, read=None, **changed):
    """Add a mistake: the rules with one of them changed."""

    def answer(turns, n_system, limit, keep):
        return by_rules(turns, n_system, limit, keep, **changed)

    answer.__name__ = "_".join(changed)
    task.mistake(id, hint, read)(answer)


def by_rules(
    turns,
    n_system,
    limit,
    keep,
    full=lambda room, limit, keep: room > limit,
    enough=lambda room, limit, keep: room <= keep,
    counted=lambda system, question, answer: system + question + answer,
    again=lambda system, kept: sum(kept),
    oldest=0,
    most=99,
    stays=lambda question, answer: question + answer,
    each=lambda question, answer: question,
    system_once=True,
    always=False,
):
    """Feed turn by turn; each argument after `keep` is one rule."""
    kept, fed = [], []
    for question, answer in turns:
        room = counted(n_system, question, answer) + sum(kept)
        more, gone = 0, 0
        if full(room, limit, keep):
            while kept and gone < most and not enough(room, limit, keep):
                room -= kept.pop(oldest)
                gone += 1
            more = again(n_system, kept)
        if always:
            more = sum(kept) + n_system * bool(fed)
        fed.append(each(question, answer) + more)
        kept.append(stays(question, answer))
    fed[0] += n_system * system_once
    return fed


rules("keep-ignored", TWO, enough=lambda room, limit, keep: room <= limit)
rules("limit-ignored", TWO, full=lambda room, limit, keep: room > keep)
rules("limit-off-by-one", FULL, full=lambda room, limit, keep: room >= limit)
rules("keep-off-by-one", TWO, enough=lambda room, limit, keep: room < keep)
rules("cache-kept-after-a-gap", AGAIN, again=lambda system, kept: 0)
rules("system-fed-again", SYSTEM, again=lambda system, kept: system + sum(kept))
rules("system-never-fed", SYSTEM, CACHE, system_once=False)
rules("system-not-counted", ROOM, counted=lambda system, *turn: sum(turn))
rules(
    "answer-not-counted",
    ROOM,
    counted=lambda system, question, answer: system + question,
)
rules("newest-forgotten", OLDEST, oldest=-1)
rules("one-turn-forgotten", ENOUGH, most=1)
rules("answers-forgotten", CACHED, CACHE, stays=lambda question, answer: question)
rules("answers-fed", CACHED, CACHE, each=lambda question, answer: question + answer)


@task.mistake("no-cache", "What is in the cache before the second turn?", CACHE)
def everything_every_turn(turns, n_system, limit, keep):
    return by_rules(turns, n_system, limit, keep, always=True)


@task.mistake("new-turn-not-counted", ROOM)
def old_turns_only(turns, n_system, limit, keep):
    kept, fed = [], []
    for question, answer in turns:
        again = 0
        if n_system + sum(kept) + question + answer > limit:
            while kept and n_system + sum(kept) > keep:
                kept.pop(0)
            again = sum(kept)
        fed.append(again + question)
        kept.append(question + answer)
    return [fed[0] + n_system, *fed[1:]]


@task.mistake("forgets-behind-the-turn", "When is the room counted: before a turn?")
def when_it_is_full_already(turns, n_system, limit, keep):
    kept, fed, again = [], [], n_system
    for question, answer in turns:
        fed.append(again + question)
        kept.append(question + answer)
        again = 0
        if n_system + sum(kept) > limit:
            while len(kept) > 1 and n_system + sum(kept) > keep:
                kept.pop(0)
            again = sum(kept)
    return fed


@task.mistake("answers-not-fed-again", AGAIN)
def questions_again(turns, n_system, limit, keep):
    kept, fed = [], []
    for question, answer in turns:
        room, again = n_system + question + answer + sum(map(sum, kept)), 0
        if room > limit:
            while kept and room > keep:
                room -= sum(kept.pop(0))
            again = sum(asked for asked, _ in kept)
        fed.append(again + question)
        kept.append((question, answer))
    return [fed[0] + n_system, *fed[1:]]
