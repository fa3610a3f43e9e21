"""The feed-forward networks equal torch's linears and the formulas of their bends."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.feed_forward import FeedForward, GatedFeedForward, activation
from tests.library.families import copy_linear, randomise
from tests.library.parity import assert_same_modules, gradients_of, normal

X = normal(2, 3, 5)
BENDS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: (
        x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
    "silu": lambda x: x / (1 + math.exp(-x)),
}
TORCH_BENDS = {
    "relu": nn.ReLU(),
    "gelu": nn.GELU(),
    "gelu_tanh": nn.GELU(approximate="tanh"),
    "silu": nn.SiLU(),
}


@pytest.mark.parametrize("name", BENDS)
def test_an_activation_is_its_formula(name):
    x = torch.linspace(-9, 9, 91, dtype=torch.float64)
    expected = torch.tensor([BENDS[name](float(number)) for number in x]).double()
    torch.testing.assert_close(
        activation(name)(x), expected, check_dtype=False, atol=1e-6, rtol=1e-6
    )


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.parametrize("bias", [True, False])
def test_a_feed_forward_network_is_two_linears_and_a_bend(name, bias):
    theirs = nn.Sequential(
        nn.Linear(5, 11, bias), TORCH_BENDS[name], nn.Linear(11, 5, bias)
    )
    randomise(theirs, seed=1)
    ours = FeedForward(5, 11, name, bias)
    pairs = []
    for part, layer in ((ours.to_hidden, theirs[0]), (ours.to_output, theirs[2])):
        copy_linear(part, layer)
        pairs += [(part.weight, layer.weight)] + [(part.bias, layer.bias)] * bias
    assert_same_modules(ours, theirs, pairs, X)
    assert len(list(ours.parameters())) == len(pairs)


@pytest.mark.parametrize("name", BENDS)
@pytest.mark.parametrize("bias", [True, False])
def test_the_gate_is_bent_and_the_hidden_layer_is_not(name, bias):
    ours = randomise(GatedFeedForward(5, 11, name, bias), seed=1)
    gate, hidden, output = (
        (part.weight, part.bias)
        for part in (ours.to_gate, ours.to_hidden, ours.to_output)
    )

    def formula(x):
        bent = TORCH_BENDS[name](F.linear(x, *gate))
        return F.linear(bent * F.linear(x, *hidden), *output)

    parameters = [(p, p) for p in ours.parameters()]
    assert_same_modules(ours, formula, parameters, X)
    assert len(parameters) == (6 if bias else 3)


def test_the_defaults_are_relu_with_bias_and_swiglu_without():
    plain, gated = FeedForward(5, 11), GatedFeedForward(5, 11)
    assert plain.activation is activation("relu")
    assert gated.activation is activation("silu")
    assert sum(p.numel() for p in plain.parameters()) == 5 * 11 * 2 + 11 + 5
    assert sum(p.numel() for p in gated.parameters()) == 5 * 11 * 3


@pytest.mark.parametrize("network", [FeedForward, GatedFeedForward])
def test_each_position_is_worked_on_alone(network):
    module = randomise(network(5, 11), seed=1)
    x = X.clone().requires_grad_()
    (gradient,) = gradients_of(module(x)[:, 1], [x])
    assert (gradient != 0).any(-1).tolist() == [[False, True, False]] * 2
    torch.testing.assert_close(module(X)[1, 2], module(X[1, 2]))


@pytest.mark.parametrize("make", [activation, lambda name: FeedForward(5, 11, name)])
def test_an_unknown_activation_is_refused(make):
    for call in (make, lambda name: GatedFeedForward(5, 11, name)):
        with pytest.raises(
            ValueError, match="was 'swish'; choose one of relu, gelu, gelu_tanh, silu"
        ):
            call("swish")
