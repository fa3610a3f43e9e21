"""Judge outcomes: which probes hold, and which known mistake behaves like this."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from course_lib.feedback.observe import Outcome, observe
from course_lib.feedback.task import Mistake, Probe, Property, Task
from course_lib.feedback.values import distinct, finite, plain, same

ENOUGH = 0.3  # of the probes on which either fails: share that must agree


@dataclass(frozen=True)
class Verdict:
    """What is known about an answer.

    held: for each probe whether the answer was right.
    mistake: the entry of the catalogue that behaves like it, or None.
    exact: it does so on every probe, not only on some that fail.
    violated: the first property that does not hold, or None.
    """

    held: tuple[bool, ...]
    mistake: Mistake | None = None
    exact: bool = False
    violated: Property | None = None

    @property
    def score(self) -> float:
        """Share of the probes that hold; 0 where the answer ignores its input."""
        if self.violated in (CONSTANT, IDENTITY):
            return 0.0
        return sum(self.held) / len(self.held)


def diagnose(task: Task, outcomes: list[Outcome], seed: int = 0) -> Verdict:
    """Compare outcomes with the reference's and, where they differ, find out why.

    An entry of the catalogue fits when it gives what the answer gave, wrong values
    included, on every probe; or, as the second choice, on many of those that fail, the
    first one among them.

    Args:
        task: what was asked.
        outcomes: one for each probe of this seed; fewer where the answer was stopped.
        seed: the seed that the probes were drawn from.
    """
    probes, wanted = task.probes(seed), expected(task, seed)
    missing = [Outcome(error="not reached")] * (len(probes) - len(outcomes))
    outcomes = [*outcomes, *missing]
    held = tuple(map(_holds, outcomes, wanted, probes))
    if all(held):
        return Verdict(held)
    violated = _violated(task, probes, outcomes)
    mistake, exact = _known(task, outcomes, held, seed)
    if not exact and violated in (CONSTANT, IDENTITY, UNTOUCHED):
        mistake = None  # what they say is plainer than a likeness in some numbers
    return Verdict(held, mistake, exact, violated)


def expected(task: Task, seed: int) -> list[Outcome]:
    """Return the reference's outcomes on the probes of this seed."""
    return _cached(task.name, task.use, task.reference, task.probes, seed)


@lru_cache(maxsize=4096)  # the whole catalogue, once
def _cached(name, use, answer, probes, seed) -> list[Outcome]:
    return list(observe(use, answer, probes(seed)))


def _holds(given: Outcome, wanted: Outcome, probe: Probe) -> bool:
    fine = given.error is None and given.attempted and not given.changed
    return fine and same(given.value, wanted.value, probe.tolerance)


def _agrees(given: Outcome, known: Outcome, probe: Probe) -> bool:
    """Tell whether both did the same, be it a wrong value or an exception."""
    if given.error and known.error:
        return _kind(given.error) == _kind(known.error)
    if given.error or known.error:
        return False
    return given.changed == known.changed and same(
        given.value, known.value, probe.tolerance
    )


def _kind(error: str) -> str:
    """Name the kind of exception; torch and course_lib differ on a wrong shape."""
    kind = error.split(":")[0]
    return "ValueError" if kind == "RuntimeError" else kind


def _known(task, outcomes, held, seed) -> tuple[Mistake | None, bool]:
    """Find the entry of the catalogue that behaves most like these outcomes."""
    probes, best, most = task.probes(seed), None, ENOUGH
    for mistake in task.mistakes:
        known = _cached(task.name, task.use, mistake.answer, task.probes, seed)
        agree = list(map(_agrees, outcomes, known, probes))
        if all(agree):
            return mistake, True
        failing = [i for i, right in enumerate(held) if not right]
        telling = any(agree[i] and finite(outcomes[i].value) for i in failing)
        either_fails = len(failing) + sum(map(operator.gt, held, agree))
        share = sum(agree[i] for i in failing) / either_fails
        # The first failing probe is the one that the learner is shown.
        if telling and agree[failing[0]] and share > most:
            best, most = mistake, share
    return best, False


def _violated(task, probes, outcomes) -> Property | None:
    values = {
        probe.label: outcome.value
        for probe, outcome in zip(probes, outcomes, strict=True)
        if outcome.error is None and outcome.attempted
    }
    if any(outcome.changed for outcome in outcomes):
        return UNTOUCHED
    for known in (CONSTANT, IDENTITY):
        if not known.holds({"probes": probes, "values": values}):
            return known
    for known in task.properties:
        if not _safely(known.holds, values):
            return known
    return None


def _safely(holds: Callable, values: dict) -> bool:
    """Call a property's test; a missing probe or an odd shape says nothing."""
    try:
        return bool(holds(values))
    except (KeyError, IndexError, RuntimeError, TypeError, ValueError, AttributeError):
        return True


def _depends(seen: dict) -> bool:
    values = list(seen["values"].values())
    if len(values) < 2:
        return True
    numbers = set().union(*map(distinct, values))
    return len(numbers) > 1 and not all(same(value, values[0]) for value in values[1:])


def _does_something(seen: dict) -> bool:
    inputs = {probe.label: plain(probe.args) for probe in seen["probes"]}
    return not seen["values"] or not all(
        inputs[label] and same(value, inputs[label][0])
        for label, value in seen["values"].items()
    )


CONSTANT = Property(
    "result-depends-on-input", "Does your result depend on what was put in?", _depends
)
IDENTITY = Property(
    "result-differs-from-input",
    "What does your function do to its first argument?",
    _does_something,
)
UNTOUCHED = Property(
    "inputs-kept", "Whose numbers did you write into?", lambda values: True
)
