"""A lesson builds its own piece, under the library's names, and its Check can fail."""

import ast
import multiprocessing
import os
import re
import shutil
import sys
from pathlib import Path

import jupytext
import pytest

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "course_lib"
# What a lesson may define under the library's names: its own modules' names only.
OWNED = {
    "00_start": [],
    "01_softmax": ["softmax"],
    "02_masks": ["masks"],
    "03_attention": ["attention"],
    "04_positions": ["positions"],
    "05_cross_attention": [],
    "06_feed_forward": ["feed_forward"],
    "07_block": ["norms", "block"],
    "08_decoder": ["decoder", "embedding", "config", "initial"],
    "09_sampling": ["sampling", "generation"],
    "10_kv_cache": ["kv_cache"],
    "11_training": ["training"],
    "12_translation": ["apps/translate", "generation"],
    "13_chat": ["apps/chat", "apps/serving"],
    "14_captions": ["audio", "apps/captions"],
    "15_scale": ["hardware"],
}
TEXTS = {path.stem: path for path in sorted((ROOT / "notebooks" / "text").glob("*.py"))}


def cells(name):
    """The code cells of a lesson, each with the section (H2) that it stands in."""
    section, found = "", []
    for cell in jupytext.read(TEXTS[name], fmt="py:percent").cells:
        if cell.cell_type == "markdown":
            headings = [
                line for line in cell.source.splitlines() if line.startswith("## ")
            ]
            section = headings[-1].removeprefix("## ") if headings else section
        else:
            found.append((section, cell))
    return found


def definitions(tree):
    """Functions and classes at the top of a module or a cell, by name."""
    kinds = ast.FunctionDef | ast.ClassDef
    return {node.name: node for node in tree.body if isinstance(node, kinds)}


def library_definitions(module):
    place = LIBRARY / module
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    found = {}
    files = [file for file in files if file.name != "command.py"]
    offered = {  # the rest is their own: wrong answers, and how things are shown
        "feedback": ["checking.py", "result.py"],
        "explorer": ["widget.py", "runs.py"],
    }
    if module in offered:
        files = [place / name for name in offered[module]]
    for file in files:
        found |= definitions(ast.parse(file.read_text()))
    return {name: node for name, node in found.items() if name[0] != "_"}


def lesson_definitions(name):
    found = {}
    for _, cell in cells(name):
        found |= definitions(ast.parse(cell.source))
    return found


def parameters(node):
    """(name, default) of each parameter, self left out."""
    arguments = node.args.args
    padding = [None] * (len(arguments) - len(node.args.defaults))
    defaults = [
        d if d is None else ast.unparse(d) for d in [*padding, *node.args.defaults]
    ]
    pairs = zip([a.arg for a in arguments], defaults, strict=True)
    return [pair for pair in pairs if pair[0] != "self"]


def modules():
    names = {p.stem if p.suffix else p.name for p in LIBRARY.iterdir()}
    apps = {f"apps/{p.name}" for p in (LIBRARY / "apps").iterdir() if p.is_dir()}
    return sorted(names - {"__init__", "__main__", "__pycache__", "apps"} | apps)


@pytest.mark.parametrize("name", TEXTS)
def test_a_lesson_defines_no_other_modules_names(name):
    mine = set(lesson_definitions(name))
    for module in modules():
        if module not in OWNED[name]:
            taken = mine & set(library_definitions(module))
            assert not taken, (
                f"{name} defines {taken}, which belong to course_lib.{module}"
            )


@pytest.mark.parametrize("name", TEXTS)
def test_a_lessons_parameters_are_a_prefix_of_the_librarys(name):
    mine = lesson_definitions(name)
    for module in OWNED[name]:
        for word, theirs in library_definitions(module).items():
            if word not in mine:
                continue
            pairs = [(mine[word], theirs)]
            if isinstance(theirs, ast.ClassDef):
                methods = [definitions(node) for node in (mine[word], theirs)]
                pairs = [
                    (methods[0][m], methods[1][m])
                    for m in methods[0]
                    if m in methods[1]
                ]
            for here, there in pairs:
                assert parameters(here) == parameters(there)[: len(parameters(here))], (
                    word
                )


