"""Ask every question in a process of its own, then write RESULTS.md: `make bench`.

`python -m benchmarks decoding training` asks only these and keeps the other answers.
"""

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.rounds import MEASURED

HERE = Path(__file__).parent
QUESTIONS = "imports decoding training cache_law cross_attention memory whisper".split()
HEAD = """# Measured side by side

Written by `make bench`. A ratio above 1 means slower than course_lib, in the
same round; median and range. Ratios travel to other machines, seconds do not.
The numbers lie in `measured/`.
"""


def main(asked: list[str]) -> int:
    """Measure what is asked, then write all answers that there are."""
    failed = [
        name
        for name in asked or QUESTIONS
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"]).returncode
    ]
    parts = [HEAD]
    for name in QUESTIONS:
        path = MEASURED / f"{name}.json"
        if not path.exists():
            continue
        answer = json.loads(path.read_text(encoding="utf-8"))
        where = ", ".join(f"{k} {v}" for k, v in answer["conditions"].items())
        title = name.replace("_", " ").capitalize()
        parts += [f"## {title}", "", f"Measured with: {where}.", "", *answer["tables"]]
    (HERE / "RESULTS.md").write_text("\n".join(parts), encoding="utf-8")
    if failed:
        print(f"not measured: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
