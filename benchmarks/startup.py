"""Measure what a learner waits for, and write benchmarks/STARTUP.md.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.startup

Each is timed in processes that start anew, after one that fills the file cache.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import imports
from benchmarks.rounds import conditions
from tests.browser.lab import serve_lab

HERE = Path(__file__).parent
ROUNDS = 5
RIGHT = "from course_lib.softmax import softmax as answer"
WRONG = "def answer(scores, dim=-1): return scores.exp() / scores.exp().sum(dim, True)"
CHECK = """
import time
from course_lib.feedback import check
{answer}
before = time.process_time()
first = check("softmax", answer)
between = time.process_time()
again = check("softmax", answer)
print(first.passed, between - before, time.process_time() - between)
"""


def in_new_process(code: str) -> list[str]:
    """Run code in a new process; return the words that it printed last."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()[-1].split()


def check_seconds(answer: str, passes: bool) -> tuple[float, float]:
    """Give the CPU-seconds of the first check of an answer in a kernel, and the next."""
    runs = []
    for _ in range(ROUNDS):
        passed, *seconds = in_new_process(CHECK.format(answer=answer))
        assert passed == str(passes)
        runs.append([float(one) for one in seconds])
    return tuple(statistics.median(column) for column in zip(*runs, strict=True))


def lab_seconds() -> float:
    """Give the wall seconds from the start of JupyterLab to its first answer."""
    seconds = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as home:
            before = time.perf_counter()
            with serve_lab(Path(home)):
                seconds.append(time.perf_counter() - before)
    return statistics.median(seconds)


def main() -> None:
    """Measure everything, write STARTUP.md and startup.json."""
    found = imports.measure(ROUNDS)
    rows = {
        "`import torch` (CPU)": found["torch_seconds"],
        "the library's modules, on top of it (CPU)": found["added_seconds"],
    }
    for kind, answer, passes in (("right", RIGHT, True), ("wrong", WRONG, False)):
        first, again = check_seconds(answer, passes)
        rows[f"first `check` of a {kind} answer in a kernel (CPU)"] = first
        rows[f"the same {kind} answer checked again (CPU)"] = again
    rows["JupyterLab, from its start to its first answer (wall)"] = lab_seconds()
    where = ", ".join(f"{k} {v}" for k, v in conditions().items() if k != "clock")
    table = [
        "# What a learner waits for",
        "",
        f"Written by `python -m benchmarks.startup`; see there. Medians of {ROUNDS} runs.",
        "",
        f"Measured with: {where}.",
        "",
        "| | seconds |",
        "|---|---|",
        *[f"| {name} | {seconds:.2f} |" for name, seconds in rows.items()],
        "",
    ]
    (HERE / "STARTUP.md").write_text("\n".join(table), encoding="utf-8")
    (HERE / "startup.json").write_text(json.dumps(rows, indent=1) + "\n")
    print("\n".join(table))


if __name__ == "__main__":
    main()
