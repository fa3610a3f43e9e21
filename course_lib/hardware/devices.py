"""Where to compute and in which dtype, and with how many threads."""

import contextlib
import os
from collections.abc import Iterator

import torch


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