# -- planted faults -------------------------------------------------------------------

FAULTS = [
    (
        "01_softmax",
        "softmax/probabilities.py",
        "exponentials = (wide - wide.amax(dim, keepdim=True)).exp()",
        "exponentials = wide.exp()",
    ),
    (
        "01_softmax",
        "softmax/probabilities.py",
        "exponentials = (wide - wide.amax(dim, keepdim=True)).exp()",
        "exponentials = (wide - wide.amax()).exp()",
    ),
    (
        "01_softmax",
        "softmax/probabilities.py",
        "shifted = wide - wide.amax(dim, keepdim=True)",
        "shifted = wide - wide.amax()",
    ),
    (
        "01_softmax",
        "softmax/probabilities.py",
        "shifted - shifted.exp().sum(dim, keepdim=True).log()",
        "softmax(wide, dim).log()",
    ),
    (
        "01_softmax",
        "softmax/probabilities.py",
        "surprise.sum() / counts.sum().clamp(min=1)",
        "surprise.mean()",
    ),
    (
        "01_softmax",
        "softmax/probabilities.py",
        "((targets < 0) | (targets >= vocab))",
        "(targets < 0)",
    ),
    (
        "01_softmax",
        "softmax/confidence.py",
        "error = (right - sure).abs().sum()",
        "error = (right - sure).sum().abs()",
    ),
    ("01_softmax", "softmax/confidence.py", "return 1 / _root(", "return _root("),
    ("02_masks", "masks.py", "keys <= queries", "keys < queries"),
    ("02_masks", "masks.py", "keys > queries - window", "keys >= queries - window"),
    ("02_masks", "masks.py", "offset = n_keys - n_queries", "offset = 0"),
    ("02_masks", "masks.py", "(keys >= 0) & (queries >= 0)", "(queries >= 0)"),
    ("02_masks", "masks.py", "combined & mask", "combined | mask"),
    ("02_masks", "masks.py", "index + starts_column, PADDING", "place, PADDING"),
    ("02_masks", "attention/formula.py", "is_causal=causal", "is_causal=False"),
    (
        "02_masks",
        "attention/formula.py",
        "if _met_nan(queries, keys, outputs, masked=causal or allowed is not None):",
        "if False:",
    ),
    ("03_attention", "attention/formula.py", " / math.sqrt(queries.shape[-1])", ""),
    (
        "03_attention",
        "attention/heads.py",
        "x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)",
        "x.reshape(x.shape[0], n_heads, x.shape[1], -1)",
    ),
    (
        "03_attention",
        "attention/formula.py",
        "masked_fill(~allowed, -torch.inf)",
        "masked_fill(~allowed, 0.0)",
    ),
    (
        "03_attention",
        "attention/heads.py",
        "self.to_output(merge_heads(outputs))",
        "merge_heads(outputs)",
    ),
    (
        "05_cross_attention",
        "attention/heads.py",
        "if self.cross or memory is not None:",
        "if False:",
    ),
    (
        "05_cross_attention",
        "attention/heads.py",
        "keys = split_heads(self.to_keys(memory), self.n_kv_heads)",
        "keys = split_heads(self.to_values(memory), self.n_kv_heads)",
    ),
    (
        "05_cross_attention",
        "attention/heads.py",
        "            cache.remember_cross(self.layer, keys, values, memory)",
        "            pass",
    ),
    (
        "05_cross_attention",
        "block.py",
        'reading = {"allowed": memory_allowed, "cache": cache}',
        'reading = {"allowed": None, "cache": cache}',
    ),
    (
        "05_cross_attention",
        "memory.py",
        "return padding_mask(lengths, memory.shape[1])",
        "return None",
    ),
    (
        "05_cross_attention",
        "encoder.py",
        "positions, positions, causal=False, window",
        "positions, positions, causal=True, window",
    ),
    (
        "06_feed_forward",
        "feed_forward.py",
        '"gelu": F.gelu,',
        '"gelu": partial(F.gelu, approximate="tanh"),',
    ),
    ("06_feed_forward", "feed_forward.py", '"silu": F.silu', '"silu": F.relu'),
    (
        "06_feed_forward",
        "feed_forward.py",
        "self.to_output(self.activation(self.to_hidden(x)))",
        "self.to_output(self.to_hidden(x))",
    ),
    (
        "06_feed_forward",
        "feed_forward.py",
        "self.activation(self.to_gate(x)) * self.to_hidden(x)",
        "self.to_gate(x) * self.activation(self.to_hidden(x))",
    ),
    (
        "06_feed_forward",
        "feed_forward.py",
        "self.to_gate = Linear(d_model, d_ff, bias)",
        "self.to_gate = Linear(d_model, d_ff, False)",
    ),
    (
        "07_block",
        "block.py",
        "sublayer(norm(residual) if self.pre_norm else residual)",
        "sublayer(residual if self.pre_norm else norm(residual))",
    ),
    ("07_block", "block.py", "residual = residual + outputs", "residual = outputs"),
    (
        "07_block",
        "block.py",
        "self._add(residual, self.cross_norm, read_memory)",
        "self._add(residual, self.self_norm, read_memory)",
    ),
    (
        "07_block",
        "block.py",
        "F.dropout(outputs, self.dropout, self.training)",
        "F.dropout(outputs, self.dropout, True)",
    ),
    ("07_block", "block.py", "make_norm(config) if config.pre_norm else None", "None"),
    (
        "07_block",
        "norms.py",
        "return layer_norm(x, self.gain, self.bias, self.eps)",
        "return layer_norm(x, self.gain, self.bias)",
    ),
    (
        "04_positions",
        "positions/formulas.py",
        "10000.0 ** (-2 * pair / d_model)",
        "10000.0 ** (2 * pair / d_model)",
    ),
    (
        "04_positions",
        "positions/formulas.py",
        "torch.cat((-second, first)",
        "torch.cat((second, -first)",
    ),
    (
        "04_positions",
        "positions/formulas.py",
        "-slopes[:, None, None]",
        "slopes[:, None, None]",
    ),
    (
        "04_positions",
        "positions/formulas.py",
        "offsets.clamp(-reach, reach) + reach",
        "(offsets + reach) % n_rows",
    ),
    (
        "04_positions",
        "positions/schemes.py",
        "rotate(x, prepared, self.base, self.pairing)",
        "rotate(x, prepared)",
    ),
    (
        "04_positions",
        "attention/heads.py",
        "keys = self.scheme.turn(keys, positions)",
        "pass",
    ),
    (
        "08_decoder",
        "embedding.py",
        "residual * math.sqrt(self.config.d_model)",
        "residual * self.config.d_model",
    ),
    (
        "08_decoder",
        "decoder.py",
        "self.head.weight = self.embedding.weight",
        "self.head.weight = nn.Parameter(self.embedding.weight.detach().clone())",
    ),
    (
        "08_decoder",
        "decoder.py",
        "may_read(positions, positions, causal, window)",
        "may_read(positions, positions, causal, None)",
    ),
    (
        "09_sampling",
        "sampling/filters.py",
        "mass_before < p)",
        "mass_before + ordered <= p)",
    ),
    (
        "09_sampling",
        "sampling/sampler.py",
        "torch.multinomial(row, 1, generator=self._generator(index))",
        "torch.multinomial(row, 1, generator=self._generator(0))",
    ),
    (
        "09_sampling",
        "generation/writing.py",
        "if new_id == eos_id:\n                writing.discard(row)",
        "if new_id == eos_id:\n                writing.clear()",
    ),
    (
        "09_sampling",
        "generation/beams.py",
        "cache.reorder(parents)",
        "cache.reorder(sorted(parents))",
    ),
    (
        "10_kv_cache",
        "kv_cache/contiguous.py",
        "torch.cat((old, new), dim=2)",
        "torch.cat((new, old), dim=2)",
    ),
    (
        "10_kv_cache",
        "kv_cache/contiguous.py",
        "longer[:, :, : old.shape[2]] = old",
        "pass",
    ),
    (
        "10_kv_cache",
        "kv_cache/paged.py",
        "slots // self.block_size], slots % self.block_size",
        "slots // self.block_size], slots % (self.block_size - 1)",
    ),
    (
        "10_kv_cache",
        "kv_cache/paged.py",
        "row[first] = self.pool.own(row[first])",
        "pass",
    ),
    (
        "10_kv_cache",
        "kv_cache/sliding_window.py",
        "newest - (newest - slots) % self.window",
        "slots",
    ),
    (
        "10_kv_cache",
        "kv_cache/step.py",
        "token_positions(n_positions, counts, before, side)",
        "token_positions(n_positions, counts, None, side)",
    ),
    (
        "10_kv_cache",
        "kv_cache/step.py",
        "if cache.bounded and max(after) > cache.max_length:",
        "if False:",
    ),
    (
        "11_training",
        "training/loss.py",
        "shifted = F.pad(targets[:, :-1], (1, 0), value=bos_id)",
        "shifted = targets.clone()",
    ),
    (
        "11_training",
        "training/loss.py",
        "return total / count.clamp(min=1)",
        "return total / targets.numel()",
    ),
    (
        "11_training",
        "training/loop.py",
        "    model.zero_grad()\n",
        "    pass\n",
    ),
    (
        "12_translation",
        "apps/translate/batches.py",
        "[target.bos_id, *target.encode(text), target.eos_id] for",
        "[target.bos_id, *target.encode(text)] for",
    ),
    (
        "12_translation",
        "apps/translate/translator.py",
        "            memory_lengths=lengths,\n",
        "",
    ),
    (
        "12_translation",
        "apps/translate/translator.py",
        "memory=memory[row : row + 1, :length]",
        "memory=memory[row : row + 1]",
    ),
    (
        "12_translation",
        "apps/translate/scoring.py",
        "diagonal + (unit != other)",
        "diagonal + 2 * (unit != other)",
    ),
    (
        "12_translation",
        "apps/translate/fit.py",
        "        model.load_state_dict(state.weights)",
        "        pass",
    ),
    (
        "12_translation",
        "data/dates.py",
        "formats[i % len(formats)]",
        "formats[0]",
    ),
    (
        "12_translation",
        "generation/beams.py",
        "total for _, total in unfinished",
        "0.0 for _, total in unfinished",
    ),
    (
        "14_captions",
        "audio/spectrogram.py",
        "logs.amax((-2, -1), keepdim=True) - 8",
        "logs.amax() - 8",
    ),
    (
        "14_captions",
        "audio/resampling.py",
        "cutoff = ROLL_OFF * min(1.0, new_rate / rate)",
        "cutoff = ROLL_OFF",
    ),
    (
        "14_captions",
        "apps/captions/alignment.py",
        "MEDIAN = 7",
        "MEDIAN = 9",
    ),
    (
        "14_captions",
        "apps/captions/policy.py",
        "earlier[n:] for earlier in kept",
        "earlier for earlier in kept",
    ),
    (
        "14_captions",
        "apps/captions/endpoint.py",
        "SILENCE_DB = -65.0",
        "SILENCE_DB = -5.0",
    ),
    (
        "14_captions",
        "apps/captions/captions.py",
        "self.policy.forget(n)",
        "pass",
    ),
    (
        "13_chat",
        "apps/chat/stops.py",
        "free = len(held) - _n_open(held, stops)",
        "free = len(held)",
    ),
    (
        "13_chat",
        "apps/chat/conversation.py",
        "new = self.ids[int(self.cache.lengths[0]) :]",
        "new = self.ids",
    ),
    (
        "13_chat",
        "apps/chat/conversation.py",
        "self.cache.crop(n_earlier + last.n_kept)",
        "pass",
    ),
    (
        "13_chat",
        "apps/serving/admission.py",
        "_n_common(prompt[:-1], ",
        "_n_common(prompt, ",
    ),
    (
        "13_chat",
        "apps/serving/server.py",
        "logits[row : row + 1]",
        "logits[:1]",
    ),
    (
        "13_chat",
        "kv_cache/pool.py",
        "if self._holders[block] == 1:",
        "if True:",
    ),
    (
        "13_chat",
        "pretrained/chat.py",
        "*self._plain.encode(turn)",
        "*self.encode(turn)",
    ),
    (
        "15_scale",
        "training/loop.py",
        "batch_at(first + i * world + rank)",
        "batch_at(first + i * world)",
    ),
    (
        "15_scale",
        "training/checkpoint.py",
        '    optimiser.load_state_dict(state["optimiser"])\n',
        "    pass\n",
    ),
]


