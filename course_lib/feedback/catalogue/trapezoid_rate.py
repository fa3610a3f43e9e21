"""What goes wrong in trapezoid_rate: up, level, and down again."""

import math

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def trapezoid_rate(step, n_steps, peak, warmup_steps, cooldown_steps):
    rate = peak
    if step < warmup_steps:
        rate = min(rate, peak * (step + 1) / warmup_steps)
    if step >= n_steps - cooldown_steps:
        rate = min(rate, peak * (n_steps - step) / cooldown_steps)
    return rate


def use_schedule(answer, n_steps, peak, warmup_steps, cooldown_steps) -> list[float]:
    """Ask for the rate of every step of a run."""
    return [
        float(written(answer(step, n_steps, peak, warmup_steps, cooldown_steps)))
        for step in range(n_steps)
    ]


task = Task(
    "trapezoid_rate",
    asks="the rate of a step: up in a line, level at the peak, down in a line. Below are "
    "the rates of all steps, from 0 to n_steps - 1.",
    lesson="11_training",
    reference=trapezoid_rate,
    use=use_schedule,
    read="7. The loop",
)

FIRST = "How large is the rate of step 0: does that update do anything?"
LAST = "How large is the rate of the last step: does that update do anything?"
OVERLAP = "Where both slopes want a say, which of the two lines is lower?"
FALL = "Count the steps below the peak at the end, the last one included: how many?"


@task.inputs
def probes(draw: Draw):
    peak = round(0.1 + 0.9 * float(draw.normal(1).sigmoid()), 2)
    level = draw.size(2, 6)
    yield Probe("2 up, 4 down, 8 steps", 8, peak, 2, 4)
    yield Probe("no cool-down", 3 + level, peak, 3, 0)
    yield Probe("no warm-up", 5 + level, peak, 0, 5)
    yield Probe("neither", 1 + level, peak, 0, 0)
    yield Probe("both overlap", 6, peak, 4, 5)
    yield Probe("a warm-up longer than the run", 3, peak, 7, 2)
    yield Probe("a cool-down longer than the run", 4, peak, 1, 9)
    yield Probe("a long run", 20 + level, peak, 5, 13)


@task.property("never-above-the-peak", "May a rate be larger than the peak?")
def never_above_the_peak(values) -> bool:
    return max(values["a long run"]) <= max(values["neither"]) + 1e-6


@task.property("every-step-learns", "Which step has a rate of 0 or less?")
def every_step_learns(values) -> bool:
    return all(rate > 0 for rates in values.values() for rate in rates)


@task.property("same-read-backwards", "Is the cool-down a warm-up read backwards?")
def ends_as_it_should(values) -> bool:
    rates = values["a cool-down longer than the run"]
    return abs(rates[-1] * 4 - rates[-4]) < 1e-5


@task.mistake("warmup-starts-at-zero", FIRST)
def rises_from_zero(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = step / warmup_steps if warmup_steps else 1.0
    fall = (n_steps - step) / max(cooldown_steps, 1)
    return peak * min(1.0, rise, fall)


@task.mistake("cooldown-ends-at-zero", LAST)
def falls_to_zero(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (n_steps - 1 - step) / cooldown_steps if cooldown_steps else 1.0
    return peak * min(1.0, rise, fall)


@task.mistake("cooldown-ends-at-zero", LAST)
def falls_to_zero_from_its_first_step(
    step, n_steps, peak, warmup_steps, cooldown_steps
):
    done = step - (n_steps - cooldown_steps)
    rise = min(1.0, (step + 1) / max(warmup_steps, 1))
    return peak * min(rise, 1 - (done + 1) / cooldown_steps if done >= 0 else 1.0)


@task.mistake("cooldown-off-by-one", FALL)
def one_step_longer(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (n_steps - step) / (cooldown_steps + 1)
    return peak * min(1.0, rise, fall)


@task.mistake("cooldown-off-by-one", FALL)
def falls_late(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (n_steps - step + 1) / max(cooldown_steps, 1)
    return peak * min(1.0, rise, fall)


@task.mistake("overlap-forgotten", OVERLAP)
def warmup_first(step, n_steps, peak, warmup_steps, cooldown_steps):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    if step >= n_steps - cooldown_steps:
        return peak * (n_steps - step) / cooldown_steps
    return peak


@task.mistake("overlap-forgotten", OVERLAP)
def cooldown_first(step, n_steps, peak, warmup_steps, cooldown_steps):
    if step >= n_steps - cooldown_steps:
        return peak * (n_steps - step) / cooldown_steps
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return peak


@task.mistake("shares-multiplied", OVERLAP)
def both_at_once(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = min(1.0, (step + 1) / max(warmup_steps, 1))
    fall = min(1.0, (n_steps - step) / max(cooldown_steps, 1))
    return peak * rise * fall


@task.mistake("zero-steps-divide", "By what do you divide where a slope has no steps?")
def divides_by_zero(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise, fall = (step + 1) / warmup_steps, (n_steps - step) / cooldown_steps
    return peak * min(1.0, rise, fall)


@task.mistake("no-cooldown", "What does the rate do at the end of the run?")
def never_falls(step, n_steps, peak, warmup_steps, cooldown_steps):
    return peak * min(1.0, (step + 1) / max(warmup_steps, 1))


@task.mistake("no-warmup", "What does the rate do at the start of the run?")
def never_rises(step, n_steps, peak, warmup_steps, cooldown_steps):
    return peak * min(1.0, (n_steps - step) / max(cooldown_steps, 1))


@task.mistake("no-level-part", "Where does the fall begin, and what is before it?")
def falls_from_the_warmup_on(step, n_steps, peak, warmup_steps, cooldown_steps):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return peak * (n_steps - step) / (n_steps - warmup_steps)


@task.mistake("peak-exceeded", "May a rate be larger than the peak?")
def no_limit(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = (step + 1) / max(warmup_steps, 1)
    return peak * min(rise, (n_steps - step) / max(cooldown_steps, 1))


@task.mistake("peak-forgotten", "Is a share or a rate asked for?")
def only_the_share(step, n_steps, peak, warmup_steps, cooldown_steps):
    return trapezoid_rate(step, n_steps, 1.0, warmup_steps, cooldown_steps)


@task.mistake("cosine-for-line", "Along which curve does this cool-down fall?")
def half_a_cosine(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = min(1.0, (step + 1) / max(warmup_steps, 1))
    left = min(1.0, (n_steps - step) / max(cooldown_steps, 1))
    return peak * min(rise, (1 - math.cos(math.pi * left)) / 2)


@task.mistake(
    "floor-of-the-cosine-kept", "Does this cool-down stop above its last line?"
)
def a_floor_of_a_tenth(step, n_steps, peak, warmup_steps, cooldown_steps):
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (n_steps - step) / max(cooldown_steps, 1)
    return peak * min(1.0, rise, max(fall, 0.1))
