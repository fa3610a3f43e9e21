"""What the KV cache saves, against the context: `python -m benchmarks.cache_law`.

Without a cache a step computes the whole row: its time follows the FLOPs. With one it
reads every weight and the keys and values once: its time follows the bytes.
"""

from pathlib import Path

import torch

from benchmarks import peers
from benchmarks.equality import difference, randomise
from benchmarks.rounds import interleave, run, table
from benchmarks.training import matrix_rate
from course_lib import hardware
from course_lib.decoder import Decoder, DecoderConfig

SIZES = {  # d_model, n_layers
    "4 x 128": (128, 4),
    "6 x 384": (384, 6),
    "12 x 768": (768, 12),
}
CONTEXTS = (16, 64, 256, 1024)
PICTURE = Path(__file__).parent / "cache_law.png"


def decoder_of(d_model: int, n_layers: int) -> Decoder:
    """Build a decoder of characters."""
    config = DecoderConfig(65, d_model, n_layers, d_model // 64, max_length=1100)
    return randomise(Decoder(config, torch.Generator().manual_seed(0)))


@torch.inference_mode()
def filled(decoder: Decoder, context: int):
    """Return a cache that holds a row of `context` random ids, and the row."""
    tokens = torch.randint(65, (1, context))
    cache = decoder.new_cache(max_length=context + 1)
    decoder(tokens, cache=cache, only_last=True)
    return cache, tokens


def cached_step(decoder: Decoder, context: int, n: int):
    """Return a function that takes the step after `context` tokens, n times."""
    cache, tokens = filled(decoder, context)

    @torch.inference_mode()
    def work():
        for _ in range(n):
            decoder(tokens[:, :1], cache=cache, only_last=True)
            cache.crop(context)

    return work


def whole_row(decoder, tokens, **last):
    """Return a function that computes the same step from the whole row."""

    @torch.inference_mode()
    def work():
        decoder(tokens, **last)

    return work


def predicted(
    d_model: int, n_layers: int, context: int, flops: float, rate: float
) -> dict:
    """Seconds of a step by FLOPs (whole row) and by bytes (cached)."""
    n_weights = 12 * n_layers * d_model**2 + 65 * d_model
    row = context * (2 * n_weights + 4 * n_layers * d_model * context)
    step = 4 * (n_weights + 2 * n_layers * d_model * context)
    return {"uncached": row / flops, "cached": step / rate}


def law(n_rounds: int = 3) -> dict:
    """Time both kinds of step at each size and context."""
    flops, rate = matrix_rate(), hardware.read_bandwidth()
    found = {}
    for name, (d_model, n_layers) in SIZES.items():
        decoder = decoder_of(d_model, n_layers)
        for context in CONTEXTS:
            tokens = torch.randint(65, (1, context + 1))
            pair = {
                "cached": cached_step(decoder, context, 10),
                "uncached": whole_row(decoder, tokens, only_last=True),
            }
            measured = interleave(pair, n_rounds)
            found[f"{name}, {context}"] = {
                "cached_seconds": measured["cached"]["cpu_seconds"] / 10,
                "uncached_seconds": measured["uncached"]["cpu_seconds"],
                "factor": measured["uncached"]["ratio"] * 10,
                "least": measured["uncached"]["least"] * 10,
                "most": measured["uncached"]["most"] * 10,
                "predicted": predicted(d_model, n_layers, context + 1, flops, rate),
            }
    return {"steps": found, "matrix_rate": flops, "read_rate": rate}


def against_transformers() -> dict:
    """Compare both kinds of step with transformers' at 6 x 384."""
    ours = decoder_of(*SIZES["6 x 384"])
    gpt2 = peers.copy_gpt2(ours)
    largest, found = difference(ours, gpt2), {}
    for context in (256, 1024):
        tokens = torch.randint(65, (1, context + 1))
        contestants = {
            "course_lib": whole_row(ours, tokens, only_last=True),
            "transformers": whole_row(gpt2, tokens, logits_to_keep=1, use_cache=False),
        }
        found[f"without a cache, context {context}"] = interleave(contestants)
    for context in (16, 1024):
        contestants = {
            "course_lib": cached_step(ours, context, 16),
            "transformers": their_step(gpt2, context, 16),
        }
        found[f"with a cache, context {context}"] = interleave(contestants)
    return {"difference": largest, "found": found}


def their_step(model, context: int, n: int):
    """Return a function that takes transformers' step after `context` tokens, n times."""
    tokens = torch.randint(65, (1, context))
    with torch.inference_mode():
        kept = model(tokens, use_cache=True, logits_to_keep=1).past_key_values

    @torch.inference_mode()
    def work():
        for _ in range(n):
            model(tokens[:, :1], past_key_values=kept, use_cache=True, logits_to_keep=1)
            kept.crop(-1)  # forget the newest

    return work


def draw(measured: dict) -> None:
    """Draw measurement and prediction: prefill, decode, and the factor between them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for (name, _), marker in zip(SIZES.items(), "os^", strict=True):
        steps = [measured["steps"][f"{name}, {context}"] for context in CONTEXTS]
        lines = (
            (left, "uncached", [s["uncached_seconds"] * 1e3 for s in steps]),
            (middle, "cached", [s["cached_seconds"] * 1e3 for s in steps]),
        )
        for axes, kind, times in lines:
            (line,) = axes.plot(CONTEXTS, times, marker, label=name)
            limits = [s["predicted"][kind] * 1e3 for s in steps]
            axes.plot(CONTEXTS, limits, "--", color=line.get_color())
        (line,) = right.plot(CONTEXTS, [s["factor"] for s in steps], marker, label=name)
        limits = [s["predicted"]["uncached"] / s["predicted"]["cached"] for s in steps]
        right.plot(CONTEXTS, limits, "--", color=line.get_color())
    left.set(title="Whole row (as a prefill), by FLOPs", ylabel="ms a step")
    middle.set(title="One cached step, by bytes", ylabel="ms a step")
    right.set(title="What the cache saves", ylabel="times faster a step")
    for axes in (left, middle, right):
        axes.set(xscale="log", yscale="log", xlabel="context (tokens)")
        axes.legend(title="dashed: predicted")
    figure.savefig(PICTURE, dpi=90)


def measure() -> dict:
    """Measure, draw and tabulate."""
    measured = law()
    draw(measured)
    compared = against_transformers()
    rows = [
        "### The KV cache's factor",
        "",
        "![Time of a step without and with a cache, and their ratio, against the context; "
        "points are measured, dashed lines predicted](cache_law.png)",
        "",
        f"Predicted from FLOPs at {measured['matrix_rate'] / 1e9:.0f} GFLOP/s without a "
        f"cache, and from bytes at {measured['read_rate'] / 1e9:.0f} GB/s with one: a limit "
        "that leaves Python and small operations out.",
        "",
        "| model, context | cached ms | whole row ms | factor (range) | predicted |",
        "|---|---|---|---|---|",
    ]
    for name, one in measured["steps"].items():
        limit = one["predicted"]["uncached"] / one["predicted"]["cached"]
        rows.append(
            f"| {name} | {one['cached_seconds'] * 1e3:.2f} | "
            f"{one['uncached_seconds'] * 1e3:.1f} | {one['factor']:.1f} "
            f"({one['least']:.1f} to {one['most']:.1f}) | {limit:.1f} |"
        )
    note = f"6 x 384, the same weights; logits differ by at most {compared['difference']:.0e}."
    tables = ["\n".join([*rows, ""])]
    tables += [table(f"A step {k}", v, note) for k, v in compared["found"].items()]
    return {"tables": tables, **measured, "against": compared}


if __name__ == "__main__":
    run("cache_law", measure)
