"""The decoder as a whole: what it may read, what it refuses, what it counts."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.decoder import Decoder
from course_lib.embedding import TokenEmbedding
from course_lib.kv_cache import (
    AppendCache,
    PagedCache,
    PreallocatedCache,
    SlidingWindowCache,
)
from course_lib.positions import sinusoids
from tests.library.families import SIZES, from_llama, randomise
from tests.library.small_models import (
    KINDS,
    SCHEMES,
    CallCounter,
    fed,
    ids,
    next_token_table,
    numbers,
    small_config,
    small_decoder,
    with_config,
)

assert_close = torch.testing.assert_close
NEAR = dict(atol=2e-5, rtol=1e-4)


# -- references ------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 3, 7])
def test_a_window_reads_what_the_sliding_window_of_transformers_mistral_reads(window):
    transformers = pytest.importorskip("transformers", reason="needs extra `compare`")
    config = transformers.MistralConfig(
        **SIZES, head_dim=6, sliding_window=window, attn_implementation="eager"
    )
    theirs = randomise(transformers.MistralForCausalLM(config), seed=3)
    tokens = ids(2, 11, vocab_size=53)
    ours = from_llama(theirs, window=window)
    assert_close(ours(tokens), theirs(tokens).logits, **NEAR)


def test_logits_of_a_silent_stack_are_norm_and_head_of_the_embedding():
    table = [[1.0, 2.0, 3.0], [4.0, -5.0, 6.0], [0.0, 7.0, -8.0]]
    logits = next_token_table(table)(torch.tensor([[2, 0], [1, 1]]))
    expected = torch.tensor([[table[2], table[0]], [table[1], table[1]]])
    assert_close(logits, expected)


@pytest.mark.parametrize("scale", [False, True])
def test_an_embedding_is_the_row_times_the_root_of_the_width_plus_its_position(scale):
    embedding = TokenEmbedding(small_config(positions="sinusoidal", embed_scale=scale))
    embedding.weight.data.copy_(numbers(13, 24))
    tokens, positions = ids(2, 3), torch.tensor([[-1, 0, 1], [5, 6, 7]])
    rows = embedding.weight[tokens] * (math.sqrt(24) if scale else 1.0)
    places = sinusoids(8, 24)[positions.clamp(min=0)]
    assert_close(embedding(tokens, positions), rows + places)


def test_a_tied_head_is_the_embedding_and_an_untied_one_is_not():
    tied, untied = (small_decoder(tie_weights=tie) for tie in (True, False))
    assert tied.head.weight is tied.embedding.weight
    assert untied.head.weight is not untied.embedding.weight
    n_tied, n_untied = (sum(p.numel() for p in d.parameters()) for d in (tied, untied))
    assert n_untied - n_tied == 13 * 24


def test_every_parameter_receives_a_gradient():
    decoder = small_decoder(positions="relative", cross_attention=True)
    decoder(ids(2, 5), numbers(2, 7, 24)).logsumexp(-1).sum().backward()
    # A key bias adds the same to every score of a query, which softmax ignores.
    felt = [(n, p.grad) for n, p in decoder.named_parameters() if "keys.bias" not in n]
    assert [name for name, gradient in felt if gradient.abs().max() < 1e-6] == []


# -- what a position may read ----------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("window", [None, 3])
def test_the_future_cannot_change_the_past(scheme, window):
    decoder = small_decoder(positions=scheme, window=window)
    tokens = ids(2, 11)
    expected = decoder(tokens)
    for place in (1, 6, 10):
        changed = tokens.clone()
        changed[:, place:] = (changed[:, place:] + 1) % 13
        moved = (decoder(changed) - expected).abs().amax(-1)
        assert moved[:, :place].max() < 1e-5
        assert moved[:, place].min() > 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_past_reaches_every_later_position(scheme):
    decoder, tokens = small_decoder(positions=scheme), ids(2, 11)
    changed = tokens.clone()
    changed[:, 0] = (changed[:, 0] + 1) % 13
    assert (decoder(changed) - decoder(tokens)).abs().amax(-1).min() > 1e-4


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s != "none"])
def test_the_same_tokens_in_another_order_mean_something_else(scheme):
    decoder = small_decoder(positions=scheme)
    one, other = torch.tensor([[1, 2, 3, 4], [2, 1, 3, 4]])
    assert (decoder(one[None]) - decoder(other[None]))[0, -1].abs().max() > 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("window", [None, 3])
@settings(max_examples=5, derandomize=True, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 7), min_size=2, max_size=5),
    side=st.sampled_from(("right", "left")),
)
def test_a_row_alone_is_the_row_in_a_batch(scheme, window, lengths, side):
    decoder = small_decoder(positions=scheme, window=window)
    tokens = ids(len(lengths), 7)
    logits = decoder(tokens, lengths=torch.tensor(lengths), side=side)
    assert logits.isfinite().all()
    for row, length in enumerate(lengths):
        real = slice(0, length) if side == "right" else slice(7 - length, 7)
        if length:
            alone = decoder(tokens[row : row + 1, real])[0]
            assert_close(logits[row, real], alone, **NEAR)


def test_what_stands_at_padding_does_not_matter():
    decoder, tokens = small_decoder(positions="rotary"), ids(2, 7)
    for side, padding in (("right", slice(3, 7)), ("left", slice(0, 4))):
        other = tokens.clone()
        other[0, padding] = (other[0, padding] + 1) % 13
        pair = [decoder(t, lengths=[3, 7], side=side) for t in (tokens, other)]
        real = [i for i in range(7) if i not in range(*padding.indices(7))]
        assert_close(pair[0][0, real], pair[1][0, real], atol=0, rtol=0)


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("cached", [False, True])
def test_only_last_scores_the_last_real_place_of_each_row(side, cached):
    decoder, tokens = small_decoder(), ids(3, 5)
    caches = [decoder.new_cache(3) if cached else None for _ in range(2)]
    options = dict(lengths=torch.tensor([2, 5, 1]), side=side)
    whole = decoder(tokens, cache=caches[0], **options)
    last = decoder(tokens, cache=caches[1], only_last=True, **options)
    places = [1, 4, 0] if side == "right" else [4, 4, 4]
    expected = torch.stack([whole[row, place] for row, place in enumerate(places)])
    assert_close(last, expected[:, None], **NEAR)


def test_only_last_without_lengths_scores_the_last_place():
    decoder, tokens = small_decoder(), ids(3, 5)
    assert_close(decoder(tokens, only_last=True), decoder(tokens)[:, -1:], **NEAR)


def test_only_the_last_few_places_may_be_scored():
    decoder, tokens = small_decoder(), ids(2, 5)
    assert_close(decoder(tokens, only_last=3), decoder(tokens)[:, -3:], **NEAR)


def test_only_last_of_an_empty_row_is_finite():
    decoder = small_decoder()
    assert decoder(ids(2, 3), lengths=[0, 3], only_last=True).isfinite().all()


@pytest.mark.parametrize("side", ["right", "left"])
def test_without_causality_every_real_token_reads_every_real_one(side):
    decoder, tokens = small_decoder(causal=False, positions="rotary"), ids(2, 7)
    real = slice(0, 3) if side == "right" else slice(4, 7)
    logits = decoder(tokens, lengths=[3, 7], side=side)
    assert_close(logits[0, real], decoder(tokens[:1, real])[0], **NEAR)
    changed = tokens.clone()
    changed[:, -1] = (changed[:, -1] + 1) % 13
    assert (decoder(changed) - decoder(tokens))[:, 0].abs().max() > 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_recording_the_weights_changes_no_logits(scheme):
    decoder = small_decoder(positions=scheme, cross_attention=True)
    given = dict(memory=numbers(2, 7, 24), lengths=[5, 3], memory_lengths=[2, 7])
    record, tokens = {}, ids(2, 5)
    recorded = decoder(tokens, record=record, **given)
    assert_close(recorded, decoder(tokens, **given), **NEAR)
    sums = record["cross", 1].sum(-1)
    assert_close(sums, torch.ones(2, 6, 5))
    assert not record["cross", 0][0, :, :, 2:].any()
    assert not record["self", 0].triu(1).any()


# -- the memory ------------------------------------------------------------------------


def with_memory(**changes):
    decoder = small_decoder(cross_attention=True, **changes)
    return decoder, ids(2, 5), numbers(2, 7, 24)


def test_the_first_token_reads_the_last_place_of_the_memory():
    decoder, tokens, memory = with_memory()
    changed = memory.clone()
    changed[:, -1] += 1.0
    moved = decoder(tokens, changed) - decoder(tokens, memory)
    assert moved.abs().amax(-1).min() > 1e-4


def test_a_gradient_reaches_the_real_part_of_the_memory_only():
    decoder, tokens, memory = with_memory()
    memory.requires_grad_()
    decoder(tokens, memory, memory_lengths=[3, 7]).square().sum().backward()
    reached = memory.grad.abs().amax(-1) > 0
    assert reached.sum(-1).tolist() == [3, 7]


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_nan_in_the_padding_of_a_memory_stays_there(kind):
    decoder, tokens, memory = with_memory(window=3)
    spoiled = memory.clone()
    spoiled[0, 2:] = torch.nan
    cache = decoder.new_cache(2, kind) if kind else None
    given = dict(memory_lengths=[2, 7], cache=cache)
    logits = [decoder(tokens[:, :3], spoiled, **given)]
    if kind:
        logits.append(decoder(tokens[:, 3:], cache=cache))
    expected = decoder(tokens, memory, memory_lengths=[2, 7])
    actual = torch.cat(logits, dim=1)
    assert_close(actual, expected[:, : actual.shape[1]], **NEAR)


def test_a_row_with_an_empty_source_reads_nothing_and_is_finite():
    decoder, tokens, memory = with_memory()
    one, other = (
        decoder(tokens, given, memory_lengths=[0, 7]) for given in (memory, memory + 1)
    )
    assert one.isfinite().all()
    assert_close(one[0], other[0], atol=0, rtol=0)
    assert (one[1] - other[1]).abs().max() > 1e-3


@pytest.mark.parametrize("kind", KINDS)
def test_a_short_source_beside_a_long_one_decodes_as_alone(kind):
    decoder, tokens, memory = with_memory(window=3)
    cache = decoder.new_cache(2, kind)
    first = decoder(tokens[:, :2], memory, memory_lengths=[2, 7], cache=cache)
    rest = fed(decoder, tokens[:, 2:], cache, size=1)
    alone = decoder(tokens[:1], memory[:1, :2])
    assert_close(torch.cat((first, rest), dim=1)[:1], alone, **NEAR)


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_and_its_lengths_follow_a_reorder(kind):
    decoder, tokens, memory = with_memory(window=3)
    cache, rows = decoder.new_cache(2, kind), [1, 0, 0]
    decoder(tokens[:, :3], memory, memory_lengths=[2, 7], cache=cache)
    cache.reorder(rows)
    actual = decoder(tokens[rows, 3:], cache=cache)
    lengths = torch.tensor([2, 7])[rows]
    expected = decoder(tokens[rows], memory[rows], memory_lengths=lengths)
    assert_close(actual, expected[:, 3:], **NEAR)
    decoder(tokens[rows, :1], memory[rows], memory_lengths=lengths, cache=cache)


def test_one_source_may_serve_several_beams():
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(1)
    decoder(tokens[:1, :3], memory[:1], memory_lengths=[2], cache=cache)
    cache.reorder([0, 0, 0])
    cache.reorder([2, 1])
    logits = decoder(tokens[:, 3:4], cache=cache)
    expected = decoder(tokens[:1, :4], memory[:1, :2])[:, 3:]
    assert_close(logits[:1], expected, **NEAR)


def test_keys_and_values_of_a_source_are_projected_once_per_layer():
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(2)
    heads = [block.cross_attention for block in decoder.stack.blocks]
    counters = [CallCounter(p) for h in heads for p in (h.to_keys, h.to_values)]
    decoder(tokens[:, :1], memory, cache=cache)
    for token in tokens[:, 1:].split(1, dim=1):
        decoder(token, memory, cache=cache)
        cache.reorder([1, 0])
        cache.reorder([1, 0])
    assert [counter.shapes for counter in counters] == [[(2, 7, 24)]] * 4


@pytest.mark.parametrize("lengths", [None, [2, 7]])
def test_the_same_memory_may_be_given_again_and_again(lengths):
    decoder, tokens, memory = with_memory()
    memory[0, 2:] = torch.nan if lengths else 0.0
    cache, logits = decoder.new_cache(2), []
    for token in tokens.split(1, dim=1):
        again = dict(memory_lengths=lengths, cache=cache)
        logits.append(decoder(token, memory.clone(), **again))
    expected = decoder(tokens, memory, memory_lengths=lengths)
    assert_close(torch.cat(logits, dim=1), expected, **NEAR)


@pytest.mark.parametrize(
    ("change", "lengths"),
    [
        (lambda memory: memory + 1e-3, [2, 7]),
        (lambda memory: memory[:, :5], [2, 5]),
        (lambda memory: memory, [3, 7]),
        (lambda memory: None, [3, 7]),
    ],
)
def test_another_memory_or_other_lengths_are_refused(change, lengths):
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(2)
    decoder(tokens[:, :3], memory, memory_lengths=[2, 7], cache=cache)
    with pytest.raises(ValueError, match="another memory .* a new cache for a new sou"):
        decoder(tokens[:, 3:], change(memory), memory_lengths=lengths, cache=cache)
    assert cache.lengths.tolist() == [3, 3]
    actual = decoder(tokens[:, 3:], cache=cache)
    expected = decoder(tokens, memory, memory_lengths=[2, 7])[:, 3:]
    assert_close(actual, expected, **NEAR)


def test_lengths_that_hide_nothing_are_the_same_as_none():
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(2)
    decoder(tokens[:, :3], memory, cache=cache)
    decoder(tokens[:, 3:], memory, memory_lengths=[7, 7], cache=cache)


def test_a_refused_first_call_leaves_the_cache_without_a_memory():
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(2, max_length=4)
    with pytest.raises(ValueError, match="at most 4 tokens a row"):
        decoder(tokens, memory + 1.0, cache=cache)
    with pytest.raises(ValueError, match="between 0 and the 5 places"):
        decoder(tokens, memory + 1.0, lengths=[9, 1], cache=cache)
    actual = decoder(tokens[:, :4], memory, cache=cache)
    assert_close(actual, decoder(tokens[:, :4], memory), **NEAR)


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.tensor([1, 2]), r"shape \(2,\) .* tokens\[None\]"),
        (torch.zeros(1, 2, 3, dtype=torch.int64), r"shape \(1, 2, 3\)"),
        (torch.tensor([[1.0, 2.0]]), "dtype torch.float32; pass ids as"),
        (torch.tensor([[True, False]]), "dtype torch.bool"),
        (torch.zeros(1, 0, dtype=torch.int64), "at least one row and one token"),
        (torch.zeros(0, 3, dtype=torch.int64), "at least one row and one token"),
        (torch.tensor([[1, 13]]), "ids from 1 to 13; .* ids 0 to 12"),
        (torch.tensor([[-1, 2]]), "ids from -1 to 2; .* ids 0 to 12"),
    ],
)
def test_tokens_that_are_no_ids_are_refused(tokens, message, cached):
    decoder = small_decoder()
    cache = decoder.new_cache(1) if cached else None
    with pytest.raises(ValueError, match=message):
        decoder(tokens, cache=cache)
    assert not cached or cache.lengths.tolist() == [0]


def test_ids_may_be_int32_and_span_the_whole_vocabulary():
    decoder, tokens = small_decoder(), torch.tensor([[0, 12, 5]])
    assert_close(decoder(tokens.int()), decoder(tokens))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_max_length_tokens_are_read_and_one_more_is_refused(scheme):
    decoder = small_decoder(positions=scheme)
    assert decoder(ids(1, 11)).isfinite().all()
    with pytest.raises(ValueError, match="12 tokens long .* at most 11; shorten"):
        decoder(ids(1, 12))


@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1], "lengths has 1 entries for 2 rows; pass one a row"),
        ([1, 2, 3], "lengths has 3 entries for 2 rows"),
        ([1, 4], "between 0 and the 3 places"),
        ([-1, 3], "between 0 and the 3 places"),
        ([1.0, 2.0], "whole number per row"),
        ([[1, 2]], "whole number per row"),
    ],
)
def test_lengths_that_do_not_fit_are_refused(lengths, message):
    with pytest.raises(ValueError, match=message):
        small_decoder()(ids(2, 3), lengths=torch.tensor(lengths))


def test_an_unknown_side_is_refused():
    with pytest.raises(ValueError, match="side was 'middle'"):
        small_decoder()(ids(2, 3), lengths=[1, 3], side="middle")


def test_a_memory_must_be_given_where_it_is_read_and_only_there():
    decoder, tokens, memory = with_memory()
    with pytest.raises(ValueError, match="has cross-attention and got no memory"):
        decoder(tokens)
    with pytest.raises(ValueError, match="has cross-attention and got no memory"):
        decoder(tokens, cache=decoder.new_cache(2))
    with pytest.raises(ValueError, match="no cross-attention; leave it out, or build"):
        small_decoder()(tokens, memory)


@pytest.mark.parametrize(
    ("shape", "lengths", "message"),
    [
        ((7, 24), None, r"memory has shape \(7, 24\)"),
        ((3, 7, 24), None, r"must be \(batch, key, d_model\) = \(2, any, 24\)"),
        ((2, 7, 23), None, r"= \(2, any, 24\)"),
        ((2, 7, 24), [1], "memory_lengths has shape .* and memory 2 rows; pass one"),
        ((2, 7, 24), 3, "memory_lengths has shape"),
        ((2, 7, 24), [1, 8], "between 0 and the 7 places"),
    ],
)
def test_a_memory_that_does_not_fit_is_refused(shape, lengths, message):
    decoder, tokens, _ = with_memory()
    for cache in (None, decoder.new_cache(2)):
        with pytest.raises(ValueError, match=message):
            decoder(tokens, numbers(*shape), memory_lengths=lengths, cache=cache)


def test_a_memory_of_another_dtype_is_refused():
    decoder, tokens, memory = with_memory()
    with pytest.raises(ValueError, match="float64 and the weights torch.float32"):
        decoder(tokens, memory.double())


def test_a_cache_must_have_the_rows_and_sizes_of_the_call():
    decoder = small_decoder()
    with pytest.raises(ValueError, match="2 rows and the cache 3; .* batch=2"):
        decoder(ids(2, 3), cache=decoder.new_cache(3))
    for sizes in ((1, 3, 4), (3, 3, 4), (2, 6, 4), (2, 3, 5)):
        with pytest.raises(ValueError, match=r"this decoder has \(2, 3, 4\)"):
            decoder(ids(2, 3), cache=AppendCache(2, *sizes, max_length=11))


def test_a_cache_longer_than_the_model_stops_where_the_model_does():
    decoder = small_decoder(positions="rotary")
    cache = AppendCache(1, 2, 3, 4, max_length=20)
    decoder(ids(1, 11), cache=cache)
    with pytest.raises(ValueError, match="12 tokens long .* at most 11"):
        decoder(ids(1, 1), cache=cache)
    assert cache.lengths.tolist() == [11]


def test_check_refuses_what_forward_would_and_touches_nothing():
    decoder, tokens, memory = with_memory()
    cache = decoder.new_cache(2)
    read, allowed = decoder.check(tokens, memory, [2, 7], cache)
    assert read is memory
    assert allowed[:, 0, 0].sum(-1).tolist() == [2, 7]
    assert cache.memory is None
    with pytest.raises(ValueError, match="ids 0 to 12"):
        decoder.check(tokens + 13, memory)


# -- caches it makes -------------------------------------------------------------------


def test_a_new_cache_has_the_sizes_dtype_and_kind_that_are_asked_for():
    decoder = small_decoder(window=3, dtype=torch.float64)
    classes = (AppendCache, PreallocatedCache, PagedCache, SlidingWindowCache)
    for kind, expected in zip(KINDS, classes, strict=True):
        cache = decoder.new_cache(5, kind)
        assert type(cache) is expected
        sizes = (cache.batch, cache.n_layers, cache.n_kv_heads, cache.d_head)
        assert (*sizes, cache.max_length) == (5, 2, 3, 4, 11)
        assert cache.dtype == torch.float64
    assert decoder.new_cache(1, "sliding_window").window == 3
    assert decoder.new_cache(1, "paged", block_size=7).block_size == 7
    assert type(decoder.new_cache()) is PreallocatedCache


def test_a_new_cache_that_cannot_fit_is_refused():
    decoder = small_decoder()
    with pytest.raises(ValueError, match="kind was 'ring'; choose one of append, pre"):
        decoder.new_cache(1, "ring")
    with pytest.raises(ValueError, match="12 tokens .* reads at most 11"):
        decoder.new_cache(1, max_length=12)
    with pytest.raises(ValueError, match="config.window is None"):
        decoder.new_cache(1, "sliding_window")
    with pytest.raises(ValueError, match="max_length=0"):
        decoder.new_cache(1, max_length=0)
    assert decoder.new_cache(1, max_length=11).max_length == 11


# -- weights and modes -----------------------------------------------------------------


def test_a_generator_decides_the_first_weights_and_torchs_own_stays_untouched():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    make = [
        Decoder(small_config(), torch.Generator().manual_seed(s)) for s in (1, 1, 2)
    ]
    one, same, other = (decoder(ids(1, 3)) for decoder in make)
    assert_close(one, same, atol=0, rtol=0)
    assert (one - other).abs().max() > 1e-3
    assert torch.equal(torch.get_rng_state(), before)


def test_dropout_acts_in_training_only():
    decoder, tokens = small_decoder(dropout=0.5), ids(2, 5)
    plain = with_config(decoder, dropout=0.0)(tokens)
    assert_close(decoder.eval()(tokens), plain)
    decoder.train()
    assert (decoder(tokens) - decoder(tokens)).abs().max() > 1e-3


def test_dropout_drops_embeddings_too():
    embedding = TokenEmbedding(small_config(dropout=0.5, positions="none")).train()
    embedding.weight.data.fill_(1.0)
    dropped = embedding(torch.zeros(50, 11, dtype=torch.int64), torch.arange(11))
    assert set(dropped.unique().tolist()) == {0.0, 2.0}
    assert 0.45 < (dropped == 0).float().mean() < 0.55
