"""Hardware: which device, how long, how much memory; and threads that come back."""

import contextlib
import re
import time
from pathlib import Path

import pytest
import torch

from course_lib import hardware


@pytest.fixture
def no_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.delenv("REQUIRE_CUDA", raising=False)


@pytest.fixture
def cuda_calls(monkeypatch):
    """Pretend to have a CUDA device, and write down who waits for it."""
    calls = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda on=None: calls.append("wait"))
    return calls


# -- device and dtype ---------------------------------------------------------------


def test_the_best_device_is_cuda_where_there_is_one(cuda_calls):
    assert hardware.device() == torch.device("cuda")


def test_without_cuda_the_device_is_the_cpu(no_cuda):
    assert hardware.device() == torch.device("cpu")


def test_require_cuda_raises_instead_of_falling_back(no_cuda, monkeypatch):
    monkeypatch.setenv("REQUIRE_CUDA", "1")
    with pytest.raises(RuntimeError, match="asks for a CUDA device.*torch sees none"):
        hardware.device()
    monkeypatch.setenv("REQUIRE_CUDA", "0")
    assert hardware.device().type == "cpu"


def test_require_cuda_is_content_with_cuda(cuda_calls, monkeypatch):
    monkeypatch.setenv("REQUIRE_CUDA", "1")
    assert hardware.device().type == "cuda"


@pytest.mark.parametrize("native", [True, False])
def test_a_cuda_device_gets_bfloat16_only_if_it_computes_it_natively(
    cuda_calls, monkeypatch, native
):
    def supported(including_emulation=True):
        return native or including_emulation

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    expected = torch.bfloat16 if native else torch.float32
    assert hardware.dtype() == expected
    assert hardware.dtype(torch.device("cuda")) == expected
    assert hardware.dtype(torch.device("cpu")) == torch.float32


# -- time ---------------------------------------------------------------------------


def test_only_cuda_is_waited_for(cuda_calls):
    hardware.synchronize(torch.device("cpu"))
    assert cuda_calls == []
    hardware.synchronize()
    hardware.synchronize(torch.device("cuda"))
    assert cuda_calls == ["wait", "wait"]


def test_a_timer_waits_for_the_device_before_and_after(cuda_calls, monkeypatch):
    clock = iter([10.0, 17.0])
    monkeypatch.setattr(
        time, "perf_counter", lambda: cuda_calls.append("read") or next(clock)
    )
    with hardware.timer() as took:
        cuda_calls.append("work")
    assert cuda_calls == ["wait", "read", "work", "wait", "read"]
    assert took.wall_seconds == 7.0


def test_a_timer_tells_waiting_from_computing():
    with hardware.timer(torch.device("cpu")) as slept:
        time.sleep(0.2)
    assert 0.2 <= slept.wall_seconds < 5
    assert 0 <= slept.cpu_seconds < 0.15
    with hardware.timer(torch.device("cpu")) as worked:
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
    assert 0.2 <= worked.cpu_seconds <= worked.wall_seconds * 2


def test_a_timer_counts_a_block_that_raises():
    with pytest.raises(KeyError), hardware.timer(torch.device("cpu")) as took:  # noqa: PT012
        time.sleep(0.01)
        raise KeyError
    assert took.wall_seconds >= 0.01


# -- threads ------------------------------------------------------------------------


def test_threads_are_set_inside_and_restored_after():
    before = torch.get_num_threads()
    with hardware.threads(before + 2):
        assert torch.get_num_threads() == before + 2
        with hardware.threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == before + 2
    assert torch.get_num_threads() == before


def test_threads_are_restored_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(KeyError), hardware.threads(before + 1):
        raise KeyError
    assert torch.get_num_threads() == before


@pytest.mark.parametrize("n", [0, -1])
def test_less_than_one_thread_is_refused(n):
    with (
        pytest.raises(ValueError, match=f"threads was given {n}; pass .* at least 1"),
        hardware.threads(n),
    ):
        pass


def test_alone_a_process_is_the_first_of_one(monkeypatch):
    for alone in ("1", None):
        monkeypatch.delenv("WORLD_SIZE", raising=False)
        if alone:
            monkeypatch.setenv("WORLD_SIZE", alone)
        with hardware.distributed() as (rank, world):
            assert (rank, world) == (0, 1)


# -- memory -------------------------------------------------------------------------


def test_peak_memory_is_the_kernels_high_water_mark_in_bytes():
    status = Path("/proc/self/status")
    if not status.exists():
        pytest.skip("the kernel's own count is read from /proc, which is Linux only")
    expected = 1024 * int(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1])
    actual = hardware.peak_memory_bytes(torch.device("cpu"))
    # A process starts with the mark of the one that started it: never much less.
    assert 0.9 * expected < actual < 100 * expected


def test_peak_memory_on_cuda_is_what_torch_allocated(cuda_calls, monkeypatch):
    monkeypatch.setattr(torch.cuda, "max_memory_allocated", lambda on=None: 7)
    assert hardware.peak_memory_bytes() == 7
    assert hardware.peak_memory_bytes(torch.device("cuda")) == 7
    assert hardware.peak_memory_bytes(torch.device("cpu")) > 7


@pytest.fixture
def stopwatch(monkeypatch):
    """Let the timer say the seconds that a test puts on this list."""
    seconds = []

    @contextlib.contextmanager
    def stopped(on=None):
        yield hardware.Timer(wall_seconds=seconds.pop(0))

    monkeypatch.setattr("course_lib.hardware.measuring.timer", stopped)
    return seconds


def test_the_fastest_call_counts_and_the_first_is_not_timed(no_cuda, stopwatch):
    stopwatch.extend([4.0, 0.5, 1.0])
    calls = []
    assert hardware.fastest_seconds(lambda: calls.append(1), repeats=3) == 0.5
    assert stopwatch == []
    assert len(calls) == 4


def test_no_timed_call_is_refused(no_cuda):
    with pytest.raises(ValueError, match="repeats was 0"):
        hardware.fastest_seconds(list, repeats=0)


def test_the_fastest_reading_is_the_bandwidth(no_cuda, stopwatch, monkeypatch):
    stopwatch.extend([2.0, 0.5, 1.0])
    readings = []
    monkeypatch.setattr(torch.Tensor, "sum", lambda read: readings.append(read.nbytes))
    assert hardware.read_bandwidth(n_bytes=3000, repeats=3) == 6000
    assert stopwatch == []
    assert readings == [3000] * 4


def test_bandwidth_is_measured_in_bytes_per_second(no_cuda):
    """Slower than 10 MB/s or faster than 100 TB/s is no memory."""
    assert 1e7 < hardware.read_bandwidth(10_000_000, repeats=2) < 1e14
