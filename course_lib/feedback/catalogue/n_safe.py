"""What goes wrong in n_safe: no word that reads the newest sound is shown."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def n_safe(weights, begins, n_newest):
    return whole_words(first_unsafe(weights, n_newest), begins)


def first_unsafe(weights, n_newest):
    """The place of the first unsafe token; behind all where there is none."""
    limit = weights.shape[1] - n_newest
    for token, row in enumerate(weights.tolist()):
        if row.index(max(row)) >= limit:
            return token
    return len(weights)


def whole_words(n, begins):
    """Go back from token n to where its word begins."""
    while 0 < n < len(begins) and not begins[n]:
        n -= 1
    return n


def use_policy(answer, weights, begins, n_newest) -> float:
    """Call the answer; a tensor of one number is a number."""
    return float(written(answer(weights, begins, n_newest)))


task = Task(
    "n_safe",
    asks="how many tokens may be shown: those before the first one that reads one of the "
    "newest positions most, in whole words.",
    lesson="14_captions",
    reference=n_safe,
    use=use_policy,
    read="5. What may be shown",
)

FIRST = "A safe token stands behind an unsafe one: does its word follow what was shown?"
HALF = "The first unsafe token continues a word: where does that word begin?"
EDGE = "Number the positions from 0: which is the first of the newest, and is it new?"
AXIS = "Who reads, and what is read: over which axis do you look for the largest?"
MOST = "Does it matter how much is read of all the newest, or which position most?"
ZERO = "How many numbers does the slice [-0:] hold?"
WHOLE_WORD = "The word before is safe and complete: why should it wait?"
READ = "7. When was it said?"


@task.inputs
def probes(draw: Draw):
    def reads(n_positions, *places):
        """Weights of tokens that read these positions most."""
        weights = draw.normal(len(places), n_positions).sigmoid()
        weights[torch.arange(len(places)), list(places)] = 1.5
        return (100 * weights / weights.sum(1, keepdim=True)).round() / 100

    def words(*lengths):
        """Which tokens begin a word, for words of so many tokens."""
        return torch.tensor([not i for length in lengths for i in range(length)])

    def hypothesis(lengths, n_positions, *places):
        return reads(n_positions, *places), words(*lengths)

    yield Probe("the last token is unsafe", *hypothesis([1, 1, 1], 6, 1, 3, 5), 2)
    yield Probe("the first of the newest", *hypothesis([1, 1, 1], 7, 0, 4, 6), 3)
    yield Probe("the last of the older", *hypothesis([1, 1, 1], 7, 1, 3, 5), 3)
    yield Probe("all are safe", *hypothesis([2, 1, 2], 8, 0, 1, 3, 3, 4), 2)
    yield Probe("in the middle of a word", *hypothesis([1, 3, 1], 8, 1, 2, 3, 7, 6), 2)
    yield Probe(
        "in the middle of the first word", *hypothesis([3, 1], 7, 2, 6, 3, 0), 1
    )
    yield Probe("safe ones behind it", *hypothesis([1, 2, 1, 1], 8, 2, 6, 1, 3, 4), 3)
    yield Probe("the end of a long word", *hypothesis([2, 4], 8, 0, 1, 2, 3, 4, 7), 1)
    much = torch.tensor(
        [[0.4, 0.0, 0.0, 0.2, 0.2, 0.2], [0.3, 0.1, 0.0, 0.2, 0.2, 0.2]]
    )
    yield Probe("much is read of the newest, older most", much, words(1, 1), 3)
    little = torch.tensor(
        [[0.2, 0.5, 0.1, 0.1, 0.1, 0.0], [0.2, 0.2, 0.2, 0.1, 0.0, 0.3]]
    )
    yield Probe("little is read of the newest, one most", little, words(1, 1), 2)
    yield Probe("nothing is new", *hypothesis([1, 1, 2], 6, 1, 5, 3, 5), 0)
    yield Probe("all is new", *hypothesis([1, 2], 4, 0, 1, 2), 9)
    yield Probe("no tokens", torch.zeros(0, 5), torch.zeros(0, dtype=torch.bool), 2)
    many = sorted(draw.ints(0, 30, 19).tolist())
    late = [*many, 36, *(30 + draw.ints(0, 9, 5)).tolist()]
    yield Probe("many tokens", *hypothesis([2, 3, 4, 1, 5, 1, 6, 2, 1], 40, *late), 5)


@task.property(
    "nothing-new-hides-nothing", "No token is unsafe: how many may be shown?"
)
def all_is_shown(values) -> bool:
    return values["nothing is new"] == 4


@task.property("in-whole-words", HALF)
def whole(values) -> bool:
    return values["in the middle of a word"] in (0, 1, 4, 5)


@task.mistake("safe-ones-counted", FIRST)
def counts_the_safe(weights, begins, n_newest):
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    return int(safe.sum())


@task.mistake("safe-ones-counted", FIRST)
def counts_tokens_of_safe_words(weights, begins, n_newest):
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    word = begins.cumsum(0)
    return sum(int((word == w).sum()) for w in word.unique() if safe[word == w].all())


@task.mistake("up-to-the-last-safe-one", FIRST)
def last_safe(weights, begins, n_newest):
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    places = safe.nonzero().flatten().tolist()
    return whole_words(max(places, default=-1) + 1, begins)


@task.mistake("up-to-the-last-safe-one", FIRST)
def looks_only_at_the_end(weights, begins, n_newest):
    n = len(weights)
    while n and first_unsafe(weights[n - 1 : n], n_newest) == 0:
        n -= 1
    return whole_words(n, begins)


@task.mistake("half-a-word-shown", HALF)
def up_to_the_first_unsafe(weights, begins, n_newest):
    return first_unsafe(weights, n_newest)


@task.mistake("half-a-word-shown", HALF)
def one_token_back(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    return n - 1 if 0 < n < len(begins) and not begins[n] else n


@task.mistake("one-position-off", EDGE)
def one_more_is_safe(weights, begins, n_newest):
    return n_safe(weights, begins, n_newest - 1)


@task.mistake("one-position-off", EDGE)
def one_more_is_new(weights, begins, n_newest):
    return n_safe(weights, begins, n_newest + 1)


@task.mistake("over-the-wrong-axis", AXIS, READ)
def tokens_that_read_each_position(weights, begins, n_newest):
    place = weights.argmax(0)
    unsafe = place[weights.shape[1] - n_newest :].tolist()
    return whole_words(min(unsafe, default=len(weights)), begins)


@task.mistake("sum-instead-of-largest", MOST, READ)
def more_than_half(weights, begins, n_newest):
    newest = weights[:, max(0, weights.shape[1] - n_newest) :].sum(1)
    unsafe = (newest > 0.5 * weights.sum(1)).nonzero().flatten().tolist()
    return whole_words(min(unsafe, default=len(weights)), begins)


@task.mistake("sum-instead-of-largest", MOST, READ)
def mean_position(weights, begins, n_newest):
    places = torch.arange(weights.shape[1], dtype=weights.dtype)
    mean = (weights * places).sum(1) / weights.sum(1)
    unsafe = (mean >= weights.shape[1] - n_newest).nonzero().flatten().tolist()
    return whole_words(min(unsafe, default=len(weights)), begins)


@task.mistake("slice-of-none-is-all", ZERO)
def slices_from_behind(weights, begins, n_newest):
    n_old = len(weights[0, :-n_newest]) if len(weights) else 0
    return whole_words(first_unsafe(weights, weights.shape[1] - n_old), begins)


@task.mistake(
    "none-unsafe-read-as-the-first",
    "No token is unsafe: what does your search for the first one give?",
)
def argmax_of_none(weights, begins, n_newest):
    unsafe = weights.argmax(1) >= weights.shape[1] - n_newest
    return whole_words(int(unsafe.int().argmax()), begins)


@task.mistake(
    "none-unsafe-read-as-the-first",
    "No token is unsafe: what does your search for the first one give?",
)
def place_of_the_last(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    return whole_words(n, begins) if n < len(weights) else max(0, n - 1)


@task.mistake("word-before-held-too", WHOLE_WORD)
def steps_back_first(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    if n == len(begins):
        return n
    n = max(0, n - 1)
    while n and not begins[n]:
        n -= 1
    return n


@task.mistake("last-word-always-held", WHOLE_WORD)
def never_the_last_word(weights, begins, n_newest):
    n = min(first_unsafe(weights, n_newest), len(weights) - 1)
    return whole_words(max(0, n), begins)


@task.mistake(
    "unsafe-one-shown", "Is the first unsafe token among those that you count?"
)
def one_too_many(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    return min(len(weights), whole_words(n, begins) + 1)


@task.mistake(
    "unsafe-one-shown", "Is the first unsafe token among those that you count?"
)
def to_the_end_of_its_word(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    while 0 < n < len(begins) and not begins[n]:
        n += 1
    return n


@task.mistake("words-counted", "What is asked for: a number of words, or of tokens?")
def counts_words(weights, begins, n_newest):
    return int(begins[: n_safe(weights, begins, n_newest)].sum())


@task.mistake(
    "all-or-nothing", "Some tokens come before the first unsafe one: may they be shown?"
)
def all_or_nothing(weights, begins, n_newest):
    n = first_unsafe(weights, n_newest)
    return n if n == len(weights) else 0


@task.mistake(
    "old-and-new-swapped",
    "Which end of a row is the newest sound: the first, or the last?",
)
def oldest_positions(weights, begins, n_newest):
    return n_safe(weights.flip(1), begins, n_newest)
