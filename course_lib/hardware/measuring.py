"""How long work takes, how much memory it needs, how fast memory is read."""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from course_lib.hardware.devices import device, synchronize


@dataclass
class Timer:
    """The seconds that a `with timer()` block took, wall time and CPU time.

    Lesson: notebooks/10_kv_cache.ipynb
    """

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0


@contextlib.contextmanager
def timer(on: torch.device | None = None) -> Iterator[Timer]:
    """Measure the block under `with`, waiting for the device on both sides.

    Args:
        on: a device; None asks `device()`.

    Yields:
        A Timer; its fields, in seconds, are set when the block ends.

    Lesson: notebooks/10_kv_cache.ipynb

    >>> with timer() as took:
    ...     _ = sum(range(1000))
    >>> took.wall_seconds > 0
    True
    """
    took = Timer()
    synchronize(on)
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield took
    finally:
        synchronize(on)
        took.wall_seconds = time.perf_counter() - wall
        took.cpu_seconds = time.process_time() - cpu


def fastest_seconds(
    work: Callable[[], object], repeats: int = 3, on: torch.device | None = None
) -> float:
    """Call the work once to warm up, then several times, and time the fastest call.

    The fastest counts, since a busy machine only slows.

    Args:
        work: what to do; its result is dropped.
        repeats: timed calls, at least 1.
        on: a device; None asks `device()`.

    Returns:
        Wall seconds of one call.

    Raises:
        ValueError: repeats is smaller than 1.

    Lesson: notebooks/03_attention.ipynb

    >>> fastest_seconds(lambda: sum(range(1000))) > 0
    True
    """
    if repeats < 1:
        raise ValueError(
            f"repeats was {repeats}; time at least 1 call, or the fastest is unknown"
        )
    work()
    seconds = []
    for _ in range(repeats):
        with timer(on) as took:
            work()
        seconds.append(took.wall_seconds)
    return min(seconds)


def peak_memory_bytes(on: torch.device | None = None) -> int:
    """Return the most memory that was in use since the process (or the count) began.

    Args:
        on: a device; None asks `device()`.

    Returns:
        Bytes: on CUDA those that torch had allocated at the peak, on the CPU the
        peak resident size of the whole process.

    Note: Windows has no `resource` module; there the CPU answer is 0.

    Lesson: notebooks/15_scale.ipynb

    >>> peak_memory_bytes(torch.device("cpu")) >= 0
    True
    """
    if (on or device()).type == "cuda":
        return torch.cuda.max_memory_allocated(on)
    try:
        import resource
        import sys
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def read_bandwidth(n_bytes: int = 256_000_000, repeats: int = 5) -> float:
    """Measure how fast this device reads its memory: the floor under every decode step.

    Args:
        n_bytes: size of the buffer that is read; make it larger than the caches.
        repeats: readings; the fastest counts, since a busy machine only slows.

    Returns:
        Bytes per second.

    Lesson: notebooks/10_kv_cache.ipynb

    >>> read_bandwidth(1_000_000, repeats=1) > 0
    True
    """
    on = device()
    buffer = torch.ones(n_bytes // 4, dtype=torch.float32, device=on)
    return buffer.numel() * 4 / fastest_seconds(buffer.sum, repeats, on)
