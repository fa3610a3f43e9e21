"""The machine underneath: device, dtype, threads, time, memory and bandwidth.

The only module that knows that CUDA exists. Everything else asks it.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.distributed as dist


def device() -> torch.device:
    """Choose the best device here: CUDA where there is one, else the CPU.

    Returns:
        The device on which tensors and modules should live.

    Raises:
        RuntimeError: REQUIRE_CUDA=1 is set and no CUDA device is usable, so that a
            run that must test the GPU cannot pass quietly on the CPU.

    Lesson: notebooks/15_scale.ipynb

    >>> device().type in ("cpu", "cuda")
    True
    """
    if torch.cuda.is_available():
        return torch.device("cuda")
    if os.environ.get("REQUIRE_CUDA") == "1":
        raise RuntimeError(
            "REQUIRE_CUDA=1 asks for a CUDA device and torch sees none; "
            "check the driver and the torch build, or unset REQUIRE_CUDA"
        )
    return torch.device("cpu")


def dtype(on: torch.device | None = None) -> torch.dtype:
    """Choose the dtype that keeps a model's answers and suits the device.

    Args:
        on: a device; None asks `device()`.

    Returns:
        bfloat16 on a CUDA device that computes it natively, else float32.

    Lesson: notebooks/15_scale.ipynb

    >>> dtype(torch.device("cpu"))
    torch.float32
    """
    on = on or device()
    native = on.type == "cuda" and torch.cuda.is_bf16_supported(
        including_emulation=False
    )
    return torch.bfloat16 if native else torch.float32


def synchronize(on: torch.device | None = None) -> None:
    """Wait until the device has done all the work it was given.

    CUDA calls return before the work is done; a timer that does not wait measures
    the queue, not the work.

    Args:
        on: a device; None asks `device()`.

    Lesson: notebooks/15_scale.ipynb

    >>> synchronize(torch.device("cpu"))
    """
    if (on or device()).type == "cuda":
        torch.cuda.synchronize(on)


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


@contextlib.contextmanager
def threads(n: int) -> Iterator[None]:
    """Let torch use n CPU threads inside the block, and restore what was before.

    Args:
        n: threads, at least 1.

    Raises:
        ValueError: n is smaller than 1.

    Lesson: notebooks/10_kv_cache.ipynb

    >>> before = torch.get_num_threads()
    >>> with threads(1):
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    if n < 1:
        raise ValueError(
            f"threads was given {n}; pass a number of threads of at least 1"
        )
    before = torch.get_num_threads()
    torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def distributed() -> Iterator[tuple[int, int]]:
    """Join the other processes that torchrun started; alone, do nothing.

    Yields:
        rank, world: this process's number and how many there are; (0, 1) alone.

    Lesson: notebooks/15_scale.ipynb

    >>> with distributed() as (rank, world):
    ...     rank < world
    True
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield 0, 1
        return
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if on_gpu else "gloo")
    try:
        yield dist.get_rank(), dist.get_world_size()
    finally:
        dist.destroy_process_group()


def random_state() -> list[torch.Tensor]:
    """Read the state of torch's own generators: the CPU's, then each CUDA device's.

    Returns:
        One (n,) uint8 tensor per generator.

    Lesson: notebooks/11_training.ipynb

    >>> len(random_state()) >= 1
    True
    """
    states = [torch.get_rng_state()]
    return states + (
        torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
    )


def restore_random_state(states: list[torch.Tensor]) -> None:
    """Set torch's own generators back, so that what follows draws the same again.

    Args:
        states: what random_state returned; states of devices that are not here are
            left out.

    Lesson: notebooks/11_training.ipynb

    >>> before = random_state()
    >>> first = torch.rand(3)
    >>> restore_random_state(before)
    >>> torch.equal(torch.rand(3), first)
    True
    """
    torch.set_rng_state(states[0])
    n_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for index, state in enumerate(states[1 : n_devices + 1]):
        torch.cuda.set_rng_state(state, index)


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
    fastest = float("inf")
    for _ in range(repeats + 1):  # the first reading warms up and is rarely the best
        with timer(on) as took:
            buffer.sum()
        fastest = min(fastest, took.wall_seconds)
    return buffer.numel() * 4 / fastest
