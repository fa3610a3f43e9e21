"""Cut the notebooks from their text, run them and write them.

    python tools/notebooks.py build [NAME ...]    text -> ipynb, executed
    python tools/notebooks.py pull  [NAME ...]    ipynb edited in Jupyter -> text
    python tools/notebooks.py check [NAME ...]    fail where a pair is out of step

A lesson is written as `notebooks/text/NN_word.py` (jupytext, py:percent) and
opened as `notebooks/NN_word.ipynb`. `build` executes every cell in a fresh
kernel of this environment with one thread, and writes a normal form: a second
build gives the same bytes. Cells tagged `weights` and `compare` must be able to
run where notebooks are built. Without CUDA, cells tagged `cuda` keep the output
they were stored with. Cells tagged `nbval-ignore-output` (timings, training)
keep theirs as long as no code up to them changed; `--fresh` takes new ones.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CELL_LIMIT_SECONDS = 180
KERNEL_ENVIRONMENT = {"OMP_NUM_THREADS": "1"}
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    }
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


class BuildError(Exception):
    """A notebook could not be built; the stored one was left as it was."""


def text_path(notebook_path: Path) -> Path:
    """Give the path of the text that a notebook is cut from."""
    return notebook_path.parent / "text" / f"{notebook_path.stem}.py"


def read_text(notebook_path: Path) -> NotebookNode:
    """Read the text twin as a notebook without outputs, in normal form."""
    source = text_path(notebook_path).read_text(encoding="utf-8")
    notebook = jupytext.reads(source, fmt="py:percent")
    return normalise(notebook, notebook_path.stem)


def normalise(notebook: NotebookNode, name: str) -> NotebookNode:
    """Reduce to what is stored: cells, tags, outputs, ids and counts by place."""
    number = name.split("_")[0]
    cells, count = [], 0
    for place, old in enumerate(notebook.cells, start=1):
        metadata = {"tags": tags(old)} if tags(old) else {}
        cell = NotebookNode(
            cell_type=old.cell_type,
            id=f"{number}-{place:03d}",
            metadata=NotebookNode(metadata),
            source=old.source,
        )
        if old.cell_type == "code":
            count += 1
            ran = old.get("execution_count") is not None
            cell.execution_count = count if ran else None
            cell.outputs = normal_outputs(old.get("outputs", []), cell.execution_count)
        cells.append(cell)
    return NotebookNode(
        cells=cells,
        metadata=nbformat.from_dict(METADATA),
        nbformat=4,
        nbformat_minor=5,
    )


def normal_outputs(outputs: list[NotebookNode], count: int | None) -> list:
    """Keep what shows without a kernel, join pieces of one stream, number results.

    A live widget is dropped; what it offers as html for pages without a kernel stays.
    """
    kept = []
    for output in outputs:
        output = nbformat.from_dict(dict(output))
        if output.output_type in ("display_data", "execute_result"):
            if WIDGET_VIEW in output.data:
                if "text/html" not in output.data:
                    continue
                del output.data[WIDGET_VIEW]
            if output.output_type == "execute_result":
                output.execution_count = count
        same_stream = (
            kept
            and output.output_type == kept[-1].output_type == "stream"
            and output.name == kept[-1].name
        )
        if same_stream:
            kept[-1].text += output.text
        else:
            kept.append(output)
    return kept


def tags(cell: NotebookNode) -> list[str]:
    """Give the tags of a cell."""
    return list(cell.metadata.get("tags", []))


def content(notebook: NotebookNode) -> list[tuple[str, str, list[str]]]:
    """Give what a pair must agree on: kind, source and tags of every cell."""
    return [(cell.cell_type, cell.source, tags(cell)) for cell in notebook.cells]


def in_step(notebook_path: Path) -> bool:
    """Tell whether the notebook holds the cells of its text."""
    if not (notebook_path.exists() and text_path(notebook_path).exists()):
        return False
    stored = nbformat.read(notebook_path, as_version=4)
    return content(read_text(notebook_path)) == content(stored)


def dump(notebook: NotebookNode) -> str:
    """Write the notebook as the bytes that are stored."""
    nbformat.validate(notebook)
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel of this environment, in its folder."""
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbval.kernel import CURRENT_ENV_KERNEL_NAME, NbvalKernelspecManager

    os.environ.update(KERNEL_ENVIRONMENT)
    client = NotebookClient(
        notebook,
        km=AsyncKernelManager(
            kernel_name=CURRENT_ENV_KERNEL_NAME,
            kernel_spec_manager=NbvalKernelspecManager(),
        ),
        timeout_func=cell_limit,
        skip_cells_with_tag="skip-here",
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(stderr=subprocess.DEVNULL)  # the kernel greets at start


def cell_limit(cell: NotebookNode) -> int:
    """Give the seconds a cell may take: 180, or N where it is tagged timeout-N."""
    for tag in tags(cell):
        if match := re.fullmatch(r"timeout-(\d+)", tag):
            return int(match[1])
    return CELL_LIMIT_SECONDS


def build(notebook_path: Path, fresh: bool = False) -> bool:
    """Cut one notebook from its text, run it and write it; tell if it changed."""
    notebook = read_text(notebook_path)
    for cell in notebook.cells:
        if need := missing_need(cell):
            raise BuildError(f"a cell {need}: its output could not be stored")
    before = notebook_path.read_text(encoding="utf-8") if notebook_path.exists() else ""
    stored = nbformat.reads(before, as_version=4) if before else None
    skipped = [] if has_cuda() else [c for c in notebook.cells if "cuda" in tags(c)]
    for cell in skipped:
        cell.metadata.tags = [*tags(cell), "skip-here"]
    try:
        execute(notebook, notebook_path.parent)
    except CellExecutionError as error:
        raise BuildError(f"a cell failed, nothing was written\n{error}") from None
    for cell in skipped:
        cell.metadata.tags.remove("skip-here")
        cell.execution_count = None
    if stored:
        keep_stored_outputs(notebook, stored, fresh)
    after = dump(normalise(notebook, notebook_path.stem))
    if after != before:
        notebook_path.write_text(after, encoding="utf-8")
    return after != before


def missing_need(cell: NotebookNode) -> str | None:
    """Say what a `weights` or `compare` cell lacks on this machine, or give None."""
    if "compare" in tags(cell) and not importlib.util.find_spec("transformers"):
        return "needs transformers (extra `compare`)"
    if "weights" in tags(cell):
        from course_lib.pretrained.assets import ASSETS, AssetError
        from course_lib.pretrained.storage import verified_files

        try:
            for asset in ASSETS.values():
                verified_files(asset)
        except AssetError as error:
            return f"needs weights. {error}"
    return None


def keep_stored_outputs(
    notebook: NotebookNode, stored: NotebookNode, fresh: bool
) -> None:
    """Keep the outputs that no second run gives again, while their code stands."""
    new = [cell for cell in notebook.cells if cell.cell_type == "code"]
    old = [cell for cell in stored.cells if cell.cell_type == "code"]
    unchanged = True
    for cell, former in zip(new, old, strict=False):
        unchanged = unchanged and cell.source == former.source
        not_run = cell.execution_count is None
        varies = "nbval-ignore-output" in tags(cell) and not fresh
        if unchanged and (not_run or varies) and former.execution_count is not None:
            cell.outputs = former.outputs
            cell.execution_count = former.execution_count


def has_cuda() -> bool:
    """Tell whether this machine can run cells tagged `cuda`."""
    import torch

    return torch.cuda.is_available()


def pull(notebook_path: Path) -> None:
    """Write the text twin from the notebook."""
    notebook = nbformat.read(notebook_path, as_version=4)
    notebook = normalise(notebook, notebook_path.stem)
    notebook.metadata = NotebookNode(
        jupytext={"notebook_metadata_filter": "-all", "cell_metadata_filter": "tags"}
    )
    source = jupytext.writes(notebook, fmt="py:percent")
    text_path(notebook_path).write_text(source, encoding="utf-8")


def notebook_paths(names: list[str]) -> list[Path]:
    """Find the notebooks meant: by name (`00_start`) or path; all without one."""
    if not names:
        texts = (NOTEBOOKS / "text").glob("*.py")
        return sorted({NOTEBOOKS / f"{path.stem}.ipynb" for path in texts})
    paths = []
    for name in names:
        path = Path(name)
        folder = NOTEBOOKS if len(path.parts) == 1 else path.resolve().parent
        folder = folder.parent if folder.name == "text" else folder
        paths.append(folder / f"{path.stem}.ipynb")
    return paths


def edited_in_jupyter(notebook_path: Path) -> bool:
    """Tell whether a build would overwrite edits made in the notebook itself."""
    text = text_path(notebook_path)
    return (
        notebook_path.exists()
        and not in_step(notebook_path)
        and notebook_path.stat().st_mtime > text.stat().st_mtime
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["build", "pull", "check"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--fresh", action="store_true", help="renew kept outputs")
    parser.add_argument("--force", action="store_true", help="the text always wins")
    options = parser.parse_intermixed_args(arguments)  # names may follow --fresh
    done = [run(options, path) for path in notebook_paths(options.names)]
    return 0 if all(done) else 1


def run(options: argparse.Namespace, path: Path) -> bool:
    """Do one command on one notebook, say what happened, tell if it went well."""
    name = path.stem
    if options.command == "pull":
        pull(path)
        print(f"{name}: text written")
    elif options.command == "check":
        if not in_step(path):
            print(f"{name}: text and notebook differ: run build, or pull the edits")
            return False
        print(f"{name}: in step")
    elif edited_in_jupyter(path) and not options.force:
        print(
            f"{name}: edited in the notebook after its text; keep the edits with "
            f"`pull {name}`, or drop them with `build --force {name}`"
        )
        return False
    else:
        try:
            changed = build(path, options.fresh)
        except BuildError as error:
            print(f"{name}: {error}")
            return False
        print(f"{name}: {'written' if changed else 'unchanged'}")
    return True


if __name__ == "__main__":
    sys.exit(main())
