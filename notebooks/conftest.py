"""Keep the notebooks true: run every cell and compare it with what is stored.

    OMP_NUM_THREADS=1 python -m pytest notebooks --nbval --nbval-current-env \
        --nbval-sanitize-with=tests/course/sanitize.cfg --nbval-cell-timeout=300 \
        -n 2 -rs

nbval runs the cells; this file adds what the course needs:

- tags: `cuda` needs a CUDA device, `weights` the fetched weights, `compare` the
  package transformers. A cell whose need is not met is skipped, and the reason is
  shown. With CI=1 a missing `weights` or `compare` fails instead, with
  REQUIRE_CUDA=1 a missing device does;
- a cell fails before it runs if a comparison would mean nothing: stripped, with a
  stored error, with a trailing semicolon, skipped by nbval's own marks, or with
  CUDA calls in a cell that is not tagged `cuda`;
- `timeout-N` gives a cell N seconds instead of --nbval-cell-timeout; a dead kernel
  is noticed within a second; after either the rest of the notebook is not run;
- a notebook that takes more than NOTEBOOK_LIMIT_SECONDS in all turns the run red;
- a closing summary counts notebooks, cells compared, executed only and skipped,
  and `gpu` cells by the device that they really used.
"""

import ast
import contextlib
import importlib.util
import os
import re
import time
from collections import Counter
from pathlib import Path
from queue import Empty

import pytest

collect_ignore = [
    "text",
    "demos/text",
]  # jupytext twins: they look like modules with doctests

OUTPUT_WAIT_SECONDS = 60
# A lesson promises 90 s (some 180 s) on an idle machine; two share this one.
NOTEBOOK_LIMIT_SECONDS = 360
CUDA_QUESTIONS = {"is_available", "device_count"}  # they answer on every machine
WIDGET = "application/vnd.jupyter.widget-view+json"
SILENT_MARKS = {"nbval-skip", "nbval-raises-exception", "raises-exception"}


def tags_of(item):
    """Give the tags of a notebook cell, or None for any other test."""
    cell = getattr(item, "cell", None)
    return None if cell is None else set(cell.metadata.get("tags", []))


# What a cell needs ------------------------------------------------------------


def cuda_is_missing():
    """Say why `cuda` cells cannot run, or give None."""
    import torch

    return None if torch.cuda.is_available() else "needs a CUDA device"


def weights_are_missing():
    """Say why `weights` cells cannot run, or give None."""
    from course_lib.pretrained.assets import ASSETS, AssetError
    from course_lib.pretrained.storage import verified_files

    for asset in ASSETS.values():
        try:
            verified_files(asset)
        except AssetError:
            return f"needs fetched weights: {asset.command}"
    return None


def transformers_is_missing():
    """Say why `compare` cells cannot run, or give None."""
    found = importlib.util.find_spec("transformers")
    return None if found else "needs transformers: pip install -e '.[compare]'"


NEEDS = {
    "cuda": cuda_is_missing,
    "weights": weights_are_missing,
    "compare": transformers_is_missing,
}


def is_forced(tag):
    """Tell whether a cell with this tag has to run on this machine."""
    variables = {"cuda": "REQUIRE_CUDA", "gpu": "REQUIRE_CUDA"}
    return os.environ.get(variables.get(tag, "CI"), "") not in ("", "0", "false")


# What makes a stored cell worthless -------------------------------------------


def stored_fault(cell):
    """Say why comparing this cell would mean nothing, or give None."""
    tags = set(cell.metadata.get("tags", []))
    if marks := tags & SILENT_MARKS or re.findall(r"# NBVAL_\w+", cell.source):
        return f"{sorted(marks)} hides a cell from the comparison: take it out"
    if any(output.output_type == "error" for output in cell.outputs):
        return "a stored error: repair the cell, or catch the error and print it"
    if cell.source.strip() and cell.execution_count is None and "cuda" not in tags:
        return "stored without being run (stripped?): build the notebook"
    if last_code_line(cell.source).endswith(";"):
        return "a trailing semicolon hides the output: end with plain code"
    if "cuda" not in tags and (call := cuda_call(cell.source)):
        return f"{call} in a cell without the tag `cuda`: ask course_lib.hardware"
    return None


