"""What goes wrong in top_p."""

import torch

from course_lib.feedback.adapters.losses import use_filter
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.sampling import top_p


def use(answer, logits, *p):
    """Call the filter once for each p; read the probabilities that it leaves."""
    found = [use_filter(answer, logits, each) for each in p]
    return found[0] if len(p) == 1 else found


task = Task(
    "top_p",
    asks="logits of which only the fewest most probable ids with mass p or more can "
    "still be drawn (shown: the probabilities they lead to).",
    lesson="09_sampling",
    reference=top_p,
    use=use,
    read="3. Filters",
)

MASS = "Does your nucleus hold at least p of the mass?"
MASS_HEADING = "“Top-p keeps what fits into $p$.”"
ALWAYS = "What must always survive, however small p is?"
SMALL = "Is zero a low score when the others are negative?"
SMALL_HEADING = "“Small means weak: hide with 0, punish by dividing.”"
ORDER = "In which order do you add the probabilities up?"
PLACES = "Your mask is in order of size: in which order are the logits?"
ROWS = "Does a row of the batch keep what it would keep alone?"


@task.inputs
def probes(draw: Draw):
    shares = torch.tensor([0.5, 0.3, 0.15, 0.05]).log()
    yield Probe(
        "probabilities 0.5, 0.3, 0.15, 0.05 in some order", mixed(draw, shares), 0.7
    )
    yield Probe("one id has nearly all", mixed(draw, 3 + 5 * one_hot(5)), 0.6)
    yield Probe("p of 0.00000001", draw.normal(5), 1e-8)
    yield Probe("p of 0.5, then of 1", draw.normal(7), 0.5, 1.0)
    steps = -0.5 * torch.arange(7.0) - 4
    yield Probe("all logits are negative", mixed(draw, steps), 0.55)
    two = torch.stack((mixed(draw, steps), mixed(draw, 3 * steps)))
    yield Probe("a flat row and a steep one", two, 0.8)
    cube = torch.stack([mixed(draw, s * steps) for s in (1, 2, 0.5, 3, 1.5, 0.7)])
    yield Probe("(batch, position, vocab)", cube.view(2, 3, 7), 0.77)
    yield Probe("float64, around 1000", 1000 + mixed(draw, steps).double(), 0.9)


def mixed(draw, logits):
    """Return logits in random order."""
    return logits[draw.order(len(logits))]


def one_hot(n):
    """Return a tensor of n zeros but for a one at the front."""
    return torch.eye(n)[0]


@task.property("never-empty", ALWAYS)
def never_empty(values) -> bool:
    found = [values["one id has nearly all"], values["p of 0.00000001"]]
    return all(bool(value.isfinite().all()) for value in found)


@task.property("mass-of-p", MASS)
def enough_mass(values) -> bool:
    kept = values["probabilities 0.5, 0.3, 0.15, 0.05 in some order"]
    return int((kept > 1e-9).sum()) == 2


@task.property("batch-independence", ROWS)
def a_steep_row_keeps_less(values) -> bool:
    flat, steep = (values["a flat row and a steep one"] > 1e-9).sum(-1).tolist()
    return flat > steep


@task.mistake("topp-drops-crossing-token", MASS, MASS_HEADING)
def what_fits_into_p(logits, p):
    return filtered(logits, lambda shares, mass: mass <= p)


@task.mistake("topp-drops-crossing-token", MASS, MASS_HEADING)
def what_fits_into_p_and_the_first(logits, p):
    return filtered(logits, lambda shares, mass: (mass <= p) | first(mass))


@task.mistake("topp-drops-crossing-token", MASS, MASS_HEADING)
def what_fits_below_p(logits, p):
    return filtered(logits, lambda shares, mass: mass < p)


@task.mistake("topp-drops-crossing-token", MASS, MASS_HEADING)
def what_fits_below_p_and_the_first(logits, p):
    return filtered(logits, lambda shares, mass: (mass < p) | first(mass))


@task.mistake("topp-empties-nucleus", ALWAYS)
def shifted_without_the_first(logits, p):
    def kept(shares, mass):
        hidden = mass > p
        hidden[..., 1:] = hidden[..., :-1].clone()
        return ~hidden

    return filtered(logits, kept)


@task.mistake("topp-empties-nucleus", ALWAYS)
def nothing_where_one_is_enough(logits, p):
    def kept(shares, mass):
        return (mass - shares < p) & (shares[..., :1] <= p)

    return filtered(logits, kept)


@task.mistake("topp-keeps-one-too-many", "Is p reached before your last id?")
def one_too_many(logits, p):
    def kept(shares, mass):
        before = (mass - shares).roll(1, -1)
        return (before < p) | first(mass)

    return filtered(logits, kept)


@task.mistake("mask-not-put-back", PLACES)
def mask_in_order_of_size(logits, p):
    shares = logits.softmax(-1).sort(-1, descending=True).values
    return logits.masked_fill(shares.cumsum(-1) - shares >= p, -torch.inf)


@task.mistake("mask-not-put-back", PLACES)
def returned_in_order_of_size(logits, p):
    return top_p(logits, p).sort(-1, descending=True).values


