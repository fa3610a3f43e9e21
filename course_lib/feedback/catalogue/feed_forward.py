"""What goes wrong in feed_forward."""

import torch
import torch.nn.functional as F

from course_lib.feedback.adapters.answers import repeats, use_twice
from course_lib.feedback.task import Draw, Probe, Task


def feed_forward(x, w_hidden, b_hidden, w_output, b_output):
    """Widen, bend, narrow; weights as nn.Linear holds them, (outputs, inputs)."""
    return F.linear(F.relu(F.linear(x, w_hidden, b_hidden)), w_output, b_output)


task = Task(
    "feed_forward",
    asks="each position alone: widen to d_ff, ReLU, back to d_model; weights as nn.Linear "
    "holds them, outputs first.",
    lesson="06_feed_forward",
    reference=feed_forward,
    use=use_twice,
    read="4. The module",
)

BEND = "What is left of two linear layers with nothing between them?"
WHICH = "What becomes of a negative number in the hidden layer?"
WHERE = "Between which two steps does the bend stand?"
TURNED = "nn.Linear holds (outputs, inputs): on which side of x does its weight stand?"
BIAS = "What does a linear layer add after the product?"
BESIDE = "Whose numbers may a position read here?"


@task.inputs
def probes(draw: Draw):
    def case(d_model, d_ff):
        return (
            draw.normal(d_ff, d_model),
            1 + draw.normal(d_ff).abs(),
            draw.normal(d_model, d_ff),
            draw.normal(d_model),
        )

    one, none = torch.eye(2), torch.zeros(2)
    x = torch.tensor([[[3.0, -2.0]]])
    yield Probe("weights of 1, biases of 0", x, one, none, one, none)
    yield Probe("one position", draw.normal(1, 1, 2), *case(2, 3))
    x, weights = draw.normal(2, 3, 4), case(4, 7)
    later = x.clone()
    later[:, 2] = draw.normal(4) + 2
    yield Probe("two rows of three positions", x, *weights)
    yield Probe("the same, another last position", later, *weights)
    yield Probe("as wide as it is narrow", draw.normal(2, 3, 5), *case(5, 5))
    yield Probe(
        "hidden numbers all negative", -draw.normal(1, 3, 2).abs(), *negative(draw)
    )
    yield Probe("large numbers", 50 * draw.normal(2, 4, 3), *case(3, 11))


def negative(draw):
    """Draw weights that make no hidden number positive from negative inputs."""
    return (
        draw.normal(6, 2).abs(),
        -draw.normal(6).abs(),
        draw.normal(2, 6),
        draw.normal(2),
    )


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


@task.mistake("activation-missing", BEND, read="2. Take the bend away")
def no_bend(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.linear(x, w_hidden, b_hidden), w_output, b_output)


def bent(bend):
    """Make an answer with another bend."""

    def answer(x, w_hidden, b_hidden, w_output, b_output):
        return F.linear(bend(F.linear(x, w_hidden, b_hidden)), w_output, b_output)

    return answer


for bend in (
    F.gelu,
    F.silu,
    torch.sigmoid,
    torch.tanh,
    F.leaky_relu,
    torch.abs,
    F.softplus,
):
    answer = bent(bend)
    answer.__name__ = f"bends_by_{bend.__name__}"
    task.mistake("activation-wrong", WHICH, read="6. Which bend?")(answer)


