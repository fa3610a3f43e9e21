"""Right answers to beam_search, each in its own style."""

import heapq

import torch

from tests.answers import right


@right("lists and sorted")
@torch.no_grad()
def lists(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
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
    return [(ids, score((ids, total))) for ids, total in beams]


@right("all unfinished beams in one batch")
@torch.inference_mode()
def batched(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    prompt = torch.as_tensor(prompt_ids)
    tokens, sums, finished = prompt[None], torch.zeros(1), []
    for step in range(1, max_new_tokens + 1):
        if len(tokens) == 0:
            break
        log_p = torch.log_softmax(model(tokens)[:, -1], dim=-1)
        flat = (sums[:, None] + log_p).flatten()
        best, where = flat.topk(min(n_beams, len(flat)))
        parents, new = where // log_p.shape[-1], where % log_p.shape[-1]
        tokens = torch.cat([tokens[parents], new[:, None]], dim=1)
        scores = best / step**length_penalty
        pool = finished + [(row, s) for row, s in zip(tokens, scores, strict=True)]
        pool = sorted(pool, key=lambda one: -one[1])[:n_beams]
        finished = [one for one in pool if one[0][-1] == eos_id]
        open_rows = [one for one in pool if one[0][-1] != eos_id]
        if not open_rows:
            tokens = tokens[:0]
        else:
            tokens = torch.stack([row for row, _ in open_rows])
            sums = torch.stack([s for _, s in open_rows]) * step**length_penalty
    rows = list(zip(tokens, sums, strict=True)) if len(tokens) else []
    n_new = max(tokens.shape[1] - len(prompt), 1)
    unfinished = [(row, total / n_new**length_penalty) for row, total in rows]
    found = sorted(finished + unfinished, key=lambda one: -one[1])
    return [(row[len(prompt) :].tolist(), float(score)) for row, score in found]


@right("a heap of the best and recursion over steps")
def with_heap(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    prompt = [int(i) for i in prompt_ids]

    def grown(beam):
        _, total, ids = beam
        if ids and ids[-1] == eos_id:
            return [beam]
        with torch.no_grad():
            log_p = model(torch.tensor([prompt + ids]))[0, -1].double().log_softmax(0)
        totals = (total + log_p).tolist()
        share = (len(ids) + 1) ** length_penalty
        return [(t / share, t, ids + [i]) for i, t in enumerate(totals)]

    def search(beams, steps):
        if steps == 0 or all(ids and ids[-1] == eos_id for _, _, ids in beams):
            return beams
        everything = [new for beam in beams for new in grown(beam)]
        return search(heapq.nlargest(n_beams, everything), steps - 1)

    return [(ids, score) for score, _, ids in search([(0.0, 0.0, [])], max_new_tokens)]