def script_up_to_check(name):
    """The lesson as a script, without its long cells and what asserts about them."""
    lines, skip_next = [], False
    for section, cell in cells(name):
        if section == "Misconceptions":
            break
        long = "nbval-ignore-output" in cell.metadata.get("tags", [])
        if not long and not skip_next:
            lines.append(cell.source)
        skip_next = long and "assert" not in cell.source
    return "\n\n".join(lines)


# Backward passes import the two parts of torch, which takes longer than torch itself.
PRELOADED = "torch torch.export torch.distributed.tensor matplotlib.pyplot".split()


def _run(library_parent, script, output):
    """In a new process: run a script against a library, and keep what it writes."""
    with open(output, "w", encoding="utf-8") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    sys.path.insert(0, str(library_parent))
    os.environ["PYTHONPATH"] = str(library_parent)  # of processes that a lesson starts
    os.chdir(library_parent)
    exec(compile(script, "lesson", "exec"), {"__name__": "__main__"})


def run_against(library_parent, script, tmp_path):
    """Run a script against a library; return the exit status and what was written.

    The server has imported what all lessons need, and forks: a run saves these seconds.
    """
    forks = multiprocessing.get_context("forkserver")
    forks.set_forkserver_preload(PRELOADED)
    output = tmp_path / "output.txt"
    process = forks.Process(target=_run, args=(library_parent, script, output))
    process.start()
    process.join(timeout=300)
    if process.exitcode is None:
        process.kill()
        process.join()
    return process.exitcode, output.read_text(encoding="utf-8")


