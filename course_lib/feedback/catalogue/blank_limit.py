"""What goes wrong in blank_limit: how many right ways make the blank the best text."""

import math

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def blank_limit(missing, n_ids, length_penalty):
    share_of_one = missing ** float(n_ids) ** length_penalty  # at which both are equal
    return (1 - missing) / share_of_one


def use(answer, missing, n_ids, length_penalty) -> float:
    """Call it and read a number; a tensor of one number is one, too."""
    return float(written(answer(missing, n_ids, length_penalty)))


task = Task(
    "blank_limit",
    asks="the number of equally frequent right ways above which the blank has the best "
    "score, log-probability / ids ** length_penalty; not rounded.",
    lesson="12_translation",
    reference=blank_limit,
    use=use,
    read="7. Why the blank sheet wins",
)

OWN = "Does each text use its own length, and how long is the blank?"
LENGTH = "By what is the log-probability of a right way divided, for this penalty?"
ENDS = "How many ids has a right way, and is its end token among them already?"
SHARE = "Which share do all right ways have together, and which share has one of them?"
HOW = ("sum", "mean")
WHOLE = "Is the last whole number asked for, or the number itself?"


@task.inputs
def probes(draw: Draw):
    share = 0.05 + 0.01 * draw.size(0, 20)  # 0.05 to 0.24
    n_ids = draw.size(4, 9)
    yield Probe("ranked by the sum", 0.3, 2, 0.0)
    yield Probe("two ids, ranked by the mean", 0.2, 2, 1.0)
    yield Probe("seven ids, ranked by the mean", 0.1, 7, 1.0)
    yield Probe("a penalty of 0.6", share, n_ids, 0.6)
    yield Probe("the same, ranked by the sum", share, n_ids, 0.0)
    yield Probe("the same, ranked by the mean", share, n_ids, 1.0)
    yield Probe("a penalty above 1", share, 3, 1.3)
    yield Probe("most targets are missing", 0.7, n_ids, 0.5)


@task.property(
    "rises-with-the-penalty", "A penalty favours long texts: does the blank win sooner?"
)
def rises_with_the_penalty(values) -> bool:
    by_sum, by_mean = (values[f"the same, ranked by the {how}"] for how in HOW)
    return by_sum < values["a penalty of 0.6"] < by_mean


@task.mistake("beam-length-norm-cancels", OWN)
def ranked_by_the_sum(missing, n_ids, length_penalty):
    return (1 - missing) / missing


@task.mistake("length-penalty-ignored", LENGTH)
def ranked_by_the_mean(missing, n_ids, length_penalty):
    return (1 - missing) / missing**n_ids


@task.mistake("length-penalty-multiplies", LENGTH)
def factor_for_power(missing, n_ids, length_penalty):
    return (1 - missing) / missing ** (n_ids * length_penalty)


@task.mistake("length-penalty-inverted", LENGTH)
def multiplied_by_the_length(missing, n_ids, length_penalty):
    return (1 - missing) / missing ** (n_ids**-length_penalty)


@task.mistake("probability-divided", "Is a probability divided, or its logarithm?")
def probabilities_divided(missing, n_ids, length_penalty):
    return (1 - missing) / (missing * n_ids**length_penalty)


@task.mistake("end-not-counted", ENDS)
def one_id_less(missing, n_ids, length_penalty):
    return blank_limit(missing, n_ids - 1, length_penalty)


@task.mistake("end-counted-twice", ENDS)
def one_id_more(missing, n_ids, length_penalty):
    return blank_limit(missing, n_ids + 1, length_penalty)


@task.mistake("share-of-the-right-forgotten", SHARE)
def right_ways_have_everything(missing, n_ids, length_penalty):
    return blank_limit(missing, n_ids, length_penalty) / (1 - missing)


@task.mistake("share-of-the-right-forgotten", SHARE)
def right_share_to_a_power(missing, n_ids, length_penalty):
    return ((1 - missing) / missing) ** (n_ids**length_penalty)


@task.mistake("ratio-inverted", "For more blanks, does the limit rise or fall?")
def the_other_way_round(missing, n_ids, length_penalty):
    return 1 / blank_limit(missing, n_ids, length_penalty)


@task.mistake("ratio-inverted", "For more blanks, does the limit rise or fall?")
def shares_exchanged(missing, n_ids, length_penalty):
    return missing / (1 - missing) ** (n_ids**length_penalty)


@task.mistake(
    "logarithm-for-number", "Is a number of ways asked for, or its logarithm?"
)
def logarithm(missing, n_ids, length_penalty):
    return math.log(blank_limit(missing, n_ids, length_penalty))


@task.mistake("rounded", WHOLE)
def last_whole_number(missing, n_ids, length_penalty):
    return math.floor(blank_limit(missing, n_ids, length_penalty))


@task.mistake("rounded", WHOLE)
def next_whole_number(missing, n_ids, length_penalty):
    return math.floor(blank_limit(missing, n_ids, length_penalty)) + 1


@task.mistake("rounded", WHOLE)
def nearest_whole_number(missing, n_ids, length_penalty):
    return round(blank_limit(missing, n_ids, length_penalty))
