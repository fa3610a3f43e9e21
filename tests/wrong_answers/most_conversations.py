"""Wrong answers to most_conversations."""

import math

from tests.answers import wrong


@wrong("sharing-forgotten")
def each_for_itself(n_blocks, block_size, n_shared, n_own):
    per_talk = math.ceil((n_shared + n_own) / block_size)
    return n_blocks // per_talk


@wrong("shared-not-in-the-pool")
def only_the_difference(n_blocks, block_size, n_shared, n_own):
    total = math.ceil((n_shared + n_own) / block_size)
    return n_blocks // (total - n_shared // block_size)


@wrong("half-a-block-shared")
def both_rounded_up(n_blocks, block_size, n_shared, n_own):
    shared = math.ceil(n_shared / block_size)
    own = math.ceil(n_own / block_size)
    return max(0, n_blocks - shared) // own


@wrong("own-tokens-rounded-alone")
def own_ceil(n_blocks, block_size, n_shared, n_own):
    left = max(n_blocks - n_shared // block_size, 0)
    return left // math.ceil(n_own / block_size)


@wrong("own-tokens-rounded-alone")
def one_block_for_the_rest(n_blocks, block_size, n_shared, n_own):
    left = max(n_blocks - n_shared // block_size, 0)
    each = math.ceil(n_own / block_size)
    if n_shared % block_size:
        each += 1
    return left // each


@wrong("last-block-not-counted")
def floors(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    each = max(1, (n_shared + n_own) // block_size - once)
    return max(0, (n_blocks - once) // each)


@wrong("one-block-too-many")
def plus_one(n_blocks, block_size, n_shared, n_own):
    once, rest = divmod(n_shared, block_size)
    each = (rest + n_own) // block_size + 1
    return max(n_blocks - once, 0) // each


@wrong("tokens-for-blocks")
def no_blocks(n_blocks, block_size, n_shared, n_own):
    left = n_blocks * block_size - n_shared
    return int(max(left, 0) / n_own)


@wrong("pool-too-small")
def below_zero(n_blocks, block_size, n_shared, n_own):
    once, rest = divmod(n_shared, block_size)
    return (n_blocks - once) // math.ceil((rest + n_own) / block_size)


@wrong("not-a-whole-number")
def true_division(n_blocks, block_size, n_shared, n_own):
    once, rest = divmod(n_shared, block_size)
    return max(0, n_blocks - once) / math.ceil((rest + n_own) / block_size)


@wrong("half-a-block-shared", "shared-not-in-the-pool")
def two_slips(n_blocks, block_size, n_shared, n_own):
    return n_blocks // math.ceil(n_own / block_size)
