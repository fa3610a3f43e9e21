"""Wrong answers to n_scores."""

import math

from tests.answers import wrong


@wrong("rest-by-the-full-formula")
def closed_form(n, chunk):
    return int(n * (n + chunk) / 2)


@wrong("rest-counted-as-full")
def ceil_chunks(n, chunk):
    m = math.ceil(n / chunk)
    return chunk * chunk * m * (m + 1) // 2


@wrong("rest-forgotten")
def floor_chunks(n, chunk):
    m = n // chunk
    return sum(chunk * (i + 1) * chunk for i in range(m))


@wrong("hidden-pairs-left-out")
def only_allowed(n, chunk):
    return sum(i + 1 for i in range(n))


@wrong("earlier-keys-forgotten")
def each_chunk_alone(n, chunk):
    m, r = n // chunk, n % chunk
    return m * chunk * chunk + r * r


@wrong("chunks-ignored")
def always_squared(n, chunk):
    return n**2


@wrong("own-keys-forgotten")
def keys_before_the_chunk(n, chunk):
    total = 0
    for start in range(0, n, chunk):
        total += min(chunk, n - start) * start
    return total


@wrong("rest-reads-itself-only")
def rest_squared(n, chunk):
    m, r = divmod(n, chunk)
    return chunk**2 * m * (m + 1) // 2 + r**2


@wrong("last-piece-without-hidden-pairs")
def half_rows(n, chunk):
    m, r = divmod(n, chunk)
    return chunk**2 * m * (m + 1) / 2 + r * (n - r / 2)
