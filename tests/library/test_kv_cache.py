"""The caches: what goes in comes out, and a decoder with one computes what it does without."""

import collections
import contextlib
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.attention import MultiHeadAttention
from course_lib.kv_cache import (
    AppendCache,
    PagedCache,
    PreallocatedCache,
    SlidingWindowCache,
)
from tests.library.small_models import (
    KINDS,
    SCHEMES,
    TOLERANCES,
    CallCounter,
    decoder_for,
    fed,
    ids,
    numbers,
    small_decoder,
    with_config,
)

CLASSES = dict(
    zip(
        KINDS,
        (AppendCache, PreallocatedCache, PagedCache, SlidingWindowCache),
        strict=True,
    )
)
BOUNDED = KINDS[:3]
LAYERS, KV_HEADS, D_HEAD = 2, 3, 5
assert_close = torch.testing.assert_close


def cache_of(kind, batch=2, **changes):
    sizes = dict(n_layers=LAYERS, n_kv_heads=KV_HEADS, d_head=D_HEAD, max_length=11)
    options = {"paged": {"block_size": 4}, "sliding_window": {"window": 4}}
    return CLASSES[kind](batch, **{**sizes, **options.get(kind, {}), **changes})


def keys_and_values(batch, n, seed=0):
    return numbers(2, batch, KV_HEADS, n, D_HEAD, seed=seed)


def fill(cache, n, seed=0):
    """Extend every layer by n tokens of every row."""
    for layer in range(LAYERS):
        cache.extend(layer, *keys_and_values(cache.batch, n, seed + layer))


class PlainRows:
    """The simplest cache there can be: a list of tokens per row."""

    def __init__(self, cache, batch):
        self.cache, self.rows = cache, [[] for _ in range(batch)]
        self.window = getattr(cache, "window", 99)

    def add(self, lengths, side, seed):
        """Extend cache and lists by ragged rows, and compare what the cache returns."""
        n = max(*lengths, 1)
        new = numbers(LAYERS, 2, len(lengths), KV_HEADS, n, D_HEAD, seed=seed)
        step = self.cache.step(n, lengths, side)
        starts = [len(row) for row in self.rows]
        for index, length in enumerate(lengths):
            first = 0 if side == "right" else n - length
            self.rows[index] += [new[:, :, index, :, first + i] for i in range(length)]
        for layer in range(LAYERS):
            self.compare(step.extend(layer, *new[layer]), layer, starts)
        assert self.cache.lengths.tolist() == [len(row) for row in self.rows]

    def compare(self, returned, layer, starts):
        """Every token that a new query may read stands where key_positions says."""
        keys, values, positions = returned
        for index, row in enumerate(self.rows):
            slot_of = (positions if positions.ndim == 1 else positions[index]).tolist()
            assert all(-1 <= place < len(row) for place in slot_of)
            for place in range(max(0, starts[index] - self.window + 1), len(row)):
                assert slot_of.count(place) == 1
                slot = slot_of.index(place)
                found = torch.stack((keys[index, :, slot], values[index, :, slot]))
                assert_close(found, row[place][layer], rtol=0, atol=0)

    def reorder(self, rows):
        self.cache.reorder(rows)
        self.rows = [list(self.rows[row]) for row in rows]

    def crop(self, length):
        """Crop both; a window may say no, and must then have changed nothing."""
        may_refuse = isinstance(self.cache, SlidingWindowCache)
        with (
            contextlib.suppress(ValueError) if may_refuse else contextlib.nullcontext()
        ):
            self.cache.crop(length)
            self.rows = [row[:length] for row in self.rows]

    def room(self, row):
        return self.cache.max_length - len(row) if self.cache.bounded else 7


