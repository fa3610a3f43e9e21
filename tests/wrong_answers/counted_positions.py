"""Wrong answers to counted_positions."""

import torch

from tests.answers import wrong


@wrong("left-pad-positions")
def masked_arange(is_real):
    places = torch.arange(is_real.size(1)).repeat(is_real.size(0), 1)
    return places * is_real


@wrong("left-pad-positions")
def same_for_all_rows(is_real):
    return torch.arange(is_real.size(1))[None].repeat(len(is_real), 1)


@wrong("counted-from-one")
def plain_cumsum(is_real):
    return torch.cumsum(is_real.long(), dim=1) * is_real.long()


@wrong("negative-positions")
def cumsum_less_one(is_real):
    return is_real.long().cumsum(dim=-1) - 1


@wrong("negative-positions")
def shifted_rows(is_real):
    out = []
    for row in is_real.tolist():
        start = row.index(True) if True in row else 0
        out.append([i - start for i in range(len(row))])
    return torch.tensor(out)


@wrong("counted-along-the-batch")
def cumsum_without_axis(is_real):
    return (torch.cumsum(is_real.int(), 0) - 1).clamp_min(0)


@wrong("counted-from-the-end")
def steps_to_the_end(is_real):
    n = is_real.sum(1, keepdim=True)
    position = is_real.long().cumsum(1)
    return (n - position) * is_real


@wrong("right-padding-counted")
def length_minus_count(is_real):
    n = is_real.shape[1]
    start = n - is_real.sum(-1)
    return (torch.arange(n)[None] - start[:, None]).clamp(min=0)


@wrong("one-shift-for-all")
def padding_of_the_first(is_real):
    start = is_real[0].tolist().index(True) if is_real[0].any() else 0
    one = [max(i - start, 0) for i in range(is_real.shape[1])]
    return torch.tensor([one] * len(is_real))


@wrong("real-tokens-only")
def packed_list(is_real):
    return torch.cat([torch.arange(int(row.sum())) for row in is_real])


@wrong("fails-on-an-empty-row")
def first_true(is_real):
    out = torch.zeros(is_real.shape, dtype=torch.long)
    for i, row in enumerate(is_real):
        first = row.nonzero()[0].item()
        out[i, first:] = torch.arange(is_real.shape[1] - first)
    return out


@wrong("counted-from-one", "counted-along-the-batch")
def two_slips(is_real):
    return is_real.long().cumsum(0)


@wrong("padding-behind-the-table")
def padding_behind_the_table(is_real):
    counts = is_real.cumsum(-1) - 1
    return counts.masked_fill(~is_real, is_real.shape[1])


@wrong("floats-returned")
def counts_in_floats(is_real):
    return (is_real.float().cumsum(-1) - 1).clamp(min=0)
