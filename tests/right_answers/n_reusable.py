"""Right answers to n_reusable."""

import itertools
import os

from tests.answers import right


@right("zip and takewhile, without the prompt's last id")
def takewhile(cached_ids, prompt_ids, block_size=1):
    pairs = zip(cached_ids, prompt_ids[:-1], strict=False)
    equal = list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    return len(equal) - len(equal) % block_size


@right("block by block")
def by_blocks(cached_ids, prompt_ids, block_size=1):
    n = 0
    while True:
        end = n + block_size
        if end > len(cached_ids) or end >= len(prompt_ids):
            return n
        if cached_ids[n:end] != prompt_ids[n:end]:
            return n
        n = end


@right("the common prefix of two lists, from the standard library")
def common_prefix(cached_ids, prompt_ids, block_size=1):
    n = len(os.path.commonprefix([list(cached_ids), list(prompt_ids)[:-1]]))
    return n // block_size * block_size


@right("give one back only where nothing would be left")
def give_back(cached_ids, prompt_ids, block_size=1):
    n = 0
    for a, b in zip(cached_ids, prompt_ids, strict=False):
        if a != b:
            break
        n += 1
    if n == len(prompt_ids):
        n -= 1
    return n // block_size * block_size
