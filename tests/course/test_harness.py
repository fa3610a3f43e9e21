"""The notebook run turns red for every way in which a notebook can be untrue.

Tiny notebooks, one fault a cell, are run as the real ones are: nbval with the
course's conftest as a plugin.
"""

import os
import re
import runpy
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

ROOT = Path(__file__).resolve().parents[2]
cuda_call = runpy.run_path(ROOT / "notebooks" / "conftest.py")["cuda_call"]
pytestmark = pytest.mark.slow  # it starts pytest three times
ERROR = new_output("error", ename="ValueError", evalue="no", traceback=["no"])


def cell(source, stored=None, tags=(), count=1):
    """Make a code cell as it is stored after a run that printed `stored`."""
    outputs = [new_output("stream", name="stdout", text=stored)] if stored else []
    return new_code_cell(
        source, outputs=outputs, execution_count=count, metadata={"tags": list(tags)}
    )


GOOD = cell("print(1 + 1)", "2\n")
FIGURE = (
    "from IPython.display import display\n"
    'page = \'<figure><img alt="{}" src="data:image/png;base64,{}"></figure>\'\n'
    "display({{'text/html': page, 'text/plain': 'Figure'}}, raw=True)"
)


def stored_figure(alt, picture):
    """Make a cell whose stored picture differs in its bytes from a new run."""
    page = f'<figure><img alt="{alt}" src="data:image/png;base64,{picture}"></figure>'
    shown = new_output("display_data", {"text/html": page, "text/plain": "Figure"})
    return new_code_cell(
        FIGURE.format("a line", "AAAA"), outputs=[shown], execution_count=1
    )


