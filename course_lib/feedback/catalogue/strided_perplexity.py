"""What goes wrong in strided_perplexity: a window that slides over a long text."""

import math

import torch

from course_lib.feedback.adapters.writing import pair_writer, random_writer
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.softmax import log_softmax


@torch.no_grad()
def strided_perplexity(model, tokens, window, stride):
    found = {}
    for place, nats in asked_for(model, tokens, window, stride):
        found.setdefault(place, nats)
    return math.exp(sum(found.values()) / len(found))


def asked_for(model, tokens, window, stride):
    """Yield (place of the token, its surprise) of every window, in order."""
    for part in windows(model, tokens, window, stride):
        yield from part


def windows(model, tokens, window, stride):
    """Yield for each window its [(place of the token, its surprise), ...]."""
    n = len(tokens)
    for start in range(0, n - 1, stride):
        end = min(start + window, n - 1)
        log_p = log_softmax(model(tokens[None, start:end])[0].double())
        places = range(start + 1, end + 1)
        yield [
            (place, -row[tokens[place]].item())
            for place, row in zip(places, log_p, strict=True)
        ]


task = Task(
    "strided_perplexity",
    asks="exp of the mean surprise of all tokens but the first, each counted once, in "
    "the first window that asks for it.",
    lesson="11_training",
    reference=strided_perplexity,
    read="5. A batch in pieces",
)

ONCE = "In how many windows is a token of the middle asked for, and how often counted?"
WEIGHT = "Does a token count more in a window with few new ones?"
WINDOW = "With a window of 4, how many tokens are fed, and how many asked for?"
CONTEXT = "How much does the model read before a new token: could it be more?"
LAST = "In which windows does the last token stand?"
NEW = "At which end of the window do the new tokens stand?"


@task.inputs
def probes(draw: Draw):
    model = pair_writer(draw.normal(2, 2))
    few = torch.tensor([0, 1, 1, 0, 0, 1])[: 5 + draw.size(0, 2)]
    yield Probe("windows of 4, stride 2", model, few, 4, 2)
    model = random_writer(draw, 5)
    text = draw.ints(0, 5, 13)
    yield Probe("one window holds everything", model, text[:7], 11, 11)
    yield Probe("one window, a short stride", model, text[:7], 11, 2)
    yield Probe("no overlap", model, text, 4, 4)
    yield Probe("no overlap, one token is left", model, text[:10], 4, 4)
    yield Probe("a stride of 1", model, text, 5, 1)
    yield Probe("a long text", random_writer(draw, 7), draw.ints(0, 7, 40), 11, 3)
    yield Probe("two tokens", model, text[3:5], 3, 2)


@task.property("one-window-is-the-whole", ONCE)
def stride_does_not_matter_in_one_window(values) -> bool:
    whole = values["one window holds everything"]
    return abs(whole - values["one window, a short stride"]) < 1e-3


@task.property("never-below-one", "What is the perplexity of a perfect model?")
def never_below_one(values) -> bool:
    return all(value >= 1 for value in values.values())


def exponential_of_mean(found):
    """Exponentiate the mean of a list of surprises."""
    return math.exp(sum(found) / len(found))


@task.mistake("overlap-counted-again", ONCE)
def every_window_counts_whole(model, tokens, window, stride):
    found = asked_for(model, tokens, window, stride)
    return exponential_of_mean([nats for _, nats in found])


@task.mistake("overlap-counted-again", ONCE)
def as_it_was_until_the_end(model, tokens, window, stride):
    found = []
    for part in windows(model, tokens, window, stride):
        found += [nats for _, nats in part]
        if part[-1][0] == len(tokens) - 1:
            break
    return exponential_of_mean(found)


@task.mistake("not-repaired", "Which two things does this code do wrongly?")
def as_it_was(model, tokens, window, stride):
    parts = windows(model, tokens, window, stride)
    means = [sum(nats for _, nats in part) / len(part) for part in parts]
    return exponential_of_mean(means)


def new_ones(model, tokens, window, stride):
    """List for each window with new tokens the surprise of those."""
    found, parts = set(), []
    for part in windows(model, tokens, window, stride):
        new = [nats for place, nats in part if place not in found]
        found |= {place for place, _ in part}
        parts += [new] if new else []
    return parts


@task.mistake("perplexity-average-of-batches", WEIGHT)
def mean_of_the_means_of_new_ones(model, tokens, window, stride):
    parts = new_ones(model, tokens, window, stride)
    return exponential_of_mean([sum(part) / len(part) for part in parts])


@task.mistake("perplexity-average-of-batches", WEIGHT)
def mean_of_perplexities(model, tokens, window, stride):
    parts = new_ones(model, tokens, window, stride)
    return sum(map(exponential_of_mean, parts)) / len(parts)