LESSONS = sorted({fault[0] for fault in FAULTS})
# Their scripts take 15 to 40 s a run: two faults each time, all of them in `make long`.
LENGTHY = "08_decoder 09_sampling 12_translation 13_chat 14_captions 15_scale".split()


def planted():
    """The faults of this run."""
    if os.environ.get("COURSE_LONG"):
        return FAULTS
    by_lesson = {name: [f for f in FAULTS if f[0] == name] for name in LESSONS}
    return [
        f for n, all_ in by_lesson.items() for f in all_[: 2 if n in LENGTHY else 99]
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file", "sound", "broken"), planted())
def test_a_lesson_stops_at_its_check_when_the_library_is_broken(
    name, file, sound, broken, tmp_path
):
    shutil.copytree(LIBRARY, tmp_path / "course_lib")
    path = tmp_path / "course_lib" / file
    assert sound in path.read_text(), f"{file} has changed: plant the fault anew"
    path.write_text(path.read_text().replace(sound, broken))
    status, output = run_against(tmp_path, script_up_to_check(name), tmp_path)
    assert status != 0, "the lesson did not notice"
    assert "Error" in output


def exercise(name):
    """Exercise A: its cells up to the one that tries an answer, and the solution."""
    texts = jupytext.read(TEXTS[name], fmt="py:percent").cells
    headed = [re.search("^## Exercise", c.source, flags=re.M) for c in texts]
    start = next(i for i, found in enumerate(headed) if found)
    asked, trial = [], None
    for cell in texts[start:]:
        if cell.cell_type == "code" and trial is None:
            asked.append(cell.source)
            lines = [x for x in cell.source.splitlines() if x.startswith("print(")]
            trial = lines[-1] if lines else None
    told = next(c.source for c in texts[start:] if "<summary>Solution" in c.source)
    solution = re.findall(r"```python\n(.*?)```", told, flags=re.DOTALL)[0]
    return "\n\n".join(asked), solution, trial


@pytest.mark.slow
@pytest.mark.parametrize("name", LESSONS)
def test_exercise_a_knows_the_stub_and_accepts_the_solution_that_the_lesson_gives(
    name, tmp_path
):
    asked, solution, trial = exercise(name)
    script = "\n\n".join([script_up_to_check(name), asked, solution, trial])
    # with the sound library the script above runs, too
    status, output = run_against(ROOT, script, tmp_path)
    assert status == 0, output[-2000:]
    stub, answer = output.splitlines()[-2:]
    assert (stub, answer) == ("not written yet", "right")
