"""The KV cache: keys and values of past positions, so that no step computes them again.

Four caches, one protocol. A cache is an object its caller holds; it keeps, for every
layer, the keys and values of each row's real tokens (padding is never stored). In all
but the sliding window the slot of a token is its position.

    extend(layer, keys, values) -> (keys, values, key_positions)   add, then read all
    step(n_positions, lengths, side) -> Step    the same plan for every layer of a pass
    reorder(rows)   crop(length)   lengths   bytes

Cross-attention's keys and values are kept beside them: computed once per source.
"""

from course_lib.kv_cache.contiguous import AppendCache, PreallocatedCache
from course_lib.kv_cache.paged import PagedCache
from course_lib.kv_cache.pool import BlockPool
from course_lib.kv_cache.protocol import KeyValueCache
from course_lib.kv_cache.sliding_window import SlidingWindowCache
from course_lib.kv_cache.step import Step

__all__ = [
    "AppendCache",
    "BlockPool",
    "KeyValueCache",
    "PagedCache",
    "PreallocatedCache",
    "SlidingWindowCache",
    "Step",
]
