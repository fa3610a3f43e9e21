"""Right answers to n_scores."""

import torch

from tests.answers import right


@right("piece by piece")
def in_a_loop(n, chunk):
    total, start = 0, 0
    while start < n:
        end = min(start + chunk, n)
        total += (end - start) * end
        start = end
    return total


@right("the square without what stands above the chunks")
def square_minus_rest(n, chunk):
    m, r = n // chunk, n % chunk
    above = chunk * chunk * m * (m - 1) // 2 + m * chunk * r
    return n * n - above


@right("each query reads to the end of its piece")
def query_by_query(n, chunk):
    return int(sum(min((i // chunk + 1) * chunk, n) for i in range(n)))


@right("a tensor of ends")
def with_torch(n, chunk):
    ends = (torch.arange(n) // chunk + 1) * chunk
    return ends.clamp(max=n).sum()
