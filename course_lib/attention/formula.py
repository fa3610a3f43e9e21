"""Scaled dot-product attention: the formula, and the fused kernel that equals it."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from course_lib.masks import causal_mask


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None = None,
    bias: Tensor | None = None,
    need_weights: bool = False,
    causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Average the values, weighted by how well each query matches each key.

    outputs = softmax(queries keys^T / sqrt(d_head) + bias) values, over allowed keys.
    With fewer key heads than query heads, consecutive query heads share a key head.
    Where weights are asked for the formula runs as written; otherwise torch's fused
    kernel computes the same without keeping the score matrix.

    Args:
        queries: (batch, head, query, d_head) float.
        keys: (batch, kv_head, key, d_head); kv_head divides head.
        values: (batch, kv_head, key, d_head).
        allowed: bool, broadcasts to (batch, head, query, key); True where the query
            may read the key. None lets every query read every key.
        bias: float, broadcasts to (batch, head, query, key); added to scaled scores.
        need_weights: also return the weights.
        causal: hide keys after the query, the last query standing at the last key:
            allowed=causal_mask(n_queries, n_keys), without building it where the
            kernel can skip it.

    Returns:
        outputs: (batch, head, query, d_head). A query that may read no key gets 0,
            also as gradient. NaN in a hidden key or value reaches nobody.
        weights: (batch, head, query, key), rows sum to 1 (or are 0); None unless
            need_weights.

    Raises:
        ValueError: shapes, dtypes or head counts do not fit.

    Source: Vaswani et al. (2017), arXiv:1706.03762, eq. 1; Ainslie et al. (2023),
        arXiv:2305.13245 (grouped heads).
    Lesson: notebooks/03_attention.ipynb

    >>> queries, keys = torch.zeros(2, 3, 5, 7), torch.zeros(2, 3, 11, 7)
    >>> outputs, weights = attention(queries, keys, values=keys, need_weights=True)
    >>> tuple(outputs.shape), tuple(weights.shape)
    ((2, 3, 5, 7), (2, 3, 5, 11))
    """
    _check(queries, keys, values, allowed, bias)
    if bias is not None:
        bias = bias.to(queries.dtype)  # as the kernel wants it, so on both paths
    # The kernel wants a query axis, if only of 1.
    allowed = allowed[None] if allowed is not None and allowed.ndim == 1 else allowed
    bias = bias[None] if bias is not None and bias.ndim == 1 else bias
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    if causal and (
        allowed is not None or need_weights or bias is not None or n_queries != n_keys
    ):
        triangle = causal_mask(n_queries, n_keys, device=queries.device)
        allowed = triangle if allowed is None else allowed & triangle
        causal = False
    attend = _explicit if need_weights else _fused
    outputs, weights = attend(queries, keys, values, allowed, bias, causal)
    if _met_nan(queries, keys, outputs, masked=causal or allowed is not None):
        if causal:
            allowed = causal_mask(n_queries, n_keys, device=queries.device)
        return _contained(attend, queries, keys, values, allowed, bias)
    return outputs, weights


def _met_nan(queries: Tensor, keys: Tensor, outputs: Tensor, masked: bool) -> bool:
    """Whether NaN may have gone astray: spread from behind a mask, or been swallowed.

    With few keys torch's CPU kernel makes 0 of NaN scores, and the explicit formula
    keeps hidden NaN out of its outputs but not of its gradients; so NaN is looked for
    in what goes in, too. A sum finds it in one cheap pass. Unmasked attention on a GPU
    is left alone: a look would make the host wait for each layer.
    """
    if not masked and queries.device.type != "cpu":
        return False
    with torch.no_grad():
        inputs = (queries.sum() + keys.sum()).isnan()
        return bool(inputs | (outputs.isnan().any() if masked else inputs))


def attention_scores(
    queries: Tensor, keys: Tensor, bias: Tensor | None = None
) -> Tensor:
    """Score each query against each key, before any mask.

    scores = queries keys^T / sqrt(d_head) + bias. The root keeps their variance near
    that of the entries, whatever the width of the head.

    Args:
        queries: (batch, head, query, d_head) float.
        keys: (batch, kv_head, key, d_head); kv_head divides head.
        bias: float, broadcasts to (batch, head, query, key).

    Returns:
        scores: (batch, head, query, key), at least float32.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2.1.
    Lesson: notebooks/03_attention.ipynb

    >>> attention_scores(torch.ones(1, 1, 1, 4), torch.ones(1, 1, 1, 4))
    tensor([[[[2.]]]])
    """
    keys = _one_per_query_head(queries, keys)
    if queries.dtype in (torch.float16, torch.bfloat16):
        # As the fused kernel does: sums and exp in 16 bits lose digits or overflow.
        queries, keys = queries.float(), keys.float()
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    return scores if bias is None else scores + bias


