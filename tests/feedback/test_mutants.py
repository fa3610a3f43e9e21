"""The table of mutants says what is so: its code is there, its list is the list."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import mutants  # noqa: E402  tools/mutants.py

REASONS = mutants.Reasons(mutants.REASONS.read_text(encoding="utf-8"))
ANSWERS = mutants.answers()
ROWS = mutants.stored()


def text(task):
    """Set all that answers a task on one line, as the list's lines are."""
    pieces = [piece for a in ANSWERS if a.task == task for piece in a.pieces]
    lines = "\n".join(source for _, source in pieces).splitlines()
    return " ".join(line.strip() for line in lines)


def made(source, lines=None):
    """Break a source in all ways: (line, what it becomes)."""
    mutators = pytest.importorskip("mutators", reason="needs mutmut: extra `mutants`")
    return {
        (mutant.line, mutant.becomes)
        for mutant in mutators.mutants(source, lines)
        if not mutant.by_rule
    }


# The committed table ---------------------------------------------------------------


@pytest.mark.parametrize("task", REASONS.survivors)
def test_a_listed_survivor_stands_in_the_code(task):
    for (line, _), why in REASONS.of(task).items():
        assert line in text(task)
        assert why


def test_what_is_left_alone_stands_in_the_library_and_has_a_reason():
    library = {a.task for a in ANSWERS if a.place.startswith("course_lib.")}
    for task, statements in REASONS.beyond.items():
        assert task in library
        for line, why in statements.items():
            assert line in text(task)
            assert why


def test_the_table_holds_the_list_and_a_row_for_each_answer():
    assert mutants.listed(REASONS) in mutants.TABLE.read_text(encoding="utf-8")
    assert list(ROWS) == [(a.task, a.place) for a in ANSWERS]


def test_nineteen_of_twenty_mutants_are_noticed_and_each_other_one_has_a_reason():
    rows = list(ROWS.values())
    assert sum(row.made - row.by_rule for row in rows) > 3000
    assert mutants.share(rows) >= mutants.GOAL
    assert [row for row in rows if row.without] == []


# How mutants are made and judged -----------------------------------------------------


@pytest.mark.parametrize(
    ("line", "becomes"),
    [
        ("x = y + 1", "x = y - 1"),
        ("x = y + 1", "x = y + 2"),
        ("x = y + 1", "x = y + 0"),
        ("x[2] = y", "pass"),
        ("x.append(y)", "pass"),
        ("x = f(y, z)", "x = f(z, y)"),
        ("x = f(y, dim=z)", "x = f(y, )"),
        ("x = y[2:5]", "x = y[:5]"),
        ("x = y[2:5]", "x = y[2:]"),
        ("x = y.amax(z)", "x = y.amin(z)"),
        ("x = [i for i in y if i < z]", "x = [i for i in y if not (i < z)]"),
        ("x = y < z", "x = y <= z"),
        ("x = y and z", "x = y or z"),
        ("x = not y", "x = y"),
        ("x = True", "x = False"),
    ],
)
def test_a_slip_of_the_pen_is_made(line, becomes):
    assert (line, becomes) in made(line)


@pytest.mark.parametrize(
    "source",
    [
        'def f():\n    """Say 1."""',
        "def f(x: list[1]): ...",
        "if x < 2:\n    raise ValueError(f'x was {x}', 3)",
        "check_sizes(x, 2)",
        "model.check(x, 2)",
    ],
)
def test_words_and_validation_are_not_tried(source):
    assert made(source) == set()


def test_where_a_tensor_lives_is_not_tried():
    changes = made("x = torch.zeros(2, device=y)")
    assert ("x = torch.zeros(3, device=y)") in {becomes for _, becomes in changes}
    assert all("device=y" in after or "zeros" not in after for _, after in changes)


def test_only_the_lines_between_the_markers_change():
    source = "x = 1\n### BEGIN SOLUTION\nx = 2\n### END SOLUTION\nx = 3"
    lines = mutants.right_answers.answered(source)
    assert {line for line, _ in made(source, lines)} == {"x = 2"}


def test_the_answer_itself_passes_and_a_broken_one_does_not():
    answer = next(a for a in ANSWERS if a.task == "n_readable")
    ((head, source),) = answer.pieces
    names = answer.names()
    assert mutants.passes("n_readable", names, [(head, source)])
    broken = source.replace("short + 1", "short - 1")
    assert broken != source
    assert not mutants.passes("n_readable", names, [(head, broken)])


def test_an_unknown_name_is_told_in_a_sentence(capsys):
    assert mutants.main(["sofmax"]) == 2
    assert capsys.readouterr().err == "no exercise is called sofmax\n"