@task.mistake("activation-wrong", WHICH, read="6. Which bend?")
def bends_by_tanh_gelu(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.gelu(F.linear(x, w_hidden, b_hidden), approximate="tanh")
    return F.linear(hidden, w_output, b_output)


@task.mistake("activation-keeps-negatives", WHICH)
def keeps_the_negative(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.linear(x, w_hidden, b_hidden).clamp(max=0)
    return F.linear(hidden, w_output, b_output)


@task.mistake("activation-last", WHERE)
def bends_at_the_end(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(F.linear(F.linear(x, w_hidden, b_hidden), w_output, b_output))


@task.mistake("activation-twice", WHERE)
def bends_at_the_end_too(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(feed_forward(x, w_hidden, b_hidden, w_output, b_output))


@task.mistake("activation-first", WHERE)
def bends_the_input(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.linear(F.relu(x), w_hidden, b_hidden), w_output, b_output)


@task.mistake(
    "activation-before-bias", "Is the bias added before the bend or after it?"
)
def bends_before_the_bias(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(F.linear(x, w_hidden)) + b_hidden, w_output, b_output)


@task.mistake("weight-transposed", TURNED)
def weights_not_turned(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(x @ w_hidden + b_hidden) @ w_output + b_output


@task.mistake("weight-transposed", TURNED)
def hidden_not_turned(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(x @ w_hidden + b_hidden) @ w_output.T + b_output


@task.mistake("weight-transposed", TURNED)
def output_not_turned(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(x @ w_hidden.T + b_hidden) @ w_output + b_output


@task.mistake("bias-missing", BIAS)
def no_hidden_bias(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(F.linear(x, w_hidden)), w_output, b_output)


@task.mistake("bias-missing", BIAS)
def no_output_bias(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(F.linear(x, w_hidden, b_hidden)), w_output)


@task.mistake("bias-missing", BIAS)
def no_bias(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(F.linear(x, w_hidden)), w_output)


@task.mistake("residual-inside", "Who adds the residual: this function, or the block?")
def adds_its_input(x, w_hidden, b_hidden, w_output, b_output):
    return x + feed_forward(x, w_hidden, b_hidden, w_output, b_output)


@task.mistake("feed-forward-mixes-positions", BESIDE, read="“It sees the neighbours.”")
def averages_positions(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(F.linear(x, w_hidden, b_hidden))
    hidden = hidden.mean(-2, keepdim=True).expand_as(hidden) if x.ndim > 1 else hidden
    return F.linear(hidden, w_output, b_output)


@task.mistake(
    "feed-forward-not-narrowed", "How wide is what the block adds to its stream?"
)
def stops_wide(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(F.linear(x, w_hidden, b_hidden))


@task.mistake("softmax-as-activation", "Do hidden numbers compete for a share of 1?")
def bends_by_softmax(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.linear(x, w_hidden, b_hidden).softmax(-1)
    return F.linear(hidden, w_output, b_output)


MOVED = "Did the numbers of the table move, or only its shape?"


def viewed(weight):
    """Give a table the shape of its transpose, and leave its numbers where they are."""
    return weight.reshape(weight.shape[::-1])


@task.mistake("weight-reshaped", MOVED)
def reshapes_both(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.relu(x @ viewed(w_hidden) + b_hidden)
    return hidden @ viewed(w_output) + b_output


@task.mistake("weight-reshaped", MOVED)
def reshapes_the_first(x, w_hidden, b_hidden, w_output, b_output):
    return F.linear(F.relu(x @ viewed(w_hidden) + b_hidden), w_output, b_output)


@task.mistake("weight-reshaped", MOVED)
def reshapes_the_second(x, w_hidden, b_hidden, w_output, b_output):
    return F.relu(F.linear(x, w_hidden, b_hidden)) @ viewed(w_output) + b_output


@task.mistake("residual-inside", "Who adds the residual: this function, or the block?")
def adds_and_norms(x, w_hidden, b_hidden, w_output, b_output):
    x = x + feed_forward(x, w_hidden, b_hidden, w_output, b_output)
    return F.layer_norm(x, x.shape[-1:])


@task.mistake("shape-flattened", "Which axes came in, and which go out?")
def one_long_text(x, w_hidden, b_hidden, w_output, b_output):
    outputs = feed_forward(x, w_hidden, b_hidden, w_output, b_output)
    return outputs.flatten(0, -2)


@task.mistake("batch-of-one-only", "What becomes of the second row of a batch?")
def first_row_only(x, w_hidden, b_hidden, w_output, b_output):
    return feed_forward(x[:1], w_hidden, b_hidden, w_output, b_output)


@task.mistake("feed-forward-mixes-positions", BESIDE, read="“It sees the neighbours.”")
def averages_positions_first(x, w_hidden, b_hidden, w_output, b_output):
    x = x.mean(-2, keepdim=True).expand_as(x)
    return feed_forward(x, w_hidden, b_hidden, w_output, b_output)


@task.mistake("dropout-at-eval", "Who tells a function that training is over?")
def drops_hidden_numbers(x, w_hidden, b_hidden, w_output, b_output):
    hidden = F.dropout(F.relu(F.linear(x, w_hidden, b_hidden)), 0.1)
    return F.linear(hidden, w_output, b_output)