def _explicit(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None,
    bias: Tensor | None,
    causal: bool,
) -> tuple[Tensor, Tensor]:
    """Run the formula step by step and keep the weights."""
    values = _one_per_query_head(queries, values)
    scores = attention_scores(queries, keys, bias)
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    if scores.shape[-1] == 0:  # no keys at all, so no maximum either
        weights = scores.to(values.dtype)
        return weights @ values, weights
    # A row of -inf only has no finite maximum; subtracting the dtype's least number
    # instead leaves exp(-inf) = 0 everywhere, and the sum is kept away from 0.
    least, smallest = torch.finfo(scores.dtype).min, torch.finfo(scores.dtype).tiny
    largest = scores.detach().amax(-1, keepdim=True).clamp(min=least)
    exponentials = (scores - largest).exp()
    weights = exponentials / exponentials.sum(-1, keepdim=True).clamp(min=smallest)
    weights = weights.to(values.dtype)
    return weights @ values, weights


def _fused(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None,
    bias: Tensor | None,
    causal: bool,
) -> tuple[Tensor, None]:
    """Call torch's kernel, which gives a query without keys an output of 0."""
    mask = allowed
    if bias is not None:
        mask = bias if allowed is None else bias.masked_fill(~allowed, -torch.inf)
    if mask is not None and mask.ndim == 3 and queries.ndim == 4:
        mask = mask[None]  # the same mask, but torch's CPU kernel is slow on three axes
    grouped = queries.ndim > 2 and queries.shape[-3] != keys.shape[-3]
    outputs = F.scaled_dot_product_attention(
        queries, keys, values, attn_mask=mask, is_causal=causal, enable_gqa=grouped
    )
    return outputs, None


def _contained(
    attend, queries, keys, values, allowed, bias
) -> tuple[Tensor, Tensor | None]:
    """Repeat an attention that met NaN so that hidden NaN stays hidden.

    A weight of 0 does not stop NaN: 0 * NaN is NaN, in outputs and in gradients. What
    is not finite is replaced by 0; then only the queries that are broken themselves,
    or may read a broken key or value, become NaN.
    """
    lost = ~queries.isfinite().all(-1, keepdim=True)
    broken = ~(keys.isfinite().all(-1) & values.isfinite().all(-1))
    if allowed is None:
        allowed = broken.new_ones(queries.shape[-2], keys.shape[-2])
    queries = queries.masked_fill(lost, 0.0)
    keys = keys.masked_fill(broken[..., None], 0.0)
    values = values.masked_fill(broken[..., None], 0.0)
    outputs, weights = attend(queries, keys, values, allowed, bias, False)
    if queries.ndim > 2 and broken.shape[-2] != queries.shape[-3]:
        broken = broken.repeat_interleave(queries.shape[-3] // broken.shape[-2], dim=-2)
    spoiled = (allowed & (lost | broken[..., None, :])).any(-1, keepdim=True)
    outputs = outputs.masked_fill(spoiled, torch.nan)
    if weights is not None:
        weights = weights.masked_fill(spoiled, torch.nan)
    return outputs, weights


def _one_per_query_head(queries: Tensor, shared: Tensor) -> Tensor:
    """Repeat key or value heads so that every query head has its own."""
    if queries.ndim < 3 or queries.shape[-3] == shared.shape[-3]:
        return shared
    return shared.repeat_interleave(queries.shape[-3] // shared.shape[-3], dim=-3)


def _check(queries, keys, values, allowed, bias) -> None:
    if keys.shape[:-1] != values.shape[:-1] or queries.shape[-1] != keys.shape[-1]:
        raise ValueError(
            f"attention was given queries {tuple(queries.shape)}, keys {tuple(keys.shape)} and "
            f"values {tuple(values.shape)}; queries and keys need the same d_head (last axis), "
            f"keys and values the same batch, head and key axes"
        )
    if queries.ndim != keys.ndim or queries.ndim < 2:
        raise ValueError(
            f"attention was given queries with {queries.ndim} axes and keys with {keys.ndim}; "
            f"both need the same, (batch, head, position, d_head)"
        )
    if queries.shape[:-3] != keys.shape[:-3]:
        raise ValueError(
            f"attention was given queries {tuple(queries.shape)} and keys {tuple(keys.shape)}; "
            f"both need the same batch"
        )
    if queries.ndim > 2 and queries.shape[-3] % keys.shape[-3]:
        raise ValueError(
            f"attention was given {queries.shape[-3]} query heads and {keys.shape[-3]} key heads; "
            f"the key heads must divide the query heads"
        )
    if (
        not queries.is_floating_point()
        or not queries.dtype == keys.dtype == values.dtype
    ):
        raise ValueError(
            f"attention was given queries of {queries.dtype}, keys of {keys.dtype} and values of "
            f"{values.dtype}; all three need the same floating dtype"
        )
    if allowed is not None and allowed.dtype != torch.bool:
        raise ValueError(
            f"allowed had dtype {allowed.dtype}; it is bool here, True = may read "
            f"(numbers to add to the scores go in bias)"
        )
    if bias is not None and not bias.is_floating_point():
        raise ValueError(
            f"bias had dtype {bias.dtype}; it is added to scores, pass floats"
        )
    scores_shape = (*queries.shape[:-1], keys.shape[-2])
    for name, given in (("allowed", allowed), ("bias", bias)):
        if given is not None and not _broadcasts(given.shape, scores_shape):
            raise ValueError(
                f"{name} had shape {tuple(given.shape)}; it must broadcast to "
                f"(batch, head, query, key) = {scores_shape}"
            )


def _broadcasts(shape, target) -> bool:
    fits = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(n in (1, m) for n, m in fits)
