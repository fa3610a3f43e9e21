"""Interleaved rounds: every contestant runs in each round, and ratios stay inside it."""

import platform
import statistics
import time
from collections.abc import Callable

import torch


def interleave(contestants: dict[str, Callable[[], object]], n_rounds: int = 5) -> dict:
    """Time each contestant once a round, in an order that rotates.

    A busy neighbour then slows all alike, and the ratio inside a round survives it.

    Args:
        contestants: what to call, by name; the first is the reference.
        n_rounds: rounds that count; one more warms up.

    Returns:
        {name: {"cpu_seconds": median, "ratio": median of time / reference's time in the
        same round, "least": ..., "most": ...}}.
    """
    names = list(contestants)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for i in range(n_rounds + 1):
        turn = i % len(names)
        for name in names[turn:] + names[:turn]:
            before = time.process_time()
            contestants[name]()
            if i:
                seconds[name].append(time.process_time() - before)
    results = {}
    for name in names:
        ratios = [a / b for a, b in zip(seconds[name], seconds[names[0]], strict=True)]
        results[name] = {
            "cpu_seconds": statistics.median(seconds[name]),
            "ratio": statistics.median(ratios),
            "least": min(ratios),
            "most": max(ratios),
        }
    return results


def conditions() -> dict:
    """Say on what was measured."""
    import transformers

    cpu = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            cpu = next(
                line.split(": ")[1].strip() for line in file if "model name" in line
            )
    except (OSError, StopIteration):
        pass
    return {
        "cpu": cpu,
        "threads": torch.get_num_threads(),
        "clock": "CPU time of the process",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def table(title: str, results: dict, note: str) -> str:
    """Write results as a Markdown table."""
    rows = [f"### {title}", "", note, ""]
    rows += [
        "| | CPU-seconds | time as a multiple of course_lib's (range) |",
        "|---|---|---|",
    ]
    for name, r in results.items():
        spread = f"{r['ratio']:.2f} ({r['least']:.2f} to {r['most']:.2f})"
        rows.append(f"| {name} | {r['cpu_seconds']:.3f} | {spread} |")
    return "\n".join([*rows, ""])
