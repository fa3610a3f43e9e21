"""What goes wrong in bits_per_byte: a surprise that has no bound."""

import math

import torch

from course_lib.feedback.adapters.losses import use_loss
from course_lib.feedback.task import Draw, Probe, Task


def bits_per_byte(logits, targets, n_bytes):
    rows = torch.arange(len(targets))
    nats = logits.logsumexp(-1) - logits[rows, targets]
    return nats.sum() / n_bytes / math.log(2)


def use(answer, *args) -> dict:
    """Call it; read the bits and their gradient."""
    found = use_loss(answer, *args)
    return {"bits": found["loss"], "gradient": found["gradient"]}


task = Task(
    "bits_per_byte",
    asks="one number: all surprises at the targets, in bits, over the number of bytes; "
    "right, with its gradient, also where a probability is too small to write.",
    lesson="01_softmax",
    reference=bits_per_byte,
    use=use,
    read="4. Logarithm",
)


@task.inputs
def probes(draw: Draw):
    n = draw.size(5, 9)
    far = torch.tensor([[0.0, -200.0 - draw.size(0, 50)]])
    yield Probe("one token, two ids", draw.normal(1, 2), draw.ints(0, 2, 1), 3)
    yield Probe("the target has a logit far below 0", far, torch.tensor([1]), 5)
    yield Probe("three tokens", draw.normal(3, 5), draw.ints(0, 5, 3), 11)
    yield Probe("a text", 3 * draw.normal(n, 11), draw.ints(0, 11, n), 3 * n + 1)
    yield Probe("logits near 300", 300 + draw.normal(n, 7), draw.ints(0, 7, n), 2 * n)
    yield Probe(
        "logits far apart", 500 * draw.normal(n, 7), draw.ints(0, 7, n), 2 * n + 3
    )
    yield Probe("less than a byte a token", draw.normal(7, 3), draw.ints(0, 3, 7), 5)


@task.property(
    "gradient-on-the-worst", "Does the logit that was most wrong feel any push?"
)
def pushes_the_worst(values) -> bool:
    slope = values["the target has a logit far below 0"]["gradient"]
    return bool((slope.abs() > 0.1).any())


EPSILON = "What is the most that the code can charge, and what is its slope there?"


@task.mistake("epsilon-in-the-logarithm", EPSILON, "4. Logarithm")
def as_found(logits, targets, n_bytes):
    chosen = logits.softmax(-1).gather(-1, targets[:, None])
    return -torch.log2(chosen + 1e-9).sum() / n_bytes


@task.mistake("epsilon-in-the-logarithm", EPSILON, "4. Logarithm")
def a_smaller_epsilon(logits, targets, n_bytes):
    chosen = logits.softmax(-1).gather(-1, targets[:, None])
    return -torch.log2(chosen + 1e-12).sum() / n_bytes


@task.mistake("epsilon-in-the-logarithm", EPSILON, "4. Logarithm")
def the_smallest_epsilon(logits, targets, n_bytes):
    chosen = logits.softmax(-1).gather(-1, targets[:, None])
    return -torch.log2(chosen + torch.finfo(chosen.dtype).tiny).sum() / n_bytes


@task.mistake("epsilon-in-the-logarithm", EPSILON, "4. Logarithm")
def clamped(logits, targets, n_bytes):
    chosen = logits.softmax(-1).gather(-1, targets[:, None])
    return -torch.log2(chosen.clamp(min=1e-30)).sum() / n_bytes


@task.mistake(
    "softmax-then-log",
    "What is the logarithm of a probability that is too small to write?",
    "Misconceptions",
)
def detour_over_probabilities(logits, targets, n_bytes):
    chosen = logits.softmax(-1).gather(-1, targets[:, None])
    return -torch.log2(chosen).sum() / n_bytes


@task.mistake(
    "softmax-no-max-shift",
    "What does exp(300) give, and which constant can you subtract?",
    "2. Shift",
)
def unshifted(logits, targets, n_bytes):
    rows = torch.arange(len(targets))
    nats = logits.exp().sum(-1).log() - logits[rows, targets]
    return nats.sum() / n_bytes / math.log(2)


@task.mistake("nats-for-bits", "How many nats is one bit?", "Definition")
def in_nats(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, n_bytes) * math.log(2)


@task.mistake("nats-for-bits", "How many nats is one bit?", "Definition")
def converted_the_wrong_way(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, n_bytes) * math.log(2) ** 2


@task.mistake("per-token", "By what are all surprises together divided?", "5. Loss")
def mean_over_tokens(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, len(targets))


@task.mistake("per-token", "By what are all surprises together divided?", "5. Loss")
def mean_over_tokens_and_bytes(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, n_bytes) / len(targets)


@task.mistake("not-divided", "How long was the text?", "5. Loss")
def bits_of_the_whole_text(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, 1)


@task.mistake("surprise-sign", "Is the logarithm of a probability above or below 0?")
def without_the_minus(logits, targets, n_bytes):
    return -bits_per_byte(logits, targets, n_bytes)


@task.mistake(
    "no-gradient", "What does `backward` need, and what is left in a plain number?"
)
def a_plain_number(logits, targets, n_bytes):
    return bits_per_byte(logits, targets, n_bytes).item()


@task.mistake(
    "double-softmax-in-loss",
    "Does cross_entropy expect logits or probabilities?",
    "Misconceptions",
)
def softmax_twice(logits, targets, n_bytes):
    return bits_per_byte(logits.softmax(-1), targets, n_bytes)


@task.mistake("softmax-wrong-dim", "Which numbers of the table share one choice?")
def over_tokens(logits, targets, n_bytes):
    chosen = logits.log_softmax(0).gather(-1, targets[:, None])
    return -chosen.sum() / math.log(2) / n_bytes