@task.mistake("context-thrown-away", CONTEXT)
def counts_in_the_last_window(model, tokens, window, stride):
    found = dict(asked_for(model, tokens, window, stride))
    return exponential_of_mean([*found.values()])


@task.mistake("context-thrown-away", CONTEXT)
def disjoint_windows(model, tokens, window, stride):
    found = asked_for(model, tokens, window, window)
    return exponential_of_mean([nats for _, nats in found])


@task.mistake("context-thrown-away", CONTEXT)
def only_new_tokens_are_fed(model, tokens, window, stride):
    first = list(asked_for(model, tokens[: window + 1], window, window))
    rest = tokens[window:]
    later = asked_for(model, rest, stride, stride) if len(rest) > 1 else []
    return exponential_of_mean([nats for _, nats in [*first, *later]])


@task.mistake("window-off-by-one", WINDOW)
def one_token_less_is_fed(model, tokens, window, stride):
    found = {}
    for place, nats in asked_for(model, tokens, max(window - 1, 1), stride):
        found.setdefault(place, nats)
    return exponential_of_mean([*found.values()])


@task.mistake("window-off-by-one", WINDOW)
def one_token_more_is_fed(model, tokens, window, stride):
    return strided_perplexity(model, tokens, window + 1, stride)


@task.mistake("short-window-dropped", LAST)
def only_full_windows(model, tokens, window, stride):
    found = {}
    for part in windows(model, tokens, window, stride):
        if len(part) == window or not found:
            found |= {place: nats for place, nats in part if place not in found}
    return exponential_of_mean([*found.values()])


@task.mistake("window-limit-ignored", "How many tokens does the model read at most?")
def everything_at_once(model, tokens, window, stride):
    return strided_perplexity(model, tokens, len(tokens), 1)


@task.mistake(
    "divided-by-all-tokens", "For how many tokens is there a token before them?"
)
def the_first_counts_as_well(model, tokens, window, stride):
    n = len(tokens)
    return strided_perplexity(model, tokens, window, stride) ** ((n - 1) / n)


@task.mistake("loss-for-perplexity", "Is the mean surprise asked for, or what of it?")
def the_exponential_is_missing(model, tokens, window, stride):
    return math.log(strided_perplexity(model, tokens, window, stride))


@task.mistake("wrong-base", "Surprise in nats: which number is raised to the mean?")
def two_to_the_nats(model, tokens, window, stride):
    return 2 ** math.log(strided_perplexity(model, tokens, window, stride))


@task.mistake(
    "labels-not-shifted",
    "Which token is place t supposed to predict?",
    "1. One place to the right",
)
def asks_for_what_is_fed(model, tokens, window, stride):
    found = {}
    for start in range(0, len(tokens), stride):
        fed = tokens[start : start + window]
        log_p = log_softmax(model(fed[None])[0].double())
        for i, row in enumerate(log_p):
            found.setdefault(start + i, -row[fed[i]].item())
    return exponential_of_mean([*found.values()])


@task.mistake(
    "empty-window-nan",
    "What is the mean, or the last 0 places, of a window without news?",
)
def mean_of_nothing(model, tokens, window, stride):
    total, done = 0.0, 1
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window + 1, len(tokens))
        logits = model(tokens[None, start : end - 1])[0, max(done - 1 - start, 0) :]
        new = tokens[done:end]
        total += torch.nn.functional.cross_entropy(logits, new).item() * len(new)
        done = end
    return math.exp(total / (len(tokens) - 1))


def at_the_front(model, tokens, window, stride, logits_only=False):
    """Take the first places of a window for the new ones."""
    total, done = 0.0, 1
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window + 1, len(tokens))
        if (n := end - done) > 0:
            logits = model(tokens[None, start : end - 1])[0, :n]
            new = tokens[done:end] if logits_only else tokens[start + 1 : start + 1 + n]
            total += n * torch.nn.functional.cross_entropy(logits, new).item()
        done = end
    return math.exp(total / (len(tokens) - 1))


@task.mistake("first-places-for-new-ones", NEW)
def first_logits_and_targets(model, tokens, window, stride):
    return at_the_front(model, tokens, window, stride)


@task.mistake("first-places-for-new-ones", NEW)
def first_logits(model, tokens, window, stride):
    return at_the_front(model, tokens, window, stride, logits_only=True)


@task.mistake(
    "empty-window-nan",
    "What is the mean, or the last 0 places, of a window without news?",
)
def last_none_are_all(model, tokens, window, stride):
    total, done = 0.0, 1
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window + 1, len(tokens))
        n = end - done
        logits = model(tokens[None, start : end - 1])[0, -n:]
        new = tokens[start + 1 : end][-n:]
        total += torch.nn.functional.cross_entropy(logits, new, reduction="sum").item()
        done = end
    return math.exp(total / (len(tokens) - 1))
