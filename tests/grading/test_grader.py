"""Marks are fair, can be made again, and survive a kill."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.feedback.catalogue import find_task, task_names
from course_lib.feedback.values import Unreadable, same
from course_lib.grading import batch
from course_lib.grading.assignment import find_assignment
from course_lib.grading.batch import BatchError, grade_class, read_results
from course_lib.grading.grader import grade, tasks_for
from course_lib.grading.submissions import Submission, find_submissions
from course_lib.grading.view import clear_views
from course_lib.grading.wire import WireError, decode, encode
from tests.grading.attacks import NAMES, ROOT, solved
from tests.grading.conftest import run_as_ordinary_user

ASSIGNMENTS = sorted(path.parent.name for path in ROOT.glob("solutions/*/*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ASSIGNMENTS)
def test_the_worked_solution_gets_all_points_and_the_release_none(name):
    assignment = find_assignment(name)
    for folder, status, score in (
        ("solutions", "graded", 1.0),
        ("exercises", "missing", None),
    ):
        (path,) = (ROOT / folder / name).glob("*.ipynb")
        cells = nbformat.read(path, 4).cells
        sources = tuple(cell.source for cell in cells if cell.cell_type == "code")
        marks = grade(Submission("ada", sources), assignment, 20261130, "none")
        assert {(mark.status, mark.score) for mark in marks} == {(status, score)}
        assert [mark.exercise for mark in marks] == list(assignment.points)


def wrong_and_right():
    wrong = "def packed_mask(ids):\n    return ids[:, None] == ids[None, :]"
    return Submission("ada", (*solved(), wrong))


@pytest.mark.slow
def test_a_known_mistake_is_named_and_a_seed_gives_the_same_mark_again():
    assignment = find_assignment("02_masks")
    first = grade(wrong_and_right(), assignment, 5, "none")
    again = grade(wrong_and_right(), assignment, 5, "none")
    other = grade(wrong_and_right(), assignment, 6, "none")
    assert first == again
    assert first[0].mistake == other[0].mistake is not None
    assert 0 < first[0].score < 1
    assert [mark.score for mark in first[1:]] == [1.0] * 3
    assert "Ask yourself" in first[0].message


@pytest.mark.slow
def test_no_answer_travels_with_the_probes():
    """In what is sent, no code of a reference or of a known mistake can be found."""
    looked_at = 0
    for name in task_names():
        task, sent = find_task(name), tasks_for([name], 0)
        for answer in (task.reference, *(one.answer for one in task.mistakes)):
            code = getattr(answer, "__code__", None)
            if code and len(code.co_code) >= 40:  # shorter ones are like many others
                looked_at += 1
                assert code.co_code not in sent, (name, answer.__qualname__)
        ((again, use, inputs),) = pickle.loads(sent)
        assert again == name
        assert len(inputs) == len(task.probes(0))
    assert looked_at > 1000


def test_a_value_comes_back_as_it_was():
    for dtype in (
        torch.bool,
        torch.int64,
        torch.float16,
        torch.bfloat16,
        torch.float64,
    ):
        value = torch.tensor([[0, 1], [1, 0]]).to(dtype)
        back = decode(json.loads(json.dumps(encode(value))))
        assert back.dtype == dtype
        assert torch.equal(back, value)
    odd = [1, 2.5, True, None, "a", [], {"b": torch.zeros(0, 3)}, float("inf"), -0.0]
    back = decode(json.loads(json.dumps(encode(odd))))
    assert back[:6] == odd[:6]
    assert back[6]["b"].shape == (0, 3)
    assert back[7:] == odd[7:]
    assert same(decode(json.loads(json.dumps(encode(float("nan"))))), float("nan"))
    assert isinstance(decode(encode(torch.ones(2, dtype=torch.complex64))), Unreadable)
    assert isinstance(decode(encode(torch.ones(10**6))), Unreadable)


@pytest.mark.parametrize(
    "forged",
    [
        {"dtype": "float32", "shape": [2], "numbers": [1.0]},
        {"dtype": "float32", "shape": [-1], "numbers": [1.0]},
        {"dtype": "object", "shape": [1], "numbers": [1.0]},
        {"dtype": "float32", "shape": [1], "numbers": ["x"]},
        {"dtype": "float32", "shape": [10**12, 0], "numbers": []},
        {"dtype": "float32", "shape": [6] * 19 + [0], "numbers": []},
        {"dtype": "float32", "shape": [15_000, 15_000, 0], "numbers": []},
        {"dtype": "int64", "shape": [1], "numbers": [10**30]},
        {"dtype": ["float32"], "shape": 1, "numbers": {}},
        {"parts": [1]},
        {"parts": {"a": 1}},
        {"eval": "1"},
        {},
    ],
    ids=str,
)
def test_a_forged_value_is_refused(forged):
    with pytest.raises(WireError):
        decode(forged)


def test_a_number_beyond_all_floats_is_compared_without_an_error():
    assert not same(10**400, 1.0)
    assert not same([10**400], [1.0])


@pytest.fixture
def class_of_eight(open_folder, tmp_path_factory):
    folder = open_folder / f"eight{time.monotonic_ns()}"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    (folder / "in").mkdir()
    for i in range(8):
        cells = [new_code_cell(cell) for cell in solved()]
        (folder / "in" / f"s{i}.ipynb").write_text(
            nbformat.writes(new_notebook(cells=cells))
        )
    return folder


@pytest.mark.slow
def test_after_a_kill_nothing_is_lost_and_nothing_graded_twice(class_of_eight):
    folder, out = class_of_eight, class_of_eight / "results.jsonl"
    command = [sys.executable, "-m", "course_lib", "grade", "02_masks", "--submissions"]
    command += [folder / "in", "--out", out, "--trust-submissions", "--jobs", "2"]
    kills = 0
    for _ in range(20):
        resume = ["--resume"] if out.exists() else []
        process = subprocess.Popen(
            [*command, *resume], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        had = out.read_bytes().count(b"\n") if out.exists() else 0
        while process.poll() is None and kills < 3:
            time.sleep(0.05)
            if out.exists() and out.read_bytes().count(b"\n") > had + 1:
                process.send_signal(signal.SIGKILL)
                with out.open("ab") as file:
                    file.write(b'{"student": "s7", "assi')  # cut off in the middle
                kills += 1
        if process.wait() == 0:
            break
    students = [json.loads(line)["student"] for line in out.read_text().splitlines()]
    assert kills >= 2
    assert sorted(students) == [f"s{i}" for i in range(8)]
    marks = read_results(out)
    assert len({mark.seed for one in marks.values() for mark in one}) == 1
    assert all(mark.score == 1 for one in marks.values() for mark in one)


@pytest.mark.slow
def test_a_cluster_gives_the_same_marks_though_a_worker_dies(
    class_of_eight, monkeypatch
):
    distributed = pytest.importorskip("distributed")
    out, assignment = class_of_eight / "results.jsonl", find_assignment("02_masks")
    found = find_submissions(class_of_eight / "in", NAMES)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        dashboard_address=None,
        local_directory=str(class_of_eight),
    ) as cluster:
        whole, killed = batch._write, []

        def write(*args):
            whole(*args)
            if not killed:
                killed.append(True)
                list(cluster.workers.values())[0].process.process.kill()

        monkeypatch.setattr(batch, "_write", write)
        failed = grade_class(
            *(found, assignment, out, 3, "none"), scheduler=cluster.scheduler_address
        )
    assert killed
    assert not failed
    students = [json.loads(line)["student"] for line in out.read_text().splitlines()]
    assert sorted(students) == [f"s{i}" for i in range(8)]
    assert all(mark.score == 1 for one in read_results(out).values() for mark in one)


@pytest.mark.slow
def test_what_a_killed_grader_left_is_taken_away_by_the_next(tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    old, own, other = (
        tmp_path / f"course-view-{name}"
        for name in (f"{ended.pid}-a", f"{os.getpid()}-b", "x")
    )
    for folder in (old, own, other):
        (folder / "course_lib").mkdir(parents=True)
    clear_views(tmp_path)
    assert not old.exists()
    assert own.exists()
    assert other.exists()


@pytest.mark.slow
def test_a_batch_goes_on_where_the_grader_itself_fails(tmp_path, monkeypatch):
    real = batch.grade

    def fails_on_one(submission, *rest):
        if submission.student == "bob":
            raise ZeroDivisionError("a fault of ours")
        return real(submission, *rest)

    monkeypatch.setattr(batch, "grade", fails_on_one)
    two = [Submission(name, tuple(solved())) for name in ("ada", "bob")]
    out = tmp_path / "results.jsonl"
    assert grade_class(two, find_assignment("02_masks"), out, 1, "none") == ["bob"]
    marks = read_results(out)
    assert [mark.score for mark in marks["ada"]] == [1.0] * 4
    assert {mark.status for mark in marks["bob"]} == {"unreadable"}
    assert "a fault of ours" in marks["bob"][0].message


def test_a_results_file_is_not_written_over_nor_mixed(tmp_path):
    out, masks = tmp_path / "results.jsonl", find_assignment("02_masks")
    absent = [Submission("ada", (), "missing", "nothing was handed in")]
    grade_class(absent, masks, out, 1, "none")
    with pytest.raises(BatchError, match="--resume"):
        grade_class(absent, masks, out, 1, "none")
    with pytest.raises(BatchError, match="begun with --seed 1"):
        grade_class(absent, masks, out, 2, "none", resume=True)
    with pytest.raises(BatchError, match="is of 02_masks"):
        grade_class(absent, find_assignment("01_softmax"), out, 1, "none", resume=True)
    grade_class(absent, masks, out, 1, "none", resume=True)
    assert len(out.read_text().splitlines()) == 1
    out.write_text("no json\n")
    with pytest.raises(BatchError, match="see line 1"):
        read_results(out)


def test_an_unknown_assignment_and_an_empty_folder_are_named(tmp_path):
    with pytest.raises(
        ValueError, match="no assignment '02_mask'; there is 01_softmax"
    ):
        find_assignment("02_mask")
    with pytest.raises(ValueError, match="there is no assignment"):
        find_assignment("../exercises/02_masks")
    with pytest.raises(ValueError, match="holds no submission"):
        find_submissions(tmp_path, NAMES)
    with pytest.raises(ValueError, match="no folder"):
        find_submissions(tmp_path / "x", NAMES)


@pytest.mark.slow
def test_a_list_of_students_tells_who_handed_nothing_in(sandbox, class_of_eight):
    (class_of_eight / "list.txt").write_text("s0\nzoe\n\n")
    out = class_of_eight / "results.jsonl"
    done = run_as_ordinary_user(
        *[
            "-m",
            "course_lib",
            "grade",
            "02_masks",
            "--submissions",
            class_of_eight / "in",
        ],
        *["--out", out, "--jobs", "2", "--students", class_of_eight / "list.txt"],
    )
    assert done.returncode == 0, done.stderr
    assert "32 graded, 4 missing" in done.stdout
    assert {mark.status for mark in read_results(out)["zoe"]} == {"missing"}
