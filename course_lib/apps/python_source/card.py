"""The card of a decoder of Python's source: what it is, and figures beside it."""

import platform
from collections.abc import Mapping

import torch

from course_lib.data import PARTS, python_files
from course_lib.decoder import DecoderConfig

COMMAND = "python -m course_lib.apps.python_source train --out DIR --test --steps"
HEAD = """\
# python-source: a small decoder of Python source

It writes what looks like Python and means nothing. It is for lessons: small enough to
be trained on a laptop, and to be stored beside the code.

Which file is for training, validation or test follows from the sha256 of its name
(`course_lib.data.split`). Nothing was chosen by the test files.
""".splitlines()
FOOT = """\
The model reads each file alone, in windows that overlap by half; the bits of its float16
weights are counted nowhere, as those of the 5-gram and of xz's program are not. gzip and
xz compress all files of the part joined. "xz after the training files" is what the part
adds to the size of the training files: the rival that has seen the same data.

Licence: the weights are under the course's MIT licence. The standard library, which they
were learnt from, is under the PSF License Agreement; a passage that the model repeats
from it stays under that one.

To make it again, with a Python of the same version:
""".splitlines()


def card(
    config: DecoderConfig,
    run: Mapping[str, object],
    figures: Mapping[str, Mapping[str, float]],
) -> str:
    """Write the card of a decoder that was trained on the standard library.

    Args:
        config: of the decoder.
        run: what is to be said of the training, "updates" among it.
        figures: what `compare` gave; the verdict is on the last part.

    Returns:
        Markdown.

    Lesson: notebooks/11_training.ipynb

    >>> config = DecoderConfig(vocab_size=11, d_model=6, n_layers=1, n_heads=3)
    >>> card(config, {"updates": 5}, {}).splitlines()[0]
    '# python-source: a small decoder of Python source'
    """
    rows = [f"| {name} | {value} |" for name, value in _facts(config, run).items()]
    lines = [*HEAD, "", "| what | value |", "|---|---|", *rows, ""]
    if figures:
        last = list(figures)[-1]
        lines.append(f"| bits per byte | {' | '.join(figures)} |")
        lines.append("|---" * len(figures) + "|---|")
        for name in figures[last]:
            cells = [f"{column[name]:.3f}" for column in figures.values()]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        lines += ["", _verdict(last, figures[last]), ""]
    return "\n".join([*lines, *FOOT, "", f"    {COMMAND} {run['updates']}"])


def _facts(config: DecoderConfig, run: Mapping[str, object]) -> dict[str, object]:
    """Say what was trained, on what, where and for how long."""
    files = {part: python_files(part) for part in PARTS}
    size = {p: sum(len(t.encode()) for _, t in f) / 1e6 for p, f in files.items()}
    version = platform.python_version()
    return {
        "data": f"standard library of Python {version}, without tests",
        **{p: f"{len(f)} files, {size[p]:.2f} MB" for p, f in files.items()},
        "model": f"{config.n_layers} layers, d_model {config.d_model}, "
        f"{config.n_heads} heads, context {config.max_length}",
        "vocabulary": f"{config.vocab_size} tokens, byte-level BPE of training files",
        **run,
        "machine": f"{platform.machine()} CPU, torch {torch.__version__}, "
        f"{torch.get_num_threads()} thread(s)",
    }


def _verdict(part: str, bits: Mapping[str, float]) -> str:
    """Say plainly what the model beats and what beats the model."""
    ours = bits["this model"]
    better = [name for name, value in bits.items() if value > ours]
    worse = [name for name in bits if name not in better and name != "this model"]
    return (
        f"On the {part} files the model is better than: {', '.join(better) or 'none'}; "
        f"and worse than: {', '.join(worse) or 'none'}."
    )
