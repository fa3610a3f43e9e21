"""Softmax, its logarithm, the loss and calibration: equal to references, exact at edges."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from course_lib.softmax import (
    calibration,
    cross_entropy,
    fit_temperature,
    log_softmax,
    softmax,
)
from tests.library.parity import assert_same, few, normal

BOTH = [(softmax, torch.softmax), (log_softmax, torch.log_softmax)]
LOGITS = normal(2, 3, 5)
TARGETS = torch.tensor([[1, 4, 0], [2, 2, 3]])
rows_of_scores = st.lists(st.floats(-50, 50), min_size=1, max_size=7)


def test_softmax_is_the_share_of_each_exponential():
    scores = torch.tensor([0.0, math.log(2), math.log(5)])
    torch.testing.assert_close(softmax(scores), torch.tensor([0.125, 0.25, 0.625]))


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
def test_values_and_gradients_equal_torch_along_any_axis(ours, theirs, dim):
    assert_same(lambda x: ours(x, dim), lambda x: theirs(x, dim), LOGITS)


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
def test_the_default_axis_is_the_last_one(ours, theirs):
    """softmax-wrong-dim."""
    torch.testing.assert_close(ours(LOGITS), theirs(LOGITS, -1))


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_dtype_stays_and_only_the_result_is_rounded(ours, theirs, dtype):
    scores = normal(3, 700, dtype=dtype) * 3
    expected = theirs(scores.double(), -1).to(dtype)
    one_rounding = torch.finfo(dtype).eps
    torch.testing.assert_close(ours(scores), expected, rtol=one_rounding, atol=1e-7)


def test_huge_scores_do_not_overflow():
    """softmax-no-max-shift."""
    for size in (1000.0, -1000.0, 3e38):
        same = torch.full((2,), size)
        torch.testing.assert_close(softmax(same), torch.tensor([0.5, 0.5]))
        torch.testing.assert_close(log_softmax(same), torch.full((2,), -math.log(2)))


def test_each_row_is_shifted_by_its_own_maximum():
    scores = torch.tensor([[1000.0, 999.0], [-1000.0, -1001.0]])
    expected = torch.tensor([1 / (1 + math.exp(-1)), 1 / (1 + math.e)]).expand(2, 2)
    torch.testing.assert_close(softmax(scores), expected)
    torch.testing.assert_close(log_softmax(scores), expected.log())


@few
@given(rows_of_scores, st.floats(-1000, 1000))
def test_adding_a_constant_changes_nothing(row, constant):
    scores = torch.tensor(row, dtype=torch.float64)
    torch.testing.assert_close(softmax(scores + constant), softmax(scores))
    torch.testing.assert_close(log_softmax(scores + constant), log_softmax(scores))


@few
@given(rows_of_scores)
def test_weights_are_positive_sum_to_one_and_keep_the_order(row):
    scores = torch.tensor(row, dtype=torch.float64)
    weights = softmax(scores)
    assert (weights > 0).all()
    assert math.isclose(weights.sum().item(), 1, rel_tol=1e-12)
    assert (weights[scores.argsort()].diff() >= 0).all()


def test_log_softmax_is_exact_where_the_probability_is_too_small_to_write():
    actual = log_softmax(torch.tensor([0.0, -1000.0]))
    torch.testing.assert_close(actual, torch.tensor([0.0, -1000.0]))


@pytest.mark.parametrize(("ours", "theirs"), BOTH)
def test_a_score_of_minus_infinity_gets_no_weight_and_no_gradient(ours, theirs):
    hidden = torch.zeros(2, 3, 5, dtype=torch.bool)
    hidden[0, 1, 2:] = hidden[1, 2, 0] = True

    def on_finite(function):
        return lambda x: function(x.masked_fill(hidden, -torch.inf), -1)[~hidden]

    assert_same(on_finite(ours), on_finite(theirs), LOGITS)


def test_a_large_vocabulary_does_not_overflow_float16():
    scores = torch.zeros(70_000, dtype=torch.float16)
    torch.testing.assert_close(softmax(scores), torch.softmax(scores, 0))
    expected = torch.full_like(scores, -math.log(70_000))
    torch.testing.assert_close(log_softmax(scores), expected)
    many = torch.zeros(40_000, 7, dtype=torch.float16)  # 40 000 * log 7 > 65 504
    loss = cross_entropy(many, torch.zeros(40_000, dtype=torch.long))
    torch.testing.assert_close(loss, torch.tensor(math.log(7), dtype=torch.float16))


@pytest.mark.parametrize("function", [softmax, log_softmax])
def test_scores_stay_as_they_were(function):
    scores = LOGITS.clone()
    function(scores)
    assert torch.equal(scores, LOGITS)


@pytest.mark.parametrize("function", [softmax, log_softmax])
def test_whole_numbers_are_refused(function):
    name = function.__name__
    with pytest.raises(
        ValueError, match=rf"^{name} was given .*int64; it needs a floating"
    ):
        function(torch.tensor([1, 2]))


# -- cross_entropy ------------------------------------------------------------------


def test_the_loss_is_the_mean_surprise_in_nats():
    logits = torch.tensor([[1.0, 2.0, 5.0], [3.0, 1.0, 4.0]]).log()
    expected = (math.log(8 / 5) + math.log(8 / 3)) / 2
    loss = cross_entropy(logits, torch.tensor([2, 0]))
    torch.testing.assert_close(loss, torch.tensor(expected))


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("ignore_index", [-100, -1, 2, 255])
def test_loss_and_gradient_equal_torch(ignore_index, label_smoothing):
    targets = TARGETS.clone()
    targets[0, 1] = targets[1, 0] = ignore_index
    options = dict(ignore_index=ignore_index, label_smoothing=label_smoothing)
    assert_same(
        lambda x: cross_entropy(x, targets, **options),
        lambda x: F.cross_entropy(x.flatten(0, 1), targets.flatten(), **options),
        LOGITS,
    )


def test_the_defaults_are_those_of_torch():
    targets = TARGETS.clone()
    targets[1, 1] = -100
    expected = F.cross_entropy(LOGITS.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(cross_entropy(LOGITS, targets), expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_the_loss_has_the_dtype_of_the_logits(dtype):
    loss = cross_entropy(LOGITS.to(dtype), TARGETS, label_smoothing=0.1)
    expected = F.cross_entropy(
        LOGITS.to(dtype).double().flatten(0, 1), TARGETS.flatten(), label_smoothing=0.1
    )
    torch.testing.assert_close(loss, expected.to(dtype))


def test_smoothing_spreads_its_share_over_every_id():
    logits, e = torch.tensor([[1.0, 2.0, 5.0]]).log(), 0.3
    target = torch.tensor([e / 3, e / 3, 1 - e + e / 3])
    expected = -(target * torch.tensor([1 / 8, 2 / 8, 5 / 8]).log()).sum()
    loss = cross_entropy(logits, torch.tensor([2]), label_smoothing=e)
    torch.testing.assert_close(loss, expected)


def test_near_perfect_logits_lose_nothing():
    """double-softmax-in-loss: of probabilities the loss could not fall below 0.9."""
    logits = 50 * F.one_hot(TARGETS, 5).float()
    assert cross_entropy(logits, TARGETS).item() < 1e-6


def test_a_single_row_needs_no_batch():
    expected = F.cross_entropy(LOGITS[0, 0], TARGETS[0, 0])
    torch.testing.assert_close(cross_entropy(LOGITS[0, 0], TARGETS[0, 0]), expected)


def test_where_no_target_counts_loss_and_gradient_are_zero():
    logits = LOGITS.clone().requires_grad_()
    loss = cross_entropy(logits, torch.full((2, 3), -100))
    loss.backward()
    assert loss.item() == 0
    assert torch.equal(logits.grad, torch.zeros(2, 3, 5))


def test_a_target_that_does_not_count_gets_no_gradient():
    logits = LOGITS.clone().requires_grad_()
    targets = TARGETS.clone()
    targets[1, 2] = -100
    cross_entropy(logits, targets, label_smoothing=0.2).backward()
    assert (logits.grad != 0).any(-1).tolist() == [[True] * 3, [True, True, False]]


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8])
def test_ids_may_be_of_any_whole_dtype(dtype):
    expected = cross_entropy(LOGITS, TARGETS)
    torch.testing.assert_close(cross_entropy(LOGITS, TARGETS.to(dtype)), expected)


@pytest.mark.parametrize(
    ("logits", "targets", "message"),
    [
        (LOGITS, TARGETS[:, :2], r"logits \(2, 3, 5\) and targets \(2, 2\).*\(2, 3\)"),
        (LOGITS, TARGETS.t(), r"logits \(2, 3, 5\) and targets \(3, 2\).*\(2, 3\)"),
        (LOGITS, TARGETS.float(), r"targets of dtype torch.float32; it needs ids"),
        (LOGITS, TARGETS > 1, r"targets of dtype torch.bool; it needs ids"),
        (LOGITS, TARGETS + 1, r"the target 5; ids run from 0 to 4, and -100 marks"),
        (LOGITS, TARGETS - 1, r"the target -1; ids run from 0 to 4, and -100 marks"),
        (LOGITS.long(), TARGETS, r"dtype torch.int64; it needs a floating"),
    ],
)
def test_logits_and_targets_that_do_not_fit_are_refused(logits, targets, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy(logits, targets)


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_smoothing_that_is_no_share_is_refused(share):
    with pytest.raises(ValueError, match=rf"label_smoothing was {share}.*from 0 to 1"):
        cross_entropy(LOGITS, TARGETS, label_smoothing=share)


# -- calibration --------------------------------------------------------------------


def logits_of(*confidences):
    """Two ids a row, of which id 0 has the given probability."""
    first = torch.tensor(confidences, dtype=torch.float64)
    return torch.stack([first, 1 - first], -1).log()


def by_loop(logits, targets, n_bins):
    """(counts, gap sum over all / number), one prediction after the other."""
    sums = np.zeros((n_bins, 3))
    for row, target in zip(logits.numpy(), targets.tolist(), strict=True):
        probabilities = np.exp(row - row.max())
        probabilities = probabilities / probabilities.sum()
        for place in range(n_bins):
            if place / n_bins < probabilities.max() <= (place + 1) / n_bins:
                sums[place] += 1, probabilities.max(), row.argmax() == target
    count, sure, right = sums.T
    rows = zip(count, sure, right, strict=True)
    gaps = [abs(r / c - s / c) * c for c, s, r in rows if c]
    return sums, sum(gaps) / len(targets)


def test_four_predictions_by_hand():
    """Bins of a half: 0.5 and 0.9 apart; (|0 - 0.5| + |2 - 2.4|) / 4 = 0.225."""
    targets = torch.tensor([1, 0, 1, 0])
    found = calibration(logits_of(0.5, 0.9, 0.7, 0.8), targets, n_bins=2)
    assert found.counts.tolist() == [1, 3]
    expected = torch.tensor([[0.5, 0.8], [0.0, 2 / 3]], dtype=torch.float64)
    torch.testing.assert_close(found.confidences, expected[0])
    torch.testing.assert_close(found.accuracies, expected[1])
    assert found.error.item() == pytest.approx(0.225)


@pytest.mark.parametrize("n_bins", [1, 2, 7, 15])
def test_bins_and_error_equal_those_of_a_plain_loop(n_bins):
    logits, targets = 2 * normal(200, 5, dtype=torch.float64), torch.arange(200) % 5
    sums, error = by_loop(logits, targets, n_bins)
    found = calibration(logits, targets, n_bins)
    count = np.maximum(sums[:, 0], 1)
    assert found.counts.tolist() == sums[:, 0].tolist()
    assert found.error.item() == pytest.approx(error)
    filled = sums[:, 0] > 0
    sure, right = found.confidences.numpy(), found.accuracies.numpy()
    np.testing.assert_allclose(sure[filled], (sums[:, 1] / count)[filled])
    np.testing.assert_allclose(right[filled], (sums[:, 2] / count)[filled])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("vocab", [2, 5, 10])
def test_a_confidence_on_an_edge_belongs_to_the_bin_below_it(vocab, dtype):
    found = calibration(torch.zeros(1, vocab, dtype=dtype), torch.tensor([0]), 10)
    assert found.counts.nonzero().item() == 10 // vocab - 1


def test_a_sure_prediction_lies_in_the_last_bin():
    found = calibration(torch.tensor([[1000.0, 0.0]]), torch.tensor([0]), 3)
    assert found.counts.tolist() == [0, 0, 1]
    assert found.error.item() == 0


def test_an_empty_bin_counts_nothing_and_spoils_nothing():
    found = calibration(logits_of(0.9), torch.tensor([0]), 5)
    empty = found.counts == 0
    assert empty.tolist() == [True] * 4 + [False]
    assert torch.equal(found.confidences.isnan(), empty)
    assert torch.equal(found.accuracies.isnan(), empty)
    assert found.error.item() == pytest.approx(0.1)


def test_the_error_is_a_gap_whichever_side_is_larger_and_bins_do_not_cancel():
    logits = logits_of(0.9, 0.9, 0.6, 0.6)
    targets = torch.tensor([1, 0, 0, 0])  # 0.4 too sure, 0.4 too modest
    assert calibration(logits, targets, 10).error.item() == pytest.approx(0.4)
    assert calibration(logits, targets, 1).error.item() == pytest.approx(0)


def test_marked_targets_are_left_out_and_axes_in_front_are_free():
    targets = TARGETS.clone()
    targets[0, 1] = targets[1, 2] = -100
    rows = LOGITS.flatten(0, 1)[[0, 2, 3, 4]], TARGETS.flatten()[[0, 2, 3, 4]]
    expected = calibration(*rows, n_bins=3)
    for found in (
        calibration(LOGITS, targets, n_bins=3),
        calibration(LOGITS, targets.masked_fill(targets < 0, 255), 3, ignore_index=255),
    ):
        torch.testing.assert_close(found, expected, equal_nan=True)


def test_where_no_target_counts_the_error_is_zero():
    found = calibration(LOGITS, torch.full((2, 3), -100))
    assert (found.error.item(), found.counts.sum().item()) == (0, 0)


def test_fifteen_bins_are_the_default():
    assert len(calibration(LOGITS, TARGETS).counts) == 15


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_measured_in_float32(dtype):
    found = calibration(LOGITS.to(dtype), TARGETS)
    assert found.error.dtype == torch.float32
    expected = calibration(LOGITS.to(dtype).float(), TARGETS)
    torch.testing.assert_close(found, expected, equal_nan=True)


def test_shift_and_order_of_predictions_change_nothing():
    logits, targets = normal(50, 3, dtype=torch.float64), torch.arange(50) % 3
    expected = calibration(logits, targets)
    mixed = torch.randperm(50, generator=torch.Generator().manual_seed(0))
    for found in (
        calibration(logits + normal(50, 1, seed=1), targets),
        calibration(logits[mixed], targets[mixed]),
    ):
        torch.testing.assert_close(found, expected, equal_nan=True)


@pytest.mark.parametrize("n_bins", [0, -1])
def test_no_bins_are_refused(n_bins):
    with pytest.raises(ValueError, match=rf"n_bins was {n_bins}.*at least 1"):
        calibration(LOGITS, TARGETS, n_bins)


@pytest.mark.parametrize("row", [[torch.nan, 0], [torch.inf, 0], [-torch.inf] * 2])
def test_rows_without_probabilities_are_refused_unless_they_are_marked(row):
    logits = torch.tensor([[0.0, 1.0], row])
    with pytest.raises(ValueError, match="logits with NaN.*ignore_index"):
        calibration(logits, torch.tensor([1, 0]))
    assert calibration(logits, torch.tensor([1, -100])).counts.sum() == 1


# -- fit_temperature ----------------------------------------------------------------


def a_task(size=1.0, vocab=5):
    """300 targets drawn from softmax(logits), and the logits times size."""
    logits = 2 * normal(300, vocab, dtype=torch.float64)
    generator = torch.Generator().manual_seed(3)
    targets = torch.softmax(logits, -1).multinomial(1, generator=generator)[:, 0]
    return size * logits, targets


def test_five_predictions_by_hand():
    """Right in 4 of 5: sigmoid(x / T) = 0.8 where x / T = ln 4."""
    logits = torch.tensor([[6.0, 0.0]]).expand(5, 2)
    found = fit_temperature(logits, torch.tensor([0, 0, 1, 0, 0]))
    assert isinstance(found, float)
    assert found == pytest.approx(6 / math.log(4))


@pytest.mark.parametrize("size", [0.01, 0.5, 1.0, 3.0, 1000.0])
def test_no_temperature_of_a_grid_is_better(size):
    logits, targets = a_task(size)
    found = fit_temperature(logits, targets)

    def loss(temperature):
        return F.cross_entropy(logits / temperature, targets).item()

    grid = [found * 1.01**step for step in range(-300, 301)]
    assert min(grid, key=loss) == pytest.approx(found, rel=1e-9)
    assert found == pytest.approx(size, rel=0.2)  # the targets were drawn at size 1


def test_the_slope_of_the_loss_is_zero_there():
    logits, targets = a_task(3.0)
    temperature = torch.tensor(fit_temperature(logits, targets)).requires_grad_()
    F.cross_entropy(logits / temperature, targets).backward()
    assert abs(temperature.grad.item()) < 1e-7


def test_larger_logits_need_as_much_larger_a_temperature_and_a_shift_none():
    logits, targets = a_task()
    found = fit_temperature(logits, targets)
    assert fit_temperature(7 * logits, targets) == pytest.approx(7 * found)
    assert fit_temperature(logits / found, targets) == pytest.approx(1)
    shifted = logits + normal(300, 1, seed=1, dtype=torch.float64)
    assert fit_temperature(shifted, targets) == pytest.approx(found)


def test_marked_targets_and_impossible_ids_take_no_part():
    logits, targets = a_task()
    marked = targets.clone()
    marked[::3] = -100
    kept = torch.arange(300) % 3 != 0
    expected = fit_temperature(logits[kept], targets[kept])
    assert fit_temperature(logits, marked) == pytest.approx(expected)
    seen = marked.view(3, 100).masked_fill(~kept.view(3, 100), 9)
    found = fit_temperature(logits.view(3, 100, 5), seen, ignore_index=9)
    assert found == pytest.approx(expected)
    more = torch.cat([logits, torch.full((300, 2), -torch.inf)], 1)
    expected = fit_temperature(logits, targets)
    assert fit_temperature(more, targets) == pytest.approx(expected)


def test_a_hard_start_for_newton_is_found_all_the_same():
    """Most rows are nearly flat, a few are off by a thousand."""
    logits = torch.tensor([[0.001, 0.0]] * 9 + [[1000.0, 0.0]], dtype=torch.float64)
    targets = torch.tensor([0] * 9 + [1])
    with pytest.raises(ValueError, match="T = infinity"):
        fit_temperature(logits, targets)
    logits[:9] *= 200_000
    found = fit_temperature(logits, targets)
    for other in (0.999 * found, 1.001 * found):
        better = F.cross_entropy(logits / found, targets)
        assert better < F.cross_entropy(logits / other, targets)


@pytest.mark.parametrize(
    ("logits", "targets", "message"),
    [
        ([[2.0, 1.0], [0.0, 3.0]], [0, 1], "falls all the way to T = 0"),
        ([[2.0, 2.0], [0.0, 3.0]], [0, 1], "falls all the way to T = 0"),
        ([[2.0, 1.0], [2.0, 1.0]], [0, 1], "falls all the way to T = infinity"),
        ([[2.0, 1.0], [0.0, 3.0]], [1, 0], "falls all the way to T = infinity"),
        ([[5.0, 5.0], [3.0, 3.0]], [1, 0], "falls all the way to T = infinity"),
        ([[2.0, 1.0], [0.0, 3.0]], [-100, -100], "no target that counts"),
        ([[torch.nan, 1.0]], [1], "logits with NaN"),
        ([[torch.inf, 1.0]], [0], "logits with NaN"),
        ([[1.0, -torch.inf]], [1], "a target of probability 0"),
    ],
)
def test_where_no_temperature_is_best_the_reason_is_given(logits, targets, message):
    with pytest.raises(ValueError, match=message):
        fit_temperature(torch.tensor(logits), torch.tensor(targets))


@pytest.mark.parametrize("function", [calibration, fit_temperature])
@pytest.mark.parametrize(
    ("logits", "targets", "message"),
    [
        (LOGITS, TARGETS[:, :2], r"was given logits \(2, 3, 5\) and targets \(2, 2\)"),
        (LOGITS, TARGETS.float(), r"was given targets of dtype torch.float32"),
        (LOGITS, TARGETS > 1, r"was given targets of dtype torch.bool; it needs ids"),
        (LOGITS, TARGETS + 1, r"was given the target 5; ids run from 0 to 4"),
        (LOGITS, TARGETS - 1, r"was given the target -1; ids run from 0 to 4"),
        (LOGITS.long(), TARGETS, r"was given .*int64; it needs a floating"),
    ],
)
def test_what_cross_entropy_refuses_these_refuse_too(
    function, logits, targets, message
):
    with pytest.raises(ValueError, match=rf"^{function.__name__} {message}"):
        function(logits, targets)


@pytest.mark.parametrize("function", [calibration, fit_temperature])
def test_inputs_stay_as_they_were(function):
    logits, targets = a_task()
    before = logits.clone(), targets.clone()
    function(logits, targets)
    torch.testing.assert_close((logits, targets), before, rtol=0, atol=0)
