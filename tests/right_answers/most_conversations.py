"""Right answers to most_conversations."""

import math

from tests.answers import right


@right("divmod, and ceil of a quotient")
def with_divmod(n_blocks, block_size, n_shared, n_own):
    once, rest = divmod(n_shared, block_size)
    if n_blocks < once:
        return 0
    return (n_blocks - once) // math.ceil((rest + n_own) / block_size)


@right("rounded up by adding block_size - 1")
def by_addition(n_blocks, block_size, n_shared, n_own):
    whole = (n_shared + n_own + block_size - 1) // block_size
    shared = n_shared // block_size
    return max(n_blocks - shared, 0) // (whole - shared)


@right("blocks taken from the pool until it is empty")
def by_loop(n_blocks, block_size, n_shared, n_own):
    free, talks = n_blocks - n_shared // block_size, 0
    while True:
        tokens = n_shared % block_size + n_own
        while tokens > 0:
            free -= 1
            tokens -= block_size
        if free < 0:
            return talks
        talks += 1


@right("the first conversation, then the others")
def first_and_others(n_blocks, block_size, n_shared, n_own):
    whole = -(-(n_shared + n_own) // block_size)
    if whole > n_blocks:
        return 0
    return 1 + (n_blocks - whole) // (whole - n_shared // block_size)
