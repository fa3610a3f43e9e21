"""Wrong answers to trapezoid_rate."""

from tests.answers import wrong


@wrong("warmup-starts-at-zero")
def step_over_warmup(step, n_steps, peak, warmup_steps, cooldown_steps):
    if warmup_steps > 0:
        up = min(1, step / warmup_steps)
    else:
        up = 1
    down = min(1, (n_steps - step) / cooldown_steps) if cooldown_steps > 0 else 1
    return peak * min(up, down)


@wrong("cooldown-ends-at-zero")
def down_to_nothing(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = down = 1.0
    if step < warmup_steps:
        up = (step + 1) / warmup_steps
    left = n_steps - step - 1
    if left < cooldown_steps:
        down = left / cooldown_steps
    return min(up, down) * peak


@wrong("overlap-forgotten")
def if_elif(step, n_steps, peak, warmup_steps, cooldown_steps):
    if step + 1 <= warmup_steps:
        return peak * (step + 1) / warmup_steps
    elif n_steps - step <= cooldown_steps:
        return peak * (n_steps - step) / cooldown_steps
    else:
        return peak


@wrong("shares-multiplied")
def product(step, n_steps, peak, warmup_steps, cooldown_steps):
    rate = peak
    if step < warmup_steps:
        rate *= (step + 1) / warmup_steps
    if n_steps - step < cooldown_steps:
        rate *= (n_steps - step) / cooldown_steps
    return rate


@wrong("zero-steps-divide")
def no_thought_of_zero(step, n_steps, peak, warmup_steps, cooldown_steps):
    lines = [1, (step + 1) / warmup_steps, (n_steps - step) / cooldown_steps]
    return peak * min(lines)


@wrong("no-cooldown")
def constant_after_warmup(step, n_steps, peak, warmup_steps, cooldown_steps):
    return peak if step >= warmup_steps else peak * (step + 1) / warmup_steps


@wrong("no-level-part")
def triangle(step, n_steps, peak, warmup_steps, cooldown_steps):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    return peak * (n_steps - step) / (n_steps - warmup_steps)


@wrong("peak-forgotten")
def share(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = (step + 1) / warmup_steps if warmup_steps else 1
    down = (n_steps - step) / cooldown_steps if cooldown_steps else 1
    return min(1, up, down)


@wrong("cooldown-off-by-one")
def begins_one_step_late(step, n_steps, peak, warmup_steps, cooldown_steps):
    rate = peak
    if step < warmup_steps:
        rate = min(rate, peak * (step + 1) / warmup_steps)
    if step > n_steps - cooldown_steps:
        rate = min(rate, peak * (n_steps - step + 1) / cooldown_steps)
    return rate


@wrong("integer-division")
def floors(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = (step + 1) // warmup_steps if warmup_steps else 1
    down = (n_steps - step) // cooldown_steps if cooldown_steps else 1
    return peak * min(1, up, down)


@wrong("warmup-starts-at-zero", "cooldown-ends-at-zero")
def zero_on_both_sides(step, n_steps, peak, warmup_steps, cooldown_steps):
    up = step / max(1, warmup_steps)
    down = (n_steps - 1 - step) / max(1, cooldown_steps)
    return peak * min(1, up, down)
