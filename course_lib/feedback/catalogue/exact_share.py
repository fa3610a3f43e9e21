"""What goes wrong in exact_share: exact matches that one pass tells."""

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def exact_share(logits, targets, sources):
    found = {}
    for row, right, source in zip(logits, targets, sources.tolist(), strict=True):
        counts = right != -100
        hit = bool((row[counts].argmax(-1) == right[counts]).all())
        found[source] = found.get(source, False) or hit
    return sum(found.values()) / len(found)


def use(answer, logits, targets, sources) -> float:
    """Call it and read a number; a tensor of one number is one, too."""
    return float(written(answer(logits, targets, sources)))


task = Task(
    "exact_share",
    asks="the share of sources of which one row is the likeliest id at every place that "
    "counts.",
    lesson="12_translation",
    reference=exact_share,
    use=use,
    read="3. Score",
)

PADDING = "Which id would have to be the likeliest at a place with -100?"
WHOLE = "Is a text with one wrong id exact?"
ONE = "Two right translations, and one is written: how many of the two must it equal?"
SOURCES = "Of what is the share asked: of rows, or of sources?"
NUMBERS = "The sources are 3, 8 and 3: how many sources are there?"
PLACE = "The logits at place t choose an id: at which place of targets does it stand?"
BATCHES = "1. From pairs to one update"


@task.inputs
def probes(draw: Draw):
    yield Probe("two rows, no padding", *made(draw, 3, [2, 2], [0, 1], [0, 1]))
    yield Probe("padding behind", *made(draw, 3, [3, 1, 2], [0, 0, 1], [0, 1, 2]))
    first = draw.size(0, 3)
    rows = made(draw, 3, [2, 1, 2], [0, 1, 0], [first, first, first + 1])
    rows[0][1, 0] = rows[0][0, 0]  # the same source, and nothing written so far
    rows[1][1, 0] = (rows[1][0, 0] + 1) % 3
    yield Probe("two references", *rows)
    yield Probe(
        "two references, each wrong at another place",
        torch.tensor([[[0.0, 4, 1], [4, 0, 1]], [[0.0, 4, 1], [0, 1, 4]]]),
        torch.tensor([[1, 2], [2, 2]]),
        torch.tensor([3, 3]),
    )
    once = made(draw, 3, [2, 1], [0, 1], [first, first + 1])
    twice = [torch.cat([part[:1], part]) for part in once]
    yield Probe("the same translation twice", *twice)
    numbers = [5, 2, 5, 9, 2]  # neither from 0 nor side by side
    rows = made(draw, 7, [3, 5, 4, 2, 1], [1, 0, 0, 2, 1], numbers)
    yield Probe("sources 5, 2 and 9", *rows)
    lengths, wrong = [2, 4, 3, 1, 2, 4, 3], [0, 1, 0, 0, 1, 3, 0]
    rows = made(draw, 5, lengths, wrong, [4, 4, 1, 3, 3, 6, 7], front=True)
    yield Probe("padding in front", *rows)
    yield Probe("all right", *made(draw, 5, [3, 1, 2, 2], [0] * 4, [1, 0, 1, 3]))
    yield Probe("all wrong", *made(draw, 5, [3, 1, 2], [1, 1, 2], [0, 0, 1]))
    lengths, sources = draw.ints(1, 8, 40).tolist(), 3 * draw.ints(0, 13, 40)
    wrong = (draw.ints(0, 3, 40) * (draw.ints(0, 10, 40) < 7)).tolist()
    yield Probe("40 rows", *made(draw, 11, lengths, wrong, sources.tolist()))


def made(draw, vocab, lengths, n_wrong, sources, front=False):
    """Make logits that are right but for so many ids of each row, drawn at random."""
    targets = torch.full((len(lengths), max(lengths)), -100)
    likeliest = draw.ints(0, vocab, *targets.shape)
    for row, (length, n) in enumerate(zip(lengths, n_wrong, strict=True)):
        places = torch.arange(length) + front * (max(lengths) - length)
        targets[row, places] = likeliest[row, places]
        missed = places[draw.order(length)[:n]]
        targets[row, missed] = (targets[row, missed] + draw.size(1, vocab)) % vocab
    logits = draw.normal(*targets.shape, vocab).clamp(-3, 3).round(decimals=1)
    logits.scatter_(-1, likeliest[..., None], 4.0)
    return logits, targets, torch.tensor(sources)


