"""Right answers to without_dead_units."""

import copy

import torch
from torch import nn

from course_lib.feed_forward import FeedForward
from tests.answers import right


@right("a new layer, copied under no_grad")
def copied(network, x):
    up, down = network.to_hidden, network.to_output
    alive = (network.to_hidden(x).relu() > 0).flatten(0, -2).any(0)
    new = FeedForward(x.shape[-1], int(alive.sum()), bias=up.bias is not None)
    with torch.no_grad():
        new.to_hidden.weight.copy_(up.weight[alive])
        new.to_output.weight.copy_(down.weight[:, alive])
        if up.bias is not None:
            new.to_hidden.bias.copy_(up.bias[alive])
            new.to_output.bias.copy_(down.bias)
    return new


@right("a deep copy with new parameters")
def parameters_replaced(network, x):
    new = copy.deepcopy(network)
    kept = network.to_hidden(x).reshape(-1, network.to_hidden.out_features)
    kept = kept.max(0).values.gt(0).nonzero().flatten()
    new.to_hidden.weight = nn.Parameter(new.to_hidden.weight[kept].detach())
    new.to_output.weight = nn.Parameter(new.to_output.weight[:, kept].detach())
    if new.to_hidden.bias is not None:
        new.to_hidden.bias = nn.Parameter(new.to_hidden.bias[kept].detach())
    return new


@right("nn.Linear layers set into a new layer, units in another order")
def torch_layers(network, x):
    hidden = network.to_hidden(x).clamp(min=0).flatten(0, -2).sum(0)
    kept = [i for i, total in enumerate(hidden.tolist()) if total > 0][::-1]
    has_bias = network.to_hidden.bias is not None
    new = FeedForward(x.shape[-1], 1, bias=has_bias)
    new.to_hidden = nn.Linear(x.shape[-1], len(kept), has_bias)
    new.to_output = nn.Linear(len(kept), x.shape[-1], has_bias)
    with torch.no_grad():
        new.to_hidden.weight[:] = network.to_hidden.weight[kept]
        new.to_output.weight[:] = network.to_output.weight[:, kept]
        if has_bias:
            new.to_hidden.bias[:] = network.to_hidden.bias[kept]
            new.to_output.bias[:] = network.to_output.bias
    return new
