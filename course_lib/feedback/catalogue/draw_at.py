"""What goes wrong in draw_at: a draw from one number."""

import torch

from course_lib.feedback.task import Draw, Probe, Task

LARGEST = 1 - 2**-53  # the largest float64 below 1
HIDDEN = float("-inf")
ENDS_KNOWN = "probabilities 0.5, 0.2, 0.3, each piece"
FULL_ROWS = "1 - 2**-53, the largest number below 1"
HIDDEN_ROWS = "1 - 2**-53, the last ids hidden"


def draw_at(logits, numbers):
    ids = []
    for row, number in zip(logits.double().softmax(-1), numbers, strict=True):
        end, chosen = 0.0, None
        for i in row.nonzero().flatten().tolist():
            if chosen is None or end <= number:
                chosen = i
            end += row[i].item()
        ids.append(chosen)
    return torch.tensor(ids)


task = Task(
    "draw_at",
    asks="(batch,) the id whose piece of the line holds the number, the pieces in the order "
    "of the ids; never a hidden id.",
    lesson="09_sampling",
    reference=draw_at,
    read="2. Draw",
)

ENDS = "How many pieces end before the number, or at it?"
PIECE = "How long is a piece, and where does it begin?"
HIDDEN_ID = "A hidden id has a piece of length 0: can a number lie in it?"
LAST = "The sum of all was rounded: what if it ends below the number?"
LAST_SEEN = "Behind the last end: which id is the last that may be drawn at all?"


@task.inputs
def probes(draw: Draw):
    p = torch.tensor([[0.5, 0.2, 0.3]], dtype=torch.float64)
    thirds = torch.tensor([0.1, 0.6, 0.8], dtype=torch.float64)
    yield Probe(ENDS_KNOWN, p.log().repeat(3, 1), thirds)
    yield Probe("one row", draw.normal(1, 7), numbers(draw, 1))
    yield Probe("five rows", draw.normal(5, 11), numbers(draw, 5))
    yield Probe("logits around 100", 100 + 3 * draw.normal(7, 5), numbers(draw, 7))
    hidden = draw.normal(3, 6)
    hidden[:, :2], hidden[1, 2], hidden[:, 5] = HIDDEN, HIDDEN, HIDDEN
    zeros = torch.zeros(3, dtype=torch.float64)
    yield Probe("the first ids hidden, the number 0", hidden, zeros)
    most = torch.full((60,), LARGEST, dtype=torch.float64)
    yield Probe(FULL_ROWS, draw.normal(60, 97), most)
    late = draw.normal(60, 83)
    late[:, -4:] = HIDDEN
    yield Probe(HIDDEN_ROWS, late, most)
    sharp = 8 * draw.normal(40, 300)
    sharp[:, draw.order(300)[:250]] = HIDDEN
    yield Probe("many hidden, 40 rows", sharp, numbers(draw, 40))


def numbers(draw: Draw, n: int) -> torch.Tensor:
    """Draw n numbers from 0 to below 1, in float64."""
    return torch.rand(n, generator=draw.generator, dtype=torch.float64)


@task.property("the-last-piece-reaches-to-one", LAST)
def largest_number_gives_the_last_id(values) -> bool:
    """Ask it of those only that are right away from the end."""
    right_elsewhere = values[ENDS_KNOWN].tolist() == [0, 1, 2]
    return not right_elsewhere or bool((values[FULL_ROWS] == 96).all())


@task.property("the-last-id-is-not-hidden", LAST_SEEN)
def largest_number_gives_no_hidden_id(values) -> bool:
    """Ask it of those only that are right where nothing is hidden."""
    right_elsewhere = values[ENDS_KNOWN].tolist() == [0, 1, 2]
    return not right_elsewhere or bool((values[HIDDEN_ROWS] == 78).all())


def counted(ends, numbers):
    """Count the ends that are not above the number."""
    return (ends <= numbers[:, None]).sum(-1)


def first_above(ends, numbers):
    """Find the first end that is above the number; 0 where none is."""
    return (ends > numbers[:, None]).int().argmax(-1)


@task.mistake("past-the-last-id", LAST)
def not_limited(logits, numbers):
    return counted(logits.double().softmax(-1).cumsum(-1), numbers)


@task.mistake("past-the-last-id", LAST)
def not_limited_in_float32(logits, numbers):
    return counted(logits.float().softmax(-1).cumsum(-1), numbers)


