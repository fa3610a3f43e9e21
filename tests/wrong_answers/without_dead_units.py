"""Wrong answers to without_dead_units."""

import copy

import torch
from torch import nn

from course_lib.feed_forward import FeedForward
from tests.answers import wrong


def cut(network, alive):
    """A new layer of these units."""
    up, down = network.to_hidden, network.to_output
    new = FeedForward(up.in_features, len(up.weight[alive]), bias=up.bias is not None)
    with torch.no_grad():
        new.to_hidden.weight.copy_(up.weight[alive])
        new.to_output.weight.copy_(down.weight[:, alive])
        if up.bias is not None:
            new.to_hidden.bias.copy_(up.bias[alive])
            new.to_output.bias.copy_(down.bias)
    return new


@wrong("active-everywhere-kept")
def all_for_any(network, x):
    active = network.to_hidden(x).relu() > 0
    return cut(network, active.flatten(0, -2).all(0))


@wrong("judged-before-the-bend")
def not_zero(network, x):
    hidden = network.to_hidden(x).flatten(0, -2)
    return cut(network, hidden.abs().sum(0) > 0)


@wrong("judged-by-the-mean")
def mean_of_units(network, x):
    hidden = network.to_hidden(x)
    mean = hidden.mean(dim=tuple(range(x.ndim - 1)))
    return cut(network, (mean > 0).nonzero().flatten())


@wrong("judged-by-one-position")
def looks_at_one(network, x):
    row = x.reshape(-1, x.shape[-1])[0]
    return cut(network, network.to_hidden(row) > 0)


@wrong("judged-by-one-position")
def looks_at_one_text(network, x):
    hidden = network.to_hidden(x if x.ndim == 2 else x[0])
    return cut(network, hidden.amax(0) > 0)


@wrong("output-bias-lost")
def biases_of_units_only(network, x):
    alive = (network.to_hidden(x) > 0).flatten(0, -2).any(0)
    new = cut(network, alive)
    if new.to_output.bias is not None:
        with torch.no_grad():
            new.to_output.bias.zero_()
    return new


@wrong("hidden-bias-lost")
def weights_only(network, x):
    alive = (network.to_hidden(x) > 0).flatten(0, -2).any(0)
    new = cut(network, alive)
    if new.to_hidden.bias is not None:
        with torch.no_grad():
            new.to_hidden.bias.zero_()
    return new


@wrong("dead-ones-kept")
def keeps_the_wrong_ones(network, x):
    dead = (network.to_hidden(x) <= 0).flatten(0, -2).all(0)
    return cut(network, dead)


@wrong("columns-out-of-step")
def first_columns(network, x):
    alive = (network.to_hidden(x) > 0).flatten(0, -2).any(0)
    new = cut(network, alive)
    with torch.no_grad():
        new.to_output.weight.copy_(network.to_output.weight[:, : int(alive.sum())])
    return new


@wrong("zeroed-not-removed")
def silenced(network, x):
    new = copy.deepcopy(network)
    dead = (network.to_hidden(x) <= 0).flatten(0, -2).all(0)
    with torch.no_grad():
        for parameter in new.to_hidden.parameters():
            parameter[dead] = 0
        new.to_output.weight[:, dead] = 0
    return new


@wrong("old-layer-changed")
def in_place(network, x):
    alive = (network.to_hidden(x) > 0).flatten(0, -2).any(0)
    up, down = network.to_hidden, network.to_output
    up.weight = nn.Parameter(up.weight[alive])
    down.weight = nn.Parameter(down.weight[:, alive])
    if up.bias is not None:
        up.bias = nn.Parameter(up.bias[alive])
    return network


@wrong("biases-invented")
def default_biases(network, x):
    alive = (network.to_hidden(x) > 0).flatten(0, -2).any(0)
    new = FeedForward(x.shape[-1], int(alive.sum()))
    with torch.no_grad():
        for layer, rows, columns in (
            ("to_hidden", alive, slice(None)),
            ("to_output", slice(None), alive),
        ):
            old = getattr(network, layer)
            getattr(new, layer).weight.copy_(old.weight[rows][:, columns])
            if old.bias is not None:
                getattr(new, layer).bias.copy_(old.bias[rows])
    return new


@wrong("judged-by-one-position")
def first_word_of_each_text(network, x):
    active = network.to_hidden(x) > 0
    while active.ndim > 2:
        active = active[:, 0]
    return cut(network, active.any(0))


@wrong("parameters-shared")
def same_bias(network, x):
    new = cut(network, (network.to_hidden(x) > 0).flatten(0, -2).any(0))
    new.to_output.bias = network.to_output.bias
    return new
