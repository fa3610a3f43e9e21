"""What goes wrong in alibi_bias."""

import math

import torch

from course_lib.feedback.adapters.positions import use_distance_bias
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.positions import alibi_bias

task = Task(
    "alibi_bias",
    asks="what is added to the scores, (head, query, key): minus slope times distance; "
    "with n_heads a power of two, head h (from 1) has the slope 2^(-8 h / n_heads).",
    lesson="04_positions",
    reference=alibi_bias,
    use=use_distance_bias,
    read="5. Charge for distance",
)

SIGN = "Should a far key lose or gain?"
SLOPES = "Eight heads have the slopes 1/2, 1/4, 1/8 …: what are those of two heads?"
PLACES = "Where in your code do the positions that were handed in act?"
OTHERS = "Six heads: which of them have the slopes of four heads?"


@task.inputs
def probes(draw: Draw):
    yield Probe("eight heads, one query at 3", 8, torch.tensor([3]), torch.arange(4))
    yield Probe("two heads, four tokens", 2, torch.arange(4), torch.arange(4))
    yield Probe("four heads, five tokens", 4, torch.arange(5), torch.arange(5))
    late = draw.size(7, 12) + torch.arange(2)
    yield Probe("two queries after others", 4, late, torch.arange(9))
    yield Probe(
        "keys with gaps", 2, torch.tensor([11, 12]), torch.tensor([0, 3, 7, 8, 11])
    )
    yield Probe("one head", 1, torch.arange(3), torch.arange(3))
    yield Probe("sixteen heads", 16, torch.tensor([5]), torch.arange(6))
    yield Probe("six heads", 6, torch.arange(3), torch.arange(3))
    yield Probe("seven heads", 7, torch.arange(2), torch.arange(3))
    yield Probe("three heads", 3, torch.tensor([4]), torch.arange(5))


@task.property("far-keys-lose", SIGN)
def falls_with_distance(values) -> bool:
    row = values["eight heads, one query at 3"][0, 0]
    return bool((row.diff() > 0).all())


@task.property("slopes-differ", "Does each head charge its own price for a step?")
def slopes_differ(values) -> bool:
    steps = values["eight heads, one query at 3"][:, 0, 2]
    return len({round(float(step), 5) for step in steps}) == 8


def charge(slopes, query_positions, key_positions):
    """Charge slopes (head,) for the distance."""
    distance = query_positions[:, None] - key_positions
    return -torch.as_tensor(slopes)[:, None, None] * distance


def own_slopes(n_heads):
    """Read the right slopes off a step of one."""
    return -alibi_bias(n_heads, torch.tensor([1]), torch.tensor([0]))[:, 0, 0]


@task.mistake("alibi-sign", SIGN)
def rewards_distance(n_heads, query_positions, key_positions):
    return -charge(own_slopes(n_heads), query_positions, key_positions)


@task.mistake("alibi-power-of-two-only", OTHERS)
def one_formula_for_all(n_heads, query_positions, key_positions):
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-power-of-two-only", OTHERS)
def first_of_the_next_power(n_heads, query_positions, key_positions):
    higher = 2 ** math.ceil(math.log2(n_heads))
    return charge(own_slopes(higher)[:n_heads], query_positions, key_positions)


@task.mistake("alibi-power-of-two-only", OTHERS)
def first_of_the_others(n_heads, query_positions, key_positions):
    lower = 2 ** int(math.log2(n_heads))
    between = own_slopes(2 * lower)[: n_heads - lower]
    slopes = torch.cat([own_slopes(lower), between])
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-slopes", SLOPES)
def halves_from_one_half(n_heads, query_positions, key_positions):
    slopes = 2.0 ** -torch.arange(1, n_heads + 1)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-slopes", SLOPES)
def exponent_of_one_eighth(n_heads, query_positions, key_positions):
    slopes = 2.0 ** (-torch.arange(1, n_heads + 1) / 8)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-slopes", SLOPES)
def not_a_power(n_heads, query_positions, key_positions):
    slopes = 1 / torch.arange(1, n_heads + 1)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-slopes", SLOPES)
def exponent_of_heads_over_eight(n_heads, query_positions, key_positions):
    slopes = 2.0 ** (-n_heads * torch.arange(1, n_heads + 1) / 8)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-heads-from-zero", "Which slope has the first head: 1, or less?")
