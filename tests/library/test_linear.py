"""Linear is nn.Linear, except for the order of its numbers in memory."""

import copy

import pytest
import torch
from torch import nn

from course_lib.linear import Linear
from tests.library.families import randomise
from tests.library.parity import assert_same_modules, normal


@pytest.mark.parametrize("bias", [True, False])
def test_it_equals_torchs_linear_with_the_same_numbers(bias):
    theirs = randomise(nn.Linear(3, 5, bias), seed=1)
    ours = Linear(3, 5, bias)
    ours.load_state_dict(theirs.state_dict())
    pairs = [(ours.weight, theirs.weight)] + [(ours.bias, theirs.bias)] * bias
    assert_same_modules(ours, theirs, pairs, normal(2, 7, 3))


@pytest.mark.parametrize("bias", [True, False])
def test_torchs_linear_loads_its_state(bias):
    ours, theirs = randomise(Linear(3, 5, bias), seed=1), nn.Linear(3, 5, bias)
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(theirs(normal(7, 3)), ours(normal(7, 3)))


def test_a_bias_is_there_unless_it_is_refused():
    assert Linear(3, 5).bias.shape == (5,)
    assert Linear(3, 5, bias=False).bias is None
    assert (Linear(3, 5).in_features, Linear(3, 5).out_features) == (3, 5)


def test_the_weights_of_one_input_stand_side_by_side_and_stay_so():
    layer = Linear(3, 5)
    empty = Linear(3, 5).to_empty(device="cpu")
    layer.load_state_dict(nn.Linear(3, 5).state_dict())
    for one in (layer, copy.deepcopy(layer), copy.deepcopy(layer).double(), empty):
        assert one.weight.shape == (5, 3)
        assert one.weight.stride() == (1, 5)


def test_it_starts_from_glorots_distribution_and_a_bias_of_zero():
    """Glorot, Bengio (2010), eq. 12: the variance is 2 / (inputs + outputs)."""
    torch.manual_seed(0)
    layer = Linear(300, 500)
    deviation = (2 / (300 + 500)) ** 0.5
    assert 0.99 < layer.weight.std() / deviation < 1.01
    assert layer.weight.abs().max() > 3.5 * deviation  # a normal one, not a uniform
    assert torch.equal(layer.bias, torch.zeros(500))


def test_on_the_meta_device_nothing_is_drawn():
    before = torch.get_rng_state()
    with torch.device("meta"):
        layer = Linear(3, 5)
    assert layer.weight.is_meta
    assert torch.equal(torch.get_rng_state(), before)
