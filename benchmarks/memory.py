"""Peak memory while generating, a fresh process each: `python -m benchmarks.memory`."""

import statistics
import subprocess
import sys

import torch

from benchmarks.rounds import run

NAMES = ("course_lib", "transformers", "litgpt", "x-transformers")


def resident(field: str) -> float:
    """Read a line of this process's status, in MB."""
    with open("/proc/self/status", encoding="utf-8") as file:
        return (
            next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024
        )


def one(name: str, n_new: int = 256) -> None:
    """Build one model, generate, and print the peak over the built model."""
    from benchmarks import decoding, peers
    from course_lib.decoder import Decoder, DecoderConfig
    from course_lib.generation import generate

    torch.set_num_threads(1)
    model = Decoder(DecoderConfig(**decoding.BABY)).eval()
    tokens = torch.arange(16)[None]
    if name == "transformers":
        model = peers.copy_gpt2(model)
        write = decoding.theirs
    elif name == "litgpt":
        model = peers.copy_litgpt(model)
        write = decoding.litgpt_loop
    elif name == "x-transformers":
        model = peers.copy_x_transformers(model)

        def write(model, tokens, n):
            return decoding.x_transformers_generate(model, tokens, n)()
    else:

        def write(model, tokens, n):
            return generate(model, tokens[0], n)

    write(model, tokens, 2)  # what is loaded at the first use is no part of a step
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")  # the peak starts anew here
    write(model, tokens, n_new)
    print(resident("VmHWM") - before, before)


def measure(n_rounds: int = 3) -> dict:
    """Ask each model in its own process."""
    peaks: dict[str, list[float]] = {name: [] for name in NAMES}
    for _ in range(n_rounds):
        for name in NAMES:
            command = [sys.executable, "-m", "benchmarks.memory", name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            peaks[name].append(float(done.stdout.split()[-2]))
    rows = [
        "### Peak memory while generating, over the built model",
        "",
        "6 layers of width 384, float32, 16 -> +256 tokens; a fresh process each.",
        "",
        "| | MB, median (range) |",
        "|---|---|",
    ]
    for name, found in peaks.items():
        spread = f"{min(found):.0f} to {max(found):.0f}"
        rows.append(f"| {name} | {statistics.median(found):.0f} ({spread}) |")
    return {"tables": ["\n".join([*rows, ""])], "megabytes": peaks}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        one(sys.argv[1])
    else:
        run("memory", measure)