@task.property("all-right-is-1", PADDING)
def all_right(values) -> bool:
    return abs(values["all right"] - 1) < 1e-6


@task.property("all-wrong-is-0", WHOLE)
def all_wrong(values) -> bool:
    return values["all wrong"] == 0


def hits(logits, targets):
    """Say where the likeliest id is the target."""
    return logits.argmax(-1) == targets


def exact(logits, targets):
    """Say of each row whether it is exact."""
    return (hits(logits, targets) | (targets == -100)).all(-1)


def by_source(found, sources):
    """List what was found of the rows of each source."""
    return [found[sources == number].float() for number in sources.unique()]


def mean(shares):
    """Give the mean of some numbers."""
    return sum(map(float, shares)) / len(shares)


@task.mistake("padding-never-hit", PADDING, BATCHES)
def as_published(logits, targets, sources):
    return mean(hits(logits, targets).all(-1))


@task.mistake("padding-never-hit", PADDING, BATCHES)
def as_published_by_source(logits, targets, sources):
    found = hits(logits, targets).all(-1)
    return mean([part.amax() for part in by_source(found, sources)])


@task.mistake("rows-for-sources", SOURCES)
def share_of_rows(logits, targets, sources):
    return mean(exact(logits, targets))


@task.mistake("all-references-wanted", ONE)
def every_row(logits, targets, sources):
    return mean([part.amin() for part in by_source(exact(logits, targets), sources)])


@task.mistake("all-references-wanted", ONE)
def mean_of_its_rows(logits, targets, sources):
    return mean([part.mean() for part in by_source(exact(logits, targets), sources)])


@task.mistake("all-references-wanted", ONE)
def last_row_of_a_source(logits, targets, sources):
    return mean([part[-1] for part in by_source(exact(logits, targets), sources)])


@task.mistake("sources-counted-by-number", NUMBERS)
def as_many_as_the_largest_number(logits, targets, sources):
    parts = by_source(exact(logits, targets), sources)
    return sum(float(part.amax()) for part in parts) / (int(sources.max()) + 1)


@task.mistake("right-rows-by-sources", "Can a source be right twice?")
def exact_rows_over_sources(logits, targets, sources):
    return float(exact(logits, targets).sum()) / len(sources.unique())


@task.mistake("right-rows-by-sources", "Are as many sources there as rows?")
def right_sources_over_rows(logits, targets, sources):
    parts = by_source(exact(logits, targets), sources)
    return sum(float(part.amax()) for part in parts) / len(sources)


@task.mistake("share-of-ids", WHOLE)
def ids_that_are_right(logits, targets, sources):
    return mean(hits(logits, targets)[targets != -100])


@task.mistake("share-of-ids", WHOLE)
def best_share_of_ids(logits, targets, sources):
    shares = hits(logits, targets).sum(-1) / (targets != -100).sum(-1)
    return mean([part.amax() for part in by_source(shares, sources)])


@task.mistake("padding-counts-as-right", WHOLE)
def ids_and_padding(logits, targets, sources):
    return mean((hits(logits, targets) | (targets == -100)).flatten())


@task.mistake("any-id-for-all", WHOLE)
def one_id_is_enough(logits, targets, sources):
    found = hits(logits, targets).any(-1)
    return mean([part.amax() for part in by_source(found, sources)])


@task.mistake(
    "references-mixed", "Must one translation fit at all places, or another at each?"
)
def each_place_of_any_row(logits, targets, sources):
    found = hits(logits, targets) | (targets == -100)
    return mean([found[sources == n].any(0).all() for n in sources.unique()])


@task.mistake(
    "padding-in-front-missed", "At which places of a row may -100 stand?", BATCHES
)
def cut_at_its_length(logits, targets, sources):
    found, lengths = hits(logits, targets), (targets != -100).sum(-1).tolist()
    rows = [row[:n].all() for row, n in zip(found, lengths, strict=True)]
    return mean([part.amax() for part in by_source(torch.stack(rows), sources)])


@task.mistake("labels-shifted-twice", PLACE, BATCHES)
def compared_with_the_next(logits, targets, sources):
    found = exact(logits[:, :-1], targets[:, 1:])
    return mean([part.amax() for part in by_source(found, sources)])


@task.mistake("number-for-share", "Is a share asked for, or a number?")
def number_of_sources(logits, targets, sources):
    return sum(part.amax() for part in by_source(exact(logits, targets), sources))
