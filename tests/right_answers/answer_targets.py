"""Right answers to answer_targets."""

import torch

from tests.answers import right


@right("a state machine that looks behind a start mark")
def state_machine(tokens, start_id, end_id, assistant_id):
    targets, state = [], "between"
    for token in tokens.tolist():
        targets.append(token if state == "answer" else -100)
        if token == start_id:
            state = "role"
        elif state == "role":
            state = "answer" if token == assistant_id else "other"
        elif token == end_id:
            state = "between"
    return torch.tensor(targets)[1:]


@right("sums of marks, no loop")
def by_cumsum(tokens, start_id, end_id, assistant_id):
    start, end = tokens == start_id, tokens == end_id
    turn = start.long().cumsum(0)
    closed = end.long().cumsum(0) - end.long()  # before this place
    role = torch.roll(start, 1)
    speaks = torch.cat([torch.tensor([False]), tokens[role] == assistant_id])
    counts = speaks[turn] & (turn > closed) & ~start & ~role
    return torch.where(counts, tokens, -100)[1:]


@right("while, turn by turn")
def turn_by_turn(tokens, start_id, end_id, assistant_id):
    ids, targets, i = tokens.tolist(), [], 0
    while i < len(ids):
        if ids[i] != start_id:
            targets.append(-100)
            i += 1
            continue
        j = ids.index(end_id, i)
        said = ids[i + 2 : j + 1]
        hidden = [-100] * len(said)
        targets += [-100, -100, *(said if ids[i + 1] == assistant_id else hidden)]
        i = j + 1
    return torch.tensor(targets[1:])


@right("targets filled from the right")
def from_the_right(tokens, start_id, end_id, assistant_id):
    targets = torch.full((len(tokens) - 1,), -100)
    ends = (tokens == end_id).nonzero().flatten().tolist()
    for end in ends:
        start = max(i for i in range(end) if tokens[i] == start_id)
        if tokens[start + 1] == assistant_id:
            targets[start + 1 : end] = tokens[start + 2 : end + 1]
    return targets
