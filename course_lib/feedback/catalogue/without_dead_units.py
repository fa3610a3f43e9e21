"""What goes wrong in without_dead_units: a smaller layer that does the same."""

import copy

import torch
from torch import nn

from course_lib.feed_forward import FeedForward
from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.feedback.values import hanging, show


class Layer(FeedForward):
    """A feed-forward layer that shows its numbers."""

    def __repr__(self) -> str:
        return "\n".join(
            hanging(f"{name} = ", show(parameter.detach()))
            for name, parameter in self.named_parameters()
        )


def without_dead_units(network, x):
    alive = network.to_hidden(x).flatten(0, -2).amax(0) > 0
    return only(network, alive)


def only(network, kept):
    """Cut a layer to these hidden units."""
    smaller = copy.deepcopy(network)
    up, down = smaller.to_hidden, smaller.to_output
    up.weight = nn.Parameter(up.weight[kept])
    down.weight = nn.Parameter(down.weight[:, kept])
    if up.bias is not None:
        up.bias = nn.Parameter(up.bias[kept])
    up.out_features = down.in_features = len(up.weight)
    return smaller


def use_layer(answer, network, x, other_inputs) -> dict:
    """Let the answer cut a layer; read what the small one does, and the old one's state."""
    before = [p.detach().clone() for p in network.parameters()]
    smaller = written(answer(network, x))
    with torch.no_grad():
        outputs, others = smaller(x), smaller(other_inputs)
    after = list(network.parameters())
    untouched = len(before) == len(after) and all(map(torch.equal, before, after))
    own, old = ({p.data_ptr() for p in n.parameters()} for n in (smaller, network))
    return {
        "parameters": sum(p.numel() for p in smaller.parameters()),
        "outputs for x": outputs,
        "for other inputs": others,
        "parameters of its own": own.isdisjoint(old),
        "old layer untouched": untouched,
    }


task = Task(
    "without_dead_units",
    asks="a new FeedForward with only the hidden units that are above 0 somewhere in x; "
    "for x it gives what the old one gives. (Other inputs show which units it kept.)",
    lesson="06_feed_forward",
    reference=without_dead_units,
    use=use_layer,
    read="2. Take the bend away",
)


def layer(draw: Draw, d_model, d_ff, x, n_dead, bias=True):
    """A layer whose units fire somewhere in x, one only at the end, n_dead nowhere."""
    network, rows = Layer(d_model, d_ff, bias=bias), x.flatten(0, -2)
    up, down = network.to_hidden, network.to_output
    order = draw.order(d_ff).tolist()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(draw.normal(*parameter.shape))
        if bias:
            up.weight[order[-1]] = rows[-1]
            reach = (rows @ up.weight.T).amax(0)
            up.bias.copy_(torch.maximum(up.bias, 0.5 - reach))
            up.bias[order[-1]] = -0.6 * reach[order[-1]]
            up.bias[order[-2]] = 0.1 - reach[order[-2]]
            up.bias[order[:n_dead]] = -0.5 - reach[order[:n_dead]]
            down.bias += 2
        else:  # x is positive there
            up.weight[:, 0] = up.weight[:, 1:].abs().sum(1) + 1
            up.weight[order[:n_dead]] = -up.weight[order[:n_dead]].abs()
            up.weight[order[0]] = 0  # dead, too: not above 0
    return network


@task.inputs
def probes(draw: Draw):
    def case(label, d_model, d_ff, n_dead, *rows, bias=True):
        x = draw.normal(*rows, d_model)
        x = x if bias else x.abs()
        x.flatten(0, -2)[-1] *= 5  # the last position stands apart
        network = layer(draw, d_model, d_ff, x, n_dead, bias)
        return Probe(label, network, x, 3 * draw.normal(2, d_model))

    yield case("one of three is dead", 2, 3, 1, 4)
    yield case("none is dead", 2, 3, 0, 9)
    yield case("most are dead", 3, 7, 5, 6)
    yield case("two texts", 2, 3, 1, 2, 2)
    yield case("two wide texts", 5, 11, 4, 2, 3)
    yield case("without biases", 2, 5, 2, 3, bias=False)
    yield case("many positions", 3, 13, 4, 2, 30)


@task.property("old-layer-untouched", "Whose weights did you cut?")
def old_layer_untouched(values) -> bool:
    return all(value["old layer untouched"] for value in values.values())


@task.property("parameters-of-its-own", "If the new layer learns, what learns with it?")
def parameters_of_its_own(values) -> bool:
    return all(value["parameters of its own"] for value in values.values())


def bent(network, x):
    return network.to_hidden(x).relu().flatten(0, -2)


