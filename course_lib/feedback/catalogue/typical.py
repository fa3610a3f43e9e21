"""What goes wrong in typical: tokens whose surprise is as expected."""

import math

import torch

from course_lib.feedback.adapters.losses import use_filter
from course_lib.feedback.task import Draw, Probe, Task

HIDDEN = float("-inf")


def typical(logits, p):
    if logits.ndim > 1:
        return torch.stack([typical(row, p) for row in logits])
    q = logits.double().softmax(-1).tolist()
    real = [i for i in range(len(q)) if q[i] > 0]
    surprise = {i: -math.log(q[i]) for i in real}
    entropy = sum(q[i] * surprise[i] for i in real)
    order = sorted(real, key=lambda i: (round(abs(surprise[i] - entropy), 12), i))
    kept, mass = logits.new_full(logits.shape, HIDDEN), 0.0
    for i in order:
        if mass < p:
            kept[i] = logits[i]
        mass += q[i] if p < 1 else 0.0
    return kept


def use_typical(answer, logits, *p):
    """Filter with one p, or with several; read the probabilities that are left."""
    left = [use_filter(answer, logits, one) for one in p if one < 1]
    if 1.0 in p:  # what rounding hides has too small a probability to be seen
        left.append({"ids left": int((answer(logits, 1.0) > HIDDEN).sum())})
    return left if len(left) > 1 else left[0]


task = Task(
    "typical",
    asks="logits with -inf for all but the fewest ids whose surprise is nearest to the "
    "entropy and whose probabilities sum to p or more (shown: the probabilities left).",
    lesson="09_sampling",
    reference=typical,
    use=use_typical,
    read="3. Filters",
)

CROSSING = "Do the survivors hold at least p of the mass?"
CROSSING_HEADING = "“Top-p keeps what fits into $p$.”"
FILL = "Is zero a low score when the others are negative?"
FILL_HEADING = "“Small means weak: hide with 0, punish by dividing.”"
DISTANCE = "From which number is the distance taken, and on which side may it lie?"
ENTROPY = "How much does each token count in the expected surprise?"


@task.inputs
def probes(draw: Draw):
    four = torch.tensor([0.31, 0.46, 0.04, 0.19]).log()
    eight = torch.tensor([0.3] + 7 * [0.1]).log()
    yield Probe("four ids, p 0.3", four, 0.3)
    yield Probe("one of 0.3, seven of 0.1", eight, 0.55)
    two = torch.tensor([[0.3] + 7 * [0.1], [0.86] + 7 * [0.02]]).log()
    yield Probe("two rows, flat and sharp", two, 0.55)
    yield Probe("all logits negative", draw.normal(11) - 20, 0.5)
    sharp = torch.tensor([[0.2], [0.6], [1.5], [4.0]])
    yield Probe("four rows, flat to sharp", sharp * draw.normal(4, 7), 0.5)
    yield Probe("a tiny p", 2 * draw.normal(5), 1e-6)
    yield Probe("p of 0.5, then of 1", 4 * draw.normal(5, 2000), 0.5, 1.0)
    hidden = draw.normal(2, 8)
    hidden[0, 3], hidden[1, :2] = HIDDEN, HIDDEN
    yield Probe("some hidden already", hidden, 0.45)
    yield Probe("one is nearly certain", torch.tensor([[9.0, 0.0, 1.0, -1.0]]), 0.9)
    yield Probe("forty ids, two rows", draw.normal(2, 40), 0.6)


@task.property("sums-to-one", "What is 0 times the logarithm of 0?")
def sums_to_one(values) -> bool:
    left = values["some hidden already"]
    return torch.allclose(left.sum(-1), torch.ones(2).double())


@task.property(
    "one-hides-nothing", "What does rounding do to a sum that should reach 1?"
)
def one_hides_nothing(values) -> bool:
    return values["p of 0.5, then of 1"][1]["ids left"] == 5 * 2000


@task.property("the-likeliest-may-go", DISTANCE)
def the_likeliest_may_go(values) -> bool:
    return bool(values["one of 0.3, seven of 0.1"][0] == 0)


def parts(logits):
    """Give log-probabilities, probabilities and the entropy."""
    log_q = logits.double().log_softmax(-1)
    q = log_q.exp()
    return log_q, q, torch.special.entr(q).sum(-1, keepdim=True)


