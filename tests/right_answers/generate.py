"""Right answers to generate, each in its own style."""

import numpy as np
import torch

from tests.answers import right


@right("a tensor that grows")
@torch.no_grad()
def growing(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    tokens = torch.as_tensor(prompt_ids).reshape(1, -1)
    new = []
    for _ in range(max_new_tokens):
        logits = model(tokens)[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        tokens = torch.cat([tokens, chosen.view(1, 1)], dim=1)
        new.append(int(chosen))
        if new[-1] == eos_id:
            break
    return new


@right("a list and a while loop")
def with_lists(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, end = list(prompt_ids), len(prompt_ids) + max_new_tokens
    while len(ids) < end:
        with torch.inference_mode():
            last = model(torch.tensor([ids]))[0, -1:]
            choose = sampler or (lambda logits: torch.argmax(logits, dim=-1))
            ids.append(choose(last).item())
        if eos_id is not None and ids[-1] == eos_id:
            break
    return ids[len(prompt_ids) :]


@right("a buffer, read at the place before the next id")
@torch.inference_mode()
def buffered(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    n = len(prompt_ids)
    tokens = torch.zeros(1, n + max_new_tokens, dtype=torch.long)
    tokens[0, :n] = torch.as_tensor(prompt_ids)
    for place in range(n, n + max_new_tokens):
        logits = model(tokens[:, :place])[:, place - 1, :]
        if sampler is None:
            tokens[0, place] = torch.max(logits, dim=-1).indices
        else:
            tokens[0, place] = sampler(logits)
        if int(tokens[0, place]) == eos_id:
            return tokens[0, n : place + 1].tolist()
    return tokens[0, n:].tolist()


@right("recursion")
def recursive(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    if max_new_tokens == 0:
        return []
    prompt = [int(i) for i in prompt_ids]
    with torch.no_grad():
        logits = model(torch.tensor(prompt)[None])[:, -1]
        new = int(sampler(logits)[0]) if sampler else int(logits[0].argmax())
    if new == eos_id:
        return [new]
    rest = recursive(model, prompt + [new], max_new_tokens - 1, sampler, eos_id)
    return [new, *rest]


@right("a generator and numpy's argmax")
def yielded(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    def write(ids):
        for _ in range(max_new_tokens):
            with torch.no_grad():
                logits = model(torch.tensor([ids]))[:, -1]
            new = np.argmax(logits.numpy()) if sampler is None else sampler(logits)
            ids = ids + [int(new)]
            yield ids[-1]
            if ids[-1] == eos_id:
                return

    return list(write([int(i) for i in prompt_ids]))