def counts_heads_from_zero(n_heads, query_positions, key_positions):
    slopes = own_slopes(n_heads) / own_slopes(n_heads)[0]
    if not n_heads & (n_heads - 1):
        slopes = 2.0 ** (-8 * torch.arange(n_heads) / n_heads)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-heads-from-zero", "Which slope has the first head: 1, or less?")
def one_formula_from_zero(n_heads, query_positions, key_positions):
    slopes = 2.0 ** (-8 * torch.arange(n_heads) / n_heads)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-heads-reversed", "Which head charges most, the first or the last?")
def cheapest_head_first(n_heads, query_positions, key_positions):
    return charge(own_slopes(n_heads).flip(0), query_positions, key_positions)


@task.mistake("alibi-one-slope", "Does each head charge its own price for a step?")
def first_slope_for_all(n_heads, query_positions, key_positions):
    slopes = own_slopes(n_heads)[:1].expand(n_heads)
    return charge(slopes, query_positions, key_positions)


@task.mistake("alibi-one-slope", "Does each head charge its own price for a step?")
def no_slope(n_heads, query_positions, key_positions):
    return charge(torch.ones(n_heads), query_positions, key_positions)


@task.mistake("decode-position-restarts", PLACES)
def counts_for_itself(n_heads, query_positions, key_positions):
    queries, keys = torch.arange(len(query_positions)), torch.arange(len(key_positions))
    return charge(own_slopes(n_heads), queries, keys)


@task.mistake("decode-position-restarts", PLACES)
def counts_for_itself_both_ways(n_heads, query_positions, key_positions):
    queries, keys = torch.arange(len(query_positions)), torch.arange(len(key_positions))
    return alibi_bias(n_heads, queries, keys)


@task.mistake("alibi-axes-swapped", "Is a row of your table a query or a key?")
def keys_by_queries(n_heads, query_positions, key_positions):
    return alibi_bias(n_heads, key_positions, query_positions)


@task.mistake("alibi-heads-last", "Which axis of the result counts the heads?")
def heads_last(n_heads, query_positions, key_positions):
    return alibi_bias(n_heads, query_positions, key_positions).movedim(0, -1)


@task.mistake("alibi-distance-squared", "Is the second step dearer than the first?")
def squared(n_heads, query_positions, key_positions):
    distance = (query_positions[:, None] - key_positions) ** 2
    return -own_slopes(n_heads)[:, None, None] * distance


@task.mistake("alibi-slope-only", "What does a key two steps away cost?")
def same_price_for_all_steps(n_heads, query_positions, key_positions):
    distance = (query_positions[:, None] - key_positions).clamp(max=1)
    return -own_slopes(n_heads)[:, None, None] * distance


@task.mistake("alibi-slopes", SLOPES)
def half_the_exponent(n_heads, query_positions, key_positions):
    return charge(own_slopes(n_heads).sqrt(), query_positions, key_positions)


@task.mistake("alibi-slopes", SLOPES)
def equal_steps_up_to_one(n_heads, query_positions, key_positions):
    slopes = torch.arange(1, n_heads + 1) / n_heads
    return charge(slopes, query_positions, key_positions)


@task.mistake("decode-position-restarts", PLACES)
def counts_back_from_the_last_key(n_heads, query_positions, key_positions):
    keys = torch.arange(len(key_positions))
    queries = torch.arange(len(query_positions)) + len(keys) - len(query_positions)
    return charge(own_slopes(n_heads), queries, keys)


@task.mistake("decode-position-restarts", PLACES)
def counts_back_from_the_last_key_both_ways(n_heads, query_positions, key_positions):
    keys = torch.arange(len(key_positions))
    queries = torch.arange(len(query_positions)) + len(keys) - len(query_positions)
    return alibi_bias(n_heads, queries, keys)


@task.mistake("alibi-one-slope", "Does each head charge its own price for a step?")
def one_half_for_all(n_heads, query_positions, key_positions):
    return charge(torch.full((n_heads,), 0.5), query_positions, key_positions)


@task.mistake("alibi-nothing-charged", "What does a key two steps away cost?")
def all_keys_for_nothing(n_heads, query_positions, key_positions):
    return charge(torch.zeros(n_heads), query_positions, key_positions)
