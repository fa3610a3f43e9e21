"""Several processes at once, and the random state that each of them has."""

import contextlib
import os
import sys
from collections.abc import Iterator

import torch
import torch.distributed as dist


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


def may_fork() -> bool:
    """Tell whether this process may be forked and the child may compute.

    macOS's own libraries crash in a forked child, Windows has no fork, and CUDA, once
    in use, cannot be used in one.

    Source: Python's documentation of multiprocessing, "Contexts and start methods";
        torch's, "CUDA in multiprocessing".
    Lesson: notebooks/15_scale.ipynb

    >>> may_fork() in (True, False)
    True
    """
    return sys.platform == "linux" and not torch.cuda.is_initialized()
