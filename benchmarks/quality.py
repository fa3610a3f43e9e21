"""What a decoder learns for a given compute: nanoGPT's CPU recipe, on the whole validation split.

    python -m benchmarks.quality --text tinyshakespeare.txt

The text (1.1 MB, public domain) is not part of the course:
https://github.com/karpathy/char-rnn/tree/master/data/tinyshakespeare
"""

import argparse
import json
import math
import statistics
import time
from pathlib import Path

import torch

from benchmarks.rounds import conditions
from course_lib import hardware
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import inputs_and_targets, perplexity, train

HERE = Path(__file__).parent
N_STEPS, ROWS, LENGTH, SEEDS = 2000, 12, 64, (1, 2, 3)
GOAL_NATS = 1.915  # nanoGPT's own model in the same loop: 1.908
SIZES = dict(d_model=128, n_layers=4, n_heads=4, max_length=LENGTH, bias=False)


def cut(ids: torch.Tensor) -> torch.Tensor:
    """Cut a text into windows that overlap by the one id that is only a target."""
    return ids[: (len(ids) - 1) // LENGTH * LENGTH + 1].unfold(0, LENGTH + 1, LENGTH)


def learn(ids: torch.Tensor, seed: int) -> dict:
    """Train on nine tenths of a text; give the loss on the last tenth, all of it."""
    n_train = int(0.9 * len(ids))
    generator = torch.Generator().manual_seed(seed)
    config = DecoderConfig(int(ids.max()) + 1, activation="gelu", **SIZES)
    model = Decoder(config, generator)

    def batch_at(step):
        starts = torch.randint(n_train - LENGTH, (ROWS, 1), generator=generator)
        return inputs_and_targets(ids[:n_train][starts + torch.arange(LENGTH + 1)])

    before = time.process_time()
    train(model, batch_at, N_STEPS, learning_rate=1e-3, warmup_steps=100)
    spent = time.process_time() - before
    batches = [inputs_and_targets(rows) for rows in cut(ids[n_train:]).split(128)]
    return {
        "seed": seed,
        "loss_nats": math.log(perplexity(model, batches)),
        "cpu_seconds": spent,
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def page(runs: list[dict]) -> str:
    """Write the runs down."""
    mean = statistics.mean(run["loss_nats"] for run in runs)
    where = ", ".join(f"{k} {v}" for k, v in conditions().items())
    rows = [
        f"| {run['seed']} | {run['loss_nats']:.4f} | {run['cpu_seconds']:.0f} |"
        for run in runs
    ]
    return "\n".join(
        [
            "# What is learned for a given compute",
            "",
            "Written by `python -m benchmarks.quality --text tinyshakespeare.txt`. nanoGPT's",
            "recipe for a CPU: characters, 4 layers of width 128",
            f"({runs[0]['parameters']:,} parameters), {N_STEPS:,} steps of {ROWS} rows of {LENGTH}",
            "letters, AdamW, peak rate 0.001. The loss is that of the whole validation split (the",
            "last tenth), in nats a character. nanoGPT's README says 1.88, an estimate from 20",
            "batches; its own model reaches 1.908 on the whole split, in another loop of the same",
            "recipe (one seed).",
            "",
            "| seed | validation loss | CPU-seconds |",
            "|---|---|---|",
            *rows,
            "",
            f"Mean of {len(runs)} seeds: **{mean:.4f}**; the goal is {GOAL_NATS} or less.",
            "",
            f"Measured with: {where}.",
            "",
        ]
    )


def main() -> None:
    """Train with each seed, write QUALITY.md and quality.json."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--text", type=Path, required=True, help="tiny shakespeare")
    text = asked.parse_args().text.read_text(encoding="utf-8")
    places = {letter: place for place, letter in enumerate(sorted(set(text)))}
    ids = torch.tensor([places[letter] for letter in text])
    with hardware.threads(1):
        runs = [learn(ids, seed) for seed in SEEDS]
        (HERE / "QUALITY.md").write_text(page(runs), encoding="utf-8")
    (HERE / "quality.json").write_text(json.dumps(runs, indent=1) + "\n")
    print(page(runs))


if __name__ == "__main__":
    main()
