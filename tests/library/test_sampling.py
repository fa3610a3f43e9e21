"""Filters are exact, and a sampler draws what the probabilities say."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.sampling import (
    Sampler,
    apply_temperature,
    min_p,
    repetition_penalty,
    suppress,
    top_k,
    top_p,
)
from tests.library.small_models import numbers

assert_close = torch.testing.assert_close
INF, NAN = math.inf, math.nan
FILTERS = {
    "temperature": lambda logits: apply_temperature(logits, 0.7),
    "greedy": lambda logits: apply_temperature(logits, 0),
    "top_k": lambda logits: top_k(logits, 3),
    "top_p": lambda logits: top_p(logits, 0.6),
    "min_p": lambda logits: min_p(logits, 0.3),
    "penalty": lambda logits: repetition_penalty(logits, [[0, 2], [5]], 1.5),
    "suppress": lambda logits: suppress(logits, [1, 5]),
}


def kept(logits):
    """Ids that are not hidden, per row."""
    rows = logits.reshape(-1, logits.shape[-1])
    return [row.isfinite().nonzero()[:, 0].tolist() for row in rows]


def logarithms(*probabilities):
    return torch.tensor([probabilities], dtype=torch.float64).log()


def processor(name, *arguments):
    """Make a reference filter of transformers."""
    module = pytest.importorskip(
        "transformers.generation.logits_process", reason="needs extra `compare`"
    )
    reference = getattr(module, name)(*arguments)
    return lambda logits, history=None: reference(history, logits.clone())


# -- against transformers, on logits without ties -------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5, 12, 13, 14, 99])
def test_top_k_equals_transformers(k):
    logits = numbers(7, 13)
    assert_close(top_k(logits, k), processor("TopKLogitsWarper", k)(logits))


@pytest.mark.parametrize("p", [1e-8, 0.05, 0.3, 0.5, 0.77, 0.95, 0.999])
def test_top_p_equals_transformers(p):
    logits = numbers(7, 13) * 3
    assert_close(top_p(logits, p), processor("TopPLogitsWarper", p)(logits))


@pytest.mark.parametrize("p", [1e-8, 0.05, 0.3, 0.5, 0.95, 0.999])
def test_min_p_equals_transformers(p):
    logits = numbers(7, 13) * 3
    assert_close(min_p(logits, p), processor("MinPLogitsWarper", p)(logits))


@pytest.mark.parametrize("temperature", [0.1, 0.7, 1.0, 2.5])
def test_temperature_equals_transformers(temperature):
    logits = numbers(7, 13)
    expected = processor("TemperatureLogitsWarper", temperature)(logits)
    assert_close(apply_temperature(logits, temperature), expected)


@pytest.mark.parametrize("penalty", [0.5, 1.0, 1.3, 4.0])
def test_repetition_penalty_equals_transformers(penalty):
    logits, history = numbers(2, 13), torch.tensor([[1, 1, 1, 5], [12, 0, 0, 7]])
    reference = processor("RepetitionPenaltyLogitsProcessor", penalty)
    actual = repetition_penalty(logits, history, penalty)
    assert_close(actual, reference(logits, history))


def test_suppress_equals_transformers():
    logits, reference = (
        numbers(7, 13),
        processor("SuppressTokensLogitsProcessor", [2, 11]),
    )
    assert_close(suppress(logits, [2, 11, 2]), reference(logits))


def test_all_filters_together_equal_transformers_in_our_order():
    logits, history = numbers(2, 13) * 3, torch.tensor([[1, 1, 5], [12, 0, 7]])
    sampler = Sampler(0.7, top_k=9, top_p=0.8, min_p=0.1, repetition_penalty=1.4)
    expected = logits
    for name, setting in (
        ("RepetitionPenaltyLogitsProcessor", 1.4),
        ("TemperatureLogitsWarper", 0.7),
        ("TopKLogitsWarper", 9),
        ("TopPLogitsWarper", 0.8),
        ("MinPLogitsWarper", 0.1),
    ):
        expected = processor(name, setting)(expected, history)
    assert_close(sampler.filtered(logits, history), expected)


# -- against plain loops, with ties and edges ------------------------------------------


few_values = st.sampled_from((-INF, -2.0, -0.5, 0.0, 0.5, 2.0))
tied_logits = st.lists(few_values, min_size=1, max_size=8).filter(
    lambda v: max(v) > -INF
)
often = settings(max_examples=60, derandomize=True, deadline=None)


@often
@given(values=tied_logits, k=st.integers(1, 10))
def test_top_k_keeps_the_k_largest_and_of_equals_the_lowest_ids(values, k):
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    expected = [v if i in order else -INF for i, v in enumerate(values)]
    assert top_k(torch.tensor(values), k).tolist() == expected


@often
@given(values=tied_logits, p=st.floats(1e-12, 1.0))
def test_top_p_keeps_the_shortest_stable_prefix_that_reaches_p(values, p):
    probabilities = torch.tensor(values).softmax(-1).tolist()
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    masses = [sum(probabilities[i] for i in order[:n]) for n in range(len(order) + 1)]
    if min(abs(mass - p) for mass in masses) < 1e-6:
        return  # the sum that decides is rounded
    n = next((n for n, mass in enumerate(masses) if mass >= p), len(order))
    expected = [v if i in order[:n] else -INF for i, v in enumerate(values)]
    assert top_p(torch.tensor(values), p).tolist() == expected


@often
@given(values=tied_logits, p=st.floats(1e-12, 1.0))
def test_min_p_keeps_what_is_p_times_as_probable_as_the_best(values, p):
    shares = [math.exp(value - max(values)) for value in values]
    if min(abs(share - p) for share in shares) < 1e-6 and p < 1:
        return  # the product that decides is rounded
    expected = [v if s >= p else -INF for v, s in zip(values, shares, strict=True)]
    assert min_p(torch.tensor(values), p).tolist() == expected


def test_top_p_keeps_the_id_that_crosses_p():
    logits = logarithms(0.5, 0.41, 0.09)
    assert kept(top_p(logits, 0.9)) == [[0, 1]]
    assert kept(top_p(logits, 0.92)) == [[0, 1, 2]]
    assert kept(top_p(logits, 0.4)) == [[0]]


@pytest.mark.parametrize(
    ("p", "n"), [(0.25, 1), (0.5, 2), (0.51, 3), (0.75, 3), (0.76, 4)]
)
def test_top_p_of_equals_stops_exactly_at_p(p, n):
    logits = torch.zeros(2, 4)
    assert kept(top_p(logits, p)) == [list(range(n))] * 2


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("p", [1e-30, 1e-8, 1e-3])
def test_a_tiny_p_keeps_one_and_never_nothing(p, dtype):
    logits = torch.tensor([[1.0, 3.0, 3.0, -2.0], [0.0] * 4], dtype=dtype)
    assert kept(top_p(logits, p)) == [[1], [0]]


def test_p_of_1_keeps_everything_in_top_p_and_the_best_in_min_p():
    logits = torch.tensor([[1.0, 3.0, 3.0, -50.0]])
    assert_close(top_p(logits, 1), logits)
    assert kept(min_p(logits, 1.0)) == [[1, 2]]


def test_the_half_as_probable_are_kept_by_a_min_p_of_a_half():
    logits = torch.tensor([[0.0, 0.0, -math.log(2) + 1e-5, -math.log(2) - 1e-5]])
    assert kept(min_p(logits, 0.5)) == [[0, 1, 2]]


def test_many_small_probabilities_add_up_in_top_p():
    n = 50_000
    logits = torch.zeros(1, n, dtype=torch.bfloat16)
    [ids] = kept(top_p(logits, 0.5))
    assert abs(len(ids) - n // 2) <= 1
    assert ids == list(range(len(ids)))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_keeps_the_dtype_and_the_shape(name, dtype):
    logits = numbers(2, 7).to(dtype)
    assert FILTERS[name](logits).dtype == dtype
    assert FILTERS[name](logits).shape == logits.shape


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_leaves_its_input_alone_even_where_it_changes_nothing(name):
    logits = numbers(2, 7)
    before = logits.clone()
    filtered = FILTERS[name](logits)
    filtered += 1.0
    assert_close(logits, before, rtol=0, atol=0)
    for same in (top_k(logits, 7), top_p(logits, 1.0), apply_temperature(logits, 1.0)):
        same += 1.0
    assert_close(logits, before, rtol=0, atol=0)


@pytest.mark.parametrize("name", [name for name in FILTERS if name != "penalty"])
def test_a_filter_treats_each_row_of_any_shape_alone(name):
    logits = numbers(2, 3, 7)
    whole = FILTERS[name](logits)
    for i in range(2):
        for j in range(3):
            assert_close(whole[i, j], FILTERS[name](logits[i, j]))


@pytest.mark.parametrize("name", FILTERS)
def test_a_hidden_id_stays_hidden_and_nothing_becomes_nan(name):
    logits = numbers(2, 7)
    logits[:, 2:4] = -INF
    filtered = FILTERS[name](logits)
    assert (filtered[:, 2:4] == -INF).all()
    assert not filtered.isnan().any()
    assert filtered.isfinite().any(-1).all()


# -- temperature -----------------------------------------------------------------------


def test_temperature_divides():
    actual = apply_temperature(torch.tensor([[1.0, -3.0, -INF]]), 0.5)
    assert actual.tolist() == [[2.0, -6.0, -INF]]


def test_temperature_0_keeps_one_largest_logit_the_lowest_id_of_equals():
    logits = torch.tensor([[1.0, 3.0, 3.0], [5.0, 5.0, 5.0], [-4.0, -INF, -3.0]])
    expected = [[-INF, 3.0, -INF], [5.0, -INF, -INF], [-INF, -INF, -3.0]]
    assert apply_temperature(logits, 0).tolist() == expected


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("temperature", [1e-4, 1e-8, 1e-38, 1e-60, 5e-324])
def test_a_tiny_temperature_leaves_the_largest_logit(temperature, dtype):
    logits = torch.tensor([[1.0, 3.0, 2.5], [0.0, -1.0, -INF]], dtype=dtype)
    probabilities = apply_temperature(logits, temperature).softmax(-1)
    expected = torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], dtype=dtype)
    assert_close(probabilities, expected)


def test_a_tiny_temperature_shares_between_equals():
    logits = torch.tensor([[3e38, 3e38, 1.0]])
    assert apply_temperature(logits, 1e-8).softmax(-1).tolist() == [[0.5, 0.5, 0.0]]


def test_an_overflow_in_one_row_changes_no_other():
    logits = torch.tensor([[60_000.0, 1.0], [0.3, 0.7], [-INF, -INF], [INF, 60_000.0]])
    logits = logits.half()
    cooled = apply_temperature(logits, 0.5)
    assert_close(cooled[1], logits[1] / 0.5, rtol=0, atol=0)
    assert cooled[0].tolist() == [0.0, -INF]
    assert cooled[2].tolist() == [-INF, -INF]
    assert cooled[3, 0] == INF > cooled[3, 1]


# -- penalty ---------------------------------------------------------------------------


def test_a_penalty_makes_what_was_seen_less_likely_whatever_its_sign():
    logits = torch.tensor([[2.0, -2.0, 0.0, 1.0, -1.0]])
    penalised = repetition_penalty(logits, [[0, 1, 2]], 2.0)
    assert penalised.tolist() == [[1.0, -4.0, 0.0, 1.0, -1.0]]


def test_a_penalty_counts_an_id_once_however_often_it_came():
    logits = torch.tensor([[2.0, -2.0], [2.0, -2.0]])
    penalised = repetition_penalty(logits, [[0, 0, 0], [1, 1]], 2.0)
    assert penalised.tolist() == [[1.0, -2.0], [2.0, -4.0]]


def test_histories_may_differ_in_length_and_be_empty():
    logits = torch.tensor([[2.0, 4.0], [2.0, 4.0]])
    assert repetition_penalty(logits, [[], [1]], 2.0).tolist() == [[2, 4], [2, 2]]


# -- suppress --------------------------------------------------------------------------


def test_suppress_hides_these_ids_and_no_other():
    logits = torch.tensor([[3.0, -1.0, 2.0], [0.0, 5.0, 1.0]])
    assert kept(suppress(logits, [1])) == [[0, 2], [0, 2]]
    assert kept(suppress(logits, ())) == [[0, 1, 2], [0, 1, 2]]


# -- the sampler -----------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [0, 1.0, 9.0])
def test_a_sampler_never_draws_what_it_suppresses(temperature):
    sampler = Sampler(temperature, seed=3, suppress=[0, 2])
    logits = torch.tensor([[9.0, 0.0, 9.0, 0.5]]).expand(200, -1)
    assert set(sampler(logits).tolist()) <= {1, 3}


def test_what_is_suppressed_takes_no_place_in_top_k():
    filtered = Sampler(top_k=2, suppress=[0]).filtered(logarithms(0.4, 0.3, 0.2, 0.1))
    assert kept(filtered) == [[1, 2]]


def test_temperature_comes_before_top_p():
    logits = logarithms(0.6, 0.3, 0.1)
    for temperature, p, n in ((0.5, 0.75, 1), (1.0, 0.75, 2), (2.0, 0.85, 3)):
        filtered = Sampler(temperature, top_p=p).filtered(logits)
        assert kept(filtered) == [list(range(n))]


def test_temperature_comes_before_min_p():
    logits = logarithms(0.6, 0.3, 0.1)
    for temperature, n in ((0.5, 1), (1.0, 2), (2.0, 3)):
        filtered = Sampler(temperature, min_p=0.3).filtered(logits)
        assert kept(filtered) == [list(range(n))]


def test_the_penalty_comes_before_the_temperature_and_the_filters():
    logits = torch.tensor([[4.0, 3.0, -1.0]])
    sampler = Sampler(0.5, top_k=1, repetition_penalty=2.0)
    assert sampler.filtered(logits, [[0]]).tolist() == [[-INF, 6.0, -INF]]


def test_top_p_is_measured_on_what_top_k_kept():
    logits = logarithms(0.4, 0.3, 0.2, 0.1)
    assert kept(Sampler(top_k=2, top_p=0.55).filtered(logits)) == [[0]]
    assert kept(Sampler(top_p=0.55).filtered(logits)) == [[0, 1]]


def test_no_setting_filters_nothing():
    logits = numbers(2, 7)
    assert_close(Sampler().filtered(logits), logits)


def test_temperature_0_draws_the_largest_logit_after_the_penalty():
    logits = torch.tensor([[4.0, 3.0, 3.0], [1.0, 9.0, 2.0]])
    sampler = Sampler(temperature=0, repetition_penalty=2.0)
    assert sampler(logits, [[0], []]).tolist() == [1, 1]


def chi_square(counts, probabilities):
    expected = probabilities * counts.sum()
    return ((counts - expected) ** 2 / expected)[probabilities > 0].sum().item()


@pytest.mark.parametrize(
    ("settings_", "logits"),
    [
        ({}, [2.0, 1.0, 0.5, 0.0, -1.0]),
        ({"temperature": 0.5}, [2.0, 1.0, 0.5, 0.0, -1.0]),
        ({"top_k": 3}, [5.0, 4.5, 4.0, 3.0, 3.5]),
        ({"temperature": 2.0, "top_p": 0.8}, [-3.0, -2.0, -1.0, -2.5, -6.0]),
    ],
)
def test_frequencies_are_the_probabilities(settings_, logits):
    rows = torch.tensor(logits).repeat(4000, 1)
    sampler = Sampler(**settings_, seed=list(range(4000)))
    drawn = sampler(rows)
    probabilities = sampler.filtered(rows[:1]).double().softmax(-1)[0]
    counts = drawn.bincount(minlength=5).double()
    assert not counts[probabilities == 0].any()
    # 4 degrees of freedom or fewer: above 23.5 once in 10 000 fair samplers.
    assert chi_square(counts, probabilities) < 23.5


def test_frequencies_of_one_row_over_time_are_the_probabilities():
    logits, sampler = torch.tensor([[2.0, 1.0, 0.5, 0.0, -1.0]]), Sampler(seed=3)
    drawn = torch.cat([sampler(logits) for _ in range(4000)])
    counts = drawn.bincount(minlength=5).double()
    # 4 degrees of freedom: above 23.5 once in 10 000 fair samplers.
    assert chi_square(counts, logits[0].double().softmax(-1)) < 23.5


def draw(sampler, logits, n=30):
    return torch.stack([sampler(logits) for _ in range(n)], dim=1).tolist()


def test_a_row_in_a_batch_draws_what_it_would_alone():
    logits = numbers(3, 11)
    together = draw(Sampler(seed=5), logits)
    assert together == [draw(Sampler(seed=5), row[None])[0] for row in logits]


def test_a_list_of_seeds_gives_one_per_row():
    logits = torch.zeros(3, 11)
    together = draw(Sampler(seed=[7, 5, 7]), logits)
    assert together == [draw(Sampler(seed=s), logits[:1])[0] for s in (7, 5, 7)]
    assert together[0] != together[1]


def test_rows_with_one_seed_and_equal_logits_draw_the_same():
    one, other = draw(Sampler(seed=5), torch.zeros(2, 11))
    assert one == other
    assert len(set(one)) > 3


def test_a_seed_repeats_and_no_seed_does_not():
    logits = torch.zeros(1, 1000)
    assert draw(Sampler(seed=5), logits) == draw(Sampler(seed=5), logits)
    assert draw(Sampler(seed=5), logits) != draw(Sampler(seed=6), logits)
    assert draw(Sampler(), logits) != draw(Sampler(), logits)
    one, other = draw(Sampler(), torch.zeros(2, 1000))
    assert one != other


def test_a_sampler_leaves_torchs_own_generator_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    draw(Sampler(seed=5), torch.zeros(2, 11))
    draw(Sampler(), torch.zeros(2, 11))
    assert torch.equal(torch.get_rng_state(), before)


def test_drawing_leaves_the_logits_alone():
    logits = numbers(2, 7)
    before = logits.clone()
    Sampler(0.7, 3, 0.5, 0.1, 1.3, seed=1)(logits, [[1], [2]])
    assert_close(logits, before, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_any_float_dtype_gives_int64_ids(dtype):
    drawn = Sampler(0.7, 3, 0.5, 0.1, seed=1)(numbers(5, 7).to(dtype))
    assert drawn.dtype == torch.int64
    assert drawn.shape == (5,)


# -- refusals --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: apply_temperature(x, -0.1), "temperature was -0.1; .* 0 or more"),
        (lambda x: apply_temperature(x, INF), "temperature was inf; pass a finite"),
        (lambda x: apply_temperature(x, NAN), "temperature was nan"),
        (lambda x: top_k(x, 0), "k was 0; .* at least 1"),
        (lambda x: top_k(x, -1), "k was -1"),
        (lambda x: top_k(x, 1.5), "k was 1.5; .* whole number"),
        (lambda x: top_k(x, True), "k was True"),
        (lambda x: top_p(x, 0), "p was 0; pass a share above 0 and at most 1"),
        (lambda x: top_p(x, 1.01), "p was 1.01"),
        (lambda x: top_p(x, NAN), "p was nan"),
        (lambda x: min_p(x, 0.0), "p was 0.0; pass a share above 0"),
        (lambda x: min_p(x, 1.01), "p was 1.01"),
        (lambda x: repetition_penalty(x, [[], []], 0), "penalty was 0; .* above 0"),
        (lambda x: repetition_penalty(x, [[], []], -1.0), "penalty was -1.0"),
        (lambda x: repetition_penalty(x, [[], []], INF), "penalty was inf"),
        (
            lambda x: repetition_penalty(x, [[]], 2.0),
            r"\(2, 7\) and a history of 1 rows",
        ),
        (lambda x: repetition_penalty(x[0], [[]], 2.0), r"needs \(batch, vocab\)"),
        (lambda x: repetition_penalty(x, [[], [7]], 2.0), "row 1 .* 7 to 7; .* 0 to 6"),
        (lambda x: repetition_penalty(x, [[-1, 2], []], 2.0), "row 0 .* from -1 to 2"),
        (lambda x: suppress(x, [7]), "the id 7; this vocabulary has ids 0 to 6"),
        (lambda x: suppress(x, [-1]), "the id -1"),
        (lambda x: suppress(x, "ab"), "the id 'a'"),
        (lambda x: suppress(x, [1.0]), "the id 1.0"),
        (lambda x: suppress(x, range(7)), "hid 7 ids and no other can be drawn"),
        (lambda x: suppress(top_k(x[0], 1), [int(x[0].argmax())]), "no other can be"),
        (lambda x: Sampler(suppress=[7])(x), "the id 7"),
    ],
)
def test_a_setting_outside_its_range_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(numbers(2, 7))


def test_the_ends_of_a_range_are_inside_it():
    logits = numbers(2, 7)
    assert kept(top_k(logits, 1)) == kept(apply_temperature(logits, 0))
    assert_close(repetition_penalty(logits, [[0, 6], [3]], 1.0), logits)


@pytest.mark.parametrize("name", FILTERS)
def test_nan_and_whole_numbers_are_no_logits(name):
    logits = numbers(2, 7)
    logits[1, 3] = NAN
    with pytest.raises(ValueError, match="logits hold NaN; look for the layer"):
        FILTERS[name](logits)
    with pytest.raises(ValueError, match="dtype torch.int64; pass floats"):
        FILTERS[name](torch.zeros(2, 7, dtype=torch.int64))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"temperature": -1.0}, "temperature was -1.0"),
        ({"top_k": 0}, "k was 0"),
        ({"top_p": 0.0}, "p was 0.0"),
        ({"min_p": 1.5}, "p was 1.5"),
        ({"repetition_penalty": 0.0}, "penalty was 0.0"),
    ],
)
def test_a_sampler_names_a_wrong_setting_when_it_is_made(setting, message):
    with pytest.raises(ValueError, match=message):
        Sampler(**setting)


@pytest.mark.parametrize("temperature", [0, 1.0])
@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\); pass \(batch, vocab\)"),
        ([[[1.0, 2.0]]], r"shape \(1, 1, 2\)"),
        ([[1.0, NAN]], "hold NaN"),
        ([[1.0, 2.0], [INF, 1.0]], r"\+inf or nothing but -inf, so it has no prob"),
        ([[1.0, 2.0], [-INF, -INF]], r"\+inf or nothing but -inf"),
    ],
)
def test_logits_without_probabilities_are_refused(logits, message, temperature):
    with pytest.raises(ValueError, match=message):
        Sampler(temperature, seed=1)(torch.tensor(logits))


def test_a_penalty_needs_a_history():
    sampler = Sampler(repetition_penalty=2.0, seed=1)
    with pytest.raises(ValueError, match="has a repetition_penalty and got no history"):
        sampler(numbers(2, 7))


def test_a_row_without_a_seed_is_refused():
    with pytest.raises(ValueError, match="row 2 has no seed; 2 were given"):
        Sampler(seed=[1, 2])(numbers(3, 7))
