"""Pages in one pool: shared, copied when written, given back, fed together."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.kv_cache import BlockPool, PagedCache
from tests.library.small_models import numbers, small_decoder

LAYERS, KV_HEADS, D_HEAD, SIZE = 2, 3, 5, 4
assert_close = torch.testing.assert_close


def pool_of(**changes):
    return BlockPool(LAYERS, KV_HEADS, D_HEAD, block_size=SIZE, **changes)


def cache_of(pool, batch=1):
    return PagedCache(batch, LAYERS, KV_HEADS, D_HEAD, max_length=23, pool=pool)


class Lists:
    """Rows of plain lists beside caches of one row each: what the caches must hold."""

    def __init__(self, n):
        self.pool = pool_of()
        self.caches = [cache_of(self.pool) for _ in range(n)]
        self.rows = [[] for _ in range(n)]

    def add(self, chosen, lengths, seed):
        """Feed some rows together, and compare all that comes back."""
        n = max(lengths)
        new = numbers(LAYERS, 2, len(chosen), KV_HEADS, n, D_HEAD, seed=seed)
        for place, (row, length) in enumerate(zip(chosen, lengths, strict=True)):
            self.rows[row] += [new[:, :, place, :, i] for i in range(length)]
        with PagedCache.together([self.caches[row] for row in chosen]) as batch:
            step = batch.step(n, lengths)
            for layer in range(LAYERS):
                keys, values, _ = step.extend(layer, *new[layer])
                for place, row in enumerate(chosen):
                    for slot, token in enumerate(self.rows[row]):
                        found = torch.stack(
                            (keys[place, :, slot], values[place, :, slot])
                        )
                        assert_close(found, token[layer], rtol=0, atol=0)

    def fork(self, row, length):
        self.caches.append(self.caches[row].fork(length))
        self.rows.append(self.rows[row][:length])

    def crop(self, row, length):
        self.caches[row].crop(length)
        del self.rows[row][length:]

    def check(self):
        held = Counter(b for cache in self.caches for b in cache.blocks[0])
        assert all(self.pool.holders(block) == n for block, n in held.items())
        assert self.pool.n_used == len(held)
        for cache, row in zip(self.caches, self.rows, strict=True):
            assert cache.lengths.tolist() == [len(row)]
            assert len(cache.blocks[0]) == math.ceil(len(row) / SIZE)


@settings(max_examples=40, derandomize=True, deadline=None)
@given(data=st.data())
def test_any_passes_forks_and_crops_leave_what_plain_lists_would_hold(data):
    lists = Lists(2)
    for seed in range(data.draw(st.integers(2, 12))):
        row = data.draw(st.integers(0, len(lists.rows) - 1))
        length = data.draw(st.integers(0, len(lists.rows[row])))
        operation = data.draw(st.sampled_from(("add", "add", "fork", "crop")))
        if operation == "add":
            rows = st.sampled_from(range(len(lists.rows)))
            chosen = data.draw(st.lists(rows, min_size=1, max_size=3, unique=True))
            most = [min(6, 23 - len(lists.rows[each])) for each in chosen]
            lengths = list(data.draw(st.tuples(*[st.integers(0, m) for m in most])))
            if max(lengths):
                lists.add(chosen, lengths, seed)
        elif operation == "fork":
            lists.fork(row, length)
        else:
            lists.crop(row, length)
        lists.check()


def test_two_forks_of_a_half_full_block_hold_it_until_one_writes():
    lists = Lists(1)
    lists.add([0], [6], seed=1)
    lists.fork(0, 6)
    lists.fork(0, 5)
    assert lists.pool.n_used == 2
    lists.add([1, 2], [1, 1], seed=2)
    assert lists.pool.n_used == 4  # the full one is still everybody's
    first, second, third = (cache.blocks[0] for cache in lists.caches)
    assert first[0] == second[0] == third[0]
    assert len({first[1], second[1], third[1]}) == 3
    lists.add([0], [1], seed=3)


def decoder_with_caches(n):
    """A decoder, and n empty caches of one row each in one pool."""
    decoder = small_decoder(positions="rotary", dtype=torch.float64)
    config = decoder.config
    sizes = config.n_layers, config.n_kv_heads, config.d_head
    pool = BlockPool(*sizes, SIZE, dtype=torch.float64)
    return decoder, [decoder.new_cache(1, "paged", pool=pool) for _ in range(n)]


def test_rows_fed_together_get_the_logits_that_each_gets_alone():
    decoder, caches = decoder_with_caches(3)
    tokens = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0], [8, 0, 0, 0, 0]])
    with PagedCache.together(caches) as batch:
        decoder(tokens, lengths=[5, 2, 1], cache=batch)
    with PagedCache.together(caches[1:]) as batch:  # the first one waits
        logits = decoder(torch.tensor([[9], [10]]), cache=batch)
    assert [cache.lengths.item() for cache in caches] == [5, 3, 2]
    for row, history in enumerate(([6, 7, 9], [8, 10])):
        alone = decoder(torch.tensor([history]))[0, -1]
        assert_close(logits[row, 0], alone, atol=1e-10, rtol=1e-10)


def test_a_pass_that_broke_off_leaves_caches_that_crop_mends():
    decoder, caches = decoder_with_caches(2)
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    with PagedCache.together(caches) as batch:
        decoder(tokens, cache=batch)

    def broken(*_):
        raise KeyboardInterrupt

    handle = decoder.stack.blocks[1].register_forward_pre_hook(broken)
    with pytest.raises(KeyboardInterrupt), PagedCache.together(caches) as batch:
        decoder(torch.tensor([[7] * 3, [8] * 3]), cache=batch)
    handle.remove()
    for cache in caches:
        cache.crop(3)
    assert caches[0].pool.n_used == 2
    with PagedCache.together(caches) as batch:
        logits = decoder(torch.tensor([[9], [10]]), cache=batch)
    for row, history in enumerate(([1, 2, 3, 9], [4, 5, 6, 10])):
        alone = decoder(torch.tensor([history]))[0, -1]
        assert_close(logits[row, 0], alone, atol=1e-10, rtol=1e-10)


def test_a_pool_with_a_limit_says_no_before_anything_is_written():
    cache = cache_of(pool_of(max_blocks=3))
    other = cache_of(cache.pool)
    cache.extend(0, *numbers(2, 1, KV_HEADS, 8, D_HEAD))
    cache.extend(1, *numbers(2, 1, KV_HEADS, 8, D_HEAD))
    with pytest.raises(ValueError, match="2 more blocks are needed and 1 of this pool"):
        other.step(5)
    assert other.lengths.tolist() == [0]
    other.step(4)
    twin = cache.fork(7)
    other.extend(0, *numbers(2, 1, KV_HEADS, 4, D_HEAD))
    with pytest.raises(ValueError, match="1 more blocks are needed and 0 of this pool"):
        twin.step(1)  # it would write into a block that is shared
    cache.crop(0)
    twin.step(1)


def test_a_pool_grows_no_further_than_its_limit():
    cache = cache_of(pool_of(max_blocks=5))
    for layer in range(LAYERS):
        cache.extend(layer, *numbers(2, 1, KV_HEADS, 20, D_HEAD))
    assert (cache.pool.n_used, cache.pool.n_left) == (5, 0)
    assert len(cache.pool.slots) == 5
    assert pool_of().n_left == math.inf


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: pool_of(max_blocks=0), "max_blocks was 0"),
        (lambda: BlockPool(2, 3, 5, block_size=0), "block_size was 0"),
        (lambda: pool_of(max_blocks=1).check_room(2), "2 more blocks"),
        (lambda: PagedCache(1, 2, 3, 7, 23, pool=pool_of()), "the pool holds"),
        (
            lambda: PagedCache(1, 2, 3, 5, 23, dtype=torch.float64, pool=pool_of()),
            "the pool holds",
        ),
        (lambda: cache_of(pool_of()).fork(1), "the shortest row has 0"),
        (lambda: cache_of(pool_of()).fork(-1), "fork was given length -1"),
        (lambda: PagedCache.together([]).__enter__(), "0 caches"),
        (
            lambda: PagedCache.together([cache_of(pool_of())] * 2).__enter__(),
            "each once",
        ),
        (
            lambda: PagedCache.together(
                [cache_of(pool_of()), cache_of(pool_of())]
            ).__enter__(),
            "several pools",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_a_cache_with_a_memory_is_not_fed_together():
    cache = cache_of(pool_of())
    cache.remember_cross(0, *numbers(2, 1, KV_HEADS, 7, D_HEAD))
    with (
        pytest.raises(ValueError, match="cross-attention"),
        PagedCache.together([cache]),
    ):
        pass


def test_rows_fed_together_may_not_outgrow_the_shortest_cache():
    pool = pool_of()
    caches = [PagedCache(1, 2, 3, 5, max_length=n, pool=pool) for n in (5, 9)]
    with PagedCache.together(caches) as batch:
        batch.step(5)
        with pytest.raises(ValueError, match="at most 5 tokens"):
            batch.step(6)


def test_a_fork_keeps_the_memory_and_adds_none_to_its_parent():
    cache = cache_of(pool_of())
    cache.remember_cross(0, *numbers(2, 1, KV_HEADS, 7, D_HEAD))
    twin = cache.fork(0)
    assert_close(twin.cross(0), cache.cross(0))
    twin.remember_cross(1, *numbers(2, 1, KV_HEADS, 7, D_HEAD))
    assert cache.cross(1) is None


def test_the_last_row_to_write_into_a_shared_block_needs_no_copy():
    pool = pool_of(max_blocks=4)
    cache = cache_of(pool)
    for layer in range(LAYERS):
        cache.extend(layer, *numbers(2, 1, KV_HEADS, 6, D_HEAD))
    cache.reorder([0, 0, 0])
    for layer in range(LAYERS):  # one full block for all, a half full one each
        cache.extend(layer, *numbers(2, 3, KV_HEADS, 1, D_HEAD))
    assert pool.n_left == 0


def test_a_taken_and_given_block_serves_again():
    pool = pool_of()
    first = pool.take()
    pool.share(first)
    pool.give(first)
    assert pool.holders(first) == 1
    pool.give(first)
    assert pool.n_used == 0
    assert pool.take() == first
