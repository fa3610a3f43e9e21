"""Wrong answers to word_lag."""

from math import ceil, floor

from tests.answers import wrong


@wrong("no-queue")
def step_by_step(end, chunk_seconds, agreement, computing):
    heard_at = ceil(end / chunk_seconds) * chunk_seconds
    agreed_at = heard_at + (agreement - 1) * chunk_seconds
    shown_at = agreed_at + computing
    return shown_at - end


@wrong("computing-forgotten")
def sound_only(end, chunk_seconds, agreement, computing):
    wait = -end % chunk_seconds
    return wait + (agreement - 1) * chunk_seconds


@wrong("one-chunk-too-many")
def agreement_more_chunks(end, chunk_seconds, agreement, computing):
    k = ceil(end / chunk_seconds) + agreement
    if computing > chunk_seconds:
        return chunk_seconds + k * computing - end
    return k * chunk_seconds + computing - end


@wrong("heard-before-its-end")
def integer_division(end, chunk_seconds, agreement, computing):
    k = end // chunk_seconds + agreement - 1
    if computing > chunk_seconds:
        return chunk_seconds + k * computing - end
    return k * chunk_seconds + computing - end


@wrong("end-of-a-chunk-missed")
def floor_plus_one(end, chunk_seconds, agreement, computing):
    k = floor(end / chunk_seconds) + 1 + (agreement - 1)
    backlog = max(0, (k - 1) * (computing - chunk_seconds))
    return k * chunk_seconds + backlog + computing - end


@wrong("first-chunk-not-awaited")
def computer_busy_from_zero(end, chunk_seconds, agreement, computing):
    k = ceil(end / chunk_seconds) + agreement - 1
    slower = max(computing, chunk_seconds)
    if slower == chunk_seconds:
        return k * slower + computing - end
    return k * slower - end


@wrong("queue-of-this-word-only")
def opinions_in_a_row(end, chunk_seconds, agreement, computing):
    heard = chunk_seconds * ceil(end / chunk_seconds)
    lag = heard - end + computing
    return lag + (agreement - 1) * max(chunk_seconds, computing)


@wrong("computing-counted-for-each")
def each_opinion_costs(end, chunk_seconds, agreement, computing):
    first = chunk_seconds * ceil(end / chunk_seconds) - end
    return first + computing + (agreement - 1) * (chunk_seconds + computing)


@wrong("time-instead-of-lag")
def forgets_the_end(end, chunk_seconds, agreement, computing):
    k = ceil(end / chunk_seconds) + agreement - 1
    if computing <= chunk_seconds:
        return k * chunk_seconds + computing
    return chunk_seconds + k * computing


@wrong("agreement-ignored", "no-queue")
def next_chunk(end, chunk_seconds, agreement, computing):
    return ceil(end / chunk_seconds) * chunk_seconds - end + computing