def kept_by(distance, logits, p, crossing=True, fill=HIDDEN):
    """Keep the nearest by a distance; with `crossing`, also the one that reaches p."""
    if p == 1:
        return logits.clone()
    order = distance.argsort(dim=-1, stable=True)
    ordered = logits.double().softmax(-1).gather(-1, order)
    mass = ordered.cumsum(-1)
    too_many = mass - ordered >= p if crossing else mass > p
    hidden = torch.zeros_like(too_many).scatter(-1, order, too_many)
    return logits.masked_fill(hidden, fill)


@task.mistake("top-p-instead", "Which order do the ids stand in, and why that one?")
def top_p_instead(logits, p):
    return kept_by(-logits.double(), logits, p)


@task.mistake("top-p-instead", "Which order do the ids stand in, and why that one?")
def logarithm_for_surprise(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by((log_q - entropy).abs(), logits, p)


@task.mistake("topp-drops-crossing-token", CROSSING, CROSSING_HEADING)
def without_the_crossing_one(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by((-log_q - entropy).abs(), logits, p, crossing=False)


@task.mistake("zero-times-infinity", "What is 0 times the logarithm of 0?")
def nan_entropy(logits, p):
    log_q, q, _ = parts(logits)
    entropy = -(q * log_q).sum(-1, keepdim=True)
    return kept_by((-log_q - entropy).abs(), logits, p)


@task.mistake("distance-with-a-sign", DISTANCE)
def signed(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by(entropy + log_q, logits, p)


@task.mistake("farthest-first", DISTANCE)
def farthest_first(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by(-(-log_q - entropy).abs(), logits, p)


@task.mistake("plain-mean-for-entropy", ENTROPY)
def plain_mean(logits, p):
    log_q, q, _ = parts(logits)
    mean = -log_q.masked_fill(q == 0, 0.0).sum(-1, keepdim=True)
    return kept_by((-log_q - mean / (q > 0).sum(-1, keepdim=True)).abs(), logits, p)


@task.mistake("plain-mean-for-entropy", ENTROPY)
def infinite_mean(logits, p):
    log_q, _, _ = parts(logits)
    return kept_by((-log_q + log_q.mean(-1, keepdim=True)).abs(), logits, p)


@task.mistake("entropy-in-bits", "Are surprise and entropy in one unit?")
def in_bits(logits, p):
    log_q, _, entropy = parts(logits)
    bits = entropy / torch.tensor(2.0).log()
    return kept_by((-log_q - bits).abs(), logits, p)


@task.mistake("probability-for-surprise", "What is compared with the entropy?")
def probability_for_surprise(logits, p):
    _, q, entropy = parts(logits)
    return kept_by((q - entropy).abs(), logits, p)


@task.mistake(
    "one-entropy-for-all-rows", "Which ids of the batch belong to one choice?"
)
def mean_over_the_batch(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by((-log_q - entropy.mean()).abs(), logits, p)


@task.mistake(
    "one-entropy-for-all-rows", "Which ids of the batch belong to one choice?"
)
def sum_over_the_batch(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by((-log_q - entropy.sum()).abs(), logits, p)


@task.mistake("topk-fill-not-inf", FILL, FILL_HEADING)
def filled_with_zero(logits, p):
    log_q, _, entropy = parts(logits)
    return kept_by((-log_q - entropy).abs(), logits, p, fill=0.0)


@task.mistake("order-not-undone", "Is the first place of the sorted row id 0?")
def left_in_the_sorted_order(logits, p):
    log_q, q, entropy = parts(logits)
    order = (-log_q - entropy).abs().argsort(dim=-1, stable=True)
    ordered = q.gather(-1, order)
    return logits.masked_fill(ordered.cumsum(-1) - ordered >= p, HIDDEN)


@task.mistake("renormalised-to-probabilities", "Were logits asked for?")
def probabilities(logits, p):
    return typical(logits, p).softmax(-1)


@task.mistake("order-not-undone", "Is the first place of the sorted row id 0?")
def gathered_for_scattered(logits, p):
    log_q, q, entropy = parts(logits)
    order = (-log_q - entropy).abs().argsort(dim=-1, stable=True)
    ordered = q.gather(-1, order)
    too_many = ordered.cumsum(-1) - ordered >= p
    return logits.masked_fill(too_many.gather(-1, order), HIDDEN)
