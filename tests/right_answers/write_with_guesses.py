"""Right answers to write_with_guesses."""

from itertools import takewhile

import torch

from tests.answers import right


@right("id by id, checking end and budget at each")
@torch.no_grad()
def id_by_id(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens:
        ids = [*prompt_ids, *new]
        guesses = guess(ids)
        logits = model(torch.tensor(ids + guesses)[None])[0]
        for i in range(len(guesses) + 1):
            token = int(logits[len(ids) - 1 + i].argmax())
            new.append(token)
            if token == eos_id or len(new) == max_new_tokens:
                break
            if i == len(guesses) or token != guesses[i]:
                break
        if new[-1] == eos_id:
            return new
    return new


@right("guesses cut to the budget, the comparison by cumprod")
def by_cumprod(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    text, left = torch.tensor(list(prompt_ids)), max_new_tokens
    while left > 0:
        guesses = torch.tensor(guess(text.tolist())[: left - 1], dtype=torch.long)
        own = model(torch.cat([text, guesses])[None]).argmax(-1)[0, len(text) - 1 :]
        n = int((own[:-1] == guesses).long().cumprod(0).sum())
        written = own[: n + 1]
        ends = (written == eos_id).nonzero() if eos_id is not None else []
        if len(ends):
            return [*text.tolist(), *written[: int(ends[0]) + 1].tolist()][
                len(prompt_ids) :
            ]
        text, left = torch.cat([text, written]), left - n - 1
    return text.tolist()[len(prompt_ids) :]


@right("the accepted guesses, then the choice")
def with_takewhile(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    def passes():
        ids = list(prompt_ids)
        while True:
            guesses = list(guess(list(ids)))
            after = model(torch.tensor([ids + guesses])).argmax(-1)[0].tolist()
            own = after[len(ids) - 1 :]
            pairs = zip(guesses, own, strict=False)
            accepted = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]
            written = [*accepted, own[len(accepted)]]
            ids += written
            yield from written

    new = []
    if max_new_tokens == 0:
        return new
    for token in passes():
        new.append(token)
        if token == eos_id or len(new) == max_new_tokens:
            return new


@right("each guess a row of its own")
def rows(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    new = []
    while len(new) < max_new_tokens and (eos_id is None or eos_id not in new):
        ids = list(prompt_ids) + new
        guesses = guess(ids)
        n_rows, width = len(guesses) + 1, len(ids) + len(guesses)
        table = torch.zeros(n_rows, width, dtype=torch.long)
        for i in range(n_rows):
            table[i, : len(ids) + i] = torch.tensor(ids + guesses[:i])
        logits = model(table)
        own = [int(logits[i, len(ids) + i - 1].argmax()) for i in range(n_rows)]
        for token, guessed in zip(own, [*guesses, None], strict=True):
            new.append(token)
            if token != guessed:
                break
        if eos_id in new:
            del new[new.index(eos_id) + 1 :]
    return new[:max_new_tokens]
