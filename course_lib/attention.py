"""Attention: each query reads a weighted mean of the values it is allowed to read."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.linear import Linear
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
            kernel can skip it. Trap: unlike a mask, it does not contain NaN.

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
    n_queries, n_keys = queries.shape[-2], keys.shape[-2]
    if causal and (
        allowed is not None or need_weights or bias is not None or n_queries != n_keys
    ):
        triangle = causal_mask(n_queries, n_keys, device=queries.device)
        allowed = triangle if allowed is None else allowed & triangle
        causal = False
    attend = _explicit if need_weights else _fused
    outputs, weights = attend(queries, keys, values, allowed, bias, causal)
    # The explicit formula keeps hidden NaN out of its outputs, not of its gradients.
    suspects = (outputs, queries, keys) if need_weights else (outputs,)
    if allowed is not None and any(suspect.isnan().any() for suspect in suspects):
        return _contained(attend, queries, keys, values, allowed, bias)
    return outputs, weights


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


def split_heads(x: Tensor, n_heads: int) -> Tensor:
    """Cut the width into heads: head h of a position is its h-th slice.

    Args:
        x: (batch, position, d_model).
        n_heads: heads; must divide d_model.

    Returns:
        (batch, head, position, d_head), a view.

    Raises:
        ValueError: n_heads does not divide d_model.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2.2.
    Lesson: notebooks/03_attention.ipynb

    >>> tuple(split_heads(torch.zeros(2, 5, 21), n_heads=3).shape)
    (2, 3, 5, 7)
    """
    if n_heads < 1 or x.shape[-1] % n_heads:
        raise ValueError(
            f"split_heads was given width {x.shape[-1]} and {n_heads} heads; "
            f"the number of heads must divide the width"
        )
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Put the heads of a position side by side again: the inverse of split_heads.

    Args:
        x: (batch, head, position, d_head).

    Returns:
        (batch, position, d_model).

    Lesson: notebooks/03_attention.ipynb

    >>> x = torch.randn(2, 5, 21)
    >>> torch.equal(merge_heads(split_heads(x, 3)), x)
    True
    """
    return x.transpose(-3, -2).flatten(-2)


class MultiHeadAttention(nn.Module):
    """Project, attend in several heads at once, merge, project back.

    Args:
        d_model: width of the residual stream.
        n_heads: query heads; must divide d_model.
        n_kv_heads: key/value heads; must divide n_heads; None: n_heads.
        bias: give the four projections a bias.
        scheme: a position scheme of course_lib.positions that turns queries and keys
            or biases the scores; None: the scores do not see positions.
        layer: index under which a cache keeps this module's keys and values.
        cross: read a memory instead of x itself.

    Raises:
        ValueError: the head counts do not divide.

    Source: Vaswani et al. (2017), arXiv:1706.03762, section 3.2.2.
    Lesson: notebooks/03_attention.ipynb
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        bias: bool = True,
        scheme: nn.Module | None = None,
        layer: int = 0,
        cross: bool = False,
    ):
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        if n_heads < 1 or d_model % n_heads or n_kv_heads < 1 or n_heads % n_kv_heads:
            raise ValueError(
                f"MultiHeadAttention was given d_model={d_model}, n_heads={n_heads}, "
                f"n_kv_heads={n_kv_heads}; n_heads must divide d_model and n_kv_heads n_heads"
            )
        self.n_heads, self.n_kv_heads, self.d_head = (
            n_heads,
            n_kv_heads,
            d_model // n_heads,
        )
        self.scheme, self.layer, self.cross = scheme, layer, cross
        self.to_queries = Linear(d_model, d_model, bias)
        self.to_keys = Linear(d_model, n_kv_heads * self.d_head, bias)
        self.to_values = Linear(d_model, n_kv_heads * self.d_head, bias)
        self.to_output = Linear(d_model, d_model, bias)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None = None,
        allowed: Tensor | None = None,
        positions: Tensor | None = None,
        bias: Tensor | None = None,
        cache=None,
        need_weights: bool = False,
        causal: bool = False,
        record: dict | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Let every position of x read from x, or from memory.

        Args:
            x: (batch, query, d_model).
            memory: (batch, key, d_model), what to read instead of x; None: x itself,
                or (cross) what the cache remembers.
            allowed: bool, broadcasts to (batch, head, query, key), True = may read;
                with a cache, key counts the cached keys too.
            positions: (query,) or (batch, query) int, or what the scheme prepared;
                None where there is no scheme.
            bias: float, broadcasts to (batch, head, query, key).
            cache: a cache of course_lib.kv_cache or its Step; extended, then read.
            need_weights: also return the weights.
            causal: as in attention().
            record: a dict that receives what attention() was called with: queries,
                keys, values, bias, allowed and causal.

        Returns:
            outputs: (batch, query, d_model).
            weights: (batch, head, query, key), or None.

        Raises:
            ValueError: a cross-attention got neither memory nor a cache that has one,
                a scheme got no positions, or the shapes do not fit.

        >>> heads = MultiHeadAttention(d_model=6, n_heads=3)
        >>> outputs, _ = heads(torch.zeros(2, 5, 6), memory=torch.zeros(2, 7, 6))
        >>> tuple(outputs.shape)
        (2, 5, 6)
        """
        self._check_width("x", x)
        queries = split_heads(self.to_queries(x), self.n_heads)
        if self.cross or memory is not None:
            keys, values = self._read_memory(memory, cache)
        else:
            keys = split_heads(self.to_keys(x), self.n_kv_heads)
            values = split_heads(self.to_values(x), self.n_kv_heads)
            queries, keys, values, bias = self._place(
                queries, keys, values, positions, bias, cache
            )
        if record is not None:
            record.update(queries=queries, keys=keys, values=values, bias=bias)
            record.update(allowed=allowed, causal=causal)
        outputs, weights = attention(
            queries, keys, values, allowed, bias, need_weights, causal
        )
        return self.to_output(merge_heads(outputs)), weights

    def _place(self, queries, keys, values, positions, bias, cache):
        """Turn queries and keys by position, extend the cache, bias the scores."""
        if self.scheme is not None:
            if positions is None:
                raise ValueError(
                    "this attention has a position scheme and got no positions; "
                    "pass some, for example torch.arange(x.shape[1])"
                )
            queries = self.scheme.turn(queries, positions)
            keys = self.scheme.turn(keys, positions)
        key_positions = positions
        if cache is not None:
            keys, values, key_positions = cache.extend(self.layer, keys, values)
        if self.scheme is not None:
            learned = self.scheme.bias(queries, positions, key_positions)
            if learned is not None:
                bias = learned if bias is None else bias + learned
        return queries, keys, values, bias

    def _read_memory(self, memory, cache) -> tuple[Tensor, Tensor]:
        """Project the memory once; later calls recall the result from the cache."""
        kept = cache.cross(self.layer) if cache is not None else None
        if kept is not None:
            return kept
        if memory is None:
            raise ValueError(
                "a cross-attention got no memory and no cache that remembers one; "
                "pass memory at the first call"
            )
        self._check_width("memory", memory)
        keys = split_heads(self.to_keys(memory), self.n_kv_heads)
        values = split_heads(self.to_values(memory), self.n_kv_heads)
        if cache is not None:
            cache.remember_cross(self.layer, keys, values)
        return keys, values

    def _check_width(self, name: str, given: Tensor) -> None:
        d_model = self.to_queries.in_features
        if given.ndim < 2 or given.shape[-1] != d_model:
            raise ValueError(
                f"attention was given {name} {tuple(given.shape)}; it needs "
                f"(batch, position, d_model) with d_model {d_model}"
            )
