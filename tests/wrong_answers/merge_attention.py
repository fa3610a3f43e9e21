"""Wrong answers to merge_attention."""

import torch

from tests.answers import wrong


@wrong("mean-of-means")
def average(outputs, log_sums):
    return torch.mean(outputs, dim=0)


@wrong("mean-of-means")
def average_of_those_that_read(outputs, log_sums):
    ok = (log_sums != float("-inf")).unsqueeze(-1)
    total = torch.where(ok, outputs, torch.zeros_like(outputs)).sum(0)
    return total / ok.sum(0)


@wrong("shares-do-not-add-up")
def adds_up(outputs, log_sums):
    return torch.nan_to_num(outputs * (log_sums > -torch.inf)[..., None]).sum(0)


@wrong("shares-do-not-add-up")
def numerator_only(outputs, log_sums):
    m = log_sums.max(0).values
    w = torch.exp(log_sums - m)[..., None]
    return torch.where(w > 0, w * outputs, torch.zeros(())).sum(0)


@wrong("softmax-no-max-shift")
def formula(outputs, log_sums):
    e = log_sums.exp().unsqueeze(-1)
    outputs = torch.where(e > 0, outputs, torch.zeros(()))
    return (e * outputs).sum(0) / e.sum(0)


@wrong("softmax-no-max-shift")
def one_maximum(outputs, log_sums):
    e = torch.exp(log_sums - log_sums.max()).unsqueeze(-1)
    clean = torch.nan_to_num(outputs)
    return (e * clean).sum(0) / e.sum(0)


@wrong("nan-not-left-out")
def einsum(outputs, log_sums):
    return torch.einsum("pq,pqd->qd", torch.softmax(log_sums, 0), outputs)


@wrong("softmax-wrong-dim")
def last_axis(outputs, log_sums):
    w = log_sums.softmax(dim=-1)[..., None]
    return torch.nan_to_num(w * outputs).sum(0)


@wrong("logarithms-as-weights")
def shares_of_logs(outputs, log_sums):
    w = log_sums / log_sums.sum(0, keepdim=True)
    return (w[..., None] * outputs).sum(dim=0)


@wrong("only-the-largest")
def best_part(outputs, log_sums):
    i = log_sums.argmax(0)
    return torch.stack([outputs[i[q], q] for q in range(outputs.shape[1])])


@wrong("keeps-the-part-axis")
def weighted_parts(outputs, log_sums):
    return torch.nan_to_num(log_sums.softmax(0)[..., None] * outputs)


@wrong("merged-one-after-another-by-halves")
def running_half(outputs, log_sums):
    merged = outputs[0]
    for part in outputs[1:]:
        merged = (merged + part) / 2
    return merged


@wrong("log-sum-not-updated")
def running_with_the_first_sum(outputs, log_sums):
    merged = torch.nan_to_num(outputs[0])
    for part, log_sum in zip(outputs[1:], log_sums[1:], strict=True):
        w = torch.sigmoid(log_sum - log_sums[0])[:, None]
        merged = merged * (1 - w) + torch.nan_to_num(part) * w
    return merged


@wrong("softmax-wrong-dim", "nan-not-left-out")
def two_slips(outputs, log_sums):
    return (torch.softmax(log_sums, 1).unsqueeze(2) * outputs).sum(0)
