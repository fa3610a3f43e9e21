"""Answers that were written without sight of the catalogue: what `check` makes of them."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

from course_lib.feedback.catalogue import find_task, module_of, task_names
from course_lib.feedback.diagnose import diagnose
from course_lib.feedback.observe import observe
from tests.answers import answers

NAMES = {find_task(name).name for name in task_names()}
NAMED = {
    module_of(name): table
    for name, table in tomllib.loads(
        Path(__file__).with_name("named.toml").read_text()
    ).items()
}
BY_FILE = {module_of(name): name for name in NAMES}


@cache  # two tests judge the same answers
def verdict(name, answer, seed=0):
    """Judge in this process: what `check` does, without the guard."""
    task = find_task(name)
    return diagnose(task, list(observe(task.use, answer, task.probes(seed))), seed)


def params(folder, mark):
    return [
        pytest.param(BY_FILE[module], answer, id=f"{module}-{answer.__name__}")
        for module, answer in answers(folder, mark)
    ]


WRONG, RIGHT = params("wrong_answers", "mistakes"), params("right_answers", "way")


@pytest.mark.parametrize(("name", "answer"), WRONG)
def test_a_wrong_answer_is_rejected_with_a_question_or_a_property(name, answer):
    assert not all(verdict(name, answer).held), answer.mistakes


@pytest.mark.parametrize(("name", "answer"), RIGHT)
def test_a_right_answer_is_accepted_however_it_is_written(name, answer):
    for seed in range(3):
        assert all(verdict(name, answer, seed).held)


def test_each_function_has_enough_answers_of_both_kinds():
    for name in NAMES:
        assert sum(param.values[0] == name for param in WRONG) >= 6, name
        assert sum(param.values[0] == name for param in RIGHT) >= 3, name


def test_the_message_points_at_the_mistake_nine_times_out_of_ten():
    """Of the answers with one mistake; which names point at it was judged by hand."""
    single = [param.values for param in WRONG if len(param.values[1].mistakes) == 1]
    judged = [(name, answer) for name, answer in single if module_of(name) in NAMED]
    pointed = sum(points_at(name, answer) for name, answer in judged)
    assert len(judged) > 1000
    assert pointed >= 0.9 * len(judged), f"{pointed} of {len(judged)}"


def points_at(name, answer):
    found = verdict(name, answer)
    fine = [*NAMED[module_of(name)].get(answer.mistakes[0], []), answer.mistakes[0]]
    if found.mistake:
        return found.mistake.id in fine
    return found.violated is not None and f"property:{found.violated.id}" in fine
