"""What importing the library costs: `python -m benchmarks.imports`."""

import statistics
import subprocess
import sys

from benchmarks.rounds import run

MODULES = "decoder generation training trace sampling kv_cache".split()


def measure(n_rounds: int = 5) -> dict:
    """Compare `import torch` alone with `import torch` and the library, in CPU-seconds."""
    both = "import torch, " + ", ".join(f"course_lib.{name}" for name in MODULES)

    def seconds(code):
        clock = f"import time; {code}; print(time.process_time())"
        done = subprocess.run(
            [sys.executable, "-c", clock], capture_output=True, check=True
        )
        return float(done.stdout)

    pairs = [(seconds("import torch"), seconds(both)) for _ in range(n_rounds)]
    alone = statistics.median(torch_alone for torch_alone, _ in pairs)
    added = statistics.median(with_us - torch_alone for torch_alone, with_us in pairs)
    text = (
        f"### Import\n\n`import torch` takes {alone:.2f} CPU-seconds; the library's modules "
        f"add {added:.2f}.\n"
    )
    return {"tables": [text], "torch_seconds": alone, "added_seconds": added}


if __name__ == "__main__":
    run("imports", measure)
