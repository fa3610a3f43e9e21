"""Wrong answers to generate, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("max-new-tokens-plus-one")
@torch.no_grad()
def checks_after_appending(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    ids, new = list(prompt_ids), []
    while True:
        logits = model(torch.tensor([ids]))[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        ids.append(chosen.item())
        new.append(chosen.item())
        if new[-1] == eos_id or len(new) > max_new_tokens:
            return new


@wrong("max-new-tokens-plus-one")
@torch.no_grad()
def first_id_before_the_loop(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    def choose(tokens):
        logits = model(tokens)[:, -1]
        return logits.argmax(-1) if sampler is None else sampler(logits)

    tokens = torch.as_tensor(prompt_ids)[None]
    new = [int(choose(tokens))]
    for _ in range(max_new_tokens):
        if new[-1] == eos_id:
            break
        tokens = torch.cat([tokens, torch.tensor([[new[-1]]])], dim=1)
        new.append(int(choose(tokens)))
    return new


@wrong("budget-counts-prompt")
@torch.no_grad()
def total_length(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids = list(prompt_ids)
    while len(ids) < max_new_tokens:
        logits = model(torch.tensor([ids]))[:, -1]
        ids.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        if ids[-1] == eos_id:
            break
    return ids[len(prompt_ids) :]


@wrong("eos-dropped")
@torch.no_grad()
def breaks_before_appending(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    tokens, new = torch.as_tensor(prompt_ids)[None], []
    for _ in range(max_new_tokens):
        logits = model(tokens)[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        if chosen.item() == eos_id:
            break
        new.append(chosen.item())
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
    return new


@wrong("eos-dropped")
@torch.no_grad()
def cuts_at_eos(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids]))[:, -1]
        ids.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
    new = ids[len(prompt_ids) :]
    return new[: new.index(eos_id)] if eos_id in new else new


@wrong("eos-ignored")
@torch.no_grad()
def never_stops_early(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids]))[:, -1]
        ids.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
    return ids[len(prompt_ids) :]


@wrong("eos-zero-is-falsy")
@torch.no_grad()
def if_eos_id(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        new.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        if eos_id and new[-1] == eos_id:
            break
    return new


@wrong("eos-looked-for-in-prompt")
@torch.no_grad()
def eos_anywhere(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids = list(prompt_ids)
    while eos_id not in ids and len(ids) < len(prompt_ids) + max_new_tokens:
        logits = model(torch.tensor([ids]))[:, -1]
        ids.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
    return ids[len(prompt_ids) :]


@wrong("prompt-returned")
@torch.no_grad()
def whole_row(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    tokens = torch.as_tensor(prompt_ids)[None]
    for _ in range(max_new_tokens):
        logits = model(tokens)[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        if chosen.item() == eos_id:
            break
    return tokens[0].tolist()


@wrong("greedy-samples")
@torch.no_grad()
def draws_without_a_sampler(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        if sampler is None:
            chosen = torch.multinomial(logits.softmax(-1), 1)[0]
        else:
            chosen = sampler(logits)
        new.append(int(chosen))
        if new[-1] == eos_id:
            break
    return new


@wrong("multinomial-on-logits")
@torch.no_grad()
def draws_from_logits(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        if sampler is None:
            chosen = torch.multinomial(logits.relu() + 1e-9, 1)
        else:
            chosen = sampler(logits)
        new.append(int(chosen))
        if new[-1] == eos_id:
            break
    return new


@wrong("sampler-ignored")
@torch.no_grad()
def always_greedy(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        new.append(model(torch.tensor([ids + new]))[0, -1].argmax().item())
        if new[-1] == eos_id:
            break
    return new


@wrong("sampler-gets-probabilities")
@torch.no_grad()
def softmax_first(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        best = logits.argmax(-1)
        new.append(int(best if sampler is None else sampler(logits.softmax(-1))))
        if new[-1] == eos_id:
            break
    return new


@wrong("context-lost")
@torch.no_grad()
def feeds_only_the_new_id(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    tokens, new = torch.as_tensor(prompt_ids)[None], []
    for _ in range(max_new_tokens):
        logits = model(tokens)[:, -1]
        tokens = (logits.argmax(-1) if sampler is None else sampler(logits))[None]
        new.append(tokens.item())
        if new[-1] == eos_id:
            break
    return new


@wrong("context-lost")
@torch.no_grad()
def prompt_never_extended(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    tokens, new = torch.as_tensor(prompt_ids)[None], []
    for _ in range(max_new_tokens):
        logits = model(tokens)[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        new.append(chosen.item())
        torch.cat([tokens, chosen[:, None]], dim=1)
        if new[-1] == eos_id:
            break
    return new


@wrong("wrong-position-read")
@torch.no_grad()
def reads_the_first(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, 0]
        new.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        if new[-1] == eos_id:
            break
    return new


@wrong("wrong-position-read")
@torch.no_grad()
def reads_where_the_prompt_ends(
    model, prompt_ids, max_new_tokens, sampler=None, eos_id=None
):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, len(prompt_ids) - 1]
        new.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        if new[-1] == eos_id:
            break
    return new


@wrong("right-pad-last-logit")
@torch.no_grad()
def end_of_the_buffer(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    n = len(prompt_ids)
    tokens = torch.zeros(1, n + max_new_tokens, dtype=torch.long)
    tokens[0, :n] = torch.as_tensor(prompt_ids)
    for i in range(n, n + max_new_tokens):
        logits = model(tokens)[:, -1]
        tokens[0, i] = logits.argmax(-1) if sampler is None else sampler(logits)
        if tokens[0, i] == eos_id:
            return tokens[0, n : i + 1].tolist()
    return tokens[0, n:].tolist()


@wrong("ties-to-the-highest-id")
@torch.no_grad()
def last_of_equals(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        best = (logits[0] == logits.max()).nonzero()[-1]
        new.append(int(best if sampler is None else sampler(logits)))
        if new[-1] == eos_id:
            break
    return new


@wrong("ties-to-the-highest-id")
@torch.no_grad()
def last_after_sorting(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        if sampler is None:
            new.append(logits[0].argsort(stable=True)[-1].item())
        else:
            new.append(sampler(logits).item())
        if new[-1] == eos_id:
            break
    return new


@wrong("smallest-logit-chosen")
@torch.no_grad()
def argmin(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        new.append(
            int(logits.argsort(-1)[0, 0] if sampler is None else sampler(logits))
        )
        if new[-1] == eos_id:
            break
    return new


@wrong("input-changed-in-place")
@torch.no_grad()
def appends_to_the_prompt(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    n = len(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([prompt_ids]))[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        prompt_ids.append(int(chosen))
        if prompt_ids[-1] == eos_id:
            break
    return prompt_ids[n:]


@wrong("kv-not-reset")
@torch.no_grad()
def remembers_the_last_call(
    model,
    prompt_ids,
    max_new_tokens,
    sampler=None,
    eos_id=None,
    context=[],  # noqa: B006
):
    context += list(prompt_ids)
    new = []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([context[-40:]]))[:, -1]
        new.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        context.append(new[-1])
        if new[-1] == eos_id:
            break
    return new


@wrong("kv-graph-retained")
def gradients_stay_on(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids, new = list(prompt_ids), []
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids + new]))[:, -1]
        new.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
        if new[-1] == eos_id:
            break
    return new


@wrong("eos-dropped", "max-new-tokens-plus-one")
@torch.no_grad()
def two_ends_wrong(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    tokens, new = torch.as_tensor(prompt_ids)[None], []
    while len(new) <= max_new_tokens:
        logits = model(tokens)[:, -1]
        chosen = logits.argmax(-1) if sampler is None else sampler(logits)
        if chosen.item() == eos_id:
            break
        new.append(chosen.item())
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
    return new


@wrong("prompt-returned", "eos-ignored")
@torch.no_grad()
def whole_row_without_end(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids]))[:, -1]
        ids.append(int(logits.argmax(-1) if sampler is None else sampler(logits)))
    return ids
