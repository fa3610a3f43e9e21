"""Wrong answers to split_heads."""

import torch

from tests.answers import wrong


@wrong("heads-split-by-view")
def straight_view(x, n_heads):
    b, t, c = x.shape
    return x.view(b, n_heads, t, c // n_heads)


@wrong("heads-split-by-view")
def straight_reshape(x, n_heads):
    return x.reshape(x.shape[0], n_heads, x.shape[1], -1)


@wrong("heads-split-by-view")
def chunks_of_the_flat_row(x, n_heads):
    b, t, c = x.shape
    pieces = x.flatten(1).chunk(n_heads, dim=1)
    return torch.stack([p.view(b, t, c // n_heads) for p in pieces], dim=1)


@wrong("heads-interleaved")
def heads_innermost(x, n_heads):
    b, t, c = x.shape
    return x.view(b, t, c // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong("heads-interleaved")
def every_nth_feature(x, n_heads):
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1)


@wrong("heads-not-transposed")
def stops_after_the_view(x, n_heads):
    return x.view(*x.shape[:2], n_heads, -1)


@wrong("heads-not-transposed")
def transpose_thrown_away(x, n_heads):
    x = x.unflatten(-1, (n_heads, -1))
    x.transpose(1, 2)
    return x


@wrong("heads-in-batch")
def heads_beside_samples(x, n_heads):
    b, t, c = x.shape
    x = x.view(b, t, n_heads, c // n_heads).transpose(1, 2)
    return x.reshape(b * n_heads, t, c // n_heads)


@wrong("heads-in-batch")
def concatenates_chunks(x, n_heads):
    return torch.cat(x.chunk(n_heads, dim=-1), dim=0)


@wrong("head-axis-first")
def stacks_in_front(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


@wrong("head-axis-first")
def permutes_the_batch(x, n_heads):
    b, t, c = x.shape
    return x.view(b, t, n_heads, c // n_heads).permute(2, 0, 1, 3)


@wrong("heads-split-positions")
def cuts_the_sequence(x, n_heads):
    size = -(-x.shape[1] // n_heads)
    padded = torch.nn.functional.pad(x, (0, 0, 0, n_heads * size - x.shape[1]))
    return padded.view(x.shape[0], n_heads, size, x.shape[-1])


@wrong("n-heads-as-d-head")
def sizes_swapped(x, n_heads):
    b, t, c = x.shape
    return x.view(b, t, c // n_heads, n_heads).transpose(1, 2)


@wrong("n-heads-as-d-head")
def splits_by_count(x, n_heads):
    return torch.stack(torch.split(x, n_heads, dim=-1), dim=1)


@wrong("position-and-width-swapped")
def as_for_keys(x, n_heads):
    b, t, c = x.shape
    return x.view(b, t, n_heads, c // n_heads).permute(0, 2, 3, 1)


@wrong("heads-copied")
def same_for_every_head(x, n_heads):
    return x.unsqueeze(1).expand(-1, n_heads, -1, -1)


@wrong("only-first-slice")
def first_slice_for_all(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return torch.stack([x[..., :d_head] for _ in range(n_heads)], dim=1)


@wrong("hard-coded-size")
def three_heads(x, n_heads):
    b, t, c = x.shape
    return x.reshape(b, t, 3, c // 3).transpose(1, 2)


@wrong("only-batch-one")
def batch_lost(x, n_heads):
    t, c = x.shape[1:]
    return x[0].view(t, n_heads, c // n_heads).transpose(0, 1).unsqueeze(0)


@wrong("heads-split-by-view", "n-heads-as-d-head")
def two_slips(x, n_heads):
    b, t, c = x.shape
    return x.reshape(b, c // n_heads, t, n_heads)


@wrong("heads-interleaved", "heads-not-transposed")
def strided_and_left(x, n_heads):
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=2)
