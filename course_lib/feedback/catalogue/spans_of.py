"""What goes wrong in spans_of: tokens in a row, and rests between."""

import math

import torch

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def spans_of(gains):
    return best_spans(gains)


def best_spans(gains, worth=sum, shortest=1, before=True, between=True, behind=True):
    """The best stretches: token by token, for each place where the next may begin.

    worth: of the gains in a stretch. before, between, behind: whether places may rest.
    """
    n_positions = gains.shape[1]
    start = (0.0, ())
    best = [start if before or not end else NOWHERE for end in range(n_positions + 1)]
    for i, row in enumerate(gains.double().tolist()):
        rests = behind if i + 1 == len(gains) else between
        found = []
        for end in range(n_positions + 1):
            options = [
                (total + worth(row[first:end]), (*spans, (first, end)))
                for first, (total, spans) in enumerate(
                    best[: max(0, end + 1 - shortest)]
                )
                if total > -math.inf
            ]
            options += found[-1:] if rests else []
            found.append(max(options, default=NOWHERE))
        best = found
    return list(best[-1][1])


NOWHERE = (-math.inf, ())


def use_spans(answer, gains) -> list[list[int]]:
    """Call the answer; pairs may be lists, tuples or rows of a tensor."""
    return [[int(first), int(end)] for first, end in written(answer(gains))]


task = Task(
    "spans_of",
    asks="for each token (first, end) of its stretch, so that the gains inside all stretches "
    "have the largest sum; positions between may rest.",
    lesson="14_captions",
    reference=spans_of,
    use=use_spans,
    read="7. When was it said?",
)

REST = "To which token does a position belong where every gain is below 0?"
EDGES = "May positions rest before the first token, and behind the last?"
ORDER = "May a token begin before the one in front of it has ended?"
GREEDY = "The best stretch of one token may take the room of the next: who decides?"
LONGER = "Which gains of a token count: its largest, or all in its stretch?"
EMPTY = "Every gain of a token is below 0: must it be spoken all the same?"
SHARED = "May two tokens be spoken at one position?"
BEHIND = "Is `end` the last position of a stretch, or the one behind it?"
NO_REST = "May one token begin at once where another ends?"


