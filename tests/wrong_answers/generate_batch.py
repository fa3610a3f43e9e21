"""Wrong answers to generate_batch, each with its mistake."""

import torch

from tests.answers import wrong


@wrong("right-pad-last-logit")
@torch.no_grad()
def last_column_read(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, new_id in enumerate(logits[:, -1].argmax(-1).tolist()):
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("right-pad-last-logit")
@torch.no_grad()
def last_of_a_padded_sequence(model, prompts, max_new_tokens, eos_id=None):
    rows = [torch.as_tensor(p) for p in prompts]
    for _ in range(max_new_tokens):
        tokens = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
        new = model(tokens, [len(row) for row in rows])[:, -1].argmax(-1, keepdim=True)
        rows = [
            row if eos_id in row[len(p) :].tolist() else torch.cat([row, new_id])
            for row, new_id, p in zip(rows, new, prompts, strict=True)
        ]
    return [row[len(p) :].tolist() for row, p in zip(rows, prompts, strict=True)]


@wrong("tokens-behind-padding")
@torch.no_grad()
def appended_after_the_pads(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, : len(prompt)] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths)
        new = new[torch.arange(len(prompts)), lengths - 1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("left-pad-positions")
@torch.no_grad()
def left_padding_without_lengths(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens)[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    return written


@wrong("left-pad-positions")
@torch.no_grad()
def padded_prompts_count_from_zero(model, prompts, max_new_tokens, eos_id=None):
    width = max(map(len, prompts))
    rows = [[0] * (width - len(p)) + list(p) for p in prompts]
    written = [[] for _ in prompts]
    writing = set(range(len(prompts)))
    for _ in range(max_new_tokens):
        new = model(torch.tensor(rows))[:, -1].argmax(-1).tolist()
        for i, new_id in enumerate(new):
            rows[i].append(new_id)
            if i in writing:
                written[i].append(new_id)
        writing = {i for i in writing if new[i] != eos_id}
        if not writing:
            break
    return written


@wrong("padding-side-mixed-up")
@torch.no_grad()
def side_not_passed(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths)[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("padding-side-mixed-up")
@torch.no_grad()
def right_padding_called_left(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths, side="left")
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("lengths-not-updated")
@torch.no_grad()
def lengths_of_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    return written


@wrong("finished-rows-keep-sampling")
@torch.no_grad()
def all_rows_go_on(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            rows[i].append(new_id)
            written[i].append(new_id)
            finished[i] = finished[i] or new_id == eos_id
        if all(finished):
            break
    return written


@wrong("finished-rows-keep-sampling")
@torch.no_grad()
def text_after_the_end(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id in zip(written, new.tolist(), strict=True):
            row.append(new_id)
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("eos-needs-all-rows-same-step")
@torch.no_grad()
def all_at_this_step(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id in zip(written, new.tolist(), strict=True):
            row.append(new_id)
        if eos_id is not None and (new == eos_id).all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("eos-needs-all-rows-same-step")
@torch.no_grad()
def flags_forgotten_each_step(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    for _ in range(max_new_tokens):
        finished = [False] * len(rows)
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            rows[i].append(new_id)
            written[i].append(new_id)
            finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("stops-at-first-finished-row")
@torch.no_grad()
def any_row_ends_all(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if any(finished):
            break
    return written


@wrong("stops-at-first-finished-row")
@torch.no_grad()
def eos_anywhere_ends_all(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.any():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("padding-returned")
@torch.no_grad()
def finished_rows_write_eos(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            new_id = eos_id if finished[i] else new_id
            rows[i].append(new_id)
            written[i].append(new_id)
            finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("padding-returned")
@torch.no_grad()
def finished_rows_write_zero(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        new = new.masked_fill(finished, 0)
        for row, new_id in zip(written, new.tolist(), strict=True):
            row.append(new_id)
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("eos-dropped")
@torch.no_grad()
def end_not_written(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                finished[i] = new_id == eos_id
                if not finished[i]:
                    written[i].append(new_id)
        if all(finished):
            break
    return written


@wrong("eos-zero-is-falsy")
@torch.no_grad()
def if_eos_id(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("eos-ignored")
@torch.no_grad()
def never_stops_early(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
    return written


@wrong("max-new-tokens-plus-one")
@torch.no_grad()
def one_step_too_many(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens + 1):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("max-new-tokens-plus-one")
@torch.no_grad()
def limit_after_the_step(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    while True:
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all() or max(map(len, written)) > max_new_tokens:
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
        lengths = lengths + 1
    return written


@wrong("padding-found-by-id")
@torch.no_grad()
def zeros_are_pads(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        lengths = (tokens != 0).sum(1)
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    return written


@wrong("prompts-cut-to-shortest")
@torch.no_grad()
def first_tokens_only(model, prompts, max_new_tokens, eos_id=None):
    rows, written = (
        [list(p)[: min(map(len, prompts))] for p in prompts],
        [[] for _ in prompts],
    )
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("rows-not-put-back")
@torch.no_grad()
def sorted_by_length(model, prompts, max_new_tokens, eos_id=None):
    rows, written = sorted((list(p) for p in prompts), key=len), [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("prompt-returned")
@torch.no_grad()
def whole_rows(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return rows


@wrong("first-row-only")
@torch.no_grad()
def row_zero_for_all(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return [written[0] for _ in prompts]


@wrong("input-changed-in-place")
@torch.no_grad()
def extends_the_prompts(model, prompts, max_new_tokens, eos_id=None):
    rows, written = prompts, [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i, n in enumerate(lengths):
            new_id = logits[i, n - 1].argmax().item()
            if not finished[i]:
                rows[i].append(new_id)
                written[i].append(new_id)
                finished[i] = new_id == eos_id
        if all(finished):
            break
    return written


@wrong("context-lost")
@torch.no_grad()
def feeds_only_the_new_ids(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    lengths = torch.tensor([len(p) for p in prompts])
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens):
        new = model(tokens, lengths=lengths, side="left")[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = new.unsqueeze(1)
        lengths = torch.ones_like(lengths)
    return written


@wrong("right-pad-last-logit", "finished-rows-keep-sampling")
@torch.no_grad()
def last_column_and_no_end(model, prompts, max_new_tokens, eos_id=None):
    rows, written = [list(p) for p in prompts], [[] for _ in prompts]
    finished = [False] * len(rows)
    for _ in range(max_new_tokens):
        lengths = [len(row) for row in rows]
        width = max(lengths)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        logits = model(tokens, lengths=lengths)
        for i in range(len(rows)):
            new_id = logits[i, -1].argmax().item()
            rows[i].append(new_id)
            written[i].append(new_id)
            finished[i] = finished[i] or new_id == eos_id
        if all(finished):
            break
    return written


@wrong("left-pad-positions", "max-new-tokens-plus-one")
@torch.no_grad()
def unmasked_and_too_long(model, prompts, max_new_tokens, eos_id=None):
    width = max(len(p) for p in prompts)
    tokens = torch.zeros(len(prompts), width, dtype=torch.long)
    for i, prompt in enumerate(prompts):
        tokens[i, width - len(prompt) :] = torch.tensor(prompt)
    finished = torch.zeros(len(prompts), dtype=torch.bool)
    written = [[] for _ in prompts]
    for _ in range(max_new_tokens + 1):
        new = model(tokens)[:, -1].argmax(dim=-1)
        for row, new_id, ended in zip(written, new, finished, strict=True):
            if not ended:
                row.append(int(new_id))
        if eos_id is not None:
            finished |= new == eos_id
        if finished.all():
            break
        tokens = torch.cat([tokens, new.unsqueeze(1)], dim=1)
    return written
