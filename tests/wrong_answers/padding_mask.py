"""Wrong answers to padding_mask."""

import torch

from tests.answers import wrong


@wrong("padding-mask-on-query-axis")
def hides_rows(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)
    real = place < lengths if side == "right" else place >= n_keys - lengths
    return real[:, None, :, None]


@wrong("padding-mask-on-query-axis")
def unsqueezes_the_end(lengths, n_keys, side="right"):
    mask = torch.zeros(len(lengths), n_keys, dtype=torch.bool)
    for b, n in enumerate(lengths):
        n = int(n)
        if side == "right":
            mask[b, :n] = True
        else:
            mask[b, n_keys - n :] = True
    return mask.unsqueeze(1).unsqueeze(-1)


@wrong("ignores-side")
def right_only(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)
    return (torch.arange(n_keys)[None] < lengths[:, None])[:, None, None, :]


@wrong("ignores-side")
def right_only_loop(lengths, n_keys, side="right"):
    rows = []
    for n in lengths:
        rows.append([True] * int(n) + [False] * (n_keys - int(n)))
    return torch.tensor(rows).view(len(rows), 1, 1, n_keys)


@wrong("ignores-side")
def left_only(lengths, n_keys, side="right"):
    start = n_keys - torch.as_tensor(lengths)
    return (torch.arange(n_keys) >= start.view(-1, 1)).view(-1, 1, 1, n_keys)


@wrong("padding-off-by-one")
def one_pad_too_many(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)[None]
    real = place <= lengths if side == "right" else place >= n_keys - lengths - 1
    return real[:, None, None]


@wrong("padding-off-by-one")
def last_token_lost(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)[None]
    real = place < lengths - 1 if side == "right" else place > n_keys - lengths
    return real[:, None, None]


@wrong("padding-off-by-one")
def off_on_the_left_only(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)
    if side == "left":
        return (place > n_keys - lengths)[:, None, None]
    return (place < lengths)[:, None, None]


@wrong("bool-polarity-mha-vs-sdpa")
def true_where_padding(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)
    pad = place >= lengths if side == "right" else place < n_keys - lengths
    return pad[:, None, None, :]


@wrong("bool-polarity-mha-vs-sdpa")
def key_padding_mask(lengths, n_keys, side="right"):
    mask = torch.ones(len(lengths), 1, 1, n_keys, dtype=torch.bool)
    for row, n in enumerate(lengths):
        first = 0 if side == "right" else n_keys - int(n)
        mask[row, ..., first : first + int(n)] = False
    return mask


@wrong("left-side-inverted")
def complement_for_left(lengths, n_keys, side="right"):
    real = torch.arange(n_keys) < torch.as_tensor(lengths)[:, None]
    if side == "left":
        real = ~real
    return real[:, None, None]


@wrong("left-side-inverted")
def starts_at_the_length(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths).view(-1, 1, 1, 1)
    place = torch.arange(n_keys)
    return place < lengths if side == "right" else place >= lengths


@wrong("padding-mask-lacks-axes")
def two_axes(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    place = torch.arange(n_keys)
    return place < lengths if side == "right" else place >= n_keys - lengths


@wrong("padding-mask-lacks-axes")
def three_axes(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)
    real = torch.arange(n_keys).expand(len(lengths), -1) < lengths[:, None]
    if side == "left":
        real = real.flip(-1)
    return real.unsqueeze(1)


@wrong("zero-one-mask-added")
def float_ones(lengths, n_keys, side="right"):
    mask = torch.zeros(len(lengths), 1, 1, n_keys)
    for i, n in enumerate(lengths):
        n = int(n)
        start = 0 if side == "right" else n_keys - n
        mask[i, 0, 0, start : start + n] = 1.0
    return mask


@wrong("zero-one-mask-added")
def real_as_float(lengths, n_keys, side="right"):
    real = torch.arange(n_keys)[None] < torch.as_tensor(lengths)[:, None]
    real = real.flip(1) if side == "left" else real
    return real.float()[:, None, None, :]


@wrong("inf-times-zero-mask")
def pads_times_infinity(lengths, n_keys, side="right"):
    pad = torch.arange(n_keys)[None] >= torch.as_tensor(lengths)[:, None]
    pad = pad.flip(1) if side == "left" else pad
    return pad.float()[:, None, None, :] * float("-inf")


@wrong("inf-times-zero-mask")
def one_minus_real(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None, None, None]
    place = torch.arange(n_keys)
    real = place < lengths if side == "right" else place >= n_keys - lengths
    return (1 - real.int()) * -torch.inf


@wrong("mask-fill-near-zero")
def tiny_fill(lengths, n_keys, side="right"):
    mask = torch.full((len(lengths), 1, 1, n_keys), -1e-9)
    for i, n in enumerate(lengths):
        start = 0 if side == "right" else n_keys - int(n)
        mask[i, ..., start : start + int(n)] = 0
    return mask


@wrong("negative-zero-slice")
def slices_from_the_end(lengths, n_keys, side="right"):
    mask = torch.zeros(len(lengths), 1, 1, n_keys, dtype=torch.bool)
    for i, n in enumerate(lengths):
        if side == "right":
            mask[i, :, :, :n] = True
        else:
            mask[i, :, :, -n:] = True  # -0 is 0: everything
    return mask


@wrong("negative-zero-slice")
def hides_the_end(lengths, n_keys, side="right"):
    mask = torch.ones(len(lengths), n_keys, dtype=torch.bool)
    for i, n in enumerate(lengths):
        pads = n_keys - int(n)
        if side == "right":
            mask[i, -pads:] = False  # a full row has no padding to hide
        else:
            mask[i, :pads] = False
    return mask[:, None, None, :]


@wrong("uses-longest-length")
def as_wide_as_the_longest(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths)[:, None]
    width = int(lengths.max())
    place = torch.arange(width)
    real = place < lengths if side == "right" else place >= width - lengths
    return real[:, None, None]


@wrong("empty-row-gets-a-key")
def never_empty(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths).clamp(min=1)[:, None]
    real = torch.arange(n_keys) < lengths
    return (real.flip(-1) if side == "left" else real)[:, None, None]


@wrong("lengths-list-unsupported")
def wants_a_tensor(lengths, n_keys, side="right"):
    real = torch.arange(n_keys)[None] < lengths.unsqueeze(1)
    if side == "left":
        real = torch.flip(real, [1])
    return real.unsqueeze(1).unsqueeze(1)


@wrong("everything-allowed")
def only_ones(lengths, n_keys, side="right"):
    return torch.ones(len(lengths), 1, 1, n_keys, dtype=torch.bool)


@wrong("ignores-side", "padding-off-by-one")
def two_slips(lengths, n_keys, side="right"):
    lengths = torch.as_tensor(lengths).reshape(-1, 1, 1, 1)
    return torch.arange(n_keys).reshape(1, 1, 1, -1) <= lengths


@wrong("ignores-side", "bool-polarity-mha-vs-sdpa")
def pads_on_the_right(lengths, n_keys, side="right"):
    return torch.arange(n_keys) >= torch.as_tensor(lengths)[:, None, None, None]


@wrong("mask-fill-near-zero")
def minus_one(lengths, n_keys, side="right"):
    pad = torch.arange(n_keys) >= torch.as_tensor(lengths)[:, None]
    pad = pad.flip(-1) if side == "left" else pad
    return -pad[:, None, None].float()
