"""The norms equal their formulas written out, and torch.nn's modules."""

import math

import pytest
import torch
from torch import nn

from course_lib.norms import LayerNorm, RMSNorm, layer_norm, rms_norm
from tests.library.families import copy_norm, randomise
from tests.library.parity import assert_same, assert_same_modules, normal

X = normal(2, 3, 5) * 3 + 1
GAIN, BIAS = normal(5, seed=1), normal(5, seed=2)


def layer_norm_by_formula(x, gain, bias, eps):
    """Ba et al. (2016), eq. 4: the variance is a mean of squares, eps inside the root."""
    d_model = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d_model
    variance = (x - mean).square().sum(-1, keepdim=True) / d_model
    return (x - mean) / (variance + eps) ** 0.5 * gain + bias


def rms_norm_by_formula(x, gain, eps):
    """Zhang, Sennrich (2019), eq. 4, with eps inside the root."""
    return x / (x.square().sum(-1, keepdim=True) / x.shape[-1] + eps) ** 0.5 * gain


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_layer_norm_and_its_gradients_equal_the_formula(eps):
    assert_same(
        lambda *given: layer_norm(*given, eps),
        lambda *given: layer_norm_by_formula(*given, eps),
        *(X, GAIN, BIAS),
    )


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_rms_norm_and_its_gradients_equal_the_formula(eps):
    assert_same(
        lambda *given: rms_norm(*given, eps),
        lambda *given: rms_norm_by_formula(*given, eps),
        *(X, GAIN),
    )


def test_layer_norm_divides_by_n_and_not_by_n_minus_1():
    """layernorm-unbiased-std: 1.73, where the unbiased deviation gives 1.50."""
    normed = layer_norm(torch.tensor([1.0, 0, 0, 0]), torch.ones(4), None)
    root = math.sqrt(3)
    expected = torch.tensor([root, -1 / root, -1 / root, -1 / root])
    torch.testing.assert_close(normed, expected, atol=1e-3, rtol=0)


def test_a_vector_much_smaller_than_eps_stays_small():
    """The default is 1e-5, inside the root: 1e-3 / sqrt(1e-6 + 1e-5) = 0.3015."""
    tiny, ones = torch.tensor([1e-3, -1e-3]), torch.ones(2)
    expected = torch.tensor([1.0, -1.0]) / math.sqrt(11)
    torch.testing.assert_close(layer_norm(tiny, ones, None), expected)
    torch.testing.assert_close(rms_norm(tiny, ones), expected)
    torch.testing.assert_close(LayerNorm(2)(tiny), expected)
    torch.testing.assert_close(RMSNorm(2)(tiny), expected)


def test_mean_0_and_variance_1_hold_before_gain_and_bias():
    normed = layer_norm(X, torch.ones(5), torch.zeros(5))
    torch.testing.assert_close(normed.mean(-1), torch.zeros(2, 3))
    torch.testing.assert_close(normed.var(-1, correction=0), torch.ones(2, 3))
    shifted = layer_norm(X, torch.ones(5), torch.full((5,), 7.0))
    torch.testing.assert_close(shifted.mean(-1), torch.full((2, 3), 7.0))


def test_rms_norm_does_not_centre():
    normed = rms_norm(X, torch.ones(5))
    torch.testing.assert_close(normed.square().mean(-1), torch.ones(2, 3))
    torch.testing.assert_close(normed / X, (1 / X * normed)[..., :1].expand(2, 3, 5))


@pytest.mark.parametrize("norm", [LayerNorm, RMSNorm])
def test_a_token_is_normed_alone(norm):
    """layernorm-wrong-axis: a longer sequence, or another row, changes nothing."""
    module = norm(5)
    longer = torch.cat((X, normal(2, 7, 5, seed=3)), 1)
    torch.testing.assert_close(module(longer)[:, :3], module(X))
    torch.testing.assert_close(module(X[1, 2]), module(X)[1, 2])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_the_layer_norm_module_equals_torchs(bias, eps):
    theirs = randomise(nn.LayerNorm(5, eps=eps, bias=bias), seed=4)
    ours = LayerNorm(5, eps, bias)
    copy_norm(ours, theirs)
    pairs = [(ours.gain, theirs.weight)] + [(ours.bias, theirs.bias)] * bias
    assert_same_modules(ours, theirs, pairs, X)
    assert len(list(ours.parameters())) == len(pairs)


@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_the_rms_norm_module_equals_torchs(eps):
    theirs = randomise(nn.RMSNorm(5, eps=eps), seed=4)
    ours = RMSNorm(5, eps)
    copy_norm(ours, theirs)
    assert_same_modules(ours, theirs, [(ours.gain, theirs.weight)], X)


def test_a_new_norm_has_gain_1_and_bias_0():
    assert torch.equal(LayerNorm(5).gain, torch.ones(5))
    assert torch.equal(LayerNorm(5).bias, torch.zeros(5))
    assert torch.equal(RMSNorm(5).gain, torch.ones(5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: layer_norm(X, GAIN[:3], BIAS),
            r"layer_norm .*\(3,\), \(5,\)\).*\(5,\)",
        ),
        (
            lambda: layer_norm(X, GAIN, BIAS[:3]),
            r"layer_norm .*\(5,\), \(3,\)\).*\(5,\)",
        ),
        (lambda: layer_norm(X, GAIN[:3], None), r"x \(2, 3, 5\).*shape \(3,\).*\(5,\)"),
        (lambda: rms_norm(X, X[0]), r"rms_norm .*shape \(3, 5\); they need.*\(5,\)"),
        (lambda: LayerNorm(7)(X), r"layer_norm was given x \(2, 3, 5\).*\(5,\)"),
        (lambda: RMSNorm(7)(X), r"rms_norm was given x \(2, 3, 5\).*\(7,\).*\(5,\)"),
    ],
)
def test_a_gain_or_bias_of_another_width_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
