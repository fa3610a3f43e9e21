"""Wrong answers to n_reusable."""

from tests.answers import wrong


@wrong("nothing-left-to-feed")
def zip_until_different(cached_ids, prompt_ids, block_size=1):
    n = 0
    for a, b in zip(cached_ids, prompt_ids, strict=False):
        if a != b:
            break
        n += 1
    return (n // block_size) * block_size


@wrong("blocks-ignored")
def without_blocks(cached_ids, prompt_ids, block_size=1):
    n = 0
    while n < len(cached_ids) and n < len(prompt_ids) - 1:
        if cached_ids[n] != prompt_ids[n]:
            return n
        n = n + 1
    return n


@wrong("runs-past-the-end")
def prompt_only(cached_ids, prompt_ids, block_size=1):
    for i in range(len(prompt_ids) - 1):
        if cached_ids[i] != prompt_ids[i]:
            return i - i % block_size
    n = len(prompt_ids) - 1
    return n - n % block_size


@wrong("one-token-always-given-up")
def minus_one(cached_ids, prompt_ids, block_size=1):
    n = 0
    for a, b in zip(cached_ids, prompt_ids, strict=False):
        if a == b:
            n += 1
        else:
            break
    n = max(n - 1, 0)
    return n // block_size * block_size


@wrong("equal-places-counted")
def counts_equal_places(cached_ids, prompt_ids, block_size=1):
    most = min(len(cached_ids), len(prompt_ids) - 1)
    n = len([i for i in range(most) if cached_ids[i] == prompt_ids[i]])
    return n // block_size * block_size


@wrong("blocks-rounded-up")
def ceil_of_blocks(cached_ids, prompt_ids, block_size=1):
    most = min(len(cached_ids), len(prompt_ids) - 1)
    n = 0
    while n < most and cached_ids[n] == prompt_ids[n]:
        n += 1
    return -(-n // block_size) * block_size


@wrong("blocks-counted")
def counts_blocks(cached_ids, prompt_ids, block_size=1):
    most = min(len(cached_ids), len(prompt_ids) - 1)
    n = 0
    while n < most and cached_ids[n] == prompt_ids[n]:
        n += 1
    return n // block_size


@wrong("one-id-given-up-after-rounding")
def last_one_at_the_end(cached_ids, prompt_ids, block_size=1):
    n = 0
    for a, b in zip(cached_ids, prompt_ids, strict=False):
        if a != b:
            break
        n += 1
    n = n // block_size * block_size
    if n == len(prompt_ids):
        n -= 1
    return n


@wrong("runs-past-the-end")
def as_found(cached_ids, prompt_ids, block_size=1):
    n = 0
    while cached_ids[n] == prompt_ids[n]:
        n += 1
    n = min(n, len(prompt_ids) - 1)
    return n // block_size * block_size