FAULTS = {
    "wrong result": (cell("print(1 + 1)", "3\n"), "Cell outputs differ"),
    "missing output": (cell("print(1 + 1)"), "Unexpected output fields"),
    "lost output": (
        cell("print(1 + 1)", tags=["nbval-ignore-output"]),
        "none is stored",
    ),
    "stripped": (cell("print(1 + 1)", count=None), "stripped"),
    "stored error": (
        new_code_cell("x = 1", outputs=[ERROR], execution_count=1),
        "a stored error",
    ),
    "raises": (cell("1 / 0"), "ZeroDivisionError"),
    "allowed to raise": (
        cell("1 / 0", tags=["raises-exception"]),
        "hides a cell from the comparison",
    ),
    "hidden": (cell("# NBVAL_SKIP\n1 / 0"), "hides a cell from the comparison"),
    "semicolon": (cell("print(1 + 1);", "2\n"), "a trailing semicolon"),
    "cuda call": (
        cell("import torch\ntorch.cuda.empty_cache()"),
        "torch.cuda.empty_cache in a cell without the tag `cuda`",
    ),
    "cuda device in a gpu cell": (
        cell("import torch\ntorch.ones(2, device='cuda:0')", tags=["gpu"]),
        "'cuda:0' in a cell without the tag `cuda`",
    ),
    "wrong alt text": (stored_figure("a circle", "AAAA"), "Cell outputs differ"),
}
SOUND = [
    GOOD,
    cell("import random\nx = random.random()"),
    cell("import os\nos.getpid()", "7\n", tags=["nbval-ignore-output"]),
    stored_figure("a line", "BBBB"),
    cell("print('cuda' == 'cuda')", "True\n", tags=["gpu"]),
    cell("import time\ntime.sleep(4)", tags=["timeout-9"]),
]
NOTEBOOKS = {
    "faults": [fault for fault, _ in FAULTS.values()],
    "too_slow": [cell("import time\ntime.sleep(60)", tags=["timeout-1"]), GOOD],
    "dying_kernel": [
        cell("import os\nos.kill(os.getpid(), 9)", tags=["timeout-500"]),
        GOOD,
    ],
    "sound": SOUND,
    "tagged": [
        cell("print(torch)", tags=["cuda"], count=None),
        cell("print(decoder)", "decoder\n", tags=["weights"]),
        cell("print(transformers)", "yes\n", tags=["compare"]),
    ],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Give a function that runs notebooks on a bare machine: no CUDA, no extras."""
    folder = tmp_path_factory.mktemp("harness")
    (folder / "bare_machine.py").write_text(
        "import sys\nsys.modules['transformers'] = None\n"
    )
    for name, cells in NOTEBOOKS.items():
        nbformat.write(new_notebook(cells=cells), folder / f"{name}.ipynb")

    def pytest_run(*names, options=(), **variables):
        quiet = {"CI": "", "REQUIRE_CUDA": "", "CUDA_VISIBLE_DEVICES": ""}
        paths = f"{ROOT}{os.pathsep}{folder}"
        environment = os.environ | quiet | {"PYTHONPATH": paths} | variables
        environment["COURSE_CACHE"] = str(folder / "no_weights")
        command = [sys.executable, "-m", "pytest", "-v", "-rs", "--color=no"]
        command += ["-p", "bare_machine", "-p", "notebooks.conftest"]
        command += ["-p", "no:cacheprovider", "--rootdir", str(folder)]
        command += ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=3"]
        command += [f"--nbval-sanitize-with={ROOT / 'tests/course/sanitize.cfg'}"]
        command += [*options, *(f"{name}.ipynb" for name in names)]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True
        )

    return pytest_run


@pytest.fixture(scope="module")
def broken_run(run):
    """Run every broken notebook once, on two workers."""
    start = time.monotonic()
    names = "faults", "too_slow", "dying_kernel"
    result = run(*names, options=["-n2", "--dist", "loadfile"])
    assert result.returncode == 1, result.stdout
    return result.stdout, time.monotonic() - start


def story_of(name, place, output):
    """Cut out what pytest says about one failed cell."""
    pattern = rf"_+ {name}\.ipynb::Cell {place} _+\n(.*?)\n(?:_{{5,}} |={{5,}} )"
    found = re.search(pattern, output + "\n====== ", flags=re.DOTALL)
    return found[1] if found else ""


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_turns_the_run_red_and_says_why(fault, broken_run):
    output, _ = broken_run
    place = list(FAULTS).index(fault)
    assert FAULTS[fault][1] in story_of("faults", place, output), output[-6000:]


def test_a_dead_or_stuck_kernel_ends_its_notebook_at_once(broken_run):
    output, seconds = broken_run
    assert "Timeout of 1 seconds exceeded" in story_of("too_slow", 0, output)
    assert "not run: Cell 0 ran over its time limit" in output
    assert "the kernel died" in story_of("dying_kernel", 0, output)
    assert "not run: the kernel died in Cell 0" in output
    assert seconds < 300  # not the 500 that the dead cell was given


def test_every_failed_cell_is_counted_under_two_workers(broken_run):
    output, _ = broken_run
    failed = len(FAULTS) + 2
    assert (
        f"3 notebooks: 0 cells compared, 0 executed only, 2 skipped, {failed} failed"
    ) in output
    assert "gpu cells by device: 1 failed" in output


def test_sound_cells_pass_and_missing_needs_are_skipped_with_a_reason(run):
    result = run("sound", "tagged")
    assert result.returncode == 0, result.stdout
    assert (
        "2 notebooks: 5 cells compared, 1 executed only, 3 skipped, 0 failed"
    ) in result.stdout
    assert "skipped 1: needs a CUDA device" in result.stdout
    assert "skipped 1: needs fetched weights: `make weights`" in result.stdout
    assert "skipped 1: needs transformers" in result.stdout
    assert "gpu cells by device: 1 cpu, 1 skipped" in result.stdout


def test_a_notebook_that_takes_too_long_as_a_whole_turns_the_run_red(run):
    result = run("sound", NOTEBOOK_LIMIT_SECONDS="0.001")
    assert result.returncode == 1
    assert "0 failed" in result.stdout
    assert "TOO SLOW: sound.ipynb took" in result.stdout


def test_a_run_that_must_not_skip_fails_instead(run):
    result = run("tagged", "sound", CI="1", REQUIRE_CUDA="1")
    assert "4 cells compared, 1 executed only, 0 skipped, 4 failed" in result.stdout
    for place in range(3):
        assert "must not skip it" in story_of("tagged", place, result.stdout)
    gpu_cell = story_of("sound", 4, result.stdout)
    assert "gpu cell ran on the CPU" in gpu_cell


@pytest.mark.parametrize(
    "source",
    [
        "torch.cuda.is_available()",
        "torch.cuda.device_count()",
        "if device.type == 'cuda':\n    print('a GPU')",
        "%timeit softmax(scores)",
        "print('the word cuda')",
        "model.to(hardware.device())",
    ],
)
def test_a_question_about_cuda_is_no_cuda_call(source):
    assert cuda_call(source) is None


@pytest.mark.parametrize(
    "source",
    [
        "model.cuda()",
        "model.to('cuda')",
        "x = torch.ones(3, device='cuda:1')",
        "torch.cuda.synchronize()",
        "with torch.cuda.stream(None):\n    pass",
        "import torch.cuda as gpu",
        "from torch import cuda",
        "from torch.cuda import Event",
    ],
)
def test_a_cuda_call_is_seen(source):
    assert cuda_call(source)
