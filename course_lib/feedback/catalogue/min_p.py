"""What goes wrong in min_p."""

import torch

from course_lib.feedback.adapters.losses import use_filter
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.sampling import min_p, top_p

task = Task(
    "min_p",
    asks="logits of which only ids at least p times as probable as the most probable "
    "can still be drawn (shown: the probabilities they lead to).",
    lesson="09_sampling",
    reference=min_p,
    use=use_filter,
    read="3. Filters",
)

RELATIVE = "p times what?"
SMALL = "Is zero a low score when the others are negative?"
SMALL_HEADING = "“Small means weak: hide with 0, punish by dividing.”"
ROWS = "Does a row of the batch keep what it would keep alone?"
ALWAYS = "What must always survive, however large p is?"


@task.inputs
def probes(draw: Draw):
    shares = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    yield Probe(
        "probabilities 0.5, 0.3, 0.15, 0.05 in some order", mixed(draw, shares), 0.45
    )
    many = -0.3 * torch.arange(11.0)
    yield Probe("many ids, none of them probable", mixed(draw, many), 0.35)
    yield Probe("p of 1", mixed(draw, many[:5] + 1), 1.0)
    yield Probe("all logits are negative", mixed(draw, many[:7] - 5), 0.5)
    two = torch.stack((mixed(draw, many[:7]) + 2, mixed(draw, 4 * many[:7])))
    yield Probe("a flat row and a steep one", two, 0.2)
    cube = torch.stack([mixed(draw, s * many[:7]) for s in (1, 2, 0.5, 3, 1.5, 0.7)])
    yield Probe("(batch, position, vocab)", cube.view(2, 3, 7), 0.33)
    yield Probe("a p of 0.01", 4 * mixed(draw, many[:7]) - 1, 0.01)
    yield Probe("float64, around 1000", 1000 + mixed(draw, many[:7]).double(), 0.6)


def mixed(draw, logits):
    """Return logits in random order."""
    return logits[draw.order(len(logits))]


@task.property("never-empty", ALWAYS)
def never_empty(values) -> bool:
    return all(bool(value.isfinite().all()) for value in values.values())


@task.property("batch-independence", ROWS)
def a_steep_row_keeps_less(values) -> bool:
    flat, steep = (values["a flat row and a steep one"] > 1e-9).sum(-1).tolist()
    return flat > steep


@task.mistake("minp-absolute-threshold", RELATIVE)
def at_least_p(logits, p):
    return logits.masked_fill(logits.softmax(-1) < p, -torch.inf)


@task.mistake("minp-absolute-threshold", RELATIVE)
def at_least_p_or_the_largest(logits, p):
    shares = logits.softmax(-1)
    hidden = (shares < p) & (shares < shares.amax(-1, keepdim=True))
    return logits.masked_fill(hidden, -torch.inf)


@task.mistake("threshold-on-logits", "Is half the logit half the probability?")
def p_times_the_largest_logit(logits, p):
    return logits.masked_fill(logits < p * logits.amax(-1, keepdim=True), -torch.inf)


@task.mistake("threshold-on-logits", "Is half the logit half the probability?")
def logits_compared_with_a_probability(logits, p):
    least = p * logits.softmax(-1).amax(-1, keepdim=True)
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("threshold-on-logits", "Is half the logit half the probability?")
def logits_p_below_the_largest(logits, p):
    return logits.masked_fill(logits < logits.amax(-1, keepdim=True) - p, -torch.inf)


@task.mistake("threshold-too-high", "Does the most probable id reach your threshold?")
def share_of_a_negative_number(logits, p):
    logs = logits.log_softmax(-1)
    return logits.masked_fill(logs < p * logs.amax(-1, keepdim=True), -torch.inf)


@task.mistake("threshold-too-high", "Does the most probable id reach your threshold?")
def minus_log_p(logits, p):
    least = logits.amax(-1, keepdim=True) - torch.tensor(p).log()
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("largest-of-the-whole-batch", ROWS)
def largest_of_the_whole_batch(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares < p * shares.max(), -torch.inf)


@task.mistake("largest-of-the-whole-batch", ROWS)
def largest_of_the_first_row(logits, p):
    shares = logits.softmax(-1)
    largest = shares.reshape(-1, shares.shape[-1])[0].max()
    return logits.masked_fill(shares < p * largest, -torch.inf)


@task.mistake("largest-along-the-wrong-axis", "Which probabilities compete?")
def largest_along_the_first_axis(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares < p * shares.amax(0, keepdim=True), -torch.inf)


@task.mistake(
    "softmax-wrong-dim", "Over which axis do the probabilities add up to one?"
)
def softmax_over_the_first_axis(logits, p):
    shares = logits.softmax(0)
    hidden = shares < p * shares.amax(-1, keepdim=True)
    return logits.masked_fill(hidden, -torch.inf)


@task.mistake("minp-empties", ALWAYS)
def strictly_above(logits, p):
    shares = logits.softmax(-1)
    hidden = shares <= p * shares.amax(-1, keepdim=True)
    return logits.masked_fill(hidden, -torch.inf)


@task.mistake("keeps-the-tail", "Which of the two parts stays?")
def keeps_what_is_below(logits, p):
    return logits.masked_fill(min_p(logits, p).isfinite(), -torch.inf)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_zero(logits, p):
    kept = min_p(logits, p)
    return kept.masked_fill(kept.isinf(), 0.0)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_minus_ten(logits, p):
    kept = min_p(logits, p)
    return kept.masked_fill(kept.isinf(), -10.0)


@task.mistake("top-p-instead", "Is p a bound on a sum, or on each id?")
def mass_of_p(logits, p):
    return top_p(logits, p)


@task.mistake("one-minus-p", "Does a larger p keep more, or fewer?")
def one_minus_p(logits, p):
    return min_p(logits, 1 - p if p < 1 else 1e-9)


@task.mistake("compared-with-another-id", RELATIVE)
def p_times_the_mean(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares < p * shares.mean(-1, keepdim=True), -torch.inf)


@task.mistake("compared-with-another-id", RELATIVE)
def p_times_the_last(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares < p * shares[..., -1:], -torch.inf)


@task.mistake("returns-probabilities", "Will whoever draws apply softmax once more?")
def probabilities(logits, p):
    return min_p(logits, p).softmax(-1)


@task.mistake("softmax-no-max-shift", "What does exp(1000) give?")
def raw_exponentials(logits, p):
    exponentials = logits.exp()
    least = p * exponentials.amax(-1, keepdim=True)
    return logits.masked_fill(exponentials < least, -torch.inf)


@task.mistake("nothing-removed", "Which ids can never be drawn after your filter?")
def nothing_removed(logits, p):
    return logits.clone()


@task.mistake("returns-only-the-kept", "Which id does each place of your result mean?")
def only_the_kept(logits, p):
    return logits[min_p(logits, p).isfinite()]
