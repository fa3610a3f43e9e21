"""When each token was spoken: a path through what cross-attention reads."""

from collections.abc import Sequence

import torch
from torch import Tensor

MEDIAN = 7  # positions that smooth a head's weights: 140 ms


def attention_map(weights: Sequence[Tensor]) -> Tensor:
    """Combine the heads that follow the sound into one map.

    Some positions are read by every token, and say nothing. So each weight is compared
    with what the other tokens read there: mean and standard deviation over the tokens.

    Args:
        weights: (token, position) of each head, two tokens at least.

    Returns:
        (token, position): large where a token reads more than others.

    Source: OpenAI's whisper/timing.py, find_alignment.
    Lesson: notebooks/14_captions.ipynb

    >>> weights = torch.eye(5).repeat_interleave(9, dim=1)
    >>> attention_map([weights]).argmax(0).tolist()[::9]
    [0, 1, 2, 3, 4]
    """
    heads = torch.stack(list(weights))
    heads = heads / heads.sum(-1, keepdim=True).clamp(min=1e-9)
    deviation, mean = torch.std_mean(heads, dim=1, keepdim=True, correction=0)
    together = ((heads - mean) / deviation.clamp(min=1e-9)).mean(dim=0)
    reach = min(MEDIAN // 2, together.shape[-1] - 1)
    padded = torch.nn.functional.pad(together[None], (reach, reach), mode="reflect")[0]
    return padded.unfold(-1, 2 * reach + 1, 1).median(dim=-1).values


def starts_of(gains: Tensor) -> list[int]:
    """Find where each token begins on the path of the largest gain.

    Dynamic time warping: the path leads from the first token at the first position to
    the last at the last, and never back; each step goes to the next token, the next
    position, or both. Every row is computed at once: how to enter it is compared with
    going on within it, which a running sum and a running minimum do.

    Args:
        gains: (token, position).

    Returns:
        The first position of each token, never falling.

    Source: Sakoe and Chiba (1978), doi:10.1109/TASSP.1978.1163055.
    Lesson: notebooks/14_captions.ipynb

    >>> starts_of(torch.tensor([[9.0, 8, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 7, 9]]))
    [0, 2, 3]
    """
    costs = -gains.double()
    sums = costs.cumsum(1)
    rows = [sums[0]]
    for i in range(1, len(costs)):
        above = rows[-1]
        entered = torch.minimum(above, torch.cat((above[:1], above[:-1])))
        rows.append(sums[i] + (entered - sums[i] + costs[i]).cummin(0).values)
    total = torch.stack(rows).tolist()
    token, position = len(total) - 1, len(total[0]) - 1
    starts = [0] * len(total)
    while token and position:
        before = (
            (total[token - 1][position - 1], token - 1, position - 1),
            (total[token][position - 1], token, position - 1),
            (total[token - 1][position], token - 1, position),
        )
        _, earlier, position_before = min(before)
        if earlier != token:
            starts[token] = position
        token, position = earlier, position_before
    for i in range(1, token + 1):
        starts[i] = position
    return starts
