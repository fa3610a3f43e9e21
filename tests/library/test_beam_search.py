"""Beam search: exhaustive where it is wide enough, greedy where it is not wide at all."""

import itertools
import math

import pytest
import torch

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.generation import beam_search, generate
from tests.library.small_models import (
    SCHEMES,
    CallCounter,
    next_token_table,
    numbers,
    scatter_weights,
    small_config,
    small_decoder,
)

NEVER = -40.0  # a logit that is as good as impossible


def log_probabilities(decoder, prompt, new_ids, **given):
    """Of each new id, after all before it: one uncached pass."""
    tokens = torch.tensor([[*prompt, *new_ids]])
    logits = decoder(tokens, **given)[0, len(prompt) - 1 : -1].double()
    chosen = torch.tensor(new_ids)[:, None]
    return logits.log_softmax(-1).gather(1, chosen)[:, 0].tolist()


def score(decoder, prompt, new_ids, penalty, **given):
    return sum(log_probabilities(decoder, prompt, new_ids, **given)) / (
        len(new_ids) ** penalty
    )


def all_continuations(vocab_size, budget, eos):
    """Every continuation that ends with eos, or is as long as the budget."""
    others = [i for i in range(vocab_size) if i != eos]
    for n in range(1, budget + 1):
        for start in itertools.product(others, repeat=n - 1):
            yield [*start, eos]
    yield from map(list, itertools.product(others, repeat=budget))


def exhaustive(decoder, prompt, budget, eos, penalty, **given):
    vocab_size = decoder.config.vocab_size
    found = [
        (new_ids, score(decoder, prompt, new_ids, penalty, **given))
        for new_ids in all_continuations(vocab_size, budget, eos)
    ]
    return sorted(found, key=lambda pair: -pair[1])


def plain_beam_search(decoder, prompt, n_beams, budget, eos, penalty, **given):
    """Beam search as its definition reads: no cache, every prefix fed anew."""

    def best_first(pair):
        return -pair[1] / len(pair[0]) ** penalty

    beams = [([], 0.0)]
    for _ in range(budget):
        open_beams = [(ids, total) for ids, total in beams if ids[-1:] != [eos]]
        candidates = [beam for beam in beams if beam not in open_beams]
        for ids, total in open_beams:
            logits = decoder(torch.tensor([[*prompt, *ids]]), **given)[0, -1].double()
            logs = enumerate(logits.log_softmax(-1).tolist())
            candidates += [([*ids, i], total + log) for i, log in logs]
        beams = sorted(candidates, key=best_first)[:n_beams]
    return [(ids, -best_first((ids, total))) for ids, total in beams]


def assert_same(found, expected):
    assert [ids for ids, _ in found] == [ids for ids, _ in expected]
    for (_, ours), (_, theirs) in zip(found, expected, strict=True):
        assert math.isclose(ours, theirs, abs_tol=2e-5)


def tiny(seed=1, **changes):
    sizes = dict(vocab_size=3, d_model=12, n_heads=2, n_kv_heads=1, max_length=9)
    return small_decoder(seed, **{**sizes, **changes})


# -- exhaustive search -----------------------------------------------------------------


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("seed", [1, 2])
def test_wide_enough_it_ranks_everything_as_exhaustive_search_does(penalty, seed):
    decoder = tiny(seed)
    expected = exhaustive(decoder, [1, 2], 4, 0, penalty)
    assert len(expected) == 1 + 2 + 4 + 8 + 16
    assert_same(beam_search(decoder, [1, 2], 31, 4, 0, penalty), expected)


@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_wide_enough_with_a_padded_memory_it_is_exhaustive_too(penalty):
    decoder = tiny(cross_attention=True)
    memory = numbers(1, 7, 12)
    found = beam_search(
        decoder, [1], 15, 3, 2, penalty, memory=memory, memory_lengths=[3]
    )
    assert_same(found, exhaustive(decoder, [1], 3, 2, penalty, memory=memory[:, :3]))


