"""Wrong answers to beam_search, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("beam-identical-start")
@torch.no_grad()
def all_beams_start_alike(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)] * n_beams
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-identical-start")
@torch.no_grad()
def copies_of_the_prompt(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    n = len(prompt_ids)
    tokens = torch.as_tensor(prompt_ids).repeat(n_beams, 1)
    sums, lengths = torch.zeros(n_beams), torch.zeros(n_beams)
    for _ in range(max_new_tokens):
        ended = (tokens[:, -1] == eos_id) & (lengths > 0)
        log_p = model(tokens)[:, -1].log_softmax(-1)
        log_p[ended] = -torch.inf
        log_p[ended, eos_id] = 0.0
        grown = (lengths + (~ended).float())[:, None].expand_as(log_p)
        totals = sums[:, None] + log_p
        best = (totals / grown**length_penalty).flatten().topk(n_beams).indices
        sums, lengths = totals.flatten()[best], grown.flatten()[best]
        parents, new = best // log_p.shape[-1], best % log_p.shape[-1]
        tokens = torch.cat([tokens[parents], new[:, None]], dim=1)
    scores = sums / lengths.clamp(min=1) ** length_penalty
    return [
        (row[n : n + int(length)].tolist(), score.item())
        for row, length, score in zip(tokens, lengths, scores, strict=True)
    ]


@wrong("beam-adds-probabilities")
@torch.no_grad()
def sums_probabilities(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-adds-probabilities")
@torch.no_grad()
def sums_raw_logits(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = model(tokens[None])[0, -1]
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("beam-multiplies-log-probabilities")
@torch.no_grad()
def product_of_logs(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, -1.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, -abs(total * value.item()), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("beam-length-norm-cancels")
@torch.no_grad()
def length_of_the_step(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(step, 1) ** length_penalty

    step = 0
    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates, step = [], step + 1
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-length-norm-cancels")
@torch.no_grad()
def longest_length_for_all(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: beam[1], reverse=True)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    longest = max(n_new for _, _, n_new in beams)
    return [
        (tokens[n_prompt:].tolist(), total / max(longest, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("length-penalty-ignored")
@torch.no_grad()
def plain_sums(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    def score(beam):
        return beam[1]

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("length-penalty-ignored")
@torch.no_grad()
def always_the_mean(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2])
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1))
        for tokens, total, n_new in beams
    ]


@wrong("length-penalty-only-at-the-end")
@torch.no_grad()
def pruned_by_sums(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1])
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    scored = [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]
    return sorted(scored, key=lambda one: -one[1])


@wrong("length-penalty-multiplies")
@torch.no_grad()
def times_the_length(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] * max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("length-counts-prompt")
@torch.no_grad()
def whole_row_counts(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / len(beam[0]) ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / len(tokens) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("length-without-eos")
@torch.no_grad()
def end_not_counted(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        n = len([i for i in beam[0] if i != eos_id])
        return beam[1] / max(n, 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-stops-at-first-eos")
@torch.no_grad()
def any_finished_beam_ends(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if any(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-stops-at-first-eos")
@torch.no_grad()
def best_beam_finished(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if int(beams[0][0][-1]) == eos_id:
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("beam-expands-after-eos")
@torch.no_grad()
def no_end(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-expands-after-eos")
@torch.no_grad()
def finished_ones_grow_on(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = []
        for tokens, total, n_new in beams:
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("finished-beams-lost")
@torch.no_grad()
def finished_not_kept(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        if not candidates:
            break
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("eos-dropped")
@torch.no_grad()
def end_cut_off(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [
        ([i for i in ids if i != eos_id], score((ids, total))) for ids, total in beams
    ]


@wrong("max-new-tokens-plus-one")
@torch.no_grad()
def one_step_too_many(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens + 1):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("prompt-returned")
@torch.no_grad()
def whole_rows(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    prompt = torch.as_tensor(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens.tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("context-lost")
@torch.no_grad()
def prompt_forgotten(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([ids or list(prompt_ids)]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("worst-first")
@torch.no_grad()
def ascending(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return sorted(
        [(ids, score((ids, total))) for ids, total in beams], key=lambda b: b[1]
    )


@wrong("worst-first")
@torch.no_grad()
def keeps_the_worst(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("one-child-per-beam")
@torch.no_grad()
def greedy_children(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(1 if n_new else n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (tokens[n_prompt:].tolist(), total / max(n_new, 1) ** length_penalty)
        for tokens, total, n_new in beams
    ]


@wrong("score-not-accumulated")
@torch.no_grad()
def last_log_probability(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("score-not-normalised")
@torch.no_grad()
def sum_returned(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, total) for ids, total in beams]


@wrong("score-is-probability")
@torch.no_grad()
def exponential_returned(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    one = torch.tensor(1.0)
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1] / beam[2] ** length_penalty)
        beams = found[:n_beams]
        if all(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [
        (
            tokens[n_prompt:].tolist(),
            float(torch.exp(one * total / max(n_new, 1) ** length_penalty)),
        )
        for tokens, total, n_new in beams
    ]


@wrong("only-best-returned")
@torch.no_grad()
def single_answer(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total))
                continue
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.log_softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(ids, score((ids, total))) for ids, total in beams[:1]]


@wrong("beam-parents-ignored")
@torch.no_grad()
def tokens_stay_with_their_row(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    n, tokens = len(prompt_ids), torch.as_tensor(prompt_ids)[None]
    sums = torch.zeros(1)
    for _ in range(max_new_tokens):
        log_p = model(tokens)[:, -1].log_softmax(-1)
        flat = (sums[:, None] + log_p).flatten()
        sums, best = flat.topk(min(n_beams, len(flat)))
        tokens = tokens.repeat(n_beams, 1)[: len(best)]
        tokens = torch.cat([tokens, (best % log_p.shape[-1])[:, None]], dim=1)
        if (tokens[:, -1] == eos_id).all():
            break
    n_new = max(tokens.shape[1] - n, 1)
    scores = (sums / n_new**length_penalty).tolist()
    return list(zip(tokens[:, n:].tolist(), scores, strict=True))


@wrong("greedy-instead-of-beams")
@torch.no_grad()
def one_beam(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    ids, total = list(prompt_ids), 0.0
    for _ in range(max_new_tokens):
        log_p = model(torch.tensor([ids]))[0, -1].log_softmax(-1)
        ids.append(int(log_p.argmax()))
        total += log_p.max().item()
        if ids[-1] == eos_id:
            break
    new = ids[len(prompt_ids) :]
    return [(new, total / max(len(new), 1) ** length_penalty)] * n_beams


@wrong("beam-expands-after-eos", "beam-adds-probabilities")
@torch.no_grad()
def grows_on_with_probabilities(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    def score(beam):
        return beam[1] / max(len(beam[0]), 1) ** length_penalty

    beams = [([], 0.0)]
    for _ in range(max_new_tokens):
        candidates = []
        for ids, total in beams:
            logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
            for new_id, log_p in enumerate(logits.softmax(-1).tolist()):
                candidates.append((ids + [new_id], total + log_p))
        beams = sorted(candidates, key=score, reverse=True)[:n_beams]
    return [(ids, score((ids, total))) for ids, total in beams]


@wrong("beam-stops-at-first-eos", "length-penalty-ignored")
@torch.no_grad()
def first_end_and_plain_sums(
    model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0
):
    prompt, n_prompt = torch.as_tensor(prompt_ids), len(prompt_ids)
    beams = [(prompt, 0.0, 0)]
    for _ in range(max_new_tokens):
        found = [beam for beam in beams if beam[2] and int(beam[0][-1]) == eos_id]
        for tokens, total, n_new in beams:
            if n_new and int(tokens[-1]) == eos_id:
                continue
            scores = torch.log_softmax(model(tokens[None])[0, -1], dim=-1)
            best = scores.topk(min(n_beams, len(scores)))
            for value, new in zip(best.values, best.indices, strict=True):
                longer = torch.cat([tokens, new[None]])
                found.append((longer, total + value.item(), n_new + 1))
        found.sort(key=lambda beam: -beam[1])
        beams = found[:n_beams]
        if any(int(tokens[-1]) == eos_id for tokens, _, _ in beams):
            break
    return [(tokens[n_prompt:].tolist(), total) for tokens, total, n_new in beams]