def assert_blocks_fit(cache):
    """Each row holds just enough blocks, and the pool knows who holds which."""
    held = collections.Counter(block for row in cache.blocks for block in row)
    assert all(cache.pool.holders(block) == n for block, n in held.items())
    assert cache.pool.n_used == len(held)
    assert [len(row) for row in cache.blocks] == [
        math.ceil(length / cache.block_size) for length in cache.lengths.tolist()
    ]
    block_bytes = LAYERS * 2 * KV_HEADS * cache.block_size * D_HEAD * 4
    assert cache.bytes == len(held) * block_bytes


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12, derandomize=True, deadline=None)
@given(data=st.data())
def test_any_steps_reorders_and_crops_leave_what_plain_lists_would_hold(kind, data):
    rows = PlainRows(cache_of(kind, batch=2), batch=2)
    for seed in range(data.draw(st.integers(2, 9))):
        operation = data.draw(st.sampled_from(("add", "add", "reorder", "crop")))
        if operation == "add":
            counts = [st.integers(0, min(7, rows.room(row))) for row in rows.rows]
            side = data.draw(st.sampled_from(("right", "left")))
            rows.add(list(data.draw(st.tuples(*counts))), side, seed)
        elif operation == "reorder":
            row = st.integers(0, len(rows.rows) - 1)
            rows.reorder(data.draw(st.lists(row, min_size=1, max_size=4)))
        else:
            rows.crop(data.draw(st.integers(0, 9)))
        if kind == "paged":
            assert_blocks_fit(rows.cache)


# -- a decoder with a cache ------------------------------------------------------------


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_1_3_and_all_give_the_uncached_logits(kind, scheme, dtype):
    decoder = decoder_for(kind, scheme, dtype)
    tokens = ids(2, 11)
    expected = decoder(tokens)
    for size in (1, 3, 11):
        cache = decoder.new_cache(2, kind)
        actual = fed(decoder, tokens, cache, size)
        assert_close(actual, expected, **TOLERANCES[dtype])


def assert_rows_continue(decoder, cache, histories, lengths, side, seed):
    """Feed each row `lengths` more tokens; its logits are those of the row alone."""
    n = max(lengths)
    tokens = ids(len(lengths), n, seed=seed)
    logits = decoder(tokens, lengths=lengths, cache=cache, side=side)
    for row, (history, length) in enumerate(zip(histories, lengths, strict=True)):
        if length:
            real = slice(0, length) if side == "right" else slice(n - length, n)
            history += tokens[row, real].tolist()
            alone = decoder(torch.tensor([history]))[0, -length:]
            assert_close(logits[row, real], alone, **TOLERANCES[logits.dtype])


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_ragged_chunks_give_each_row_its_logits_alone(kind, scheme, side):
    decoder = decoder_for(kind, scheme)
    cache, histories = decoder.new_cache(3, kind), [[], [], []]
    for seed, lengths in enumerate(([5, 0, 2], [1, 3, 0], [1, 1, 1], [4, 1, 2])):
        assert_rows_continue(decoder, cache, histories, lengths, side, seed)
    assert cache.lengths.tolist() == [11, 5, 5]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", KINDS)
