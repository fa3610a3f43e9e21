"""Every entry of the catalogue is a real mistake, is found, and leads somewhere."""

import os
import re
from pathlib import Path

import pytest
import torch

from course_lib.feedback import check
from course_lib.feedback.catalogue import find_task, task_names
from course_lib.feedback.diagnose import diagnose
from course_lib.feedback.observe import observe

ROOT = Path(__file__).parents[2]
TASKS = [find_task(name) for name in task_names()]
ENTRIES = [
    pytest.param(task, mistake, id=f"{task.name}-{mistake.answer.__name__}")
    for task in TASKS
    for mistake in task.mistakes
]
# Of the mistakes, one drawing of the inputs each time; three in `make long`.
SEEDS = range(3 if os.environ.get("COURSE_LONG") else 1)
every_task = pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)


def verdict(task, answer, seed):
    return diagnose(task, list(observe(task.use, answer, task.probes(seed))), seed)


@every_task
def test_the_reference_passes_whatever_the_inputs(task):
    for seed in range(3):
        assert all(verdict(task, task.reference, seed).held)


@pytest.mark.parametrize(("task", "mistake"), ENTRIES)
def test_a_mistake_fails_and_is_found_under_its_own_name(task, mistake):
    for seed in SEEDS:
        found = verdict(task, mistake.answer, seed)
        assert not all(found.held)
        assert found.mistake.id == mistake.id


@pytest.mark.parametrize(("task", "mistake"), ENTRIES)
def test_a_hint_is_a_question_and_the_heading_is_in_the_lesson(task, mistake):
    assert mistake.hint.endswith("?")
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", mistake.id)
    lesson = (ROOT / "notebooks" / "text" / f"{task.lesson}.py").read_text()
    headings = re.findall(r"^# ##+ (.+)$", lesson, re.MULTILINE)
    assert {mistake.read, task.read} <= set(headings)


@every_task
def test_a_task_knows_several_mistakes_and_tells_probes_apart(task):
    assert len({mistake.id for mistake in task.mistakes}) >= 6
    labels = [probe.label for probe in task.probes()]
    assert len(set(labels)) == len(labels) >= 5
    assert task.asks


class AlwaysEqual:
    def __init__(self, *args, **kwargs):
        pass

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **kwargs):
        return self


def first_argument(*args, **kwargs):
    return args[0] if args else None


EMPTY_ANSWERS = {
    "zero": lambda *args, **kwargs: torch.zeros(()),
    "one": lambda *args, **kwargs: 1.0,
    "empty": lambda *args, **kwargs: [],
    "true": lambda *args, **kwargs: True,
    "identity": first_argument,
    "always equal": AlwaysEqual(),
    "a class": AlwaysEqual,
}


@every_task
@pytest.mark.parametrize("kind", EMPTY_ANSWERS)
def test_an_empty_answer_scores_nothing(task, kind):
    assert check(task.name, EMPTY_ANSWERS[kind]).score == 0.0


@every_task
def test_the_first_right_value_given_to_every_question_scores_nothing(task):
    value = next(observe(task.use, task.reference, task.probes())).value
    assert check(task.name, lambda *args, **kwargs: value).score == 0.0


@every_task
def test_the_unwritten_exercise_is_not_attempted(task):
    def unwritten(*args, **kwargs):
        raise NotImplementedError

    assert "not attempted yet" in check(task.name, unwritten).message