@task.mistake(
    "active-everywhere-kept",
    "A unit fires for one position and rests for the others: is it dead?",
)
def always_active(network, x):
    return only(network, (bent(network, x) > 0).all(0))


@task.mistake(
    "judged-before-the-bend",
    "What does a dead unit hand on: before, or after the bend?",
)
def nonzero_before_the_bend(network, x):
    return only(network, (network.to_hidden(x).flatten(0, -2) != 0).any(0))


@task.mistake(
    "judged-by-the-mean", "Can a unit with a mean below 0 fire for some position?"
)
def mean_above_zero(network, x):
    return only(network, network.to_hidden(x).flatten(0, -2).mean(0) > 0)


@task.mistake("judged-by-one-position", "Which positions of x did you look at?")
def first_position(network, x):
    return only(network, bent(network, x)[0] > 0)


@task.mistake("judged-by-one-position", "Which positions of x did you look at?")
def first_text(network, x):
    rows = x[0] if x.ndim == 3 else x
    return only(network, (bent(network, rows) > 0).any(0))


@task.mistake("judged-by-one-position", "Which positions of x did you look at?")
def first_place_of_each_text(network, x):
    rows = x[:, 0] if x.ndim == 3 else x
    return only(network, (bent(network, rows) > 0).any(0))


@task.mistake("output-bias-lost", "Which bias belongs to no hidden unit?", "Definition")
def no_output_bias(network, x):
    smaller = without_dead_units(network, x)
    if smaller.to_output.bias is not None:
        nn.init.zeros_(smaller.to_output.bias)
    return smaller


@task.mistake(
    "hidden-bias-lost",
    "What belongs to a hidden unit besides its row of weights?",
    "Definition",
)
def no_hidden_bias(network, x):
    smaller = without_dead_units(network, x)
    if smaller.to_hidden.bias is not None:
        nn.init.zeros_(smaller.to_hidden.bias)
    return smaller


@task.mistake("dead-ones-kept", "Which units does your new layer hold?")
def the_dead(network, x):
    return only(network, (bent(network, x) == 0).all(0))


@task.mistake(
    "columns-out-of-step",
    "Hidden unit 4 became unit 3: which column of to_output does it meet?",
)
def first_columns(network, x):
    smaller = without_dead_units(network, x)
    n_kept = smaller.to_hidden.out_features
    columns = network.to_output.weight[:, :n_kept].clone()
    smaller.to_output.weight = nn.Parameter(columns)
    return smaller


@task.mistake(
    "zeroed-not-removed",
    "How many parameters does your new layer have, and the old one?",
)
def zeroed(network, x):
    smaller = copy.deepcopy(network)
    dead = (bent(network, x) == 0).all(0)
    with torch.no_grad():
        smaller.to_output.weight[:, dead] = 0
        smaller.to_hidden.weight[dead] = 0
        if smaller.to_hidden.bias is not None:
            smaller.to_hidden.bias[dead] = 0
    return smaller


@task.mistake("parameters-shared", "If the new layer learns, what learns with it?")
def shares_the_bias(network, x):
    smaller = without_dead_units(network, x)
    smaller.to_output.bias = network.to_output.bias
    return smaller


@task.mistake("old-layer-changed", "Whose weights did you cut?")
def cuts_the_old_one(network, x):
    smaller = without_dead_units(network, x)
    network.to_hidden, network.to_output = smaller.to_hidden, smaller.to_output
    return network


@task.mistake(
    "biases-invented", "The old layer has no biases: what does the new one hold?"
)
def always_with_biases(network, x):
    cut = without_dead_units(network, x)
    up, down = cut.to_hidden, cut.to_output
    if up.bias is None:
        up.bias = nn.Parameter(torch.zeros(up.out_features))
        down.bias = nn.Parameter(torch.zeros(down.out_features))
    return cut


@task.mistake(
    "both-biases-lost",
    "Which four tensors does a layer hold, and which did you copy?",
    "Definition",
)
def copies_the_matrices_only(network, x):
    smaller = no_output_bias(network, x)
    if smaller.to_hidden.bias is not None:
        nn.init.zeros_(smaller.to_hidden.bias)
    return smaller


@task.mistake(
    "positions-not-flattened",
    "Over how many axes of x do positions lie, and over how many did you ask?",
)
def any_over_the_first_axis(network, x):
    return only(network, (network.to_hidden(x) > 0).any(0))


@task.mistake(
    "zero-counts-as-alive", "What does a unit hand on that is exactly 0 everywhere?"
)
def not_below_zero(network, x):
    return only(network, network.to_hidden(x).flatten(0, -2).amax(0) >= 0)
