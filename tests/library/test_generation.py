"""Writing: one id at a time, each row as if it were alone."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.generation import generate, generate_batch, stream
from course_lib.sampling import Sampler, repetition_penalty
from tests.library.families import SIZES, from_llama, randomise
from tests.library.small_models import (
    KINDS,
    SCHEMES,
    CallCounter,
    chain,
    decoder_for,
    ids,
    numbers,
    scatter_weights,
    small_config,
    small_decoder,
)

assert_close = torch.testing.assert_close
PROMPTS = [[1, 2, 3], [5], [7, 11, 1, 2, 5]]


def greedy(decoder, prompt, n, **given):
    """The largest logit, again and again, without a cache."""
    written = list(prompt)
    for _ in range(n):
        written.append(int(decoder(torch.tensor([written]), **given)[0, -1].argmax()))
    return written[len(prompt) :]


# -- one prompt ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "cache"),
    [*itertools.product(SCHEMES, (True, False)), *itertools.product(["rotary"], KINDS)],
)
def test_generate_writes_the_largest_logit_again_and_again(scheme, cache):
    kind, written = cache if cache in KINDS else "append", set()
    for seed, prompt in itertools.product((1, 3), PROMPTS[:2]):
        decoder = decoder_for(kind, scheme, seed=seed)
        held = decoder.new_cache(1, kind) if cache in KINDS else cache
        expected = greedy(decoder, prompt, 6)
        written.update(expected)
        assert generate(decoder, prompt, 6, cache=held) == expected
    assert len(written) > 4  # no single id would have passed


@pytest.mark.parametrize("stop", range(6))
def test_generate_equals_transformers_generate_with_an_end_token(stop):
    transformers = pytest.importorskip("transformers", reason="needs extra `compare`")
    config = transformers.LlamaConfig(**SIZES)
    theirs = randomise(transformers.LlamaForCausalLM(config), seed=4)
    ours, prompt = from_llama(theirs), [3, 5, 7]
    eos = generate(ours, prompt, 10)[stop]
    given = dict(max_new_tokens=10, do_sample=False, eos_token_id=eos, pad_token_id=0)
    expected = theirs.generate(torch.tensor([prompt]), **given)[0, 3:].tolist()
    assert generate(ours, prompt, 10, eos_id=eos) == expected


def test_the_end_token_is_the_last_id_and_none_never_ends():
    decoder = chain(1, 2, 3, 4)
    assert generate(decoder, [1], 7, eos_id=4) == [2, 3, 4]
    assert generate(decoder, [1], 7, eos_id=2) == [2]
    assert generate(decoder, [1], 7, eos_id=10) == [2, 3, 4, 4, 4, 4, 4]
    assert generate(decoder, [1], 7) == [2, 3, 4, 4, 4, 4, 4]


def test_an_end_token_in_the_prompt_ends_nothing():
    assert generate(chain(4, 2, 3), [4], 2, eos_id=4) == [2, 3]


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("cache", [True, False])
def test_a_budget_is_exact(n, cache):
    decoder = small_decoder()
    calls = CallCounter(decoder.stack)
    assert len(generate(decoder, [1, 2], n, cache=cache)) == n
    assert len(list(stream(decoder, [1, 2], n, cache=cache))) == n
    assert [len(row) for row in generate_batch(decoder, [[1, 2]] * 3, n)] == [n] * 3
    assert len(calls) == 3 * n


@pytest.mark.parametrize("prompt", [(1, 2, 3), torch.tensor([1, 2, 3]), range(1, 4)])
def test_a_prompt_may_be_any_flat_sequence_of_ids_and_is_not_changed(prompt):
    decoder, before = small_decoder(), list(prompt)
    assert generate(decoder, prompt, 5) == greedy(decoder, [1, 2, 3], 5)
    assert list(prompt) == before


def test_a_list_prompt_is_not_changed():
    decoder, prompts = small_decoder(), [[1, 2, 3], [5]]
    generate_batch(decoder, prompts, 5, cache=False)
    generate_batch(decoder, prompts, 5)
    assert prompts == [[1, 2, 3], [5]]


def test_a_prompt_leaves_nothing_behind_for_the_next():
    decoder = small_decoder()
    first = generate(decoder, [1, 2, 3], 5)
    generate(decoder, [7, 5], 5)
    assert generate(decoder, [1, 2, 3], 5) == first


def test_with_a_cache_each_id_is_fed_once_and_only_the_last_place_is_scored():
    decoder = small_decoder()
    fed, scored = CallCounter(decoder.embedding), CallCounter(decoder.head)
    generate(decoder, [1, 2, 3], 4)
    assert fed.shapes == [(1, 3), (1, 1), (1, 1), (1, 1)]
    assert scored.shapes == [(1, 1, 24)] * 4


def test_without_a_cache_everything_is_fed_at_every_step():
    decoder = small_decoder()
    fed = CallCounter(decoder.embedding)
    generate(decoder, [1, 2, 3], 3, cache=False)
    assert fed.shapes == [(1, 3), (1, 4), (1, 5)]


def test_the_sampler_chooses_and_sees_prompt_and_new_ids_of_each_row():
    decoder, seen = small_decoder(), []

    def sampler(logits, history):
        assert logits.shape == (2, 13)
        seen.append([list(row) for row in history])
        return torch.tensor([len(seen), 12])

    written = generate_batch(decoder, [[5], [7, 11]], 3, sampler)
    assert written == [[1, 2, 3], [12, 12, 12]]
    assert seen[0] == [[5], [7, 11]]
    assert seen[2] == [[5, 1, 2], [7, 11, 12, 12]]


def test_a_repetition_penalty_acts_on_prompt_and_new_ids():
    decoder, written = small_decoder(), [1, 2, 3]
    actual = generate(decoder, written, 6, Sampler(0, repetition_penalty=3.0))
    for _ in range(6):
        logits = decoder(torch.tensor([written]))[:, -1]
        written = [*written, int(repetition_penalty(logits, [written], 3.0).argmax())]
    assert actual == written[3:]
    assert actual != greedy(decoder, [1, 2, 3], 6)


def test_a_sampler_goes_on_drawing_where_it_stopped():
    decoder = small_decoder()
    sampler = Sampler(2.0, seed=3)
    parts = generate(decoder, [1], 3, sampler)
    parts += generate(decoder, [1, *parts], 4, sampler)
    assert parts == generate(decoder, [1], 7, Sampler(2.0, seed=3))


# -- a stream --------------------------------------------------------------------------


def test_a_stream_yields_each_id_before_it_computes_the_next():
    decoder = small_decoder()
    calls = CallCounter(decoder.stack)
    writing = stream(decoder, [1, 2], 5)
    assert len(calls) == 0
    for n, _ in enumerate(writing, start=1):
        assert len(calls) == n


def test_a_stream_yields_what_generate_returns():
    decoder = small_decoder()
    for sampler in (None, Sampler(2.0, seed=3)):
        expected = generate(decoder, [1, 2], 7, sampler, eos_id=4)
        again = None if sampler is None else Sampler(2.0, seed=3)
        assert list(stream(decoder, [1, 2], 7, again, eos_id=4)) == expected


def test_two_streams_of_one_model_do_not_disturb_each_other():
    decoder = small_decoder(dropout=0.5).train()
    pair = [stream(decoder, prompt, 5) for prompt in ([1, 2], [7])]
    written = list(zip(*pair, strict=True))
    decoder.eval()
    assert [row[0] for row in written] == greedy(decoder, [1, 2], 5)
    assert [row[1] for row in written] == greedy(decoder, [7], 5)


@pytest.mark.parametrize("stop_after", [0, 1, 3])
def test_a_model_is_back_in_training_however_early_its_reader_stops(stop_after):
    decoder = small_decoder(dropout=0.5).train()
    decoder.stack.blocks[0].eval()
    before = [module.training for module in decoder.modules()]
    writing = stream(decoder, [1, 2], 5)
    for _ in itertools.islice(writing, stop_after):
        assert [module.training for module in decoder.modules()] == before
    writing.close()
    assert [module.training for module in decoder.modules()] == before


def test_writing_uses_no_dropout_and_restores_the_mode():
    decoder = small_decoder(dropout=0.5)
    expected = greedy(decoder, [1, 2], 6)
    for training in (True, False):
        decoder.train(training)
        assert generate(decoder, [1, 2], 6) == expected
        assert decoder.training is training


def test_the_mode_is_restored_after_an_error():
    decoder = small_decoder().train()
    decoder.embedding.weight.data[1] = torch.nan
    with pytest.raises(ValueError, match="logits hold NaN"):
        generate(decoder, [1], 2)
    assert all(module.training for module in decoder.modules())


def test_writing_leaves_no_graph_and_no_trace_in_torchs_generator():
    decoder = small_decoder(cross_attention=True)
    before, cache = torch.get_rng_state(), decoder.new_cache(1, "append")
    sampler = Sampler(seed=1)
    generate(decoder, [1], 3, sampler, cache=cache, memory=numbers(1, 7, 24))
    assert torch.equal(torch.get_rng_state(), before)
    keys, values, _ = cache.extend(0, *torch.zeros(2, 1, 3, 1, 4))
    kept = (keys, values, *cache.cross(1))
    assert not any(tensor.requires_grad for tensor in kept)


# -- several prompts -------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("cache", [True, False])
def test_a_row_in_a_batch_writes_what_it_would_alone(scheme, cache):
    decoder = small_decoder(positions=scheme)
    together = generate_batch(decoder, PROMPTS, 6, cache=cache)
    assert together == [greedy(decoder, prompt, 6) for prompt in PROMPTS]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, derandomize=True, deadline=None)
@given(
    prompts=st.lists(
        st.lists(st.integers(0, 12), min_size=1, max_size=4), min_size=1, max_size=5
    ),
    eos_id=st.integers(0, 12),
    penalty=st.sampled_from((None, 1.5)),
)
def test_a_row_in_a_batch_draws_what_it_would_alone(kind, prompts, eos_id, penalty):
    decoder = decoder_for(kind, "rotary")

    def sampler():
        return Sampler(1.5, 9, 0.9, 0.01, repetition_penalty=penalty, seed=3)

    cache = decoder.new_cache(len(prompts), kind)
    together = generate_batch(decoder, prompts, 7, sampler(), eos_id, cache)
    for row, prompt in enumerate(prompts):
        assert together[row] == generate(decoder, prompt, 7, sampler(), eos_id)
        fed = len(prompt) + len(together[row]) - 1
        assert cache.lengths[row] == fed


def test_rows_end_each_at_its_own_end_token_and_the_loop_with_the_last():
    decoder = chain(1, 2, 3, 4, 5, 6)
    calls = CallCounter(decoder.stack)
    written = generate_batch(decoder, [[5], [1, 2], [9, 3]], 9, eos_id=6)
    assert written == [[6], [3, 4, 5, 6], [4, 5, 6]]
    assert len(calls) == 4


@pytest.mark.parametrize("cache", [True, False])
def test_what_is_drawn_for_a_row_after_its_end_goes_nowhere(cache):
    seen = []

    def sampler(logits, history):
        seen.append([list(row) for row in history])
        return torch.tensor([12, len(seen)])

    written = generate_batch(small_decoder(), [[5], [7]], 4, sampler, 12, cache)
    assert written == [[12], [1, 2, 3, 4]]
    assert seen[-1] == [[5, 12], [7, 1, 2, 3]]


def test_a_row_without_an_end_uses_its_whole_budget():
    written = generate_batch(chain(1, 2, 3), [[1], [7]], 5, eos_id=3)
    assert written == [[2, 3], [0] * 5]


# -- a cache that the caller holds -----------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_several_turns_with_one_cache_equal_one_long_call(kind):
    decoder = decoder_for(kind, "rotary")
    expected = generate(decoder, [1, 2, 3], 8)
    cache, written, feed = decoder.new_cache(1, kind), [], [1, 2, 3]
    for n in (3, 1, 0, 4):
        written += generate(decoder, feed, n, cache=cache)
        feed = written[-1:]
        assert cache.lengths.tolist() == [3 + len(written) - 1]
    assert written == expected


def test_a_second_turn_may_bring_new_words():
    decoder = small_decoder()
    cache = decoder.new_cache(1)
    first = generate(decoder, [1, 2], 3, cache=cache)
    second = generate(decoder, [first[-1], 7, 5], 3, cache=cache)
    assert second == greedy(decoder, [1, 2, *first, 7, 5], 3)


def test_a_stream_that_was_left_goes_on_with_its_cache():
    decoder = small_decoder()
    cache = decoder.new_cache(1)
    first = list(itertools.islice(stream(decoder, [1, 2], 6, cache=cache), 3))
    rest = generate(decoder, first[-1:], 5, cache=cache)
    assert first + rest == greedy(decoder, [1, 2], 8)


def test_turns_of_a_batch_equal_the_turns_of_each_row():
    decoder = small_decoder(max_length=20)
    cache = decoder.new_cache(2)
    first = generate_batch(decoder, [[1, 2, 3], [5]], 4, eos_id=4, cache=cache)
    feeds = [[first[0][-1], 7], [first[1][-1], 11, 12]]
    second = generate_batch(decoder, feeds, 4, eos_id=4, cache=cache)
    for row, prompt in enumerate(([1, 2, 3], [5])):
        history = [*prompt, *first[row], *feeds[row][1:]]
        assert second[row] == generate(decoder, history, 4, eos_id=4)


# -- a memory --------------------------------------------------------------------------


@pytest.mark.parametrize("cache", [True, False])
def test_a_memory_and_its_lengths_are_read_at_every_step(cache):
    decoder = small_decoder(cross_attention=True)
    memory, lengths = numbers(3, 7, 24), [2, 7, 5]
    given = dict(memory=memory, memory_lengths=lengths, cache=cache)
    together = generate_batch(decoder, PROMPTS, 6, **given)
    for row, (prompt, n) in enumerate(zip(PROMPTS, lengths, strict=True)):
        source = memory[row : row + 1, :n]
        assert together[row] == greedy(decoder, prompt, 6, memory=source)
        given = dict(memory=memory[row : row + 1], memory_lengths=[n], cache=cache)
        assert generate(decoder, prompt, 6, **given) == together[row]
        assert list(stream(decoder, prompt, 6, **given)) == together[row]


def test_a_source_is_projected_once_and_serves_later_turns():
    decoder, memory = small_decoder(cross_attention=True), numbers(1, 7, 24)
    calls = CallCounter(decoder.stack.blocks[1].cross_attention.to_values)
    cache = decoder.new_cache(1)
    first = generate(decoder, [1], 3, cache=cache, memory=memory, memory_lengths=[3])
    second = generate(decoder, first[-1:], 3, cache=cache)
    third = generate(decoder, second[-1:], 2, cache=cache, memory=memory)
    assert len(calls) == 1
    assert first + second + third == greedy(decoder, [1], 8, memory=memory[:, :3])


def test_an_encoder_decoder_writes_with_its_decoder():
    encoder = scatter_weights(Encoder(small_config()), seed=2)
    model = EncoderDecoder(encoder, small_decoder(cross_attention=True)).train()
    memory = model.encoder(ids(1, 7))
    actual = generate(model, [1], 5, memory=memory)
    assert actual == greedy(model.decoder.eval(), [1], 5, memory=memory)


# -- limits and refusals ---------------------------------------------------------------


@pytest.mark.parametrize("cache", [True, False, "append", "paged"])
def test_prompt_and_budget_may_fill_the_model_and_not_one_more(cache):
    decoder = small_decoder()
    held = decoder.new_cache(1, cache) if isinstance(cache, str) else cache
    calls = CallCounter(decoder.stack)
    with pytest.raises(ValueError, match="12 tokens long .* room for 11; shorten"):
        generate(decoder, [1, 2, 3], 9, cache=held)
    assert len(calls) == 0
    assert generate(decoder, [1, 2, 3], 8, cache=held) == greedy(decoder, [1, 2, 3], 8)


def test_the_longest_row_of_a_batch_must_fit():
    decoder = small_decoder()
    with pytest.raises(ValueError, match="12 tokens long .* room for 11"):
        generate_batch(decoder, [[1], [1, 2, 3], [2]], 9)
    assert generate_batch(decoder, [[1], [1, 2, 3]], 8)[1] == greedy(
        decoder, [1, 2, 3], 8
    )


def test_what_a_cache_holds_counts_against_its_own_limit():
    decoder = small_decoder()
    cache = decoder.new_cache(1, max_length=8)
    last = generate(decoder, [1, 2], 3, cache=cache)[-1:]
    with pytest.raises(ValueError, match="9 tokens long .* room for 8"):
        generate(decoder, last, 4, cache=cache)
    assert cache.lengths.tolist() == [4]
    assert len(generate(decoder, last, 3, cache=cache)) == 3


def test_a_sliding_window_writes_past_max_length_unless_positions_are_learned():
    decoder = decoder_for("sliding_window", "rotary", max_length=5)
    cache = decoder.new_cache(1, "sliding_window")
    assert len(generate(decoder, [1, 2, 3], 30, cache=cache)) == 30
    learned = decoder_for("sliding_window", "learned", max_length=5)
    cache = learned.new_cache(1, "sliding_window")
    assert len(generate(learned, [1, 2, 3], 2, cache=cache)) == 2
    with pytest.raises(ValueError, match="room for 5"):
        generate(learned, [1], 1, cache=cache)


REFUSED = [
    (dict(prompt_ids=[]), "a prompt was .*; pass a flat list of at least one id"),
    (dict(prompt_ids=torch.zeros(0)), "flat list of at least one id"),
    (dict(prompt_ids=[[1, 2]]), "flat list of at least one id"),
    (dict(prompt_ids=[1.5]), "flat list of at least one id"),
    (dict(prompt_ids=torch.tensor(3)), "flat list of at least one id"),
    (dict(prompt_ids=[13]), "ids from 13 to 13; .* ids 0 to 12"),
    (dict(prompt_ids=[-1, 2]), "ids from -1 to 2"),
    (dict(max_new_tokens=-1), "max_new_tokens was -1; .* 0 or more"),
    (dict(max_new_tokens=11), "12 tokens long .* room for 11"),
    (dict(memory=None), "cross-attention and got no memory"),
    (dict(memory=numbers(2, 7, 24)), r"= \(1, any, 24\)"),
    (dict(memory_lengths=[8]), "between 0 and the 7 places"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED)
@pytest.mark.parametrize("write", [generate, stream])
def test_what_does_not_fit_is_refused_at_the_call(write, changes, message):
    decoder = small_decoder(cross_attention=True)
    given = dict(prompt_ids=[1], max_new_tokens=3, memory=numbers(1, 7, 24))
    for cache in (True, False, decoder.new_cache(1)):
        with pytest.raises(ValueError, match=message):
            write(decoder, cache=cache, **{**given, **changes})


@pytest.mark.parametrize(
    ("prompts", "changes", "message"),
    [
        ([], {}, "no prompts were given; pass at least one list of ids"),
        ([[1], []], {}, "flat list of at least one id"),
        ([[1], [13]], {}, "ids 0 to 12"),
        ([[1], [2]], {"max_new_tokens": -1}, "0 or more"),
        ([[1], [2]], {"memory": numbers(3, 7, 24)}, r"= \(2, any, 24\)"),
        ([[1], [2]], {"memory_lengths": [3]}, "pass one a row"),
    ],
)
def test_prompts_that_do_not_fit_are_refused(prompts, changes, message):
    decoder = small_decoder(cross_attention=True)
    given = dict(max_new_tokens=3, memory=numbers(2, 7, 24))
    with pytest.raises(ValueError, match=message):
        generate_batch(decoder, prompts, **{**given, **changes})


def test_a_cache_needs_a_row_per_prompt():
    decoder = small_decoder()
    with pytest.raises(ValueError, match="2 prompts .* cache of 3 rows; .* batch=2"):
        generate_batch(decoder, [[1], [2]], 3, cache=decoder.new_cache(3))
    with pytest.raises(ValueError, match="1 prompts .* cache of 3 rows"):
        generate(decoder, [1], 3, cache=decoder.new_cache(3))


def test_a_memory_for_a_decoder_that_reads_none_is_refused():
    with pytest.raises(ValueError, match="has no cross-attention; leave it out"):
        generate(small_decoder(), [1], 3, memory=numbers(1, 7, 24))
