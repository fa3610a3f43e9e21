"""A decoder of Python's own source: train it from nothing, let it complete code.

python -m course_lib.apps.python_source train --out DIR [--steps N] [--resume] [--test]
python -m course_lib.apps.python_source complete "def mean("
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from course_lib import pretrained
from course_lib.apps.python_source.bits import compare
from course_lib.apps.python_source.card import card
from course_lib.apps.python_source.run import Progress, text_windows
from course_lib.data import python_files
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.generation import stream
from course_lib.pretrained import checkpoints
from course_lib.sampling import Sampler
from course_lib.tokens import BPETokenizer
from course_lib.training import train

NAME = "python-source"
VOCAB, CONTEXT, ROWS, STEPS = 2048, 256, 4, 4000
SIZES = {"d_model": 128, "n_layers": 2, "n_heads": 4, "d_ff": 336}
PEAK, WARM_UP, SEED = 4e-3, 80, 0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the two commands.

    Args:
        arguments: what stands behind the program's name; None: as it was called.

    Lesson: notebooks/11_training.ipynb

    >>> main(["complete", "import", "--tokens", "0"])
    import
    """
    parser = argparse.ArgumentParser("course_lib.apps.python_source")
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="train, store the model and its card")
    training.add_argument("--out", type=Path, required=True, help="folder to write to")
    training.add_argument("--steps", type=int, default=STEPS)
    training.add_argument("--resume", action="store_true", help="go on in that folder")
    training.add_argument("--test", action="store_true", help="once, at the very end")
    completing = commands.add_parser("complete", help="write on from a prompt")
    completing.add_argument("prompt")
    completing.add_argument("--tokens", type=int, default=100)
    completing.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    if asked.command == "complete":
        return _complete(asked.prompt, asked.tokens, asked.seed)
    if (asked.out / "training.pt").exists() and not asked.resume:
        parser.error(f"{asked.out} holds a run: add --resume, or name another folder")
    _train(asked.out, asked.steps, asked.test)


def _train(out: Path, n_steps: int, with_test: bool) -> None:
    """Train on the standard library; store and measure what came of it."""
    out.mkdir(parents=True, exist_ok=True)
    texts = [text for _, text in python_files("train")]
    tokenizer = BPETokenizer.train(texts, VOCAB, specials=["eos"])
    ids = [tokenizer.eos_id]
    for text in texts:
        ids += [*tokenizer.encode(text), tokenizer.eos_id]
    torch.manual_seed(SEED)
    decoder = Decoder(_config(tokenizer.vocab_size))
    progress = Progress(n_steps, out / "cpu_seconds.txt")
    train(
        decoder,
        text_windows(torch.tensor(ids), CONTEXT, ROWS, SEED),
        n_steps,
        learning_rate=PEAK,
        warmup_steps=min(WARM_UP, n_steps // 10),
        checkpoint=out / "training.pt",
        on_step=progress,
    )
    # Measured is what was stored, not what was trained: float16 rounds.
    home = checkpoints.save(out / NAME, decoder, [tokenizer], "Not measured.")
    decoder, (tokenizer,) = checkpoints.read(home.name, out)
    run = {
        "parameters": sum(parameter.numel() for parameter in decoder.parameters()),
        "updates": n_steps,
        "tokens seen": f"{n_steps * ROWS * CONTEXT}, {len(ids)} in the training files",
        "recipe": f"{ROWS} rows of {CONTEXT} tokens, AdamW, {WARM_UP} steps of warm-up "
        f"to {PEAK}, cosine, seed {SEED}",
        "CPU seconds of training": progress.record.read_text(),
    }
    parts = ["validation", "test"] if with_test else ["validation"]
    figures = compare(decoder, tokenizer, parts)
    for name, bits in figures["validation"].items():
        print(f"validation: {bits:.3f} bits per byte, {name}", file=sys.stderr)
    checkpoints.save(home, decoder, [tokenizer], card(decoder.config, run, figures))


def _config(vocab_size: int) -> DecoderConfig:
    """SmolLM2's kind of decoder, much smaller."""
    changes = {"n_kv_heads": None, "max_length": CONTEXT, "rotary_base": 10000.0}
    return DecoderConfig.smollm2_135m(vocab_size=vocab_size, **SIZES, **changes)


def _complete(prompt: str, n_tokens: int, seed: int) -> None:
    """Print the prompt and what the model writes after it."""
    decoder, tokenizer = pretrained.load(NAME)
    room = decoder.config.max_length
    ids = [tokenizer.eos_id, *tokenizer.encode(prompt)][-room // 2 :]  # what fits
    n_tokens = min(n_tokens, room - len(ids))
    sampler = Sampler(temperature=0.7, top_p=0.95, seed=seed)
    new = stream(decoder, ids, n_tokens, sampler, eos_id=tokenizer.eos_id)
    print(prompt, end="")
    for text in tokenizer.decode_stream(new, skip_special=True):
        print(text, end="", flush=True)
    print()


if __name__ == "__main__":
    main()
