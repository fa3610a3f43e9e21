"""What goes wrong in answer_targets: whose words count when a chat is trained."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def answer_targets(tokens, start_id, end_id, assistant_id):
    ids, found = tokens.tolist(), []
    for place, token in enumerate(ids):
        *_, turn = cut(ids[:place], start_id)  # what stands before it in its turn
        said = turn[:1] == [assistant_id] and end_id not in turn
        found.append(token if said else -100)
    return torch.tensor(found[1:])


def cut(ids, mark):
    """Cut a list at every mark; what stands before the first one says nothing."""
    parts = [[]]
    for token in ids:
        parts.append([]) if token == mark else parts[-1].append(token)
    return [[], *parts[1:]]


def use(answer, tokens, start_id, end_id, assistant_id) -> list | dict:
    """Call it on a tensor of the ids; read the targets, and ids that it has changed."""
    given = torch.tensor(tokens)
    found = written(answer(given, start_id, end_id, assistant_id))
    targets = torch.as_tensor(found).tolist()
    if given.tolist() == tokens:
        return targets
    return {"targets": targets, "tokens afterwards": given.tolist()}


task = Task(
    "answer_targets",
    asks="(position - 1,): the next token where the assistant says it, its end mark "
    "included, and -100 elsewhere.",
    lesson="13_chat",
    reference=answer_targets,
    use=use,
    read="1. Who speaks",
)

ASKS = "Who says the words behind the first answer?"
ALL = "How many answers are there, and which of them are to be learned?"
END = "Who ends an answer, and from what should the model learn it?"
WORD = "The user writes the word assistant: who speaks then?"
ROLE = "Who writes the mark and the role of a turn: the model, or the template?"
PLACE = "Target t is for what comes after token t: which token is that?"
BREAK = "Whose turn is it behind an end mark?"
IGNORED = "Which number does the loss leave out?"
START, STOP, SYSTEM, USER, ASSISTANT, LINE = 1, 2, 3, 4, 5, 6
MARKS = START, STOP, ASSISTANT


@task.inputs
def probes(draw: Draw):
    def said(role, n, *more):
        ids = [*(10 + draw.ints(0, 40, n)).tolist(), *more]
        order = draw.order(len(ids)).tolist()
        return [START, role, *(ids[i] for i in order), STOP]

    def talk(*turns, between=()):
        return [token for turn in turns for token in [*turn, *between]]

    def pair(n, m):
        return said(USER, n), said(ASSISTANT, m)

    yield Probe("one question, one answer", talk(*pair(1, 2)), *MARKS)
    yield Probe("two of each", talk(*pair(1, 2), *pair(1, 1)), *MARKS)
    lines = talk(said(SYSTEM, 3), *pair(2, 2), *pair(3, 1), between=[LINE])
    yield Probe("line breaks between turns", lines, *MARKS)
    asked = said(USER, 2, ASSISTANT)
    named = talk(asked, said(ASSISTANT, 2), said(USER, 1), said(ASSISTANT, 1))
    yield Probe("the user writes the word assistant", named, *MARKS)
    own = talk(said(USER, 1), said(ASSISTANT, 3, ASSISTANT, USER), *pair(1, 2))
    yield Probe("the assistant writes both words", own, *MARKS)
    yield Probe("an empty answer", talk(*pair(2, 0), *pair(0, 2)), *MARKS)
    yield Probe("nobody answers", talk(said(SYSTEM, 2), said(USER, 3)), *MARKS)
    turns = [turn for _ in range(4) for turn in pair(draw.size(1, 6), draw.size(1, 6))]
    yield Probe("a long talk", talk(said(SYSTEM, 5), *turns, between=[LINE]), *MARKS)
    other = [token + 7 for token in talk(*pair(2, 3), *pair(1, 4))]
    yield Probe("other ids for the marks", other, START + 7, STOP + 7, ASSISTANT + 7)
    yield Probe("the assistant begins", talk(said(ASSISTANT, 2), *pair(2, 2)), *MARKS)


@task.property("ends-are-learned", END)
def ends_are_learned(values) -> bool:
    return values["two of each"].count(STOP) >= 2


@task.property("questions-are-not-learned", ASKS)
def questions_are_not_learned(values) -> bool:
    targets = values["nobody answers"]
    return targets.count(-100) == len(targets)


def marked(tokens, start_id, end_id, assistant_id, first=2, last=1, which=slice(None)):
    """Say which tokens count, from place `first` of an answer to `last` after its end."""
    counts = torch.zeros(len(tokens), dtype=torch.bool)
    starts = (tokens == start_id).nonzero()[:, 0].tolist()
    for start in [i for i in starts if tokens[i + 1] == assistant_id][which]:
        end = start + tokens[start:].tolist().index(end_id)
        counts[start + first : end + last] = True
    return counts


def shifted(tokens, counts):
    """Turn what counts into targets."""
    return tokens.where(counts, torch.tensor(-100))[1:]


@task.mistake("questions-learned", ASKS)
def as_published(tokens, start_id, end_id, assistant_id):
    targets = tokens[1:].clone()
    targets[: tokens.tolist().index(assistant_id)] = -100
    return targets


@task.mistake("questions-learned", ASKS)
def all_from_the_first_answer(tokens, *marks):
    counts = marked(tokens, *marks)
    return shifted(tokens, counts.cumsum(0) > 0)


@task.mistake("everything-learned", ASKS)
def nothing_hidden(tokens, *marks):
    return tokens[1:]


@task.mistake("only-one-answer-learned", ALL)
def last_answer(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, which=slice(-1, None)))


@task.mistake("only-one-answer-learned", ALL)
def first_answer(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, which=slice(1)))


@task.mistake("end-not-learned", END)
def without_the_end(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, last=0))


@task.mistake("line-break-learned", BREAK)
def one_more(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, last=2))


@task.mistake("line-break-learned", BREAK)
def up_to_the_next_turn(tokens, start_id, end_id, assistant_id):
    starts = (tokens == start_id).nonzero()[:, 0].tolist()
    counts = torch.zeros(len(tokens), dtype=torch.bool)
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        counts[start + 2 : end] = tokens[start + 1] == assistant_id
    return shifted(tokens, counts)


@task.mistake("role-learned", ROLE)
def with_the_role(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, first=1))


@task.mistake("role-learned", ROLE)
def with_mark_and_role(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, first=0))


@task.mistake("first-word-not-learned", "From which token on does the assistant speak?")
def one_token_late(tokens, *marks):
    return shifted(tokens, marked(tokens, *marks, first=3))


def by_switch(tokens, start_id, end_id, assistant_id, keep_on=False):
    """Switch on at the word assistant, wherever it stands, and off at an end mark."""
    found, on = [], False
    for token in tokens.tolist():
        found.append(on and (keep_on or token != assistant_id))
        on = (on or token == assistant_id) and token != end_id
    return torch.tensor(found)


@task.mistake("word-for-role", WORD)
def switched_on_by_the_word(tokens, *marks):
    return shifted(tokens, by_switch(tokens, *marks, keep_on=True))


@task.mistake("word-for-role", WORD)
def word_never_learned(tokens, *marks):
    return shifted(tokens, by_switch(tokens, *marks))


@task.mistake("labels-not-shifted", PLACE)
def same_place(tokens, *marks):
    return tokens.where(marked(tokens, *marks), torch.tensor(-100))[:-1]


@task.mistake("labels-shifted-twice", PLACE)
def two_places(tokens, *marks):
    targets = shifted(tokens, marked(tokens, *marks))
    return torch.cat([targets[1:], torch.tensor([-100])])


@task.mistake("counts-not-shifted", "Are targets and what counts moved alike?")
def tokens_shifted_only(tokens, *marks):
    return tokens[1:].where(marked(tokens, *marks)[:-1], torch.tensor(-100))


@task.mistake("ignore-index-mismatch", IGNORED)
def zeros(tokens, *marks):
    return tokens.where(marked(tokens, *marks), torch.tensor(0))[1:]


@task.mistake("ignore-index-mismatch", IGNORED)
def minus_one(tokens, *marks):
    return tokens.where(marked(tokens, *marks), torch.tensor(-1))[1:]


@task.mistake("others-learned", "Whose words are to be learned?")
def everybody_but_the_assistant(tokens, *marks):
    return shifted(tokens, ~marked(tokens, *marks))


@task.mistake(
    "decoder-input-has-ignore-index",
    "Which tensor may hold -100: the targets, or what is fed?",
)
def written_into_the_tokens(tokens, *marks):
    tokens[~marked(tokens, *marks)] = -100
    return tokens[1:]


@task.mistake(
    "decoder-input-has-ignore-index",
    "Which tensor may hold -100: the targets, or what is fed?",
)
def written_through_a_view(tokens, *marks):
    targets = tokens[1:]
    targets[~marked(tokens, *marks)[1:]] = -100
    return targets


@task.mistake("labels-not-shifted", PLACE)
def as_many_as_tokens(tokens, *marks):
    return tokens.where(marked(tokens, *marks), torch.tensor(-100))


@task.mistake(
    "turns-counted", "A system may speak first: how do you know whose turn it is?"
)
def every_second_turn(tokens, start_id, end_id, assistant_id):
    counts = torch.zeros(len(tokens), dtype=torch.bool)
    starts, ends = ((tokens == mark).nonzero()[:, 0] for mark in (start_id, end_id))
    for start, end in list(zip(starts, ends, strict=True))[1::2]:
        counts[start + 2 : end + 1] = True
    return shifted(tokens, counts)
