"""What goes wrong in packed_swiglu: two matrices packed into one."""

import torch
import torch.nn.functional as F

from course_lib.feedback.task import Draw, Probe, Task


def packed_swiglu(x, packed, narrow):
    d_ff = narrow.shape[1]
    return (F.silu(x @ packed[:d_ff].T) * (x @ packed[d_ff:].T)) @ narrow.T


task = Task(
    "packed_swiglu",
    asks="SwiGLU without biases; packed holds the gate's d_ff rows first, then the d_ff "
    "rows of the hidden units.",
    lesson="06_feed_forward",
    reference=packed_swiglu,
    read="5. The gate",
)


@task.inputs
def probes(draw: Draw):
    def numbers(d_model, d_ff):
        return draw.normal(2 * d_ff, d_model), draw.normal(d_model, d_ff)

    gate, hidden = torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [-1.0]])
    narrow = torch.tensor([[1.0, 0.5]])
    yield Probe("width 1, d_ff 2", torch.ones(1, 1), torch.cat([gate, hidden]), narrow)
    closed = torch.cat([-20 - draw.normal(3, 2).abs(), 3 + draw.normal(3, 2).abs()])
    yield Probe("a closed gate", torch.ones(1, 2), closed, draw.normal(2, 3))
    yield Probe("a unit", draw.normal(1, 2), *numbers(2, 1))
    yield Probe("a vector", draw.normal(3), *numbers(3, 5))
    yield Probe("two texts", draw.normal(2, 3, 5), *numbers(5, 11))
    yield Probe("a narrow layer", draw.normal(2, 7), *numbers(7, 2))
    yield Probe("large numbers", 30 * draw.normal(2, 3), *numbers(3, 4))


@task.property("closed-gate", "Far below 0 the gate is closed: how much passes?")
def closed_gate_holds_back(values) -> bool:
    return bool((values["a closed gate"].abs() < 0.01).all())


@task.mistake(
    "product-bent", "What does the gate's bend work on: the gate, or the product?"
)
def bends_the_product(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate * hidden), narrow)


@task.mistake("gate-and-hidden-swapped", "Which half of the rows makes the gate?")
def halves_swapped(x, packed, narrow):
    hidden, gate = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate) * hidden, narrow)


@task.mistake(
    "rows-taken-in-turn", "In which order do the rows lie: gate, gate, ... or in turn?"
)
def rows_alternate(x, packed, narrow):
    both = F.linear(x, packed)
    return F.linear(F.silu(both[..., ::2]) * both[..., 1::2], narrow)


@task.mistake("rows-taken-in-turn", "Which rows does chunk give, and which a stride?")
def rows_alternate_swapped(x, packed, narrow):
    both = F.linear(x, packed)
    return F.linear(F.silu(both[..., 1::2]) * both[..., ::2], narrow)


@task.mistake("both-bent", "How many of the two projections are bent?")
def bends_both(x, packed, narrow):
    gate, hidden = F.silu(F.linear(x, packed)).chunk(2, -1)
    return F.linear(gate * hidden, narrow)


@task.mistake(
    "bend-forgotten",
    "What is left of the gate where the bend is missing?",
    "Definition",
)
def no_bend(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(gate * hidden, narrow)


@task.mistake("another-bend", "Which bend does SwiGLU have?", "3. Four bends")
def sigmoid(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(gate.sigmoid() * hidden, narrow)


@task.mistake("another-bend", "Which bend does SwiGLU have?", "3. Four bends")
def gelu(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.gelu(gate) * hidden, narrow)


@task.mistake("another-bend", "Which bend does SwiGLU have?", "3. Four bends")
def relu(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.relu(gate) * hidden, narrow)


@task.mistake("added-not-multiplied", "How does a gate let through, or hold back?")
def added(x, packed, narrow):
    gate, hidden = F.linear(x, packed).chunk(2, -1)
    return F.linear(F.silu(gate) + hidden, narrow)


@task.mistake("not-narrowed-straight", "Is what the layer writes bent once more?")
def bent_at_the_end(x, packed, narrow):
    return F.silu(packed_swiglu(x, packed, narrow))
