"""The machine underneath: device, dtype, threads, time, memory and bandwidth.

The only package that knows that CUDA exists. Everything else asks it.
"""

from course_lib.hardware.devices import device, dtype, synchronize, threads
from course_lib.hardware.measuring import (
    Timer,
    fastest_seconds,
    peak_memory_bytes,
    read_bandwidth,
    timer,
)
from course_lib.hardware.processes import (
    distributed,
    may_fork,
    random_state,
    restore_random_state,
)

__all__ = [
    "Timer",
    "device",
    "distributed",
    "dtype",
    "fastest_seconds",
    "may_fork",
    "peak_memory_bytes",
    "random_state",
    "read_bandwidth",
    "restore_random_state",
    "synchronize",
    "threads",
    "timer",
]
