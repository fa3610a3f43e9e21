"""What goes wrong in rotate."""

import torch

from course_lib.feedback.adapters.positions import use_rotation
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.positions import rotate

task = Task(
    "rotate",
    asks="each pair i of the last axis turned by position / base^(2i / d_head); x is "
    "(batch, head, position, d_head).",
    lesson="04_positions",
    reference=rotate,
    use=use_rotation,
    read="4. Turn",
)

PAIRING = "Do the two numbers you rotate together share one angle?"
AXIS = "Which axis of your tensor is time at this line?"
COUNTED = "Where in your code do the `positions` that were handed in act?"
SLOW = "Should the last pair turn quickly or slowly?"
CIRCLE = "Write down the 2×2 table of a turn: which of its four numbers has a minus?"


@task.inputs
def probes(draw: Draw):
    yield Probe(
        "(1, 0) at position 1", torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([1])
    )
    yield Probe("pairs at positions 0 and 1", draw.normal(1, 1, 2, 2), torch.arange(2))
    yield Probe("two pairs at position 3", draw.normal(1, 1, 1, 4), torch.tensor([3]))
    same_x = draw.normal(1, 1, 1, 6).expand(1, 2, 3, 6).clone()
    yield Probe("equal vectors, positions 0, 1, 2", same_x, torch.arange(3))
    yield Probe("two rows, three heads", draw.normal(2, 3, 5, 8), torch.arange(5))
    later = torch.tensor([7, 8, 12, 40])
    yield Probe("positions that start late", draw.normal(1, 2, 4, 6), later)
    each = torch.tensor([[0, 1, 2, 3], [5, 6, 7, 9]])
    yield Probe("positions of each row", draw.normal(2, 3, 4, 6), each)
    yield Probe("base 100", draw.normal(1, 2, 3, 6), torch.arange(3) + 2, base=100.0)
    half = {"pairing": "half"}
    yield Probe("pairing half", draw.normal(2, 2, 3, 8), torch.arange(3) + 1, **half)


@task.property("norm-kept", "Can a turn make a vector longer?")
def no_longer_and_no_shorter(values) -> bool:
    found = values["(1, 0) at position 1"]
    rows = values["equal vectors, positions 0, 1, 2"].norm(dim=-1)
    unit = torch.allclose(found.norm(), torch.ones(()), atol=1e-3)
    return unit and torch.allclose(rows, rows[..., :1].expand_as(rows), atol=1e-3)


@task.property("heads-turn-alike", AXIS)
def heads_turn_alike(values) -> bool:
    found = values["equal vectors, positions 0, 1, 2"]
    return torch.allclose(found[:, 0], found[:, 1], atol=1e-4)


@task.property("distance-alone", "Do two positions later change the score of two keys?")
def score_of_distance(values) -> bool:
    found = values["equal vectors, positions 0, 1, 2"][0, 0]
    return torch.allclose(found[0] @ found[1], found[1] @ found[2], atol=1e-3)


def spread(positions, d_head, base=10000.0):
    """Give an angle a pair: (..., position, pair), with room for the heads."""
    pair = torch.arange(0, d_head, 2) / d_head
    turned = positions[..., None] / base**pair
    return turned[:, None] if positions.ndim == 2 else turned


