"""What goes wrong in apply_temperature."""

import torch

from course_lib.feedback.adapters.losses import use_filter
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.sampling import apply_temperature


def use(answer, logits, temperature) -> dict:
    """Read the probabilities that the answer's logits stand for."""
    return {"probabilities": use_filter(answer, logits, temperature)}


task = Task(
    "apply_temperature",
    asks="logits whose softmax is sharper below temperature 1 and flatter above; 0 keeps "
    "only the largest (the first of equals).",
    lesson="09_sampling",
    reference=apply_temperature,
    use=use,
    read="3. Filters",
)

ZERO = "What is the limit of sampling as the temperature goes to zero?"
TIES = "Two logits are equally large: how many of them may be drawn at temperature 0?"
NEARLY = "Is a low temperature the same as 0? Of two equal logits, which one stays?"
AFTER = "Is the temperature applied to the numbers before the exponential, or after it?"


@task.inputs
def probes(draw: Draw):
    hidden = 3 * draw.normal(5)
    hidden[2] = -torch.inf
    equals = draw.normal(2, 4)
    equals[:, 1:3] = 5.0
    yield Probe("three logits, temperature 2", 3 * draw.normal(3), 2.0)
    yield Probe("three logits, temperature 0.5", draw.normal(3), 0.5)
    yield Probe("temperature 0", draw.normal(4), 0)
    yield Probe("temperature 0, two equals", equals[0], 0.0)
    yield Probe("temperature 0, nearly equal", torch.tensor([0.0, 2e-9, -1.0]), 0)
    yield Probe("temperature 1e-8", draw.normal(4), 1e-8)
    yield Probe("temperature 1.25", 2 * draw.normal(4), 1.25)
    yield Probe("two rows, temperature 0", draw.normal(2, 5) + 3 * torch.eye(2, 5), 0.0)
    yield Probe("three rows, temperature 1.7", 4 * draw.normal(3, 5), 1.7)
    yield Probe("one logit of -inf, temperature 0.7", hidden, 0.7)
    yield Probe("one logit of -inf, temperature 0", hidden, 0)
    yield Probe("all negative, temperature 0", -50 + draw.normal(2, 3), 0)


@task.property(
    "sums-to-one", "Can a softmax still make probabilities of these numbers?"
)
def gives_probabilities(values) -> bool:
    return all(
        bool(value["probabilities"].isfinite().all()) for value in values.values()
    )


@task.property("greedy-at-zero", ZERO)
def one_survives(values) -> bool:
    return bool((values["temperature 0"]["probabilities"] > 0.999).sum() == 1)


@task.mistake("temperature-zero-divides", ZERO)
def divides_always(logits, temperature):
    return logits / temperature


def kept_above_zero(least):
    """Enter two answers that divide by a small number where they are given 0."""

    def divides_by_at_least(logits, temperature):
        return logits / max(temperature, least)

    def divides_by_more(logits, temperature):
        return logits / (temperature + least)

    for answer in (divides_by_at_least, divides_by_more):
        answer.__name__ += f"_{least:g}"
        task.mistake("temperature-kept-above-zero", NEARLY)(answer)


for least in (0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8):
    kept_above_zero(least)


@task.mistake("temperature-zero-unchanged", ZERO)
def leaves_logits_at_zero(logits, temperature):
    return logits if temperature == 0 else logits / temperature


@task.mistake("temperature-zero-keeps-ties", TIES)
def keeps_all_that_are_largest(logits, temperature):
    if temperature == 0:
        return logits.masked_fill(logits < logits.amax(-1, keepdim=True), -torch.inf)
    return logits / temperature


@task.mistake(
    "temperature-zero-last-of-ties", "Two logits are equally large: which wins?"
)
def keeps_the_last_of_equals(logits, temperature):
    if temperature > 0:
        return logits / temperature
    best = logits.shape[-1] - 1 - logits.flip(-1).argmax(-1, keepdim=True)
    return torch.full_like(logits, -torch.inf).scatter(-1, best, 0.0)


@task.mistake(
    "temperature-zero-over-the-batch",
    "Each row draws its own token: how many survivors do two rows need?",
)
def largest_of_the_whole_table(logits, temperature):
    if temperature > 0:
        return logits / temperature
    return logits.masked_fill(logits < logits.max(), -torch.inf)


@task.mistake(
    "temperature-zero-fill-not-low",
    "Is zero a low logit when the others are negative?",
)
def fills_with_zero(logits, temperature):
    if temperature > 0:
        return logits / temperature
    return torch.where(logits == logits.amax(-1, keepdim=True), logits, 0.0)


