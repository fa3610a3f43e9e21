"""Wrong answers to draw_at."""

import torch

from tests.answers import wrong


@wrong("past-the-last-id")
def searchsorted_right(logits, numbers):
    cdf = torch.cumsum(torch.softmax(logits.double(), dim=-1), dim=-1)
    return torch.searchsorted(cdf, numbers.unsqueeze(1), right=True).squeeze(1)


@wrong("hidden-id-drawn-at-zero")
def searchsorted_left(logits, numbers):
    cdf = torch.cumsum(torch.softmax(logits.double(), dim=-1), dim=-1)
    cdf = cdf / cdf[:, -1:]
    return torch.searchsorted(cdf, numbers[:, None]).squeeze(1)


@wrong("limited-to-a-hidden-id")
def minimum_with_the_last(logits, numbers):
    cdf = logits.softmax(-1).double().cumsum(-1)
    ids = (cdf <= numbers[:, None]).sum(dim=1)
    return torch.minimum(ids, torch.tensor(logits.size(1) - 1))


@wrong("greedy")
def argmax(logits, numbers):
    return torch.stack([row.argmax() for row in logits])


@wrong("order-of-likelihood")
def sorted_rows(logits, numbers):
    out = []
    for row, u in zip(logits.double(), numbers.tolist(), strict=True):
        probs, ids = torch.sort(torch.softmax(row, 0), descending=True)
        total, pick = 0.0, ids[0].item()
        for p, i in zip(probs.tolist(), ids.tolist(), strict=True):
            if p == 0:
                break
            pick = i
            total += p
            if u < total:
                break
        out.append(pick)
    return torch.tensor(out)


@wrong("no-running-sum")
def larger_than_the_number(logits, numbers):
    p = logits.double().softmax(-1)
    return (p > numbers.view(-1, 1)).long().argmax(dim=1)


@wrong("multinomial-on-logits")
def without_softmax(logits, numbers):
    return (torch.cumsum(logits.double(), 1) <= numbers[:, None]).sum(1)


@wrong("one-number-for-all-rows")
def same_number(logits, numbers):
    cdf = logits.double().softmax(-1).cumsum(-1)
    cdf = cdf / cdf[:, -1:]
    return (cdf <= numbers[0]).sum(-1)


@wrong("hidden-id-drawn-at-zero", "past-the-last-id")
def loop_with_both(logits, numbers):
    out = []
    for row, u in zip(logits.softmax(-1), numbers, strict=True):
        total, i = row[0], 0
        while total < u and i < len(row):
            i += 1
            if i < len(row):
                total = total + row[i]
        out.append(i)
    return torch.tensor(out)