def turn_neighbours(x, angles):
    """Turn neighbours by an angle a pair."""
    even, odd = x[..., 0::2], x[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    turned = (even * cosine - odd * sine, even * sine + odd * cosine)
    return torch.stack(turned, -1).flatten(-2)


@task.mistake(
    "rope-mixed-pairing", PAIRING, read="“Neighbours or halves: a detail of layout.”"
)
def neighbours_angles_halves_turned(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base).repeat_interleave(2, -1)
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()


@task.mistake(
    "rope-mixed-pairing", PAIRING, read="“Neighbours or halves: a detail of layout.”"
)
def halves_angles_neighbours_turned(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    angles = torch.cat([angles, angles], -1)
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * angles.cos() + quarter * angles.sin()


@task.mistake("rope-halves-glued", "In which order do the turned numbers go back?")
def neighbours_turned_halves_glued(x, positions, base=10000.0, pairing="interleaved"):
    turned = turn_neighbours(x, spread(positions, x.shape[-1], base))
    return turned.unflatten(-1, (-1, 2)).mT.flatten(-2)


@task.mistake(
    "rope-wrong-axis", AXIS, read="“The second-last axis holds the positions.”"
)
def turns_by_head(x, positions, base=10000.0, pairing="interleaved"):
    heads = torch.arange(x.shape[1])
    return rotate(x.transpose(1, 2), heads, base).transpose(1, 2)


@task.mistake(
    "rope-wrong-axis", AXIS, read="“The second-last axis holds the positions.”"
)
def turns_by_row(x, positions, base=10000.0, pairing="interleaved"):
    rows = torch.arange(len(x))[:, None].expand(len(x), x.shape[2])
    return rotate(x, rows, base)


@task.mistake(
    "rope-wrong-axis", AXIS, read="“The second-last axis holds the positions.”"
)
def takes_time_from_the_head_axis(x, positions, base=10000.0, pairing="interleaved"):
    if positions.ndim == 2:
        positions = positions[0]
    return rotate(x.transpose(1, 2), positions[: x.shape[1]], base).transpose(1, 2)


@task.mistake(
    "decode-position-restarts", COUNTED, read="“One new token: its position is 0.”"
)
def counts_for_itself(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, torch.arange(x.shape[2]), base)


@task.mistake(
    "decode-position-restarts", COUNTED, read="“One new token: its position is 0.”"
)
def starts_from_the_first(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions - positions[..., :1], base)


@task.mistake("rope-positions-off-by-one", "By how much does position 0 turn?")
def counts_from_one(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions + 1, base)


@task.mistake("rope-first-row-for-all", "Does each row have its own positions?")
def first_rows_positions(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions[0] if positions.ndim == 2 else positions, base)


ROOM = "Positions (batch, position) meet x (batch, head, position, d_head): which axes meet?"


@task.mistake("rope-no-room-for-heads", ROOM)
def no_axis_for_heads(x, positions, base=10000.0, pairing="interleaved"):
    pair = torch.arange(0, x.shape[-1], 2) / x.shape[-1]
    return turn_neighbours(x, positions[..., None] / base**pair)


@task.mistake("rope-backwards", CIRCLE)
def turns_backwards(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, -positions, base)


@task.mistake("rope-not-a-turn", CIRCLE)
def two_pluses(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    even, odd, cosine, sine = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
    turned = (even * cosine + odd * sine, even * sine + odd * cosine)
    return torch.stack(turned, -1).flatten(-2)


@task.mistake("rope-not-a-turn", CIRCLE)
def two_minuses(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    even, odd, cosine, sine = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
    turned = (even * cosine - odd * sine, even * sine - odd * cosine)
    return torch.stack(turned, -1).flatten(-2)


@task.mistake(
    "rope-overwritten", "Are both old numbers still there when the second is computed?"
)
def uses_a_new_number_too_early(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    even, odd, cosine, sine = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
    even = even * cosine - odd * sine
    odd = even * sine + odd * cosine
    return torch.stack([even, odd], -1).flatten(-2)


@task.mistake("rope-added", "Is the position added to the vector, or does it turn it?")
def adds_waves(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    return x + torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


@task.mistake("rope-base-ignored", "Where in your code does `base` act?")
def base_of_ten_thousand(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions)


@task.mistake("rope-inverted-frequency", SLOW)
def last_pair_fastest(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions, 1 / base)


@task.mistake("rope-exponent", "By how much does the exponent grow from pair to pair?")
def half_the_exponent(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions, base**0.5)


@task.mistake("rope-exponent", "By how much does the exponent grow from pair to pair?")
def twice_the_exponent(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions, base**2)


@task.mistake("rope-exponent", "By how much does the exponent grow from pair to pair?")
def pairs_from_one(x, positions, base=10000.0, pairing="interleaved"):
    pair = (torch.arange(0, x.shape[-1], 2) + 2) / x.shape[-1]
    turned = positions[..., None] / base**pair
    return turn_neighbours(x, turned[:, None] if positions.ndim == 2 else turned)


@task.mistake("rope-one-frequency", "Do all pairs turn at the same speed?")
def all_pairs_alike(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions, 1.0)


@task.mistake("rope-half-of-the-pairs", "How many of the numbers have you turned?")
def first_half_only(x, positions, base=10000.0, pairing="interleaved"):
    angles = spread(positions, x.shape[-1], base)
    angles = angles * (torch.arange(angles.shape[-1]) < (angles.shape[-1] + 1) // 2)
    return turn_neighbours(x, angles)


@task.mistake("rope-first-row-for-all", "Does each row have its own positions?")
def largest_of_all_rows(x, positions, base=10000.0, pairing="interleaved"):
    return rotate(x, positions.amax(0) if positions.ndim == 2 else positions, base)


@task.mistake("rope-first-row-for-all", "Does each row have its own positions?")
def counts_where_rows_differ(x, positions, base=10000.0, pairing="interleaved"):
    places = torch.arange(x.shape[2]) if positions.ndim == 2 else positions
    return rotate(x, places, base)


def two_angles(x, positions, base, shift):
    """Turn pairs by a sine whose exponent is shift columns further than the cosine's."""
    pair = torch.arange(0, x.shape[-1], 2)
    place = positions[..., None]
    cosine = (place / base ** (pair / x.shape[-1])).cos()
    sine = (place / base ** ((pair + shift) / x.shape[-1])).sin()
    if positions.ndim == 2:
        cosine, sine = cosine[:, None], sine[:, None]
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = (even * cosine - odd * sine, even * sine + odd * cosine)
    return torch.stack(turned, -1).flatten(-2)


@task.mistake("cosine-own-exponent", PAIRING)
def sine_one_column_further(x, positions, base=10000.0, pairing="interleaved"):
    return two_angles(x, positions, base, 1)


@task.mistake("cosine-own-exponent", PAIRING)
def one_exponent_a_column(x, positions, base=10000.0, pairing="interleaved"):
    columns = torch.arange(x.shape[-1]) / x.shape[-1]
    angles = positions[..., None] / base**columns
    angles = angles[:, None] if positions.ndim == 2 else angles
    quarter = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    return x * angles.cos() + quarter * angles.sin()


@task.mistake("rope-half-of-the-pairs", "How many of the numbers have you turned?")
def first_of_each_pair_only(x, positions, base=10000.0, pairing="interleaved"):
    turned = turn_neighbours(x, spread(positions, x.shape[-1], base))
    turned[..., 1::2] = x[..., 1::2]
    return turned
