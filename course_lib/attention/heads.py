"""Several heads: how the width is cut, and the module with its projections."""

from torch import Tensor, nn

from course_lib.attention.formula import attention
from course_lib.linear import Linear


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
            ValueError: a cross-attention got neither memory nor a cache that has one, or
                another memory than the cache has,
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
            if memory is not None and not cache.knows(self.layer, memory):
                raise ValueError(
                    "the cache already holds the keys and values of another memory; pass "
                    "memory=None to go on with it, or a new cache"
                )
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
            cache.remember_cross(self.layer, keys, values, memory)
        return keys, values

    def _check_width(self, name: str, given: Tensor) -> None:
        d_model = self.to_queries.in_features
        if given.ndim < 2 or given.shape[-1] != d_model:
            raise ValueError(
                f"attention was given {name} {tuple(given.shape)}; it needs "
                f"(batch, position, d_model) with d_model {d_model}"
            )