def test_it_is_never_better_than_the_optimum_and_its_scores_are_true():
    for seed, n_beams in itertools.product((1, 2, 3), (1, 2, 3, 5)):
        decoder = tiny(seed)
        best = exhaustive(decoder, [1], 4, 0, 1.0)[0][1]
        found = beam_search(decoder, [1], n_beams, 4, 0)
        for new_ids, value in found:
            true = score(decoder, [1], new_ids, 1.0)
            assert math.isclose(value, true, abs_tol=2e-5)
            assert value <= best + 2e-5


# -- plain beam search -----------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n_beams", [2, 3, 5])
def test_with_its_cache_it_equals_beam_search_without_one(scheme, n_beams):
    for seed, penalty in ((1, 1.0), (2, 0.0)):
        decoder = tiny(seed, vocab_size=5, positions=scheme)
        expected = plain_beam_search(decoder, [1, 2], n_beams, 5, 4, penalty)
        assert_same(beam_search(decoder, [1, 2], n_beams, 5, 4, penalty), expected)


@pytest.mark.parametrize("n_beams", [2, 5])
def test_with_a_memory_it_equals_beam_search_without_a_cache(n_beams):
    decoder = tiny(vocab_size=7, cross_attention=True)
    memory = numbers(1, 7, 12)
    given = dict(memory=memory, memory_lengths=[3])
    found = beam_search(decoder, [1], n_beams, 6, 4, **given)
    expected = plain_beam_search(decoder, [1], n_beams, 6, 4, 1.0, memory=memory[:, :3])
    assert_same(found, expected)


def test_a_windowed_model_is_searched_as_well():
    decoder = tiny(vocab_size=7, window=2)
    expected = plain_beam_search(decoder, [1, 2, 3], 3, 6, 4, 1.0)
    assert_same(beam_search(decoder, [1, 2, 3], 3, 6, 4), expected)


# -- one beam --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("penalty", [0.0, 1.0, 3.0])
def test_one_beam_is_greedy_decoding(seed, penalty):
    decoder = small_decoder(seed)
    [(new_ids, value)] = beam_search(decoder, [1, 2], 1, 8, 4, penalty)
    assert new_ids == generate(decoder, [1, 2], 8, eos_id=4)
    assert math.isclose(value, score(decoder, [1, 2], new_ids, penalty), abs_tol=2e-5)


def test_of_equal_logits_one_beam_takes_the_lowest_id_as_greedy_decoding_does():
    decoder = next_token_table([[1.0] * 11] * 11)
    assert beam_search(decoder, [5], 1, 4, eos_id=10)[0][0] == [0, 0, 0, 0]
    assert generate(decoder, [5], 4) == [0, 0, 0, 0]
    three = beam_search(decoder, [5], 3, 1, eos_id=10)
    assert [new_ids for new_ids, _ in three] == [[0], [1], [2]]


# -- by hand ---------------------------------------------------------------------------


def by_hand(*rows):
    """Build a decoder from rows of next-token probabilities; 0 is never."""
    return next_token_table(
        [[math.log(p) if p else NEVER for p in row] for row in rows]
    )


# After 1 comes the end (0) with 0.6, or 2 with 0.4; then surely 3, then surely the end.
SHORT_OR_LONG = by_hand([0.25] * 4, [0.6, 0, 0.4, 0], [0, 0, 0, 1], [1, 0, 0, 0])


@pytest.mark.parametrize(
    ("penalty", "best"), [(0.0, [0]), (0.5, [0]), (1.0, [2, 3, 0]), (2.0, [2, 3, 0])]
)
def test_a_length_penalty_decides_between_short_and_long(penalty, best):
    found = dict(
        (tuple(ids), value)
        for ids, value in beam_search(SHORT_OR_LONG, [1], 2, 5, 0, penalty)
    )
    assert max(found, key=found.get) == tuple(best)
    assert math.isclose(found[0,], math.log(0.6), abs_tol=1e-5)
    expected = math.log(0.4) / 3**penalty
    assert math.isclose(found[2, 3, 0], expected, abs_tol=1e-5)