@task.inputs
def probes(draw: Draw):
    def gains(*rows):
        return torch.tensor(rows).float()

    def diagonal(n_tokens, n_positions, strength=1.5):
        """Random gains, and more where each token is spoken, with rests between."""
        made = draw.normal(n_tokens, n_positions) - 0.8
        width = n_positions // n_tokens
        for token in range(n_tokens):
            first = token * width + draw.size(0, max(1, width // 2))
            made[token, first : first + max(1, width // 2)] += strength
        return made

    yield Probe("a rest between", gains([3, 1, -2, -1, -1], [-2, -1, -1, 4, 2]))
    yield Probe("rests at both ends", gains([-2, 3, -1, -1, -3], [-4, -1, 2, 1, -2]))
    yield Probe("no rest", gains([2, 1, -3, -3], [-3, -2, 4, 1]))
    yield Probe("one token", gains([-1, 2, -1, 3, -4, 1]))
    yield Probe("in the wrong order", gains([-1, -2, 1, 5, 2], [4, 6, -3, -2, 3]))
    yield Probe(
        "a token below 0", gains([4, 1, -5, -6], [-3, -4, -2, -7], [-9, -3, -1, 5])
    )
    yield Probe("both want one place", gains([1, 5, -1, -2], [-3, 6, 4, -1]))
    yield Probe("as many positions as tokens", draw.normal(3, 3))
    yield Probe("random gains", draw.normal(3, 7))
    yield Probe("three tokens", diagonal(3, 14))
    yield Probe("five tokens", diagonal(5, 23, 1.0))
    yield Probe("nine tokens", diagonal(9, 60, 1.2))


@task.property("in-the-order-of-the-tokens", ORDER)
def in_order(values) -> bool:
    spans = values["in the wrong order"]
    return spans[0][1] <= spans[1][0]


@task.property("every-token-is-spoken", EMPTY)
def every_token(values) -> bool:
    return all(first < end for spans in values.values() for first, end in spans)


@task.property("rests-where-all-is-below-0", REST)
def rests(values) -> bool:
    return values["a rest between"][0][1] < values["a rest between"][1][0]


@task.mistake("no-rest", REST)
def every_position_belongs(gains):
    return best_spans(gains, before=False, between=False, behind=False)


@task.mistake("no-rest", REST)
def as_in_the_lesson(gains):
    """Dynamic time warping with a border, then from start to start."""
    rows, (n_tokens, n_positions) = gains.tolist(), gains.shape
    total = [[-math.inf] * (n_positions + 1) for _ in range(n_tokens + 1)]
    total[0][0] = 0.0
    for i in range(n_tokens):
        for t in range(n_positions):
            best = max(total[i][t], total[i + 1][t], total[i][t + 1])
            total[i + 1][t + 1] = rows[i][t] + best
    i, t, starts = n_tokens, n_positions, [0] * n_tokens
    while i and t:
        starts[i - 1] = t - 1
        before = (i - 1, t - 1), (i, t - 1), (i - 1, t)
        i, t = max(before, key=lambda place: total[place[0]][place[1]])
    return list(zip(starts, [*starts[1:], n_positions], strict=True))


DEAR = "What does a position cost that belongs to no token?"


@task.mistake("resting-costs", DEAR)
def each_rest_costs_one(gains):
    return best_spans(gains + 1)  # the same: what does not rest gains one more


@task.mistake("resting-costs", DEAR)
def rather_no_rest_at_a_tie(gains):
    return best_spans(gains + 1.001)


@task.mistake("rests-only-at-the-ends", REST)
def one_block_of_speech(gains):
    return best_spans(gains, between=False)


@task.mistake("no-rest-at-the-ends", EDGES)
def fills_both_ends(gains):
    return best_spans(gains, before=False, behind=False)


@task.mistake("no-rest-at-the-ends", EDGES)
def fills_the_beginning(gains):
    return best_spans(gains, before=False)


@task.mistake("no-rest-at-the-ends", EDGES)
def fills_the_end(gains):
    return best_spans(gains, behind=False)


@task.mistake("no-rest-at-the-ends", EDGES)
def always_rests_behind(gains):
    """Walks back from the last row only."""
    has_room = gains.shape[1] > len(gains)
    return best_spans(gains[:, :-1] if has_room else gains)


@task.mistake("each-token-alone", ORDER)
def best_of_each_row(gains):
    return [best_spans(row[None])[0] for row in gains]


@task.mistake("each-token-alone", ORDER)
def around_each_maximum(gains):
    return [grown(row) for row in gains.tolist()]


def grown(row):
    """The stretch of gains above 0 around the largest."""
    first = row.index(max(row))
    end = first + 1
    while first and row[first - 1] > 0:
        first -= 1
    while end < len(row) and row[end] > 0:
        end += 1
    return first, end


@task.mistake("greedy", GREEDY)
def each_behind_the_one_before(gains):
    spans, at = [], 0
    for i, row in enumerate(gains):
        left = gains.shape[1] - (len(gains) - 1 - i)  # each later one needs a place
        ((first, end),) = best_spans(row[None, at:left])
        spans.append((at + first, at + end))
        at += end
    return spans


@task.mistake("greedy", GREEDY)
def no_room_left(gains):
    """What is left may be nothing: then an empty stretch at the end."""
    spans, at = [], 0
    for row in gains:
        first, end = best_spans(row[None, at:])[0] if at < len(row) else (0, 0)
        spans.append((at + first, at + end))
        at += end
    return spans


@task.mistake("greedy", GREEDY)
def each_before_the_one_behind(gains):
    mirrored = each_behind_the_one_before(gains.flip(0, 1))
    n = gains.shape[1]
    return [(n - end, n - first) for first, end in reversed(mirrored)]


@task.mistake("one-position-each", LONGER)
def one_place_each(gains):
    return best_spans(gains, worth=lambda row: row[0] if len(row) == 1 else -math.inf)


@task.mistake("token-left-out", EMPTY)
def may_be_empty(gains):
    return best_spans(gains, shortest=0)


@task.mistake("position-shared", SHARED)
def begins_where_the_other_ends(gains):
    """The last position of a token may be the first of the next."""
    best = [(0.0, ())] * (gains.shape[1] + 1)
    for i, row in enumerate(gains.tolist()):
        found = [NOWHERE]
        for end in range(1, gains.shape[1] + 1):
            options = [found[-1]]
            for first in range(end):
                total, spans = best[first + (i > 0)]
                options.append((total + sum(row[first:end]), (*spans, (first, end))))
            found.append(max(options))
        best = found
    return list(best[-1][1])


@task.mistake("end-inside", BEHIND)
def last_position(gains):
    return [(first, end - 1) for first, end in spans_of(gains)]


@task.mistake("end-inside", BEHIND)
def counted_from_one(gains):
    return [(first + 1, end) for first, end in spans_of(gains)]


@task.mistake("length-instead-of-end", BEHIND)
def first_and_length(gains):
    return [(first, end - first) for first, end in spans_of(gains)]


@task.mistake("rest-required", NO_REST)
def always_rests(gains):
    """A rest of one position at least between two tokens."""
    best = [(0.0, ())] * (gains.shape[1] + 2)
    for row in gains.tolist():
        found = [NOWHERE, NOWHERE]
        for end in range(1, gains.shape[1] + 1):
            options = [found[-1]]
            for first in range(end):
                total, spans = best[first]
                options.append((total + sum(row[first:end]), (*spans, (first, end))))
            found.append(max(options))
        best = found
    return list(best[-1][1])


@task.mistake("rest-as-the-next-token", REST)
def up_to_the_next(gains):
    """Found with rests, then each lasts until the next begins."""
    spans = spans_of(gains)
    ends = [first for first, _ in spans[1:]] + [spans[-1][1]]
    return [(first, end) for (first, _), end in zip(spans, ends, strict=True)]


@task.mistake(
    "path-cut-afterwards", "Do rests change only how long a stretch is, or also where?"
)
def lesson_then_cut(gains):
    """The lesson's path; then gains below 0 at both ends of a stretch are cut off."""
    spans = []
    for row, (first, end) in zip(gains.tolist(), as_in_the_lesson(gains), strict=True):
        while end - first > 1 and row[end - 1] < 0:
            end -= 1
        while end - first > 1 and row[first] < 0:
            first += 1
        spans.append((first, end))
    return spans


@task.mistake(
    "path-cut-afterwards", "Do rests change only how long a stretch is, or also where?"
)
def lesson_then_cut_behind(gains):
    """The same, but cut off behind only."""
    spans = []
    for row, (first, end) in zip(gains.tolist(), as_in_the_lesson(gains), strict=True):
        while end - first > 1 and row[end - 1] < 0:
            end -= 1
        spans.append((first, end))
    return spans
