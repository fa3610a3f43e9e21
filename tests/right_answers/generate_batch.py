"""Right answers to generate_batch, each in its own style."""

import torch
from torch.nn.utils.rnn import pad_sequence

from tests.answers import right


@right("each row alone")
@torch.no_grad()
def alone(model, prompts, max_new_tokens, eos_id=None):
    written = []
    for prompt in prompts:
        ids, new = list(prompt), []
        while len(new) < max_new_tokens and (not new or new[-1] != eos_id):
            new.append(int(model(torch.tensor([ids + new]))[0, -1].argmax()))
        written.append(new)
    return written


@right("padded on the right, last real place read")
@torch.no_grad()
def right_padded(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    done = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = torch.tensor([len(row) for row in rows])
        tokens = torch.zeros(len(rows), int(lengths.max()), dtype=torch.long)
        for i, row in enumerate(rows):
            tokens[i, : len(row)] = torch.tensor(row)
        logits = model(tokens, lengths=lengths)
        new = logits[torch.arange(len(rows)), lengths - 1].argmax(-1).tolist()
        for i, new_id in enumerate(new):
            if not done[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                done[i] = new_id == eos_id
        if all(done):
            break
    return written


@right("padded on the left, last place read")
@torch.inference_mode()
def left_padded(model, prompts, max_new_tokens, eos_id=None):
    lengths = torch.tensor([len(p) for p in prompts])
    width = int(lengths.max())
    tokens = torch.stack(
        [torch.tensor([0] * (width - len(p)) + list(p)) for p in prompts]
    )
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(-1)
        tokens = torch.cat([tokens, new[:, None]], dim=1)
        lengths = lengths + 1
    written = tokens[:, width:].tolist()
    if eos_id is None:
        return written
    return [row[: row.index(eos_id) + 1] if eos_id in row else row for row in written]


@right("right padding without lengths (A12: real queries never see it)")
@torch.no_grad()
def no_padding_mask(model, prompts, max_new_tokens, eos_id=None):
    rows = [torch.as_tensor(p) for p in prompts]
    writing = list(range(len(rows)))
    for _ in range(max_new_tokens):
        if not writing:
            break
        tokens = pad_sequence([rows[i] for i in writing], batch_first=True)
        last = torch.tensor([len(rows[i]) - 1 for i in writing])
        logits = model(tokens)
        new = logits.gather(1, last[:, None, None].expand(-1, 1, logits.shape[-1]))
        new = new[:, 0].argmax(dim=-1)
        for i, new_id in zip(writing, new, strict=True):
            rows[i] = torch.cat([rows[i], new_id[None]])
        writing = [i for i in writing if int(rows[i][-1]) != eos_id]
    return [r[len(p) :].tolist() for r, p in zip(rows, prompts, strict=True)]


@right("finished rows leave the batch")
@torch.no_grad()
def shrinking(model, prompts, max_new_tokens, eos_id=None):
    rows = {i: list(p) for i, p in enumerate(prompts)}
    finished = {}
    for _ in range(max_new_tokens):
        if not rows:
            break
        n = max(map(len, rows.values()))
        tokens = torch.tensor([[1] * (n - len(r)) + r for r in rows.values()])
        logits = model(tokens, [len(r) for r in rows.values()], "left")
        for i, scores in zip(list(rows), logits[:, -1], strict=True):
            rows[i] = [*rows[i], scores.argmax().item()]
            if rows[i][-1] == eos_id:
                finished[i] = rows.pop(i)
    done = {**finished, **rows}
    return [done[i][len(p) :] for i, p in enumerate(prompts)]
