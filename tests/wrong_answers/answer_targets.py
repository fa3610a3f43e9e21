"""Wrong answers to answer_targets."""

import torch

from tests.answers import wrong


def spans(tokens, start_id, end_id, assistant_id):
    """(start mark, end mark) of every answer."""
    ids, found = tokens.tolist(), []
    for i, token in enumerate(ids):
        if token == start_id and ids[i + 1] == assistant_id:
            found.append((i, ids.index(end_id, i)))
    return found


@wrong("questions-learned")
def from_the_first_start(tokens, start_id, end_id, assistant_id):
    targets = tokens[1:].clone()
    ids = tokens.tolist()
    begin = len(ids)
    for i in range(len(ids) - 1):
        if ids[i] == start_id and ids[i + 1] == assistant_id:
            begin = i + 1
            break
    targets[:begin] = -100
    return targets


@wrong("only-one-answer-learned")
def last_assistant(tokens, start_id, end_id, assistant_id):
    targets = torch.full_like(tokens, -100)
    for i, j in spans(tokens, start_id, end_id, assistant_id)[-1:]:
        targets[i + 2 : j + 1] = tokens[i + 2 : j + 1]
    return targets[1:]


@wrong("end-not-learned")
def slice_ends_early(tokens, start_id, end_id, assistant_id):
    targets = torch.full_like(tokens, -100)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 2 : j] = tokens[i + 2 : j]
    return targets[1:]


@wrong("word-for-role")
def state_machine(tokens, start_id, end_id, assistant_id):
    targets, on = [], False
    for token in tokens.tolist():
        targets.append(token if on else -100)
        if token == assistant_id:
            on = True
        elif token == end_id:
            on = False
    return torch.tensor(targets[1:])


@wrong("word-for-role")
def every_assistant(tokens, start_id, end_id, assistant_id):
    ids = tokens.tolist()
    targets = [-100] * len(ids)
    for i, token in enumerate(ids):
        if token == assistant_id:
            j = ids.index(end_id, i)
            targets[i + 1 : j + 1] = ids[i + 1 : j + 1]
    return torch.tensor(targets[1:])


@wrong("role-learned")
def starts_at_the_role(tokens, start_id, end_id, assistant_id):
    targets = torch.full_like(tokens, -100)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 1 : j + 1] = tokens[i + 1 : j + 1]
    return targets[1:]


@wrong("labels-not-shifted")
def same_places(tokens, start_id, end_id, assistant_id):
    targets = torch.full_like(tokens, -100)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 2 : j + 1] = tokens[i + 2 : j + 1]
    return targets[:-1]


@wrong("counts-not-shifted")
def mask_not_shifted(tokens, start_id, end_id, assistant_id):
    mask = torch.zeros(len(tokens), dtype=torch.bool)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        mask[i + 2 : j + 1] = True
    targets = tokens[1:].clone()
    targets[~mask[:-1]] = -100
    return targets


@wrong("ignore-index-mismatch")
def zero_for_ignored(tokens, start_id, end_id, assistant_id):
    targets = torch.zeros_like(tokens)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 2 : j + 1] = tokens[i + 2 : j + 1]
    return targets[1:]


@wrong("line-break-learned")
def to_the_next_start(tokens, start_id, end_id, assistant_id):
    start = tokens == start_id
    role = torch.roll(start, 1)
    turn = start.long().cumsum(0) - 1
    speaks = tokens[role] == assistant_id
    counts = speaks[turn] & ~start & ~role
    return torch.where(counts, tokens, -100)[1:]


@wrong("others-learned")
def the_other_side(tokens, start_id, end_id, assistant_id):
    targets = tokens.clone()
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 2 : j + 1] = -100
    return targets[1:]


@wrong("everything-learned")
def all_of_it(tokens, start_id, end_id, assistant_id):
    return tokens[1:].clone()


@wrong("decoder-input-has-ignore-index")
def writes_into_the_tokens(tokens, start_id, end_id, assistant_id):
    keep = torch.zeros(len(tokens), dtype=torch.bool)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        keep[i + 2 : j + 1] = True
    tokens[~keep] = -100
    return tokens[1:]


@wrong("role-learned", "end-not-learned")
def two_slips(tokens, start_id, end_id, assistant_id):
    targets = torch.full_like(tokens, -100)
    for i, j in spans(tokens, start_id, end_id, assistant_id):
        targets[i + 1 : j] = tokens[i + 1 : j]
    return targets[1:]