def test_results_come_best_first():
    for penalty, first in ((0.0, [0]), (1.0, [2, 3, 0])):
        found = beam_search(SHORT_OR_LONG, [1], 2, 5, 0, penalty)
        assert found[0][0] == first
        assert found[0][1] > found[1][1]


def test_the_search_goes_on_after_the_first_end_and_stops_with_the_last():
    calls = CallCounter(SHORT_OR_LONG.embedding)
    beam_search(SHORT_OR_LONG, [1], 2, 5, 0)
    calls.handle.remove()
    assert calls.shapes == [(1, 1), (1, 1), (1, 1)]


def test_a_finished_beam_holds_one_end_token_and_a_frozen_score():
    decoder = by_hand([0.9, 0.05, 0.05], [0.5, 0.25, 0.25], [0.1, 0.5, 0.4])
    for n_beams in (2, 4, 9):
        found = beam_search(decoder, [1], n_beams, 6, 0, length_penalty=0.0)
        assert found[0][0] == [0]
        assert math.isclose(found[0][1], math.log(0.5), abs_tol=1e-5)
        for new_ids, _ in found:
            assert 0 not in new_ids[:-1]


def test_finished_beams_take_places_and_are_not_fed():
    decoder = by_hand([0.2] * 5, [0.4, 0, 0.3, 0.3, 0], *[[0, 0, 0, 0, 1]] * 3)
    calls = CallCounter(decoder.embedding)
    found = beam_search(decoder, [1], 3, 4, 0, length_penalty=0.0)
    assert [ids for ids, _ in found] == [[0], [2, 4, 4, 4], [3, 4, 4, 4]]
    assert calls.shapes == [(1, 1), (2, 1), (2, 1), (2, 1)]


def test_a_finished_beam_gives_way_to_better_ones():
    # 0.4 ends at once; 0.3 and 0.3 go on surely, and their mean soon is better.
    decoder = by_hand([0.2] * 5, [0.4, 0, 0.3, 0.3, 0], *[[0, 0, 0, 0, 1]] * 3)
    found = beam_search(decoder, [1], 2, 4, 0, length_penalty=1.0)
    assert [ids for ids, _ in found] == [[0], [2, 4, 4, 4]][::-1]
    found = beam_search(decoder, [1], 3, 4, 0, length_penalty=1.0)
    assert [ids for ids, _ in found] == [[2, 4, 4, 4], [3, 4, 4, 4], [0]]


def test_logarithms_are_added_along_the_path():
    decoder = by_hand([0.25] * 4, [0, 0, 0.7, 0.3], [0, 0.2, 0, 0.8], [0, 1, 0, 0])
    found = beam_search(decoder, [1], 4, 2, 0, length_penalty=0.0)
    expected = [([2, 3], 0.56), ([3, 1], 0.3), ([2, 1], 0.14)]
    assert [ids for ids, _ in found[:3]] == [ids for ids, _ in expected]
    for (_, value), (_, probability) in zip(found, expected, strict=False):
        assert math.isclose(math.exp(value), probability, abs_tol=1e-5)


def test_beams_differ_and_are_as_many_as_asked_for_where_there_are_enough():
    decoder = tiny()
    for n_beams in (1, 2, 3, 7):
        found = beam_search(decoder, [1], n_beams, 3, 0)
        assert len(found) == len({tuple(ids) for ids, _ in found}) == n_beams
    assert len(beam_search(decoder, [1], 99, 1, 0)) == 3


def test_an_id_that_is_impossible_is_in_no_beam():
    decoder = tiny()

    def forbid(module, inputs, logits):
        return logits.masked_fill(torch.arange(3) == 1, -torch.inf)

    decoder.head.register_forward_hook(forbid)
    found = beam_search(decoder, [1], 9, 3, 0)
    assert sorted(ids for ids, _ in found) == [[0], [2, 0], [2, 2, 0], [2, 2, 2]]
    assert all(math.isfinite(value) for _, value in found)


