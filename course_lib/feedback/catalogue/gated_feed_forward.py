"""What goes wrong in gated_feed_forward."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.answers import repeats, use_twice
from course_lib.feedback.task import Draw, Probe, Task


def gated_feed_forward(x, w_gate, w_hidden, w_output):
    """Let one projection gate another; weights as nn.Linear holds them."""
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_hidden), w_output)


task = Task(
    "gated_feed_forward",
    asks="SiLU of the gate's projection times the hidden projection, then back to d_model; "
    "weights as nn.Linear holds them, outputs first, no biases.",
    lesson="06_feed_forward",
    reference=gated_feed_forward,
    use=use_twice,
    read="5. The gate",
)

BRANCH = "Which of the two projections is bent, the gate or what it lets through?"
WHICH = "Which bend opens and closes the gate?"
JOIN = "How does a gate act on a number: is it added, or multiplied?"
TURNED = "nn.Linear holds (outputs, inputs): on which side of x does its weight stand?"
BESIDE = "Whose numbers may a position read here?"


@task.inputs
def probes(draw: Draw):
    def case(d_model, d_ff):
        w_gate, w_hidden = draw.normal(d_ff, d_model), draw.normal(d_ff, d_model)
        return w_gate, w_hidden, draw.normal(d_model, d_ff)

    one = torch.eye(2)
    x = torch.tensor([[[3.0, -2.0]]])
    yield Probe("weights of 1, 2 and 1", x, one, 2 * one, one)
    yield Probe("one position", draw.normal(1, 1, 2), *case(2, 3))
    x, weights = draw.normal(2, 3, 4), case(4, 7)
    later = x.clone()
    later[:, 2] = draw.normal(4) + 2
    yield Probe("two rows of three positions", x, *weights)
    yield Probe("the same, another last position", later, *weights)
    yield Probe("as wide as it is narrow", draw.normal(2, 3, 5), *case(5, 5))
    yield Probe("large numbers", 30 * draw.normal(2, 4, 3), *case(3, 11))


@task.property("repeatable", "Does the same input give the same output twice?")
def no_chance(values) -> bool:
    return repeats(values)


@task.property("each-position-alone", BESIDE)
def others_stay(values) -> bool:
    before, after = (
        values[label][:, :2]
        for label in ("two rows of three positions", "the same, another last position")
    )
    return torch.allclose(before, after, atol=1e-4)


@task.mistake("gate-on-wrong-branch", BRANCH)
def bends_the_hidden(x, w_gate, w_hidden, w_output):
    return F.linear(F.linear(x, w_gate) * F.silu(F.linear(x, w_hidden)), w_output)


@task.mistake("gate-both-bent", BRANCH)
def bends_both(x, w_gate, w_hidden, w_output):
    return F.linear(
        F.silu(F.linear(x, w_gate)) * F.silu(F.linear(x, w_hidden)), w_output
    )


@task.mistake("gate-after-product", BRANCH)
def bends_the_product(x, w_gate, w_hidden, w_output):
    return F.linear(F.silu(F.linear(x, w_gate) * F.linear(x, w_hidden)), w_output)


@task.mistake("gate-after-product", BRANCH)
def bends_the_output(x, w_gate, w_hidden, w_output):
    return F.silu(F.linear(F.linear(x, w_gate) * F.linear(x, w_hidden), w_output))


@task.mistake("activation-missing", "What opens and closes the gate?")
def no_bend(x, w_gate, w_hidden, w_output):
    return F.linear(F.linear(x, w_gate) * F.linear(x, w_hidden), w_output)


def bent(bend):
    """Make an answer with another bend."""

    def answer(x, w_gate, w_hidden, w_output):
        return F.linear(bend(F.linear(x, w_gate)) * F.linear(x, w_hidden), w_output)

    return answer


for bend in (torch.sigmoid, F.gelu, F.relu, torch.tanh, F.softplus):
    answer = bent(bend)
    answer.__name__ = f"bends_by_{bend.__name__}"
    task.mistake("activation-wrong", WHICH)(answer)


@task.mistake("activation-wrong", WHICH)
def bends_by_tanh_gelu(x, w_gate, w_hidden, w_output):
    gate = F.gelu(F.linear(x, w_gate), approximate="tanh")
    return F.linear(gate * F.linear(x, w_hidden), w_output)


@task.mistake("gate-added", JOIN)
def adds_the_gate(x, w_gate, w_hidden, w_output):
    return F.linear(F.silu(F.linear(x, w_gate)) + F.linear(x, w_hidden), w_output)


@task.mistake("gate-gates-itself", "How many of your three tables of weights are used?")
def hidden_gates_itself(x, w_gate, w_hidden, w_output):
    return gated_feed_forward(x, w_hidden, w_hidden, w_output)


@task.mistake("gate-gates-itself", "How many of your three tables of weights are used?")
def gate_gates_itself(x, w_gate, w_hidden, w_output):
    return gated_feed_forward(x, w_gate, w_gate, w_output)


@task.mistake("gate-ignored", "How many of your three tables of weights are used?")
def no_gate(x, w_gate, w_hidden, w_output):
    return F.linear(F.silu(F.linear(x, w_hidden)), w_output)


@task.mistake("gate-ignored", "How many of your three tables of weights are used?")
def gate_alone(x, w_gate, w_hidden, w_output):
    return F.linear(F.silu(F.linear(x, w_gate)), w_output)


@task.mistake("gate-ignored", "How many of your three tables of weights are used?")
def relu_without_a_gate(x, w_gate, w_hidden, w_output):
    return F.linear(F.relu(F.linear(x, w_hidden)), w_output)


@task.mistake("gate-one-after-the-other", "Do gate and hidden both read x?")
def gate_reads_the_hidden(x, w_gate, w_hidden, w_output):
    gate = F.silu(F.linear(x, w_gate))
    return F.linear(gate * F.linear(F.linear(gate, w_gate.T), w_hidden), w_output)


@task.mistake("weight-transposed", TURNED)
def weights_not_turned(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate) * (x @ w_hidden) @ w_output


@task.mistake("weight-transposed", TURNED)
def gate_not_turned(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate) * (x @ w_hidden.T) @ w_output.T


@task.mistake("weight-transposed", TURNED)
def hidden_not_turned(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate.T) * (x @ w_hidden) @ w_output.T


@task.mistake("weight-transposed", TURNED)
def output_not_turned(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate.T) * (x @ w_hidden.T) @ w_output


@task.mistake("residual-inside", "Who adds the residual: this function, or the block?")
def adds_its_input(x, w_gate, w_hidden, w_output):
    return x + gated_feed_forward(x, w_gate, w_hidden, w_output)


@task.mistake("gate-shared", "Has each hidden unit its own gate?")
def one_gate_a_position(x, w_gate, w_hidden, w_output):
    gate = F.silu(F.linear(x, w_gate).mean(-1, keepdim=True))
    return F.linear(gate * F.linear(x, w_hidden), w_output)


@task.mistake("gate-softmax", "Do the gates of a position compete for a share of 1?")
def gates_compete(x, w_gate, w_hidden, w_output):
    gate = F.linear(x, w_gate).softmax(-1)
    return F.linear(gate * F.linear(x, w_hidden), w_output)


@task.mistake(
    "feed-forward-not-narrowed", "How wide is what the block adds to its stream?"
)
def stops_wide(x, w_gate, w_hidden, w_output):
    return F.silu(F.linear(x, w_gate)) * F.linear(x, w_hidden)


@task.mistake("feed-forward-mixes-positions", BESIDE, read="“It sees the neighbours.”")
def averages_positions(x, w_gate, w_hidden, w_output):
    gate = F.silu(F.linear(x, w_gate))
    gate = gate.mean(-2, keepdim=True) if x.ndim > 1 else gate
    return F.linear(gate * F.linear(x, w_hidden), w_output)


@task.mistake("gate-added", JOIN)
def adds_the_gated(x, w_gate, w_hidden, w_output):
    hidden = F.linear(x, w_hidden)
    return F.linear(hidden + F.silu(F.linear(x, w_gate)) * hidden, w_output)


@task.mistake("gate-one-after-the-other", "Do gate and hidden both read x?")
def hidden_reads_the_gated(x, w_gate, w_hidden, w_output):
    narrow = F.linear(F.silu(F.linear(x, w_gate)), w_output)
    return F.linear(F.linear(narrow, w_hidden), w_output)


@task.mistake("silu-sign", "Does a large positive number open the gate, or shut it?")
def shuts_for_positive_numbers(x, w_gate, w_hidden, w_output):
    gate = F.linear(x, w_gate)
    return F.linear(gate * (-gate).sigmoid() * F.linear(x, w_hidden), w_output)


@task.mistake("silu-of-another", "SiLU is z times the sigmoid of what?")
def hidden_times_sigmoid_of_the_gate(x, w_gate, w_hidden, w_output):
    gate, hidden = F.linear(x, w_gate), F.linear(x, w_hidden)
    return F.linear(hidden * gate.sigmoid() * hidden, w_output)


@task.mistake("activation-first", "What is bent: x, or the projection of the gate?")
def bends_what_the_gate_reads(x, w_gate, w_hidden, w_output):
    return F.linear(F.linear(F.silu(x), w_gate) * F.linear(x, w_hidden), w_output)


@task.mistake("activation-first", "What is bent: x, or the projection of the gate?")
def bends_x(x, w_gate, w_hidden, w_output):
    x = F.silu(x)
    return F.linear(F.linear(x, w_gate) * F.linear(x, w_hidden), w_output)


def viewed(weight):
    """Give a table the shape of its transpose, and leave its numbers where they are."""
    return weight.reshape(weight.shape[::-1])


@task.mistake(
    "weight-reshaped", "Did the numbers of the table move, or only its shape?"
)
def reshapes_all(x, w_gate, w_hidden, w_output):
    hidden = F.silu(x @ viewed(w_gate)) * (x @ viewed(w_hidden))
    return hidden @ viewed(w_output)


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def first_row_only(x, w_gate, w_hidden, w_output):
    return gated_feed_forward(x[:1], w_gate, w_hidden, w_output)


@task.mistake("dropout-at-eval", "Who tells a function that training is over?")
def drops_hidden_numbers(x, w_gate, w_hidden, w_output):
    hidden = F.silu(F.linear(x, w_gate)) * F.linear(x, w_hidden)
    return F.linear(F.dropout(hidden, 0.1), w_output)
