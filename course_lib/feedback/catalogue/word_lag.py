"""What goes wrong in word_lag: from the end of a word to the screen."""

import math

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def word_lag(end, chunk_seconds, agreement, computing):
    heard, n, done = 0, 0, 0.0
    while heard < agreement:
        n += 1
        done = max(done, n * chunk_seconds) + computing
        heard += n * chunk_seconds >= end
    return done - end


def use_lag(answer, end, chunk_seconds, agreement, computing) -> float:
    """Call the answer; a tensor of one number is a number."""
    return float(written(answer(end, chunk_seconds, agreement, computing)))


task = Task(
    "word_lag",
    asks="the seconds from the end of a word to its being shown: by the chunk that brings "
    "the last hypothesis needed, as soon as it is computed.",
    lesson="14_captions",
    reference=word_lag,
    use=use_lag,
    read="9. How late, how wrong, at what price?",
)

HEARD = "At which time does the first chunk come that has heard the word to its end?"
OPINIONS = (
    "How many chunks come from the first that has the word to the one that shows it?"
)
COMPUTING = "When the last chunk has come, what is still to be done?"
QUEUE = "Computing is slower than sound: when is each of the first four chunks done?"
FIRST = "When can computing the very first chunk begin?"
LAG = "From which moment to which does the lag count?"


@task.inputs
def probes(draw: Draw):
    def inside(first, last):
        """A place in a chunk, not near its ends."""
        return draw.size(first, last) + draw.size(20, 80) / 100

    yield Probe("the word ends at 1.2 s", 1.2, 0.5, 2, 0.1)
    yield Probe("it is shown at once", 0.5 * inside(2, 9), 0.5, 1, 0.15)
    yield Probe("three must agree", 0.5 * inside(2, 9), 0.5, 3, 0.2)
    yield Probe("the word ends with a chunk", 1.5, 0.5, 2, 0.125)
    yield Probe("long chunks", 2 * inside(1, 4), 2.0, 2, 0.7)
    yield Probe("short chunks", 0.25 * inside(9, 15), 0.25, 4, 0.15)
    yield Probe("computing is slower", 1.2, 0.5, 2, 0.7)
    yield Probe("slower, and late in a talk", 0.5 * inside(90, 150), 0.5, 3, 0.6)
    yield Probe("slower, in the first chunk", 0.35, 0.5, 1, 0.9)
    yield Probe("slower, long chunks", 2 * inside(3, 6), 2.0, 1, 3.1)


@task.property("computing-takes-its-time", COMPUTING)
def at_least_computing(values) -> bool:
    return values["slower, in the first chunk"] > 0.9


@task.property("the-queue-grows", QUEUE)
def grows(values) -> bool:
    return values["slower, and late in a talk"] > values["computing is slower"] + 5


def chunks(end, chunk_seconds, agreement):
    """The chunk that first has the word, and the one that shows it."""
    heard = math.ceil(end / chunk_seconds)
    return heard, heard + agreement - 1


def shown(n, chunk_seconds, computing):
    """When chunk n is done."""
    return max(n * chunk_seconds + computing, chunk_seconds + n * computing)


@task.mistake("agreement-ignored", OPINIONS)
def one_opinion(end, chunk_seconds, agreement, computing):
    heard, _ = chunks(end, chunk_seconds, agreement)
    return shown(heard, chunk_seconds, computing) - end


@task.mistake("one-chunk-too-many", OPINIONS)
def as_many_after_it(end, chunk_seconds, agreement, computing):
    heard, _ = chunks(end, chunk_seconds, agreement)
    return shown(heard + agreement, chunk_seconds, computing) - end


@task.mistake("heard-before-its-end", HEARD)
def chunk_in_which_it_ends(end, chunk_seconds, agreement, computing):
    n = math.floor(end / chunk_seconds) + agreement - 1
    return shown(n, chunk_seconds, computing) - end


@task.mistake("heard-before-its-end", HEARD)
def nearest_chunk(end, chunk_seconds, agreement, computing):
    n = round(end / chunk_seconds) + agreement - 1
    return shown(n, chunk_seconds, computing) - end


@task.mistake(
    "end-of-a-chunk-missed", "The word ends where a chunk ends: which chunk has it?"
)
def always_the_next(end, chunk_seconds, agreement, computing):
    n = math.floor(end / chunk_seconds) + agreement
    return shown(n, chunk_seconds, computing) - end


@task.mistake(
    "chunks-counted-from-the-word", "Do chunks begin where the word ends, or at 0?"
)
def chunks_behind_the_word(end, chunk_seconds, agreement, computing):
    return agreement * chunk_seconds + computing


@task.mistake(
    "chunks-counted-from-the-word", "Do chunks begin where the word ends, or at 0?"
)
def half_a_chunk_on_average(end, chunk_seconds, agreement, computing):
    return (agreement - 0.5) * chunk_seconds + computing


@task.mistake("computing-forgotten", COMPUTING)
def only_sound(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return n * chunk_seconds - end


@task.mistake(
    "computing-counted-for-each",
    "While the second chunk is spoken, what happens to the first?",
)
def computing_for_each_opinion(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return n * chunk_seconds + agreement * computing - end


@task.mistake(
    "computing-counted-for-each",
    "While the second chunk is spoken, what happens to the first?",
)
def one_after_the_other(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return n * (chunk_seconds + computing) - end


@task.mistake("no-queue", QUEUE, "Definition")
def as_if_computing_were_fast(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return n * chunk_seconds + computing - end


@task.mistake("queue-of-this-word-only", QUEUE, "Definition")
def waits_since_the_word(end, chunk_seconds, agreement, computing):
    heard, n = chunks(end, chunk_seconds, agreement)
    queue = heard * chunk_seconds + agreement * computing
    return max(n * chunk_seconds + computing, queue) - end


@task.mistake("queue-of-this-word-only", QUEUE, "Definition")
def waits_for_the_chunk_before(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    waits = max(0.0, computing - chunk_seconds)
    return n * chunk_seconds + waits + computing - end


@task.mistake(
    "queue-one-chunk-too-long",
    "Which is the first chunk that has to wait for another to be computed?",
    "Definition",
)
def first_chunk_waits_too(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return n * max(chunk_seconds, computing) + computing - end


@task.mistake(
    "always-a-queue", "Computing is faster than sound: what does the computer wait for?"
)
def never_rests(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return chunk_seconds + n * computing - end


@task.mistake("first-chunk-not-awaited", FIRST)
def computes_from_the_start(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return max(n * chunk_seconds + computing, n * computing) - end


@task.mistake("time-instead-of-lag", LAG)
def when_it_is_shown(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return shown(n, chunk_seconds, computing)


@task.mistake("time-instead-of-lag", LAG)
def since_it_was_heard(end, chunk_seconds, agreement, computing):
    heard, n = chunks(end, chunk_seconds, agreement)
    return shown(n, chunk_seconds, computing) - heard * chunk_seconds


@task.mistake(
    "computing-as-a-factor", "In which unit is computing given: seconds, or a share?"
)
def factor(end, chunk_seconds, agreement, computing):
    _, n = chunks(end, chunk_seconds, agreement)
    return shown(n, chunk_seconds, computing * chunk_seconds) - end