@pytest.mark.parametrize("budget", [0, 1, 3])
def test_a_budget_is_never_exceeded(budget):
    found = beam_search(tiny(), [1], 5, budget, 0)
    assert max(len(ids) for ids, _ in found) == budget
    if budget == 0:
        assert found == [([], 0.0)]


# -- surroundings ----------------------------------------------------------------------


def test_the_source_is_projected_once_for_all_beams():
    decoder = tiny(vocab_size=7, cross_attention=True)
    calls = CallCounter(decoder.stack.blocks[1].cross_attention.to_keys)
    beam_search(decoder, [1], 3, 5, 4, memory=numbers(1, 7, 12))
    assert calls.shapes == [(1, 7, 12)]


def test_an_encoder_decoder_searches_with_its_decoder():
    config = small_config(vocab_size=7, d_model=12, n_heads=2, n_kv_heads=1)
    encoder = scatter_weights(Encoder(config), seed=2)
    model = EncoderDecoder(encoder, tiny(vocab_size=7, cross_attention=True))
    memory = encoder(torch.tensor([[1, 2, 3]]))
    expected = plain_beam_search(model.decoder, [1], 3, 5, 4, 1.0, memory=memory)
    assert_same(beam_search(model, [1], 3, 5, 4, memory=memory), expected)


def test_it_uses_no_dropout_and_restores_the_mode():
    decoder = tiny(vocab_size=7, dropout=0.5)
    expected = beam_search(decoder, [1], 3, 5, 4)
    assert_same(beam_search(decoder.train(), [1], 3, 5, 4), expected)
    assert all(module.training for module in decoder.modules())


def test_prompt_and_budget_may_fill_the_model_and_not_one_more():
    decoder = tiny(vocab_size=7)
    written = generate(decoder, [1, 2, 3], 6)
    unused = next(i for i in range(7) if i not in written)
    assert len(beam_search(decoder, [1, 2, 3], 1, 6, unused)[0][0]) == 6
    with pytest.raises(ValueError, match="10 tokens long .* room for 9"):
        beam_search(decoder, [1, 2, 3], 1, 7, unused)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(n_beams=0), "n_beams was 0; pass at least 1"),
        (dict(n_beams=-2), "n_beams was -2"),
        (dict(max_new_tokens=-1), "max_new_tokens was -1; .* 0 or more"),
        (dict(prompt_ids=[]), "flat list of at least one id"),
        (dict(prompt_ids=[[1]]), "flat list of at least one id"),
        (dict(prompt_ids=[3]), "ids from 3 to 3; .* ids 0 to 2"),
        (dict(memory=None), "cross-attention and got no memory"),
        (dict(memory=numbers(2, 7, 12)), r"= \(1, any, 12\)"),
        (dict(memory_lengths=[8]), "between 0 and the 7 places"),
    ],
)
def test_what_does_not_fit_is_refused(changes, message):
    decoder = tiny(cross_attention=True)
    calls = CallCounter(decoder.stack)
    for budget in (3, 0):
        given = dict(prompt_ids=[1], n_beams=2, max_new_tokens=budget, eos_id=0)
        given |= dict(memory=numbers(1, 7, 12))
        with pytest.raises(ValueError, match=message):
            beam_search(decoder, **{**given, **changes})
    assert len(calls) == 0


def test_nan_is_reported_instead_of_ranked():
    decoder = tiny()
    decoder.embedding.weight.data[2] = torch.nan
    with pytest.raises(ValueError, match="logits hold NaN"):
        beam_search(decoder, [2], 2, 3, 0)


@pytest.mark.parametrize("eos_id", [-1, 99, None])
def test_an_end_token_that_the_vocabulary_lacks_is_refused(eos_id):
    decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=1, n_heads=3))
    with pytest.raises(ValueError, match=f"eos_id was {eos_id}; .* ids 0 to 10"):
        beam_search(decoder, [1, 2], 2, 3, eos_id)
