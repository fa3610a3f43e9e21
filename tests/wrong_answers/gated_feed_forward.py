"""Wrong answers to gated_feed_forward."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("gate-on-hidden")
def silu_on_the_other(x, w_gate, w_hidden, w_output):
    return (x @ w_gate.T * F.silu(x @ w_hidden.T)) @ w_output.T


@wrong("gate-on-hidden")
def arguments_swapped(x, w_gate, w_hidden, w_output):
    w_hidden, w_gate = w_gate, w_hidden
    hidden = F.silu(F.linear(x, w_gate)) * F.linear(x, w_hidden)
    return F.linear(hidden, w_output)


@wrong("gate-on-hidden")
def chunks_swapped(x, w_gate, w_hidden, w_output):
    both = F.linear(x, torch.cat((w_hidden, w_gate)))
    gate, hidden = both.chunk(2, dim=-1)
    return F.linear(F.silu(gate) * hidden, w_output)


@wrong("wrong-activation")
def sigmoid_gate(x, w_gate, w_hidden, w_output):
    return (torch.sigmoid(x @ w_gate.T) * (x @ w_hidden.T)) @ w_output.T


@wrong("wrong-activation")
def torch_glu(x, w_gate, w_hidden, w_output):
    both = torch.cat((x @ w_hidden.T, x @ w_gate.T), dim=-1)
    return F.glu(both, dim=-1) @ w_output.T


@wrong("wrong-activation")
def gelu_gate(x, w_gate, w_hidden, w_output):
    return F.linear(F.gelu(F.linear(x, w_gate)) * F.linear(x, w_hidden), w_output)


@wrong("wrong-activation")
def relu_gate(x, w_gate, w_hidden, w_output):
    gate = (x @ w_gate.T).clamp(min=0)
    return (gate * (x @ w_hidden.T)) @ w_output.T


@wrong("silu-sign")
def exponent_positive(x, w_gate, w_hidden, w_output):
    gate = x @ w_gate.T
    gate = gate / (1 + torch.exp(gate))
    return (gate * (x @ w_hidden.T)) @ w_output.T


@wrong("silu-of-input")
def times_x(x, w_gate, w_hidden, w_output):
    gate, hidden = x @ w_gate.T, x @ w_hidden.T
    return (hidden * torch.sigmoid(gate) * hidden) @ w_output.T


@wrong("gate-added")
def sum_of_branches(x, w_gate, w_hidden, w_output):
    return (F.silu(x @ w_gate.T) + x @ w_hidden.T) @ w_output.T


@wrong("gate-added")
def residual_of_the_gate(x, w_gate, w_hidden, w_output):
    hidden = F.linear(x, w_hidden)
    hidden = hidden + F.silu(F.linear(x, w_gate)) * hidden
    return F.linear(hidden, w_output)


@wrong("no-gate")
def only_hidden(x, w_gate, w_hidden, w_output):
    return F.linear(F.silu(F.linear(x, w_hidden)), w_output)


@wrong("no-gate")
def only_the_gate(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate.T) @ w_output.T


@wrong("no-gate")
def one_after_the_other(x, w_gate, w_hidden, w_output):
    gate = F.silu(x @ w_gate.T)
    hidden = gate @ w_output.T @ w_hidden.T
    return hidden @ w_output.T


@wrong("no-activation")
def bilinear(x, w_gate, w_hidden, w_output):
    return (x @ w_gate.T * (x @ w_hidden.T)) @ w_output.T


@wrong("no-activation")
def silu_thrown_away(x, w_gate, w_hidden, w_output):
    gate = F.linear(x, w_gate)
    F.silu(gate)
    return F.linear(gate * F.linear(x, w_hidden), w_output)


@wrong("activation-misplaced")
def silu_of_the_product(x, w_gate, w_hidden, w_output):
    return F.silu(x @ w_gate.T * (x @ w_hidden.T)) @ w_output.T


@wrong("activation-misplaced")
def silu_on_both(x, w_gate, w_hidden, w_output):
    return (F.silu(x @ w_gate.T) * F.silu(x @ w_hidden.T)) @ w_output.T


@wrong("activation-misplaced")
def silu_at_the_end(x, w_gate, w_hidden, w_output):
    return F.silu(F.linear(F.linear(x, w_gate) * F.linear(x, w_hidden), w_output))


@wrong("activation-misplaced")
def silu_on_the_input(x, w_gate, w_hidden, w_output):
    return (F.silu(x) @ w_gate.T * (x @ w_hidden.T)) @ w_output.T


@wrong("weights-transposed")
def inputs_first(x, w_gate, w_hidden, w_output):
    return (F.silu(x @ w_gate) * (x @ w_hidden)) @ w_output


@wrong("weights-transposed")
def reshaped_until_it_fits(x, w_gate, w_hidden, w_output):
    shape = (x.shape[-1], -1)
    hidden = F.silu(x @ w_gate.reshape(shape)) * (x @ w_hidden.reshape(shape))
    return hidden @ w_output.reshape(w_hidden.shape)


@wrong("adds-residual")
def adds_the_stream(x, w_gate, w_hidden, w_output):
    return x + (F.silu(x @ w_gate.T) * (x @ w_hidden.T)) @ w_output.T


@wrong("softmax-gate")
def softmax_gate(x, w_gate, w_hidden, w_output):
    gate = torch.softmax(x @ w_gate.T, dim=-1)
    return (gate * (x @ w_hidden.T)) @ w_output.T


@wrong("dropout-at-eval")
def drops_hidden(x, w_gate, w_hidden, w_output):
    hidden = F.silu(F.linear(x, w_gate)) * F.linear(x, w_hidden)
    return F.linear(F.dropout(hidden, 0.1), w_output)


@wrong("only-batch-one")
def batch_lost(x, w_gate, w_hidden, w_output):
    x = x[0]
    return ((F.silu(x @ w_gate.T) * (x @ w_hidden.T)) @ w_output.T)[None]


@wrong("wrong-activation", "gate-on-hidden")
def two_slips(x, w_gate, w_hidden, w_output):
    return (x @ w_gate.T * torch.sigmoid(x @ w_hidden.T)) @ w_output.T


@wrong("gate-added", "adds-residual")
def only_sums(x, w_gate, w_hidden, w_output):
    return x + F.linear(F.silu(F.linear(x, w_gate)) + F.linear(x, w_hidden), w_output)


@wrong("identity")
def returns_input(x, w_gate, w_hidden, w_output):
    return x.clone()
