"""Interleaved rounds: every contestant runs in each round, and ratios stay inside it."""

import importlib.metadata
import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

MEASURED = Path(__file__).parent / "measured"
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
VERSIONS = ("torch", "transformers", "litgpt", "x-transformers")


def interleave(
    contestants: dict[str, Callable[[], object]], n_rounds: int = ROUNDS
) -> dict:
    """Time each contestant once a round, in an order that rotates.

    A busy neighbour then slows all alike, and the ratio inside a round survives it.

    Args:
        contestants: what to call, by name; the first is the reference.
        n_rounds: rounds that count; one more warms up.

    Returns:
        {name: {"cpu_seconds": median, "ratio": median of time / reference's time in the
        same round, "least": ..., "most": ..., "rounds": every time}}.
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
            "rounds": seconds[name],
        }
    return results


def conditions() -> dict:
    """Say on what was measured, with which load beside it."""
    cpu = platform.processor() or platform.machine()
    widest = "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.readlines()
        cpu = next(
            line.split(": ")[1].strip() for line in lines if "model name" in line
        )
        flags = next(line for line in lines if line.startswith("flags")).split()
        wide = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
        widest = "+".join(flag for flag in wide if flag in flags)
    except (OSError, StopIteration):
        pass
    found = {}
    for name in VERSIONS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return {
        "cpu": cpu,
        "vector instructions": widest,
        "threads": torch.get_num_threads(),
        "clock": "CPU time of the process",
        "load average": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        **found,
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


def run(name: str, measure: Callable[[], dict]) -> None:
    """Measure with one thread and keep the numbers in measured/NAME.json.

    Args:
        name: of the question.
        measure: returns {"tables": [Markdown], ...}, all of it for JSON.
    """
    torch.set_num_threads(1)
    started = time.time()
    result = {"conditions": conditions(), **measure()}
    result["conditions"]["load average after"] = round(os.getloadavg()[0], 1)
    result["wall_seconds"] = round(time.time() - started)
    MEASURED.mkdir(exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    (MEASURED / f"{name}.json").write_text(text, encoding="utf-8")
    print("\n".join(result["tables"]))
    print(f"{result['wall_seconds']} s")