def test_after_a_reorder_each_row_continues_its_parent(kind, scheme):
    decoder = decoder_for(kind, scheme)
    cache, histories = decoder.new_cache(2, kind), [[], []]
    assert_rows_continue(decoder, cache, histories, [5, 2], "right", 0)
    for seed, rows in enumerate(([1, 0, 1], [2, 2, 1, 0, 0], [0, 1], [1])):
        cache.reorder(rows)
        histories = [list(histories[row]) for row in rows]
        assert cache.batch == len(rows)
        assert_rows_continue(decoder, cache, histories, [1] * len(rows), "right", seed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_reorder_that_drops_the_longest_row_leaves_nothing_of_it(kind):
    decoder = decoder_for(kind, "rotary")
    cache, histories = decoder.new_cache(3, kind), [[], [], []]
    assert_rows_continue(decoder, cache, histories, [5, 2, 1], "right", 0)
    cache.reorder(torch.tensor([1]))
    assert_rows_continue(decoder, cache, histories[1:2], [1], "right", 1)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("kind", BOUNDED)
def test_after_a_crop_other_tokens_follow_as_if_the_cut_ones_never_were(kind, scheme):
    decoder = decoder_for(kind, scheme)
    cache, histories = decoder.new_cache(2, kind), [[], []]
    assert_rows_continue(decoder, cache, histories, [7, 2], "right", 0)
    cache.crop(3)
    assert cache.lengths.tolist() == [3, 2]
    histories = [history[:3] for history in histories]
    for seed, lengths in enumerate(([1, 1], [0, 2], [3, 1])):
        assert_rows_continue(decoder, cache, histories, lengths, "left", seed + 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_crop_to_what_is_there_or_more_changes_nothing(kind):
    decoder = decoder_for(kind, "rotary")
    cache, histories = decoder.new_cache(2, kind), [[], []]
    assert_rows_continue(decoder, cache, histories, [7, 2], "right", 0)
    cache.crop(7)
    cache.crop(9)
    assert cache.lengths.tolist() == [7, 2]
    assert_rows_continue(decoder, cache, histories, [1, 1], "right", 1)


@pytest.mark.parametrize("kind", BOUNDED)
@pytest.mark.parametrize("first", [3, 11])
def test_one_token_past_the_limit_is_refused_before_anything_is_computed(kind, first):
    decoder = decoder_for(kind, "rotary")
    cache, tokens = decoder.new_cache(2, kind), ids(2, 12)
    decoder(tokens[:, :first], cache=cache)
    calls, held = CallCounter(decoder.embedding), cache.bytes
    with pytest.raises(ValueError, match="at most 11 tokens a row.* make it 12"):
        decoder(tokens[:, first:], cache=cache)
    assert (len(calls), cache.bytes) == (0, held)
    if first < 11:
        actual = decoder(tokens[:, first:11], cache=cache)
        assert_close(actual, decoder(tokens[:, :11])[:, first:], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", BOUNDED)
def test_a_shorter_cache_has_its_own_limit_and_ragged_rows_count_alone(kind):
    decoder = decoder_for(kind, "alibi")
    cache = decoder.new_cache(2, kind, max_length=5)
    decoder(ids(2, 4), lengths=[4, 1], cache=cache)
    decoder(ids(2, 3), lengths=[1, 3], cache=cache)
    assert cache.lengths.tolist() == [5, 4]
    with pytest.raises(ValueError, match="at most 5 tokens a row.* make it 6"):
        decoder(ids(2, 2), lengths=[1, 0], cache=cache)
    decoder(ids(2, 2), lengths=[0, 1], cache=cache)


@pytest.mark.parametrize("kind", BOUNDED)
def test_logits_do_not_depend_on_the_size_of_the_cache(kind):
    decoder = decoder_for(kind, "rotary")
    tokens = ids(2, 5)
    small, large = (decoder.new_cache(2, kind, max_length=n) for n in (5, 11))
    for token in tokens.split(1, dim=1):
        one = decoder(token, cache=small)
        assert_close(one, decoder(token, cache=large), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_two_prompts_in_two_caches_do_not_meet(kind):
    decoder = decoder_for(kind, "rotary")
    caches = [decoder.new_cache(1, kind) for _ in range(2)]
    tokens = ids(2, 5)
    for token in tokens.split(1, dim=1):
        pair = [decoder(token[i : i + 1], cache=caches[i]) for i in range(2)]
    assert_close(torch.cat(pair), decoder(tokens)[:, -1:], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_cached_does_not_change_later(kind):
    cache = cache_of(kind, window=9) if kind == "sliding_window" else cache_of(kind)
    first = cache.extend(0, *keys_and_values(2, 3, seed=1))[0].clone()
    later = cache.extend(0, *keys_and_values(2, 5, seed=2))[0]
    assert_close(later[:, :, :3], first, rtol=0, atol=0)
    assert_close(first, keys_and_values(2, 3, seed=1)[0], rtol=0, atol=0)


@pytest.mark.parametrize("window", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_every_cache_equals_a_windowed_model(kind, window):
    decoder = small_decoder(positions="relative", window=window)
    tokens = ids(2, 11)
    for size in (1, 2, 4, 11):
        actual = fed(decoder, tokens, decoder.new_cache(2, kind), size)
        assert_close(actual, decoder(tokens), atol=2e-5, rtol=1e-4)


# -- the sliding window ----------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["learned", "rotary", "relative"])
@pytest.mark.parametrize("before", [0, 4, 5, 6])
@pytest.mark.parametrize("chunk", [1, 4, 5, 6])
def test_a_window_of_5_equals_the_uncached_model_at_every_seam(scheme, before, chunk):
    decoder = small_decoder(positions=scheme, window=5, max_length=14)
    tokens, cache = ids(2, 14), decoder.new_cache(2, "sliding_window")
    parts = [
        p for p in tokens.split([before, chunk, 14 - before - chunk], 1) if p.numel()
    ]
    actual = torch.cat([decoder(part, cache=cache) for part in parts], dim=1)
    assert_close(actual, decoder(tokens), atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize(
    "scheme", ["rotary", "relative", "alibi", "sinusoidal", "none"]
)
def test_a_window_runs_far_past_max_length(scheme):
    decoder = small_decoder(positions=scheme, window=3, max_length=5)
    tokens = ids(2, 41)
    for size in (1, 7):
        cache = decoder.new_cache(2, "sliding_window")
        actual = fed(decoder, tokens, cache, size)
        expected = with_config(decoder, max_length=41)(tokens)
        assert_close(actual, expected, atol=5e-5, rtol=1e-3)
    assert cache.lengths.tolist() == [41, 41]


def test_a_window_with_learned_positions_ends_with_their_table():
    decoder = small_decoder(positions="learned", window=3, max_length=5)
    cache = decoder.new_cache(1, "sliding_window")
    decoder(ids(1, 5), cache=cache)
    with pytest.raises(ValueError, match="6 tokens long .* at most 5"):
        decoder(ids(1, 1), cache=cache)
    assert cache.lengths.tolist() == [5]


def test_a_window_never_needs_more_memory():
    cache = cache_of("sliding_window")
    held = cache.bytes
    for n in (1, 3, 9, 23):
        fill(cache, n)
        assert cache.bytes == held == 2 * LAYERS * 2 * KV_HEADS * 4 * D_HEAD * 4


def test_a_window_is_max_length_unless_it_is_given():
    sizes = dict(batch=2, n_layers=1, n_kv_heads=3, d_head=5, max_length=7)
    assert SlidingWindowCache(**sizes).window == 7
    assert SlidingWindowCache(**sizes, window=2).window == 2


@pytest.mark.parametrize(
    ("length", "crops"),
    [(4, (0,)), (4, (2,)), (5, (4,)), (9, (8,)), (9, (0,)), (9, (8, 8, 9))],
)
def test_a_window_goes_back_as_long_as_it_remembers_what_is_read_next(length, crops):
    decoder = small_decoder(positions="rotary", window=4)
    cache, histories = decoder.new_cache(2, "sliding_window"), [[], []]
    assert_rows_continue(decoder, cache, histories, [length, 1], "right", 0)
    for crop in crops:
        cache.crop(crop)
    histories = [history[: min(crops)] for history in histories]
    assert_rows_continue(decoder, cache, histories, [2, 2], "right", 1)


@pytest.mark.parametrize(
    ("length", "crops"), [(5, (3,)), (9, (7,)), (9, (8, 7)), (5, (4, 3)), (9, (1,))]
)
def test_a_window_refuses_to_go_back_to_what_it_has_forgotten(length, crops):
    cache = cache_of("sliding_window", batch=1)
    fill(cache, length)
    for crop in crops[:-1]:
        cache.crop(crop)
    before = cache.lengths.tolist()
    with pytest.raises(ValueError, match=f"to {crops[-1]} tokens; a window of 4 has"):
        cache.crop(crops[-1])
    assert cache.lengths.tolist() == before


def test_what_a_window_has_forgotten_follows_its_row_in_a_reorder():
    cache = cache_of("sliding_window", batch=2)
    step = cache.step(9, [2, 9])
    for layer in range(LAYERS):
        step.extend(layer, *keys_and_values(2, 9))
    cache.reorder([1, 0])
    with pytest.raises(ValueError, match="back from 9 to 2 tokens"):
        cache.crop(2)
    cache.reorder([1])
    cache.crop(1)
    assert cache.lengths.tolist() == [1]


def test_a_row_that_waited_remembers_no_more_than_before():
    cache = cache_of("sliding_window", batch=2)
    fill(cache, 9)
    cache.crop(8)
    step = cache.step(1, [0, 1])
    for layer in range(LAYERS):
        step.extend(layer, *keys_and_values(2, 1))
    with pytest.raises(ValueError, match="back from 8 to 7 tokens"):
        cache.crop(7)


def test_a_window_that_starts_again_forgets_that_it_forgot():
    cache = cache_of("sliding_window")
    fill(cache, 9)
    cache.crop(0)
    fill(cache, 4)
    cache.crop(2)
    assert cache.lengths.tolist() == [2, 2]


def test_a_window_of_1_can_be_cropped_anywhere():
    decoder = small_decoder(positions="rotary", window=1)
    cache, histories = decoder.new_cache(1, "sliding_window"), [[]]
    assert_rows_continue(decoder, cache, histories, [7], "right", 0)
    cache.crop(2)
    assert_rows_continue(decoder, cache, [histories[0][:2]], [3], "right", 1)


@pytest.mark.parametrize("window", [None, 5])
def test_a_window_that_forgets_what_the_model_reads_is_refused(window):
    decoder = small_decoder(positions="rotary", window=window)
    cache = SlidingWindowCache(1, 2, 3, 4, max_length=3)
    decoder(ids(1, 3), cache=cache)
    with pytest.raises(ValueError, match="window of 3 tokens and this model reads"):
        decoder(ids(1, 1), cache=cache)
    assert cache.lengths.tolist() == [3]


# -- pages -----------------------------------------------------------------------------


def test_blocks_that_a_row_gives_up_serve_another():
    cache = cache_of("paged", batch=2)
    fill(cache, 9)
    most = {block for row in cache.blocks for block in row}
    assert most == set(range(6))  # none is lost when the pool grows
    for _ in range(5):
        cache.crop(0)
        assert cache.blocks == [[], []]
        fill(cache, 9)
        assert {block for row in cache.blocks for block in row} == most


def test_blocks_of_a_dropped_row_serve_another():
    cache = cache_of("paged", batch=3)
    fill(cache, 8)
    for rows, n_rows_apart in (([0, 0, 2], 2), ([1, 1, 1], 1), ([0, 0, 0], 1)):
        cache.reorder(rows)
        assert cache.pool.n_used == 2 * n_rows_apart
        assert_blocks_fit(cache)
    cache.crop(0)
    fill(cache, 8)
    assert {block for row in cache.blocks for block in row} == set(range(6))


def test_a_repeated_row_writes_into_blocks_of_its_own():
    cache = cache_of("paged", batch=1)
    fill(cache, 3)
    cache.reorder([0, 0])
    one, two = keys_and_values(1, 1, seed=5), keys_and_values(1, 1, seed=6)
    keys, values, _ = cache.extend(0, *torch.cat((one, two), dim=1))
    assert_close(keys[0, :, 3], one[0, 0, :, 0], rtol=0, atol=0)
    assert_close(values[1, :, 3], two[1, 0, :, 0], rtol=0, atol=0)
    assert_close(keys[0, :, :3], keys[1, :, :3], rtol=0, atol=0)


def test_nan_in_a_block_does_not_reach_its_next_owner():
    cache = cache_of("paged", batch=2, n_layers=1)
    cache.extend(0, *torch.full((2, 2, KV_HEADS, 8, D_HEAD), torch.nan))
    cache.crop(0)
    step = cache.step(5, [1, 5])
    keys, values, positions = step.extend(0, *keys_and_values(2, 5))
    assert positions.tolist() == [[0, -1, -1, -1, -1], [0, 1, 2, 3, 4]]
    assert keys.isfinite().all()
    assert values.isfinite().all()


@pytest.mark.parametrize("block_size", [1, 3, 16])
def test_any_block_size_gives_the_uncached_logits(block_size):
    decoder = small_decoder(positions="rotary")
    cache = decoder.new_cache(2, "paged", block_size=block_size)
    histories = [[], []]
    for seed, lengths in enumerate(([3, 1], [1, 4], [2, 1])):
        assert_rows_continue(decoder, cache, histories, lengths, "right", seed)
    assert [len(row) for row in cache.blocks] == [math.ceil(6 / block_size)] * 2


# -- memory of the source --------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_cross_keys_are_kept_per_layer_and_follow_a_reorder(kind):
    cache = cache_of(kind, batch=2)
    assert cache.cross(0) is None
    pairs = [numbers(2, 2, KV_HEADS, 7, D_HEAD, seed=layer) for layer in range(2)]
    for layer, pair in enumerate(pairs):
        cache.remember_cross(layer, *pair)
    cache.reorder([1, 1, 0])
    for layer, (keys, values) in enumerate(pairs):
        kept_keys, kept_values = cache.cross(layer)
        assert_close(kept_keys, keys[[1, 1, 0]], rtol=0, atol=0)
        assert_close(kept_values, values[[1, 1, 0]], rtol=0, atol=0)


def test_an_attention_projects_its_memory_once_per_cache():
    heads = MultiHeadAttention(15, 3, cross=True, layer=1)
    cache = cache_of("append", batch=2)
    keys, values = CallCounter(heads.to_keys), CallCounter(heads.to_values)
    x, memory = numbers(2, 1, 15), numbers(2, 7, 15, seed=1)
    first, _ = heads(x, memory=memory, cache=cache)
    second, _ = heads(x, cache=cache)
    assert_close(second, first)
    assert (len(keys), len(values)) == (1, 1)


# -- bytes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "slots"),
    [
        ("append", 2 * 5),
        ("preallocated", 2 * 11),
        ("paged", 2 * 8),
        ("sliding_window", 8),
    ],
)
def test_bytes_count_keys_and_values_of_every_layer_row_head_and_slot(kind, slots):
    cache = cache_of(kind, batch=2)
    fill(cache, 5)
    own = LAYERS * 2 * slots * KV_HEADS * D_HEAD * 4
    assert cache.bytes == own
    cache.remember_cross(1, *numbers(2, 2, KV_HEADS, 7, D_HEAD))
    assert cache.bytes == own + 2 * 2 * KV_HEADS * 7 * D_HEAD * 4


@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_takes_half_the_bytes(kind):
    whole, half = cache_of(kind), cache_of(kind, dtype=torch.bfloat16)
    for cache in (whole, half):
        cache.extend(0, *keys_and_values(2, 5).to(cache.dtype))
        cache.extend(1, *keys_and_values(2, 5).to(cache.dtype))
    assert half.bytes * 2 == whole.bytes


def test_an_append_cache_gives_memory_back_after_a_crop_and_a_reorder():
    cache = cache_of("append", batch=2)
    fill(cache, 5)
    held = cache.bytes
    cache.crop(3)
    assert cache.bytes * 5 == held * 3
    cache.reorder([0])
    assert cache.bytes * 10 == held * 3


# -- interrupted passes and modes ------------------------------------------------------


def interrupted(decoder, *arguments, **options):
    """Run a pass that breaks after the second block's attention has extended the cache."""

    def broken(module, inputs):
        raise RuntimeError("power cut")

    handle = decoder.stack.blocks[0].feed_forward.register_forward_pre_hook(broken)
    with pytest.raises(RuntimeError, match="power cut"):
        decoder(*arguments, **options)
    handle.remove()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lengths", [[1, 1], [0, 1], [2, 1]])
def test_an_interrupted_pass_is_reported_and_a_crop_mends_it(kind, lengths):
    decoder = decoder_for(kind, "rotary", window=8)
    cache, histories = decoder.new_cache(2, kind), [[], []]
    assert_rows_continue(decoder, cache, histories, [4, 3], "right", 0)
    interrupted(decoder, ids(2, max(lengths)), lengths=lengths, cache=cache)
    with pytest.raises(ValueError, match=r"interrupted; call crop\(length\)"):
        decoder(ids(2, 1), cache=cache)
    cache.crop(4)
    assert cache.lengths.tolist() == [4, 3]
    assert_rows_continue(decoder, cache, histories, [2, 3], "right", 1)


def test_an_interrupted_first_pass_with_a_memory_can_be_repeated():
    decoder = small_decoder(cross_attention=True)
    cache, tokens, memory = decoder.new_cache(2), ids(2, 5), numbers(2, 7, 24)
    interrupted(decoder, tokens, memory, memory_lengths=[7, 2], cache=cache)
    cache.crop(0)
    expected = decoder(tokens, memory, memory_lengths=[7, 2])
    again = dict(memory_lengths=[7, 2], cache=cache)
    assert_close(decoder(tokens, memory, **again), expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_filled_under_inference_mode_serves_a_training_step(kind):
    decoder = decoder_for(kind, "rotary", cross_attention=True)
    tokens, memory = ids(2, 7), numbers(2, 5, 24)
    with torch.inference_mode():
        cache = decoder.new_cache(2, kind)
        decoder(tokens[:, :4], memory, memory_lengths=[5, 2], cache=cache)
        cache.reorder([1, 1, 0])
    with torch.enable_grad():
        logits = decoder(tokens[[1, 1, 0], 4:], cache=cache)
    expected = decoder(tokens, memory, memory_lengths=[5, 2])[[1, 1, 0], 4:]
    assert_close(logits, expected, atol=2e-5, rtol=1e-4)
    logits.sum().backward()
    assert decoder.stack.blocks[0].self_attention.to_queries.weight.grad.any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_mode_may_change_between_any_two_calls(kind):
    decoder, tokens = decoder_for(kind, "rotary"), ids(2, 10)
    cache, expected = decoder.new_cache(2, kind), decoder(tokens)
    for start, mode in enumerate(
        (torch.inference_mode, torch.no_grad, torch.enable_grad) * 3
    ):
        with mode():
            logits = decoder(tokens[:, start : start + 1], cache=cache)
            cache.reorder([0, 1])
        assert_close(logits[:, 0], expected[:, start], atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copied_row_may_be_taken_back_outside_inference_mode(kind):
    with torch.inference_mode():
        cache = cache_of(kind, batch=1)
        old, _, _ = cache.extend(0, *keys_and_values(1, 3))
    cache.reorder([0, 0, 0])
    keys, _, _ = cache.extend(0, *keys_and_values(3, 1))
    assert_close(keys[:, :, :3], old.expand(3, -1, -1, -1), rtol=0, atol=0)


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "size", ["batch", "n_layers", "n_kv_heads", "d_head", "max_length"]
)
def test_a_size_below_1_is_refused_by_name(kind, size):
    with pytest.raises(ValueError, match=f"{size}=0; it must be at least 1"):
        cache_of(kind, **{size: 0})
    assert cache_of(kind, **{size: 1}).lengths.sum() == 0


def test_a_block_and_a_window_hold_at_least_1_token():
    with pytest.raises(ValueError, match="block_size was 0; .* at least 1"):
        cache_of("paged", block_size=0)
    with pytest.raises(ValueError, match="window was 0; .* at least 1"):
        cache_of("sliding_window", window=0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("layer", "shape", "dtype", "message"),
    [
        (2, (2, 3, 1, 5), torch.float32, "layer 2 was given; .* layers 0 to 1"),
        (-1, (2, 3, 1, 5), torch.float32, "layer -1 was given"),
        (0, (3, 3, 1, 5), torch.float32, r"keys \(3, 3, 1, 5\) .*= \(2, 3, 1, 5\)"),
        (0, (2, 5, 1, 3), torch.float32, r"keys \(2, 5, 1, 3\) .*= \(2, 3, 1, 5\)"),
        (
            0,
            (2, 3, 1, 5),
            torch.float64,
            "float64 .* holds torch.float32, make it with",
        ),
    ],
)
def test_extend_refuses_what_does_not_fit_and_stays_as_it_was(
    kind, layer, shape, dtype, message
):
    cache = cache_of(kind)
    fill(cache, 2)
    with pytest.raises(ValueError, match=message):
        cache.extend(layer, *torch.zeros(2, *shape, dtype=dtype))
    fill(cache, 1)
    assert cache.lengths.tolist() == [3, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_values_must_have_the_shape_and_dtype_of_the_keys(kind):
    cache, (keys, values) = cache_of(kind), keys_and_values(2, 1)
    with pytest.raises(ValueError, match=r"values \(2, 3, 2, 5\)"):
        cache.extend(0, keys, torch.cat((values, values), dim=2))
    with pytest.raises(ValueError, match="values of torch.float64"):
        cache.extend(0, keys, values.double())


@pytest.mark.parametrize("kind", BOUNDED)
def test_extend_refuses_a_token_past_the_limit(kind):
    cache = cache_of(kind)
    fill(cache, 11)
    with pytest.raises(
        ValueError, match="at most 11 .* make it 12; make the cache longer"
    ):
        cache.extend(0, *keys_and_values(2, 1))
    assert cache.lengths.tolist() == [11, 11]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1], "this cache has 2 rows, pass one count per row"),
        ([1, 2, 3], "this cache has 2 rows"),
        ([1, 4], "between 0 and the 3 places"),
        ([-1, 3], "between 0 and the 3 places"),
        ([3.0, 3.0], "whole number per row"),
        ([[3, 3]], "whole number per row"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(kind, lengths, message):
    with pytest.raises(ValueError, match=message):
        cache_of(kind).step(3, torch.tensor(lengths))


def test_an_unknown_side_is_refused():
    with pytest.raises(ValueError, match="side was 'top'; .* 'right' or the 'left'"):
        cache_of("append").step(3, [1, 3], side="top")


def test_a_step_is_used_once_per_layer_and_right_away():
    cache = cache_of("append")
    step, later = cache.step(1), cache.step(1)
    step.extend(0, *keys_and_values(2, 1))
    with pytest.raises(ValueError, match="layer 0 holds .* use it once per layer"):
        step.extend(0, *keys_and_values(2, 1))
    step.extend(1, *keys_and_values(2, 1))
    with pytest.raises(ValueError, match="plan a step right before its pass"):
        later.extend(1, *keys_and_values(2, 1))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [[], [2], [-1], [0.5], [True, False], [[0, 1]], 0])
def test_a_reorder_to_rows_that_do_not_exist_is_refused(kind, rows):
    cache = cache_of(kind)
    fill(cache, 3)
    with pytest.raises(ValueError, match="reorder was given rows .* from 0 to 1"):
        cache.reorder(torch.tensor(rows))
    assert cache.batch == 2


@pytest.mark.parametrize("kind", KINDS)
def test_a_crop_to_less_than_nothing_is_refused(kind):
    cache = cache_of(kind)
    fill(cache, 3)
    with pytest.raises(ValueError, match="crop was given -1; .* 0 or more"):
        cache.crop(-1)
    assert cache.lengths.tolist() == [3, 3]
