"""Measure how soon each demo is ready and redrawn, and write benchmarks/DEMOS.md.

    OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.demos

Each demo starts in a process of its own, as it does in a fresh kernel: its imports, the
weights, whatever it trains, the first picture. Then every control is moved.
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.rounds import conditions

HERE = Path(__file__).parent
DEMOS = sorted(
    path.stem for path in (HERE.parent / "notebooks" / "demos").glob("*.ipynb")
)
LONGEST_SECONDS = 10  # what a lecturer waits for
PROGRAM = """
import importlib, json, sys, time
began = time.perf_counter()
demo = importlib.import_module("course_lib.demos." + sys.argv[1]).demo()
ready = time.perf_counter() - began
redraws = []
for at in range(len(demo.steps)):
    for revealed in (False, True):
        began = time.perf_counter()
        demo.view.look(**demo.look_of(at, revealed))
        redraws.append(time.perf_counter() - began)
print(json.dumps([ready, redraws]))
"""


def measure(name: str) -> tuple[float, list[float]]:
    """Give the seconds until a demo is shown, and those of each redraw of its steps."""
    command = [sys.executable, "-c", PROGRAM, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure all demos one after the other, and write the table."""
    rows = []
    for name in DEMOS:
        ready, redraws = measure(name)
        middle, longest = statistics.median(redraws), max(redraws)
        rows.append(f"| {name} | {ready:.1f} | {middle:.2f} | {longest:.2f} |")
        print(rows[-1], flush=True)
        if ready > LONGEST_SECONDS:
            print(f"{name} takes longer than {LONGEST_SECONDS} s", flush=True)
    on = conditions() | {"clock": "wall"}
    where = ", ".join(f"{key} {value}" for key, value in on.items())
    table = [
        "# Demos, measured",
        "",
        "Written by `python -m benchmarks.demos`; see there. Wall seconds, of a process",
        "that starts anew; the files were read before.",
        "",
        f"Measured with: {where}.",
        "",
        "| demo | ready (s) | a step's picture, median (s) | longest (s) |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    (HERE / "DEMOS.md").write_text("\n".join(table), encoding="utf-8")


if __name__ == "__main__":
    main()