def last_code_line(source):
    """Give the last line that is neither blank nor a comment."""
    lines = [line.split("  #")[0].strip() for line in source.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    return lines[-1] if lines else ""


def cuda_call(source):
    """Give the first piece of code that only a CUDA device can run, or None."""
    code = re.sub(r"^\s*[%!].*$", "pass", source, flags=re.MULTILINE)
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return None  # running the cell will say so
    compared = {
        id(side)
        for node in nodes
        if isinstance(node, ast.Compare)
        for side in (node.left, *node.comparators)
    }
    for node in nodes:
        if id(node) not in compared and is_cuda(node):
            return ast.unparse(node)
    return None


def is_cuda(node):
    """Tell whether this node names a CUDA device or a part of torch.cuda."""
    match node:
        case ast.Constant(value=str(value)):
            return bool(re.fullmatch(r"cuda(:\d+)?", value))
        case ast.Attribute(value=inner, attr=name):
            inside = ast.unparse(inner)
            if inside == "torch.cuda":
                return name not in CUDA_QUESTIONS
            return name == "cuda" and inside not in ("torch", "torch.backends")
        case ast.Import(names=names):
            return any(name.name.startswith("torch.cuda") for name in names)
        case ast.ImportFrom(module=module, names=names):
            from_torch = module == "torch" and any(n.name == "cuda" for n in names)
            return from_torch or str(module).startswith("torch.cuda")
    return False


# Running ----------------------------------------------------------------------


class KernelDied(Exception):
    """The kernel ended while a cell ran."""


def pytest_configure(config):
    """Notice a dead kernel at once: nbval alone would wait for the time limit."""
    if not config.pluginmanager.hasplugin("nbval"):
        return
    from nbval.kernel import RunningKernel

    if hasattr(RunningKernel, "patient_get_message"):
        return
    RunningKernel.patient_get_message = RunningKernel.get_message
    RunningKernel.get_message = get_message_while_alive


def get_message_while_alive(kernel, stream, timeout=None):
    """Wait for a message in slices of a second, as long as the kernel lives."""
    end = time.monotonic() + (timeout or float("inf"))
    while True:
        alive = kernel.is_alive()
        left = max(0.0, end - time.monotonic())
        with contextlib.suppress(Empty):
            return kernel.patient_get_message(stream, timeout=min(1.0, left))
        if not alive:
            raise KernelDied("the kernel died: out of memory, or a crash?")
        if left == 0.0:
            raise Empty


def pytest_collection_modifyitems(items):
    """Give every cell its output wait, its skip mark and its line in the summary."""
    why = {tag: None for tag in NEEDS}
    cells = [item for item in items if tags_of(item) is not None]
    for tag, missing in NEEDS.items():
        if any(tag in tags_of(item) for item in cells):
            why[tag] = missing()
    for item in cells:
        tags = tags_of(item)
        item.output_timeout = OUTPUT_WAIT_SECONDS
        if item.config.pluginmanager.hasplugin("timeout"):  # the last resort
            limit = cell_limit(tags, item.config.option.nbval_cell_timeout)
            item.add_marker(pytest.mark.timeout(limit + 2 * OUTPUT_WAIT_SECONDS))
        compared = item.options["check"] and item.cell.execution_count is not None
        facts = {
            "notebook": str(item.path.name),
            "kind": "compared" if compared else "executed only",
            "gpu": sorted(tags & {"gpu", "cuda"}),
            "source": item.cell.source,
        }
        item.user_properties.append(("cell", facts))
        item.broken_because = stored_fault(item.cell)
        for tag in sorted(tags & NEEDS.keys()):
            if why[tag] and is_forced(tag):
                item.broken_because = f"this run must not skip it, but it {why[tag]}"
            elif why[tag] and not item.broken_because:
                item.add_marker(pytest.mark.skip(reason=why[tag]))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Do not run on after a dead or stuck kernel."""
    if stopped := getattr(item.parent, "stopped", None):
        pytest.skip(f"not run: {stopped}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run one cell under its own time limit, and look where a gpu cell ran."""
    tags = tags_of(item)
    if tags is None:
        return (yield)
    if item.broken_because:
        item.raise_cell_error(item.broken_because)
    option, kernel = item.config.option, item.parent.kernel
    usual_limit = option.nbval_cell_timeout
    option.nbval_cell_timeout = cell_limit(tags, usual_limit)
    watched = "gpu" in tags and cuda_is_missing() is None
    try:
        if watched:
            peak_cuda_bytes(kernel, reset=True)
        result = yield
        check_output_is_stored(item)
        if "gpu" in tags:
            used = watched and peak_cuda_bytes(kernel) > 0
            note_device(item, "cuda" if used else "cpu")
        return result
    except KernelDied as death:
        item.parent.stopped = f"the kernel died in {item.name}"
        item.raise_cell_error(str(death))
    finally:
        option.nbval_cell_timeout = usual_limit
        if item.parent.timed_out:
            item.parent.stopped = f"{item.name} ran over its time limit"


def cell_limit(tags, usual_limit):
    """Give the seconds a cell may take: N where it is tagged timeout-N."""
    limits = [int(tag[8:]) for tag in tags if re.fullmatch(r"timeout-\d+", tag)]
    return max(limits, default=usual_limit)


def check_output_is_stored(item):
    """Fail a cell that is not compared but has lost its stored output."""
    shown = [out for out in item.test_outputs if is_stored(out.get("data", {}))]
    if shown and item.cell.execution_count and not item.cell.outputs:
        item.raise_cell_error("the cell gives output, but none is stored: build it")


def is_stored(data):
    """Tell whether an output is kept: a live widget is, if it brings html for pages."""
    return WIDGET not in data or "text/html" in data


def note_device(item, device):
    """Keep the device of a gpu cell; fail where it had to be CUDA."""
    item.user_properties.append(("device", device))
    if device == "cpu" and is_forced("gpu"):
        item.raise_cell_error("REQUIRE_CUDA=1, but this gpu cell ran on the CPU")


def peak_cuda_bytes(kernel, reset=False):
    """Ask the kernel for the peak of its CUDA memory, and start a new count."""
    torch_cuda = "__import__('torch').cuda"
    message = kernel.kc.execute(
        f"{torch_cuda}.reset_peak_memory_stats()" if reset else "",
        silent=True,
        user_expressions={"peak": f"{torch_cuda}.max_memory_allocated()"},
    )
    while True:
        reply = kernel.get_message("shell", timeout=OUTPUT_WAIT_SECONDS)
        if reply["parent_header"].get("msg_id") == message:
            answer = reply["content"]["user_expressions"]["peak"]
            return int(answer["data"]["text/plain"]) if "data" in answer else 0


# Summary ----------------------------------------------------------------------


def cell_reports(terminalreporter):
    """Give (facts, report) of every cell that was run or skipped."""
    return [
        (dict(report.user_properties)["cell"], report)
        for reports in terminalreporter.stats.values()
        for report in reports
        if "cell" in dict(getattr(report, "user_properties", []))
        if report.when == "call" or report.outcome != "passed"
    ]


def too_slow(terminalreporter):
    """Give {notebook: seconds} of those that took longer than a notebook may."""
    limit = float(os.environ.get("NOTEBOOK_LIMIT_SECONDS", NOTEBOOK_LIMIT_SECONDS))
    seconds = Counter()
    for facts, report in cell_reports(terminalreporter):
        seconds[facts["notebook"]] += report.duration
    return {name: taken for name, taken in seconds.items() if taken > limit}


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session, exitstatus):
    """Turn the run red if a notebook as a whole took too long."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus == 0 and reporter and too_slow(reporter):
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter):
    """Say what the run of the notebooks was worth."""
    cells = cell_reports(terminalreporter)
    if not cells:
        return
    results = Counter(
        facts["kind"] if report.outcome == "passed" else report.outcome
        for facts, report in cells
    )
    skips = Counter(skip_reason(report) for _, report in cells if report.skipped)
    devices = Counter(device(facts, report) for facts, report in cells if facts["gpu"])
    terminalreporter.section("notebooks")
    terminalreporter.write_line(
        f"{len({facts['notebook'] for facts, _ in cells})} notebooks: "
        f"{results['compared']} cells compared, {results['executed only']} executed "
        f"only, {results['skipped']} skipped, {results['failed']} failed"
    )
    for reason, number in sorted(skips.items()):
        terminalreporter.write_line(f"skipped {number}: {reason}")
    for name, seconds in too_slow(terminalreporter).items():
        terminalreporter.write_line(f"TOO SLOW: {name} took {seconds:.0f} s in all")
    listed = ", ".join(f"{number} {name}" for name, number in sorted(devices.items()))
    terminalreporter.write_line(f"gpu cells by device: {listed or 'none'}")
    if os.environ.get("REQUIRE_CUDA") == "1":
        note_in_table([f for f, r in cells if f["gpu"] and device(f, r) == "cuda"])


def note_in_table(ran_on_cuda):
    """Write device and date of the cells that passed on CUDA into GPU.md."""
    if not ran_on_cuda:
        return
    import sys

    import torch

    sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
    import gpu_table

    codes = [gpu_table.digest(facts["source"]) for facts in ran_on_cuda]
    gpu_table.update(codes, torch.cuda.get_device_name())


def device(facts, report):
    """Name the device of a gpu cell, or what became of the cell instead."""
    if report.outcome != "passed":
        return report.outcome
    return dict(report.user_properties).get("device", "cuda")


def skip_reason(report):
    """Give the reason of a skipped cell."""
    return str(report.longrepr[2]).removeprefix("Skipped: ")