@task.mistake(
    "temperature-zero-fill-not-low",
    "Is zero a low logit when the others are negative?",
)
def one_hot(logits, temperature):
    if temperature > 0:
        return logits / temperature
    return torch.zeros_like(logits).scatter(-1, logits.argmax(-1, keepdim=True), 1.0)


@task.mistake(
    "temperature-multiplies",
    "Does a temperature of 2 bring the logits nearer to each other?",
)
def multiplies(logits, temperature):
    return logits * temperature


@task.mistake(
    "temperature-multiplies",
    "Does a temperature of 2 bring the logits nearer to each other?",
)
def multiplies_but_for_zero(logits, temperature):
    return apply_temperature(logits, 1 / temperature if temperature > 0 else 0)


@task.mistake("temperature-after-softmax", AFTER)
def divides_probabilities(logits, temperature):
    return apply_temperature(logits.softmax(-1), temperature)


@task.mistake("temperature-after-softmax", AFTER)
def divides_probabilities_always(logits, temperature):
    return logits.softmax(-1) / temperature


@task.mistake(
    "probabilities-returned",
    "Whoever calls this takes a softmax of the result: what do they get from a softmax "
    "of probabilities?",
)
def takes_the_softmax(logits, temperature):
    return apply_temperature(logits, temperature).softmax(-1)


@task.mistake(
    "probabilities-returned",
    "Whoever calls this takes a softmax of the result: what do they get from a softmax "
    "of probabilities?",
)
def takes_the_softmax_of_a_division(logits, temperature):
    return (logits / temperature).softmax(-1)


@task.mistake("temperature-ignored", "Where in your code does the temperature act?")
def greedy_or_unchanged(logits, temperature):
    return apply_temperature(logits, 1.0 if temperature >= 1e-6 else 0)


@task.mistake(
    "temperature-below-one-is-greedy",
    "At which temperature exactly does chance end?",
)
def greedy_below_one(logits, temperature):
    return apply_temperature(logits, temperature if temperature >= 1 else 0)


@task.mistake(
    "temperature-sharpens-only",
    "What does your code do at temperatures above 1?",
)
def never_flatter(logits, temperature):
    return apply_temperature(logits, min(temperature, 1.0))


@task.mistake(
    "logits-normalised-by-sum",
    "What does dividing by the sum of the logits do to negative ones?",
)
def divides_by_the_sum(logits, temperature):
    cooled = apply_temperature(logits, temperature)
    return cooled / cooled.sum(-1, keepdim=True)


@task.mistake("temperature-zero-divides", ZERO)
def multiplies_by_the_inverse(logits, temperature):
    return logits * (1 / temperature)


@task.mistake(
    "temperature-zero-over-the-batch",
    "Each row draws its own token: how many survivors do two rows need?",
)
def one_survivor_in_the_whole_table(logits, temperature):
    if temperature > 0:
        return logits / temperature
    kept = torch.full_like(logits, -torch.inf).flatten()
    kept[logits.argmax()] = 0.0
    return kept.view_as(logits)


SCORES = "Whoever calls this takes a softmax of the result: is an id a row of scores?"


@task.mistake("ids-returned", SCORES)
def id_at_zero(logits, temperature):
    return logits.argmax(-1) if temperature == 0 else logits / temperature


@task.mistake("ids-returned", SCORES)
def id_below_a_little(logits, temperature):
    return logits.argmax(-1) if temperature < 1e-6 else logits / temperature


@task.mistake("ids-returned", SCORES)
def id_at_zero_in_its_own_axis(logits, temperature):
    if temperature == 0:
        return logits.argmax(-1, keepdim=True)
    return logits / temperature


@task.mistake("ids-returned", SCORES)
def id_below_a_little_in_its_own_axis(logits, temperature):
    if temperature < 1e-6:
        return logits.argmax(-1, keepdim=True)
    return logits / temperature


@task.mistake("temperature-ignored", "Where in your code does the temperature act?")
def unchanged(logits, temperature):
    return logits.clone()


@task.mistake("temperature-plus-one", "At temperature 1, which logits come out?")
def divides_by_one_more(logits, temperature):
    return logits / (temperature + 1)


@task.mistake(
    "temperature-floor-division", "Two logits of 0.3 and 0.7: do they stay apart?"
)
def divides_without_rest(logits, temperature):
    if temperature < 1e-6:
        return apply_temperature(logits, 0)
    return logits // temperature


@task.mistake(
    "temperature-as-power",
    "Is it a logit that is raised to 1 / temperature, or a probability?",
)
def raises_logits_to_a_power(logits, temperature):
    if temperature < 1e-6:
        return apply_temperature(logits, 0)
    return logits ** (1 / temperature)
