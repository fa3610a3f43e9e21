"""One training step against peers and the machine: `python -m benchmarks.training`."""

import torch

from benchmarks import peers
from benchmarks.equality import difference, randomise, without
from benchmarks.rounds import interleave, run, table
from benchmarks.seq2seq import TorchDecoder
from course_lib import hardware
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import next_token_loss, train

SIZES = {
    "4 layers of width 128, 12 rows of 64": (128, 4, 4, 64, 12, 10),
    "6 layers of width 384, 8 rows of 256": (384, 6, 6, 256, 8, 1),
}


def steps(model, inputs, targets, n_steps: int):
    """Return a function that makes some steps with the same fused AdamW for all."""
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    model.train()

    def work():
        for _ in range(n_steps):
            optimiser.zero_grad()
            given = model(inputs)
            logits = getattr(given, "logits", given)
            next_token_loss(logits, targets).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()

    return work


def matrix_rate(n: int = 1024) -> float:
    """Measure the FLOPs per second of a large product of matrices."""
    a, b = torch.randn(n, n), torch.randn(n, n)
    return 2 * n**3 / hardware.fastest_seconds(lambda: a @ b, repeats=10)


def compare(d_model, n_layers, n_heads, length, batch, n_steps) -> dict:
    """Train the same weights in all layouts, and ours in bfloat16."""
    config = DecoderConfig(65, d_model, n_layers, n_heads, max_length=length)
    ours = randomise(Decoder(config, torch.Generator().manual_seed(0)))
    unplaced = without(ours, "positions")
    models = {
        "transformers GPT-2": peers.copy_gpt2(ours),
        "torch.nn.TransformerEncoder": TorchDecoder(ours).eval(),
        "litgpt": peers.copy_litgpt(unplaced),
    }
    differences = {
        name: difference(unplaced if name == "litgpt" else ours, model)
        for name, model in models.items()
    }
    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(65, (batch, length + 1), generator=generator)
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    half = Decoder(config, torch.Generator().manual_seed(0))
    contestants = {"course_lib": steps(ours, inputs, targets, n_steps)}
    contestants |= {
        name: steps(model, inputs, targets, n_steps) for name, model in models.items()
    }
    contestants["course_lib, bfloat16 autocast"] = lambda: train(
        half, [(inputs, targets)], n_steps, dtype=torch.bfloat16
    )
    rate = matrix_rate()
    results = interleave(contestants)
    rate = max(rate, matrix_rate())
    n_weights = 12 * n_layers * d_model**2 + 65 * d_model
    flops = (
        batch * length * (6 * n_weights + 12 * n_layers * d_model * length) * n_steps
    )
    share = flops / min(results["course_lib"]["rounds"]) / rate
    return {
        "results": results,
        "differences": differences,
        "matrix_share": share,
        "matrix_rate": rate,
    }


def measure() -> dict:
    """Compare at both sizes."""
    found, tables = {}, []
    for title, sizes in SIZES.items():
        found[title] = one = compare(*sizes)
        same = ", ".join(f"{k} {v:.0e}" for k, v in one["differences"].items())
        note = (
            f"The same weights (logits differ by at most: {same}), loss, clipping and fused "
            f"AdamW. course_lib's best round does {one['matrix_share']:.0%} of the "
            f"{one['matrix_rate'] / 1e9:.0f} GFLOP/s of a large matrix product."
        )
        tables.append(table(f"Training, float32: {title}", one["results"], note))
    return {"tables": tables, "found": found}


if __name__ == "__main__":
    run("training", measure)
