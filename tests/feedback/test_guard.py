"""Code without end, or that ends everything, is reported and not suffered."""

import ctypes
import os
import subprocess
import sys
import time

import psutil
import pytest
import torch

from course_lib.feedback import check
from course_lib.feedback.guard import guarded

ways = pytest.mark.parametrize("process", [True, False], ids=["process", "thread"])


def children():
    """The processes that this one has started and not waited for, zombies too."""
    return {child.pid for child in psutil.Process().children()}


def endless(scores, dim=-1):
    while True:
        pass


def huge_product(scores, dim=-1):
    matrix = torch.randn(6000, 6000)
    for _ in range(1000):
        matrix = matrix @ matrix
    return matrix


@pytest.mark.parametrize("answer", [endless, huge_product])
def test_a_loop_without_end_and_a_long_torch_call_are_stopped(answer):
    began = time.monotonic()
    result = check("softmax", answer, seconds=2)
    assert time.monotonic() - began < 20  # stopped, however busy the machine is
    assert result.property == "ends"
    assert "was not done after 2 seconds; it was at line" in result.message
    assert answer.__name__ in result.message


@ways
def test_what_came_before_the_end_is_kept(process):
    def work():
        yield 2
        yield 3
        while True:
            pass

    found, stopped = guarded(work, seconds=2, process=process)
    assert found == [2, 3]
    assert "not done after 2 seconds" in str(stopped)


@ways
def test_what_comes_to_its_end_is_whole(process):
    assert guarded(lambda: iter([2, 3, 5]), 20, process) == ([2, 3, 5], None)


def test_the_thread_that_was_too_late_is_ended():
    turns = []

    def work():
        while True:
            turns.append(1)
            time.sleep(0.001)
            yield from ()

    guarded(work, seconds=0.2, process=False)
    time.sleep(0.3)
    before = len(turns)
    time.sleep(0.3)
    assert len(turns) == before


@pytest.mark.parametrize(
    "end",
    [lambda: os._exit(0), lambda: ctypes.string_at(0), lambda: os.kill(os.getpid(), 9)],
    ids=["exit", "segmentation fault", "kill"],
)
def test_a_crash_ends_nothing_else(end):
    def crashes(scores, dim=-1):
        end()

    result = check("softmax", crashes)
    assert "ended the Python process that ran it" in result.message
    assert result.score == 0.0


def test_too_much_memory_is_an_error_of_the_answer():
    def hungry(scores, dim=-1):
        return torch.ones(2**31, 4)

    assert "allocate" in check("softmax", hungry).message


def test_what_an_answer_starts_is_ended_with_it(tmp_path):
    def leaves_a_child(scores, dim=-1):
        code = f"import time; time.sleep(1.5); open({str(tmp_path / 'late')!r}, 'w')"
        subprocess.Popen([sys.executable, "-c", code])
        return scores

    check("softmax", leaves_a_child)
    time.sleep(2.5)
    assert not (tmp_path / "late").exists()


def test_a_check_leaves_no_process_and_no_thread_count_behind():
    before = torch.get_num_threads(), children()
    check("softmax", endless, seconds=0.5)
    assert (torch.get_num_threads(), children()) == before
