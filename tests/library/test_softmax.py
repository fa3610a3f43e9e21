"""Softmax, log-softmax and cross-entropy: equal to torch's, and exact at the edges."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from course_lib.softmax import cross_entropy, log_softmax, softmax
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
