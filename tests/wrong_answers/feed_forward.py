"""Wrong answers to feed_forward."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("weights-transposed")
def inputs_first(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.relu(x @ w_hidden + b_hidden)
    return hidden @ w_output + b_output


@wrong("weights-transposed")
def reshaped_until_it_fits(x, w_hidden, b_hidden, w_output, b_output):
    d_model, d_ff = w_output.shape
    hidden = F.relu(x @ w_hidden.reshape(d_model, d_ff) + b_hidden)
    return hidden @ w_output.reshape(d_ff, d_model) + b_output


@wrong("weights-transposed")
def only_the_second(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.linear(x, w_hidden, b_hidden).clamp(min=0)
    return hidden @ w_output.view(-1, len(b_output)) + b_output


@wrong("no-activation")
def two_linear_maps(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.linear(x, w_hidden, b_hidden), w_output, b_output)


@wrong("no-activation")
def relu_thrown_away(x, w_hidden, b_hidden, w_output, b_output):
    hidden = x @ w_hidden.T + b_hidden
    torch.relu(hidden)
    return hidden @ w_output.T + b_output


@wrong("activation-misplaced")
def relu_at_the_end(x, w_hidden, b_hidden, w_output, b_output):
    hidden = x @ w_hidden.T + b_hidden
    return torch.relu(hidden @ w_output.T + b_output)


@wrong("activation-misplaced")
def relu_after_both(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(F.linear(x, w_hidden, b_hidden))
    return F.relu(F.linear(hidden, w_output, b_output))


@wrong("activation-misplaced")
def relu_on_the_input(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.linear(F.relu(x), w_hidden, b_hidden), w_output, b_output)


@wrong("wrong-activation")
def gelu(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.gelu(F.linear(x, w_hidden, b_hidden)), w_output, b_output)


@wrong("wrong-activation")
def leaky(x, w_hidden, b_hidden, w_output, b_output):
    hidden = x @ w_hidden.T + b_hidden
    hidden = torch.where(hidden > 0, hidden, 0.01 * hidden)
    return hidden @ w_output.T + b_output


@wrong("wrong-activation")
def sigmoid(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.sigmoid(F.linear(x, w_hidden, b_hidden))
    return F.linear(hidden, w_output, b_output)


@wrong("relu-sign")
def keeps_the_negative(x, w_hidden, b_hidden, w_output, b_output):
    hidden = (x @ w_hidden.T + b_hidden).clamp(max=0)
    return hidden @ w_output.T + b_output


@wrong("relu-sign")
def absolute_value(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.abs(x @ w_hidden.T + b_hidden)
    return hidden @ w_output.T + b_output


@wrong("ignores-bias")
def no_biases(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(x @ w_hidden.T) @ w_output.T


@wrong("ignores-bias")
def no_hidden_bias(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(F.linear(x, w_hidden)), w_output, b_output)


@wrong("ignores-bias")
def no_output_bias(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.maximum(x @ w_hidden.T + b_hidden, torch.tensor(0.0))
    return hidden @ w_output.T


@wrong("bias-after-activation")
def bias_behind_relu(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.relu(x @ w_hidden.T) + b_hidden
    return hidden @ w_output.T + b_output


@wrong("bias-after-activation")
def brackets(x, w_hidden, b_hidden, w_output, b_output):
    return (x @ w_hidden.T).clamp(min=0).add(b_hidden) @ w_output.T + b_output


@wrong("adds-residual")
def adds_the_stream(x, w_hidden, b_hidden, w_output, b_output):
    hidden = torch.relu(x @ w_hidden.T + b_hidden)
    return x + hidden @ w_output.T + b_output


@wrong("adds-residual")
def whole_sublayer(x, w_hidden, b_hidden, w_output, b_output):
    out = F.linear(F.relu(F.linear(x, w_hidden, b_hidden)), w_output, b_output)
    return F.layer_norm(x + out, out.shape[-1:])


@wrong("dropout-at-eval")
def drops_hidden(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.dropout(F.relu(F.linear(x, w_hidden, b_hidden)), 0.1)
    return F.linear(hidden, w_output, b_output)


@wrong("mixes-positions")
def mean_over_positions(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(F.linear(x.mean(1, keepdim=True), w_hidden, b_hidden))
    return F.linear(hidden, w_output, b_output).expand_as(x)


@wrong("mixes-positions")
def wide_convolution(x, w_hidden, b_hidden, w_output, b_output):
    kernel = w_hidden.unsqueeze(-1).repeat(1, 1, 3) / 3
    hidden = F.relu(F.conv1d(x.transpose(1, 2), kernel, b_hidden, padding=1))
    return F.linear(hidden.transpose(1, 2), w_output, b_output)


@wrong("shape-not-restored")
def flattened(x, w_hidden, b_hidden, w_output, b_output):
    rows = x.reshape(-1, x.shape[-1])
    return F.relu(rows @ w_hidden.T + b_hidden) @ w_output.T + b_output


@wrong("only-batch-one")
def batch_lost(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(F.linear(x[0], w_hidden, b_hidden))
    return F.linear(hidden, w_output, b_output).unsqueeze(0)


@wrong("activation-misplaced", "bias-after-activation")
def two_slips(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(x @ w_hidden.T) + b_hidden
    return F.relu(hidden @ w_output.T + b_output)


@wrong("weights-transposed", "no-activation")
def linear_and_reshaped(x, w_hidden, b_hidden, w_output, b_output):
    hidden = x @ w_hidden.reshape(w_output.shape) + b_hidden
    return hidden @ w_output.reshape(w_hidden.shape) + b_output


@wrong("identity")
def returns_input(x, w_hidden, b_hidden, w_output, b_output):
    return x.clone()