@task.mistake("past-the-last-id", LAST)
def all_rounded(logits, numbers):
    ends = logits.float().softmax(-1).cumsum(-1)
    return torch.searchsorted(ends, numbers.float()[:, None], right=True)[:, 0]


@task.mistake("past-the-last-id", LAST)
def softmax_in_float32(logits, numbers):
    return counted(logits.float().softmax(-1).double().cumsum(-1), numbers)


@task.mistake("limited-to-a-hidden-id", LAST_SEEN)
def limited_to_the_vocabulary(logits, numbers):
    ids = counted(logits.double().softmax(-1).cumsum(-1), numbers)
    return ids.clamp(max=logits.shape[-1] - 1)


@task.mistake("limited-to-a-hidden-id", LAST_SEEN)
def last_end_set_to_one(logits, numbers):
    ends = logits.double().softmax(-1).cumsum(-1)
    ends[:, -1] = 1.0
    return counted(ends, numbers)


@task.mistake("limited-to-a-hidden-id", LAST_SEEN)
def limited_after_float32(logits, numbers):
    ids = counted(logits.float().softmax(-1).double().cumsum(-1), numbers)
    return ids.clamp(max=logits.shape[-1] - 1)


@task.mistake("limited-to-a-hidden-id", LAST_SEEN)
def limited_in_float32(logits, numbers):
    ids = counted(logits.float().softmax(-1).cumsum(-1), numbers)
    return ids.clamp(max=logits.shape[-1] - 1)


@task.mistake("hidden-id-drawn-at-zero", HIDDEN_ID)
def ends_below_only(logits, numbers):
    ends = logits.double().softmax(-1).cumsum(-1)
    return (ends / ends[:, -1:] < numbers[:, None]).sum(-1)


@task.mistake("multinomial-on-logits", "Are these numbers probabilities?")
def sums_of_logits(logits, numbers):
    return counted(logits.double().cumsum(-1), numbers)


@task.mistake("no-running-sum", PIECE)
def compared_with_each_probability(logits, numbers):
    return counted(logits.double().softmax(-1), numbers)


@task.mistake("no-running-sum", PIECE)
def first_larger_probability(logits, numbers):
    return first_above(logits.double().softmax(-1), numbers)


@task.mistake("order-of-likelihood", "In which order do the pieces lie on the line?")
def likeliest_first(logits, numbers):
    p, ids = logits.double().softmax(-1).sort(descending=True, stable=True)
    ends = p.cumsum(-1)
    place = counted(ends / ends[:, -1:], numbers)
    return ids.gather(-1, place[:, None])[:, 0]


@task.mistake("place-in-the-order-for-id", "Is the place in a sorted row an id?")
def sorted_and_not_put_back(logits, numbers):
    ends = logits.double().softmax(-1).sort(descending=True)[0].cumsum(-1)
    return counted(ends / ends[:, -1:], numbers)


@task.mistake("one-piece-too-early", ENDS)
def one_too_early(logits, numbers):
    return (draw_at(logits, numbers) - 1).clamp(min=0)


@task.mistake("one-piece-too-late", ENDS)
def one_too_late(logits, numbers):
    return draw_at(logits, numbers) + 1


@task.mistake("greedy", "Does your id depend on the number?")
def the_likeliest(logits, numbers):
    return logits.argmax(-1)


@task.mistake("one-number-for-all-rows", "Which number belongs to which row?")
def first_number(logits, numbers):
    return draw_at(logits, numbers[:1].expand(len(logits)))


@task.mistake("softmax-wrong-dim", "Over which axis do the probabilities add up to 1?")
def over_rows(logits, numbers):
    ends = logits.double().softmax(0).cumsum(-1)
    return counted(ends / ends[:, -1:], numbers)


@task.mistake("first-id-where-no-end-is-above", LAST)
def first_end_above(logits, numbers):
    return first_above(logits.double().softmax(-1).cumsum(-1), numbers)


@task.mistake("first-id-where-no-end-is-above", LAST)
def first_end_above_in_float32(logits, numbers):
    return first_above(logits.float().softmax(-1).cumsum(-1), numbers)


@task.mistake("softmax-wrong-dim", "Over which axis do the probabilities add up to 1?")
def over_rows_and_limited(logits, numbers):
    ids = counted(logits.double().softmax(0).cumsum(-1), numbers)
    return ids.clamp(max=logits.shape[-1] - 1)
