"""Right answers to merge_attention."""

import torch

from tests.answers import right


@right("einsum over outputs without NaN")
def einsum(outputs, log_sums):
    shares = torch.softmax(log_sums, 0)
    return torch.einsum("pq,pqd->qd", shares, torch.nan_to_num(outputs))


@right("exponentials after the largest is subtracted")
def by_hand(outputs, log_sums):
    sums = (log_sums - log_sums.amax(0)).exp()[..., None]
    numerator = torch.where(sums > 0, sums * outputs, torch.zeros(())).sum(0)
    return numerator / sums.sum(0)


@right("one part after another, with a running log sum")
def running(outputs, log_sums):
    merged = outputs[0].masked_fill(log_sums[0].isneginf()[:, None], 0.0)
    done = log_sums[0]
    for part, log_sum in zip(outputs[1:], log_sums[1:], strict=True):
        part = part.masked_fill(log_sum.isneginf()[:, None], 0.0)
        both = torch.logaddexp(done, log_sum)
        old = (done - both).exp().nan_to_num(0.0)[:, None]
        new = (log_sum - both).exp().nan_to_num(0.0)[:, None]
        merged, done = old * merged + new * part, both
    return merged


@right("query by query, over the parts that it reads")
def loop(outputs, log_sums):
    merged = []
    for q in range(outputs.shape[1]):
        reads = log_sums[:, q].isfinite()
        shares = log_sums[reads, q].double().softmax(0)
        merged.append((shares[:, None] * outputs[reads, q].double()).sum(0))
    return torch.stack(merged).float()