@task.mistake("mask-not-put-back", PLACES)
def indexed_instead_of_scattered(logits, p):
    shares, ids = logits.softmax(-1).sort(-1, descending=True)
    hidden = (shares.cumsum(-1) - shares >= p).gather(-1, ids)
    return logits.masked_fill(hidden, -torch.inf)


@task.mistake("not-sorted", ORDER)
def in_order_of_ids(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares.cumsum(-1) - shares >= p, -torch.inf)


@task.mistake("sorted-ascending", ORDER)
def least_probable_first(logits, p):
    return filtered(logits, lambda shares, mass: mass - shares < p, descending=False)


@task.mistake("sorted-ascending", ORDER)
def least_probable_first_what_fits(logits, p):
    return filtered(logits, lambda shares, mass: mass <= p, descending=False)


@task.mistake("keeps-the-tail", "Which of the two parts is the nucleus?")
def keeps_the_tail(logits, p):
    return filtered(logits, lambda shares, mass: mass - shares >= p)


@task.mistake("keeps-the-tail", "Which of the two parts is the nucleus?")
def keeps_the_tail_from_the_crossing(logits, p):
    return filtered(logits, lambda shares, mass: mass > p)


@task.mistake("one-minus-p", "Is p the mass that stays, or the mass that goes?")
def mass_that_goes(logits, p):
    return filtered(logits, lambda shares, mass: mass - shares < 1 - p)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_zero(logits, p):
    kept = top_p(logits, p)
    return kept.masked_fill(kept.isinf(), 0.0)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_minus_ten(logits, p):
    kept = top_p(logits, p)
    return kept.masked_fill(kept.isinf(), -10.0)


@task.mistake("compares-each-probability", "Is p a bound on one id, or on a sum?")
def each_at_least_p(logits, p):
    return logits.masked_fill(logits.softmax(-1) < p, -torch.inf)


@task.mistake("compares-each-probability", "Is p a bound on one id, or on a sum?")
def each_relative_to_the_largest(logits, p):
    shares = logits.softmax(-1)
    return logits.masked_fill(shares < p * shares.amax(-1, keepdim=True), -torch.inf)


@task.mistake("compares-each-probability", "Is p a bound on one id, or on a sum?")
def each_at_least_the_rest(logits, p):
    shares = logits.softmax(-1)
    hidden = (shares < 1 - p) & (shares < shares.amax(-1, keepdim=True))
    return logits.masked_fill(hidden, -torch.inf)


@task.mistake("compares-each-probability", "Is p a bound on one id, or on a sum?")
def each_relative_to_the_largest_by_the_rest(logits, p):
    return each_relative_to_the_largest(logits, 1 - p)


@task.mistake("softmax-no-max-shift", "What does exp(1000) give?")
def raw_exponentials(logits, p):
    exponentials = logits.exp()
    shares, ids = (exponentials / exponentials.sum(-1, keepdim=True)).sort(
        dim=-1, descending=True
    )
    hidden = shares.cumsum(-1) - shares >= p
    return logits.masked_fill(
        torch.zeros_like(hidden).scatter(-1, ids, hidden), -torch.inf
    )


@task.mistake("nothing-removed", "Which ids can never be drawn after your filter?")
def nothing_removed(logits, p):
    return logits.clone()


@task.mistake("sums-logits", "Which numbers add up to one?")
def sums_logits(logits, p):
    ordered, ids = logits.sort(-1, descending=True)
    hidden = ordered.cumsum(-1) - ordered >= p
    return logits.masked_fill(torch.zeros_like(hidden).scatter(-1, ids, hidden), -9e9)


@task.mistake(
    "softmax-wrong-dim", "Over which axis do the probabilities add up to one?"
)
def softmax_over_the_first_axis(logits, p):
    shares, ids = logits.softmax(0).sort(-1, descending=True)
    hidden = shares.cumsum(-1) - shares >= p
    return logits.masked_fill(torch.zeros_like(hidden).scatter(-1, ids, hidden), -9e9)


@task.mistake(
    "softmax-wrong-dim", "Over which axis do the probabilities add up to one?"
)
def softmax_over_the_whole_batch(logits, p):
    return top_p(logits.flatten(), p).view_as(logits)


@task.mistake("one-nucleus-for-all-rows", ROWS)
def ids_of_the_first_row(logits, p):
    kept = top_p(logits, p).reshape(-1, logits.shape[-1])[0]
    return logits.masked_fill(kept.isinf(), -torch.inf)


@task.mistake("one-nucleus-for-all-rows", ROWS)
def as_many_as_the_first_row(logits, p):
    kept = top_p(logits, p).reshape(-1, logits.shape[-1])[0]
    n = int(kept.isfinite().sum())
    return filtered(logits, lambda shares, mass: torch.arange(mass.shape[-1]) < n)


@task.mistake("returns-probabilities", "Will whoever draws apply softmax once more?")
def probabilities(logits, p):
    return top_p(logits, p).softmax(-1)


def filtered(logits, kept, descending=True):
    """Keep where kept(sorted probabilities, their running sum) says so."""
    shares, ids = logits.softmax(-1).sort(dim=-1, descending=descending, stable=True)
    stays = kept(shares, shares.cumsum(-1)).expand_as(shares)
    stays = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, stays)
    return logits.masked_fill(~stays, -torch.inf)


def first(mass):
    """Return True at the most probable id."""
    return torch.arange(mass.shape[-1]) == 0
