"""What goes wrong in top_k."""

import torch

from course_lib.feedback.adapters.losses import use_filter
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.sampling import top_k


def use(answer, logits, *k):
    """Call the filter once for each k; read the probabilities that it leaves."""
    found = [use_filter(answer, logits, each) for each in k]
    return found[0] if len(k) == 1 else found


task = Task(
    "top_k",
    asks="logits of which only the k largest of each row can still be drawn (shown: "
    "the probabilities they lead to).",
    lesson="09_sampling",
    reference=top_k,
    use=use,
    read="3. Filters",
)

SMALL = "Is zero a low score when the others are negative?"
SMALL_HEADING = "“Small means weak: hide with 0, punish by dividing.”"
HOW_MANY = "How many tokens survive when k is 1?"
ROWS = "Does a row of the batch keep what it would keep alone?"
PLACES = "Which id does each place of your result belong to?"


@task.inputs
def probes(draw: Draw):
    yield Probe("four ids, two stay", apart(draw, 4), 2)
    yield Probe("one stays", apart(draw, 5), 1)
    yield Probe("all logits are negative", apart(draw, 5) - 9, 3)
    yield Probe("two rows", torch.stack((apart(draw, 5) + 4, apart(draw, 5))), 2)
    yield Probe("two stay, then all", apart(draw, 5), 2, 5)
    yield Probe("one stays, then more than there are", apart(draw, 3), 1, 8)
    cube = torch.stack([apart(draw, 7) for _ in range(6)]).view(2, 3, 7)
    yield Probe("(batch, position, vocab)", cube, 4)
    yield Probe("float64, around 1000", 1000 + apart(draw, 7).double(), 3)


def apart(draw, n):
    """Draw n logits of both signs, no two within 0.4 of each other."""
    return (draw.order(n) - (n - 1) / 2) * 0.7 + 0.3 * torch.rand(
        n, generator=draw.generator
    )


@task.property("exactly-k", HOW_MANY)
def exactly_k(values) -> bool:
    return int((values["one stays"] > 1e-9).sum()) == 1


@task.property("batch-independence", ROWS)
def each_row_keeps_k(values) -> bool:
    kept = (values["two rows"] > 1e-9).sum(-1)
    return kept.tolist() == [2, 2]


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_zero(logits, k):
    return logits.masked_fill(hidden(logits, k), 0.0)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_minus_one(logits, k):
    return logits.masked_fill(hidden(logits, k), -1.0)


@task.mistake("topk-fill-not-inf", SMALL, SMALL_HEADING)
def hides_with_minus_ten(logits, k):
    return logits.masked_fill(hidden(logits, k), -10.0)


@task.mistake("topk-off-by-one", HOW_MANY)
def keeps_one_more(logits, k):
    return top_k(logits, k + 1)


@task.mistake("topk-off-by-one", HOW_MANY)
def keeps_one_less(logits, k):
    least = logits.topk(min(k, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits <= least, -torch.inf)


@task.mistake("topk-off-by-one", HOW_MANY)
def keeps_one_more_or_fails(logits, k):
    least = logits.sort(-1, descending=True).values[..., k, None]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("topk-exceeds-vocab", "What if I ask for more tokens than exist?")
def does_not_cap_k(logits, k):
    least = logits.topk(k).values[..., -1:]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("topk-exceeds-vocab", "What if I ask for more tokens than exist?")
def index_runs_round(logits, k):
    ordered = logits.sort(-1, descending=True).values
    least = ordered[..., (k - 1) % logits.shape[-1], None]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("k-ignored", "Where does k enter?")
def only_the_largest(logits, k):
    return top_k(logits, 1)


@task.mistake("nothing-removed", "Which ids can never be drawn after your filter?")
def nothing_removed(logits, k):
    return logits.clone()


@task.mistake("keeps-the-smallest", "Which end of the order do you keep?")
def keeps_the_smallest(logits, k):
    return -top_k(-logits, k).masked_fill(hidden(-logits, k), torch.inf)


@task.mistake("keeps-the-smallest", "Which end of the order do you keep?")
def hides_the_largest(logits, k):
    return logits.masked_fill(~hidden(logits, k), -torch.inf)


@task.mistake("keeps-the-smallest", "Which end of the order do you keep?")
def k_th_from_below(logits, k):
    least = logits.sort(-1).values[..., min(k, logits.shape[-1]) - 1, None]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("one-threshold-for-all-rows", ROWS)
def largest_of_the_whole_batch(logits, k):
    least = logits.flatten().topk(min(k, logits.numel())).values[-1]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("one-threshold-for-all-rows", ROWS)
def threshold_of_the_first_row(logits, k):
    first = logits.reshape(-1, logits.shape[-1])[0]
    return logits.masked_fill(logits < first.topk(min(k, len(first))).values[-1], -9e9)


@task.mistake("one-threshold-for-all-rows", ROWS)
def ids_of_the_first_row(logits, k):
    first = hidden(logits, k).reshape(-1, logits.shape[-1])[0]
    return logits.masked_fill(first, -torch.inf)


@task.mistake("wrong-axis", "Among which scores is a token the k-th largest?")
def along_the_first_axis(logits, k):
    least = logits.topk(min(k, len(logits)), dim=0).values[-1:]
    return logits.masked_fill(logits < least, -torch.inf)


@task.mistake("returns-probabilities", "Will whoever draws apply softmax once more?")
def probabilities(logits, k):
    return top_k(logits, k).softmax(-1)


@task.mistake("returns-only-the-kept", PLACES)
def only_the_kept(logits, k):
    return logits.topk(min(k, logits.shape[-1])).values


@task.mistake("sorted-not-put-back", PLACES)
def in_order_of_size(logits, k):
    return top_k(logits, k).sort(-1, descending=True).values


@task.mistake("first-ids-kept", "Among which scores is an id the k-th largest?")
def first_k_places(logits, k):
    place = torch.arange(logits.shape[-1])
    return logits.masked_fill(place >= k, -torch.inf)


@task.mistake("largest-by-magnitude", "Is -5 a high score?")
def by_magnitude(logits, k):
    return logits.masked_fill(hidden(logits.abs(), k), -torch.inf)


@task.mistake("kept-logits-lost", "What are the scores of those that stay?")
def all_kept_alike(logits, k):
    return torch.zeros_like(logits).masked_fill(hidden(logits, k), -torch.inf)


def hidden(logits, k):
    """Return True where a logit is not among the k largest of its row."""
    return top_k(logits, k).isinf()
