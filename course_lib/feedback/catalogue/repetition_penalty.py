"""What goes wrong in repetition_penalty."""

import torch

from course_lib.feedback.task import Draw, Probe, Task
from course_lib.sampling import repetition_penalty

task = Task(
    "repetition_penalty",
    asks="logits in which each id of the row's history is less likely: a positive one "
    "divided by the penalty, a negative one multiplied, once.",
    lesson="09_sampling",
    reference=repetition_penalty,
    read="3. Filters",
)

PUNISHED = "Dividing -4 by 2: is that a punishment?"
PUNISHED_HEADING = "“Small means weak: hide with 0, punish by dividing.”"
ONCE = "An id stands in the history three times: how often is it punished?"
ROWS = "Whose history counts for row 1?"
WHO = "Which ids are punished, those in the history or the others?"


@task.inputs
def probes(draw: Draw):
    three = torch.tensor([[2.0, -2.0, 1.0]]) + 0.5 * draw.normal(1, 3).clamp(-1, 1)
    yield Probe("ids 0 and 1 were written", three, [[0, 1]], 2.0)
    yield Probe("an id written three times", draw.normal(1, 5), [[3, 1, 3, 3]], 1.5)
    negative = -1 - draw.normal(1, 5).abs()
    yield Probe("all logits are negative", negative, [[2, 4]], 1.3)
    yield Probe("two rows, two histories", draw.normal(2, 5), [[0, 2, 2], [4]], 3.0)
    yield Probe("nothing was written", draw.normal(2, 5), [[], [1]], 2.0)
    history = draw.ints(0, 7, 3, 4)
    yield Probe("the history as a tensor", draw.normal(3, 7), history, 1.2)
    yield Probe("a penalty below 1", draw.normal(2, 5), [[0, 3], [1, 2]], 0.5)
    yield Probe("a penalty of 1", draw.normal(1, 4), [[0, 1, 2]], 1.0)


@task.property("seen-ids-lose", PUNISHED)
def seen_ids_lose(values) -> bool:
    negative = values["all logits are negative"]
    return bool(negative.isfinite().all() and (negative < -1).all())


@task.property("a-penalty-of-one-changes-nothing", "What does a penalty of 1 change?")
def one_is_no_penalty(values) -> bool:
    return tuple(values["a penalty of 1"].shape) == (1, 4)


@task.mistake("repetition-penalty-negative-logits", PUNISHED, PUNISHED_HEADING)
def divides_all(logits, history, penalty):
    return torch.where(seen(logits, history), logits / penalty, logits)


@task.mistake("penalty-direction-inverted", "Does the score of a seen id fall?")
def multiplies_all(logits, history, penalty):
    return torch.where(seen(logits, history), logits * penalty, logits)


@task.mistake("penalty-direction-inverted", "Does the score of a seen id fall?")
def branches_swapped(logits, history, penalty):
    return repetition_penalty(logits, history, 1 / penalty)


@task.mistake("penalty-subtracted", "Is the penalty a factor, or an amount?")
def subtracts(logits, history, penalty):
    return torch.where(seen(logits, history), logits - penalty, logits)


@task.mistake("penalty-subtracted", "Is the penalty a factor, or an amount?")
def subtracts_per_occurrence(logits, history, penalty):
    return logits - penalty * counts(logits, history)


@task.mistake("penalty-subtracted", "Is the penalty a factor, or an amount?")
def subtracts_its_logarithm(logits, history, penalty):
    amount = torch.tensor(penalty).log()
    return torch.where(seen(logits, history), logits - amount, logits)


@task.mistake("penalises-each-occurrence", ONCE)
def once_per_occurrence(logits, history, penalty):
    power = penalty ** counts(logits, history)
    return torch.where(logits > 0, logits / power, logits * power)


@task.mistake("penalises-unseen", WHO)
def the_others(logits, history, penalty):
    return torch.where(seen(logits, history), logits, punished(logits, penalty))


@task.mistake("ignores-history", WHO)
def everyone(logits, history, penalty):
    return punished(logits, penalty)


@task.mistake("history-of-another-row", ROWS)
def first_history_for_all(logits, history, penalty):
    return repetition_penalty(logits, [history[0]] * len(logits), penalty)


@task.mistake("history-of-another-row", ROWS)
def all_histories_for_all(logits, history, penalty):
    together = [int(i) for row in history for i in row]
    return repetition_penalty(logits, [together] * len(logits), penalty)


@task.mistake("history-of-another-row", ROWS)
def only_the_first_row(logits, history, penalty):
    changed = repetition_penalty(logits, history, penalty)
    return torch.cat((changed[:1], logits[1:]))


@task.mistake("last-id-only", "How far back does the history reach?")
def last_id_only(logits, history, penalty):
    return repetition_penalty(logits, [row[-1:] for row in history], penalty)


@task.mistake("last-id-only", "How far back does the history reach?")
def all_but_the_last(logits, history, penalty):
    return repetition_penalty(logits, [row[:-1] for row in history], penalty)


@task.mistake("penalises-log-probabilities", "Which numbers are divided: raw scores?")
def log_probabilities(logits, history, penalty):
    return repetition_penalty(logits.log_softmax(-1), history, penalty)


@task.mistake("penalises-log-probabilities", "Which numbers are divided: raw scores?")
def probabilities(logits, history, penalty):
    return repetition_penalty(logits.softmax(-1), history, penalty)


@task.mistake("penalises-log-probabilities", "Which numbers are divided: raw scores?")
def probabilities_that_add_up(logits, history, penalty):
    shares = probabilities(logits, history, penalty)
    return shares / shares.sum(-1, keepdim=True)


@task.mistake("hides-seen-ids", "Is a seen id forbidden, or only less likely?")
def hides(logits, history, penalty):
    return logits.masked_fill(seen(logits, history), -torch.inf)


@task.mistake("negative-logits-untouched", "What happens to a negative score?")
def positive_only(logits, history, penalty):
    lower = seen(logits, history) & (logits > 0)
    return torch.where(lower, logits / penalty, logits)


@task.mistake("positive-logits-untouched", "What happens to a positive score?")
def negative_only(logits, history, penalty):
    lower = seen(logits, history) & (logits < 0)
    return torch.where(lower, logits * penalty, logits)


@task.mistake("sign-lost", "What is the sign of a score after its punishment?")
def magnitude(logits, history, penalty):
    return torch.where(seen(logits, history), logits.abs() / penalty, logits)


@task.mistake("sign-lost", "What is the sign of a score after its punishment?")
def minus_magnitude(logits, history, penalty):
    return torch.where(seen(logits, history), -logits.abs() * penalty, logits)


def counts(logits, history):
    """Count how often each id stands in the history of its row."""
    found = torch.zeros_like(logits)
    for row, ids in enumerate(history):
        for i in ids:
            found[row, int(i)] += 1
    return found


def seen(logits, history):
    """Return True where an id stands in the history of its row."""
    return counts(logits, history) > 0


def punished(logits, penalty):
    """Punish every logit."""
    return torch.where(logits > 0, logits / penalty, logits * penalty)
